package records

import (
	"sync"

	"github.com/google/uuid"
)

// QueueFloors are the floors of the queues of deliveries, by subscription. There is no
// look at the whole of those: a delivery is written together with an item of the agenda
// that is not due later than the delivery, so whoever works on that item looks from
// there on. The zero value knows none, and keeps none before keep(true).
type QueueFloors struct {
	Mu sync.Mutex
	on bool
	At map[uuid.UUID]string
}

// maxQueueFloors bounds how many are remembered.
const maxQueueFloors = 1 << 16

// Of returns where to look for what an item of the agenda stands for; empty is the
// beginning.
func (f *QueueFloors) Of(it Item) string {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	at, ok := f.At[it.ID]
	if !ok {
		return ""
	}
	return min(at, QueueKey(it.ID, it.Due))
}

// Keep says whether floors are remembered.
func (f *QueueFloors) Keep(on bool) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.on = on
}

// Head is where a queue begins, as far as this server knows; empty is the beginning. It
// says whether to look there now: who does not know would walk over all that is done, and
// so looks once in some times. what is of one that comes to the queue.
func (f *QueueFloors) Head(sub uuid.UUID, what Delivery) (key string, look bool) {
	const seldom = 64
	f.Mu.Lock()
	defer f.Mu.Unlock()
	at, ok := f.At[sub]
	return at, ok || !f.on || what.ID[len(what.ID)-1]%seldom == 0
}

// Set says that there is nothing in a queue before a key, but for what comes with an item
// of the agenda that is still to be worked on.
func (f *QueueFloors) Set(sub uuid.UUID, key string) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if !f.on {
		return
	}
	if _, ok := f.At[sub]; f.At == nil || !ok && len(f.At) >= maxQueueFloors {
		f.At = map[uuid.UUID]string{}
	}
	f.At[sub] = key
}

// Forget is for when another server may have worked on the queues.
func (f *QueueFloors) Forget() {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	clear(f.At)
}
