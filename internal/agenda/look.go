package agenda

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/store"
)

// A worker reads the agenda in passes, from the earliest due item to the last one.

const (
	// LookAgain is how often Run reads the agenda when nothing wakes it:
	// other services write to it too, and the service's clock may jump.
	LookAgain = time.Second
	// lookAhead is the number of batches of the agenda that are searched at once for an item
	// that nobody works on.
	lookAhead = 16
	// wholeShare is the ratio of the time between two scans of the whole agenda to the time
	// that a scan takes, and wholeAtMost the longest time between two scans.
	wholeShare  = 20
	wholeAtMost = 30 * time.Second
)

// run reads the agenda until ctx ends, then waits for the work in progress.
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
			select { // one read serves both
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

// poked makes the worker begin another pass after the current one, because new items may be
// before the position of that.
func (w *Worker) poked() { w.again = w.again || w.from != "" }

// round starts work on due items that nobody works on, the earliest first, and returns how
// long to wait for more. It continues where the previous round ended, up to the last due item,
// so that items at the head do not block those behind them.
func (w *Worker) round(ctx context.Context, slots chan struct{}) (time.Duration, error) {
	limit, now := w.limit(), w.host.Now()
	for range lookAhead + w.retries.len()/limit { // items that wait for a retry do not end the round
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

// beginPass begins a pass through the agenda and returns its first key. On a shared store only
// lookAtWhole reads everything.
func (w *Worker) beginPass(now time.Time) string {
	if w.shared {
		return w.floor.begin(w.Kind, now)
	}
	w.retries.begin()
	return ""
}

// endPass ends a pass that has reached the last due item.
func (w *Worker) endPass() {
	if w.shared {
		w.floor.end(w.Kind)
		return
	}
	w.retries.end()
}

// keepLooking scans the whole agenda at intervals, until ctx ends.
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

// lookAtWhole starts work on all due items that nobody works on, including those below the
// floor. It returns how long the store took.
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

// runDue works on the due items, one after another, until a pass reads only items that the
// pass before has read.
func (w *Worker) runDue(ctx context.Context) (errs []error) {
	var before map[store.Key]bool // the items that the pass before has read
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
