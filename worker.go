package traintravel

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// concurrency is how many items of a kind are worked on at a time. Those that
	// wait for the store share its commits.
	concurrency = 64
	// failurePause is how long a failure keeps its place of those, so that a broken store
	// is not hammered.
	failurePause = time.Second / concurrency
)

// A worker works on one kind of the agenda, so that kinds do not wait for each other. The
// first fields say what it does; the others belong to one Run.
type worker struct {
	kind        kind
	name        string
	work        func(context.Context, ...item) error
	together    int // how many items are worked on as one; zero is one
	concurrency int // how many times that at once; zero is concurrency

	// mayBegin says whether an item may be taken in hand beside those that are, and ended
	// is told of each that was. It returns whether one that was refused may begin now.
	// Both are nil where nothing but the number bounds what is in hand.
	mayBegin func(id uuid.UUID) bool
	ended    func(id uuid.UUID) (more bool)

	host     *host
	wake     chan struct{}
	claims   *Claims
	share    share
	retries  retries
	floor    floor
	logLimit logLimit
	from     string // where on the agenda to look next; empty before a pass
	again    bool   // a poke came during the pass: what is new may be before that place
	shared   bool   // by other servers, through the store
	wg       sync.WaitGroup
}

// one makes of what is done with an item what a worker does that has them one by one.
func one(work func(context.Context, item) error) func(context.Context, ...item) error {
	return func(ctx context.Context, items ...item) error { return work(ctx, items[0]) }
}

// prepare readies a worker for one Run. local are the claims of the process; nil if other
// servers share the store.
func (w *worker) prepare(h *host, local *Claims) {
	w.host, w.wake, w.claims, w.shared = h, make(chan struct{}, 1), local, local == nil
	if w.shared {
		w.claims = &Claims{}
	}
	w.retries.tell = w.failing
}

// failing tells the observer how many items fail.
func (w *worker) failing(n int) {
	if w.host.failing != nil {
		w.host.failing(FailingWork{w.name, n})
	}
}

// poke makes the worker look at the agenda.
func (w *worker) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// slots are the places of what is worked on at once.
func (w *worker) slots() chan struct{} {
	return make(chan struct{}, cmp.Or(w.concurrency, concurrency))
}

// limit is how many records are looked at together: the first may be in our own hands.
func (w *worker) limit() int {
	return batch + cmp.Or(w.concurrency, concurrency)*cmp.Or(w.together, 1)
}

// start starts work on those items that nobody has in hand.
func (w *worker) start(ctx context.Context, due []item, slots chan struct{}) (started bool) {
	for len(due) > 0 {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return started
		}
		var work context.Context
		var items []item
		items, due, work = w.takeSome(due)
		if len(items) == 0 {
			<-slots
			continue
		}
		started = true
		w.wg.Go(func() {
			defer func() {
				for _, it := range items {
					w.give(it)
				}
				<-slots
			}()
			w.attempt(work, items)
		})
	}
	return started
}

// doEach works on items that nobody has in hand, one after another, until ctx ends.
func (w *worker) doEach(ctx context.Context, due []item) (errs []error) {
	for len(due) > 0 && ctx.Err() == nil {
		var items []item
		var work context.Context
		if items, due, work = w.takeSome(due); len(items) == 0 {
			continue
		}
		failed := w.failures(work, items)
		for _, it := range items {
			errs = append(errs, failed[it.key])
			w.give(it)
		}
	}
	return errs
}

// takeSome takes the first items in hand that it may, as many as are worked on as one,
// and returns those that are left.
func (w *worker) takeSome(due []item) (items, left []item, work context.Context) {
	for i, it := range due {
		ctx, ok := w.take(it)
		if !ok {
			continue
		}
		if len(items) > 0 && ctx != work { // those before were stopped meanwhile
			w.give(it)
			return items, due[i:], work
		}
		if items, work = append(items, it), ctx; len(items) == max(1, w.together) {
			return items, due[i+1:], work
		}
	}
	return items, nil, work
}

// take takes an item in hand, unless somebody has it, it is for others, it has just
// failed or mayBegin refuses it.
func (w *worker) take(it item) (context.Context, bool) {
	part := partOf(it.id)
	work, ok := w.share.begin(part)
	if !ok {
		return nil, false
	}
	if w.retries.may(it.claim(), time.Now()) {
		if w.claims.take(it.claim()) {
			if w.mayBegin == nil || w.mayBegin(it.id) {
				return work, true
			}
			w.claims.give(it.claim())
		}
		if it.claim() != it.key { // whoever has it pokes when it is to be met again
			w.floor.hold(it.key.ID)
		}
	}
	w.share.end(part)
	return nil, false
}

func (w *worker) give(it item) {
	more := w.ended != nil && w.ended(it.id)
	asked := w.claims.give(it.claim())
	w.share.end(partOf(it.id))
	if more || asked && it.claim() != it.key { // what came meanwhile has not been done with it
		w.poke()
	}
}

// attempt works on items, and notes those that fail to be tried again later.
func (w *worker) attempt(ctx context.Context, items []item) {
	failed := w.failures(ctx, items)
	if ctx.Err() != nil {
		return
	}
	for _, it := range items {
		err := failed[it.key]
		if err == nil {
			w.retries.done(it.claim())
			continue
		}
		wait := w.retries.failed(it.claim(), time.Now(), err)
		if ok, unsaid := w.logLimit.take(time.Now()); ok {
			w.host.log.Error("scheduled work failed; will retry", "kind", string(w.kind), "work", w.name, "id", it.id, "in", wait, "not_logged", unsaid, "error", err)
		}
	}
	if len(failed) > 0 {
		sleep(ctx, failurePause)
	}
}

// failures works on items and returns those that failed. If it is not known which of
// several they were, it works on each alone.
func (w *worker) failures(ctx context.Context, items []item) failedItems {
	err := w.safely(ctx, items...)
	var some failedItems
	if err == nil || errors.As(err, &some) {
		return some
	}
	failed := failedItems{}
	alone := len(items) > 1 && !errors.Is(err, ErrUnavailable)
	for _, it := range items {
		e := err
		if alone {
			if e = w.safely(ctx, it); errors.As(e, &some) {
				e = some[it.key]
			}
		}
		if ctx.Err() != nil {
			break
		}
		if e != nil {
			failed[it.key] = e
		}
	}
	return failed
}

func (w *worker) safely(ctx context.Context, items ...item) (err error) {
	ctx, end := w.host.begin(ctx, "Run."+w.name)
	defer end(&err)
	defer recovered(&err)
	return w.work(ctx, items...)
}

// unread logs that the agenda could not be read.
func (w *worker) unread(err error) {
	if ok, unsaid := w.logLimit.take(time.Now()); ok {
		w.host.log.Error("the agenda could not be read", "kind", string(w.kind), "not_logged", unsaid, "error", err)
	}
}
