package agenda

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/store"
)

// How a worker looks through the agenda: in passes, from what is due earliest to the end of
// what is due.

const (
	// LookAgain is how often Run looks at the agenda when nothing wakes it:
	// other services write to it too, and the service's clock may jump.
	LookAgain = time.Second
	// lookAhead is how many batches of the agenda are looked through at once for
	// an item that is in nobody else's hands.
	lookAhead = 16
	// wholeShare is how much longer the time between two looks at the whole agenda is
	// than such a look takes, and wholeAtMost is how long it is at most.
	wholeShare  = 20
	wholeAtMost = 30 * time.Second
)

// run looks at the agenda until ctx ends, then waits for what is under way.
func (w *Worker) run(ctx context.Context) {
	w.failing(0)
	defer w.retries.forget()
	defer w.wg.Wait()
	slots := w.slots()
	var looking sync.WaitGroup
	defer looking.Wait()
	if w.shared {
		looking.Go(func() { w.keepLooking(ctx, slots) })
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
			w.poked()
		case <-timer.C:
			select { // one look is for both
			case <-w.wake:
				w.poked()
			default:
			}
		}
		wait, err := w.round(ctx, slots)
		if err != nil && ctx.Err() == nil {
			w.unread(err)
		}
		if w.again && w.from == "" && err == nil {
			w.again, wait = false, 0
		}
		timer.Reset(wait)
	}
}

// poked has the worker begin another pass after the one under way, if there is one: what is
// new may be before where that has come to.
func (w *Worker) poked() { w.again = w.again || w.from != "" }

// round starts work on what is due and in nobody's hands, the earliest first, and says
// how long to wait for more. It goes on where the round before ended, until it has come
// to the end of what is due: so whatever is at the head, all behind it have their turn.
func (w *Worker) round(ctx context.Context, slots chan struct{}) (time.Duration, error) {
	limit, now := w.limit(), w.host.Now()
	for range lookAhead + w.retries.len()/limit { // those that wait for their retry are no reason to stop
		if w.from == "" {
			w.from = w.beginPass(now)
		}
		due, rest, next, err := ListDue(ctx, w.host.Store, w.Kind, w.from, now, limit)
		if err != nil {
			w.from = ""
			return LookAgain, err
		}
		started := w.start(ctx, due, slots)
		if w.from = rest; rest == "" {
			w.endPass()
			if next.IsZero() {
				return LookAgain, nil
			}
			return min(LookAgain, next.Sub(now)), nil
		}
		if started {
			return 0, nil
		}
	}
	return LookAgain, nil
}

// beginPass begins a pass through the agenda and returns where. On a store that is shared
// it is lookAtWhole that meets everything.
func (w *Worker) beginPass(now time.Time) string {
	if w.shared {
		return w.floor.begin(w.Kind, now)
	}
	w.retries.begin()
	return ""
}

// endPass ends a pass that has come to the end of what is due.
func (w *Worker) endPass() {
	if w.shared {
		w.floor.end(w.Kind)
		return
	}
	w.retries.end()
}

// keepLooking looks at the whole agenda now and then, until ctx ends.
func (w *Worker) keepLooking(ctx context.Context, slots chan struct{}) {
	for wait := LookAgain; ; {
		if Sleep(ctx, wait); ctx.Err() != nil {
			return
		}
		took, err := w.lookAtWhole(ctx, slots)
		if err != nil && ctx.Err() == nil {
			w.unread(err)
		}
		wait = min(max(LookAgain, wholeShare*took), wholeAtMost)
	}
}

// lookAtWhole starts work on everything that is due and in nobody's hands, what is under
// the floor too. It says how long the store took.
func (w *Worker) lookAtWhole(ctx context.Context, slots chan struct{}) (took time.Duration, err error) {
	w.retries.begin()
	for from := ""; ctx.Err() == nil; {
		begun := time.Now()
		due, rest, _, err := ListDue(ctx, w.host.Store, w.Kind, from, w.host.Now(), w.limit())
		took += time.Since(begun)
		if err != nil {
			return took, err
		}
		w.start(ctx, due, slots)
		if from = rest; rest == "" {
			w.retries.end()
			break
		}
	}
	return took, ctx.Err()
}

// runDue works on what is due, one item after another, until a pass meets nothing that was
// not met in the one before.
func (w *Worker) runDue(ctx context.Context) (errs []error) {
	var before map[store.Key]bool // what the pass before has met
	for fresh := true; fresh && ctx.Err() == nil; {
		fresh = false
		met := map[store.Key]bool{}
		for from, more := "", true; more && ctx.Err() == nil; more = from != "" {
			due, rest, _, err := ListDue(ctx, w.host.Store, w.Kind, from, w.host.Now(), records.Batch)
			if err != nil {
				return append(errs, err)
			}
			for _, it := range due {
				met[it.Key] = true
			}
			due = slices.DeleteFunc(due, func(it records.Item) bool { return before[it.Key] })
			fresh = fresh || len(due) > 0
			errs = append(errs, w.doEach(ctx, due)...)
			from = rest
		}
		before = met
	}
	return errs
}
