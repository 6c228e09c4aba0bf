package traintravel

import (
	"sync"

	"github.com/google/uuid"
)

// queueFloors are the floors of the queues of deliveries, by subscription. There is no
// look at the whole of those: a delivery is written together with an item of the agenda
// that is not due later than the delivery, so whoever works on that item looks from
// there on. The zero value knows none, and keeps none before keep(true).
type queueFloors struct {
	mu sync.Mutex
	on bool
	at map[uuid.UUID]string
}

// maxQueueFloors bounds how many are remembered.
const maxQueueFloors = 1 << 16

// of returns where to look for what an item of the agenda stands for; empty is the
// beginning.
func (f *queueFloors) of(it item) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.at[it.id]
	if !ok {
		return ""
	}
	return min(at, queueKey(it.id, it.due))
}

// keep says whether floors are remembered.
func (f *queueFloors) keep(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on = on
}

// head is where a queue begins, as far as this server knows; empty is the beginning. It
// says whether to look there now: who does not know would walk over all that is done, and
// so looks once in some times. what is of one that comes to the queue.
func (f *queueFloors) head(sub uuid.UUID, what delivery) (key string, look bool) {
	const seldom = 64
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.at[sub]
	return at, ok || !f.on || what.ID[len(what.ID)-1]%seldom == 0
}

// set says that there is nothing in a queue before a key, but for what comes with an item
// of the agenda that is still to be worked on.
func (f *queueFloors) set(sub uuid.UUID, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.on {
		return
	}
	if _, ok := f.at[sub]; f.at == nil || !ok && len(f.at) >= maxQueueFloors {
		f.at = map[uuid.UUID]string{}
	}
	f.at[sub] = key
}

// forget is for when another server may have worked on the queues.
func (f *queueFloors) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.at)
}
