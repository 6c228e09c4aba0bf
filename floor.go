package traintravel

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
)

// A store that several servers share may keep what was deleted in its place for as long
// as anybody reads an older snapshot: PostgreSQL walks over all of that each time it reads
// a queue from its head. So there a queue is read from a floor on, under which nothing is
// left to do. What gets under the floor all the same, because a clock is behind or a commit
// was slow, is found by a look at the whole queue, which keeps nobody waiting.

const (
	// floorLag is how far the floor of the agenda stays behind the clock. What is
	// written later than that after it was due is found a little later.
	floorLag = 3 * time.Second
	// wholeShare is how much longer the time between two looks at the whole agenda is
	// than such a look takes, and wholeAtMost is how long it is at most.
	wholeShare  = 20
	wholeAtMost = 30 * time.Second
)

// A floor is where on the agenda of a kind to begin to look. The zero value is the
// beginning. It is safe for concurrent use.
type floor struct {
	mu   sync.Mutex
	at   string
	held string    // the first item that is left to the next pass; empty if there is none
	pass time.Time // when the pass began; zero if it is not to raise the floor
}

// begin begins a pass and returns its first key. After a clock has stepped back, what is
// new is under the floor: so that follows the clock down.
func (f *floor) begin(k kind, now time.Time) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held, f.pass = "", now
	if f.at != "" {
		f.at = min(f.at, floorKey(k, now))
	}
	return f.at
}

// end ends a pass that has come to the end of what is due, and raises the floor.
func (f *floor) end(k kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pass.IsZero() {
		return
	}
	f.at = floorKey(k, f.pass)
	if f.held != "" {
		f.at = min(f.at, f.held)
	}
}

// hold keeps the floor under an item that has to be met again soon.
func (f *floor) hold(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == "" || key < f.held {
		f.held = key
	}
	if f.at != "" {
		f.at = min(f.at, key)
	}
}

// forget has the next pass begin at the beginning.
func (f *floor) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.pass = "", time.Time{}
}

func floorKey(k kind, now time.Time) string {
	return agendaKey(k, now.Add(-floorLag), uuid.Nil).ID
}

// begin begins a pass through the agenda and returns where. On a store that is shared it
// is lookAtWhole that meets everything.
func (d *desk) begin(now time.Time) string {
	if d.shared {
		return d.floor.begin(d.kind, now)
	}
	d.retries.begin()
	return ""
}

// end ends a pass that has come to the end of what is due.
func (d *desk) end() {
	if d.shared {
		d.floor.end(d.kind)
		return
	}
	d.retries.end()
}

// keepLooking looks at the whole agenda now and then, until ctx ends.
func (d *desk) keepLooking(ctx context.Context, slots chan struct{}) {
	for wait := lookAgain; ; {
		if sleep(ctx, wait); ctx.Err() != nil {
			return
		}
		took, err := d.lookAtWhole(ctx, slots)
		if err != nil && ctx.Err() == nil {
			d.unread(err)
		}
		wait = min(max(lookAgain, wholeShare*took), wholeAtMost)
	}
}

// lookAtWhole starts work on everything that is due and in nobody's hands, what is under
// the floor too. It says how long the store took.
func (d *desk) lookAtWhole(ctx context.Context, slots chan struct{}) (took time.Duration, err error) {
	d.retries.begin()
	for from := ""; ctx.Err() == nil; {
		begun := time.Now()
		due, rest, _, err := d.service.agenda(ctx, d.kind, from, d.service.now(), d.limit())
		took += time.Since(begun)
		if err != nil {
			return took, err
		}
		d.start(ctx, due, slots)
		if from = rest; rest == "" {
			d.retries.end()
			break
		}
	}
	return took, ctx.Err()
}

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
