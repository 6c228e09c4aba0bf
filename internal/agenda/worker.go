package agenda

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/loglimit"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

const (
	// concurrency is the number of items of a kind in progress at a time. Those that wait
	// for the store share its commits.
	concurrency = 64
	// failurePause is how long a failed item keeps its slot, so that a failing store gets
	// fewer requests.
	failurePause = time.Second / concurrency
)

// A Worker works on one kind of the agenda, so that kinds do not wait for each other. The
// first fields say what it does; the others belong to one Run.
type Worker struct {
	Kind        records.Kind
	Name        string
	Work        func(context.Context, ...records.Item) error
	Together    int // the number of items in a batch; zero means one
	Concurrency int // the number of batches at a time; zero means concurrency

	// MayBegin says whether an item may begin besides those in progress, and ended is called
	// for each that has ended. It returns whether an item that was refused may begin now.
	// Both are nil if only the number of items is limited.
	MayBegin func(id uuid.UUID) bool
	Ended    func(id uuid.UUID) (more bool)

	host     *Host
	wake     chan struct{}
	claims   *store.Claims
	share    share
	retries  retries
	floor    floor
	logLimit loglimit.LogLimit
	from     string // where on the agenda to look next; empty before a pass
	again    bool   // a poke came during the pass: new items may be before next
	shared   bool   // by other servers, through the store
	wg       sync.WaitGroup
}

// One turns a function for one item into the function of a worker with batches of one.
func One(work func(context.Context, records.Item) error) func(context.Context, ...records.Item) error {
	return func(ctx context.Context, items ...records.Item) error { return work(ctx, items[0]) }
}

// prepare readies a worker for one Run. local are the claims of the process; nil if other
// servers share the store.
func (w *Worker) prepare(h *Host, local *store.Claims) {
	w.host, w.wake, w.claims, w.shared = h, make(chan struct{}, 1), local, local == nil
	if w.shared {
		w.claims = &store.Claims{}
	}
	w.retries.tell = w.failing
}

// failing reports to the observer how many items fail.
func (w *Worker) failing(n int) {
	if w.host.Failing != nil {
		w.host.Failing(rail.FailingWork{Work: w.Name, Items: n})
	}
}

// poke makes the worker read the agenda.
func (w *Worker) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// slots limit the number of batches in progress.
func (w *Worker) slots() chan struct{} {
	return make(chan struct{}, cmp.Or(w.Concurrency, concurrency))
}

// limit is the number of records to read: the first may be in progress already.
func (w *Worker) limit() int {
	return records.Batch + cmp.Or(w.Concurrency, concurrency)*cmp.Or(w.Together, 1)
}

// start starts work on the items that nobody works on.
func (w *Worker) start(ctx context.Context, due []records.Item, slots chan struct{}) (started bool) {
	for len(due) > 0 {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return started
		}
		var work context.Context
		var items []records.Item
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

// doEach works on the items that nobody works on, one after another, until ctx ends.
func (w *Worker) doEach(ctx context.Context, due []records.Item) (errs []error) {
	for len(due) > 0 && ctx.Err() == nil {
		var items []records.Item
		var work context.Context
		if items, due, work = w.takeSome(due); len(items) == 0 {
			continue
		}
		failed := w.failures(work, items)
		for _, it := range items {
			errs = append(errs, failed[it.Key])
			w.give(it)
		}
	}
	return errs
}

// takeSome begins the first items that may begin, up to a batch, and returns the remaining
// items.
func (w *Worker) takeSome(due []records.Item) (items, left []records.Item, work context.Context) {
	for i, it := range due {
		ctx, ok := w.take(it)
		if !ok {
			continue
		}
		if len(items) > 0 && ctx != work { // the items taken before were stopped meanwhile
			w.give(it)
			return items, due[i:], work
		}
		if items, work = append(items, it), ctx; len(items) == max(1, w.Together) {
			return items, due[i+1:], work
		}
	}
	return items, nil, work
}

// take begins an item, unless somebody works on it, it belongs to another server, it has just
// failed or MayBegin refuses it.
func (w *Worker) take(it records.Item) (context.Context, bool) {
	part := partOf(it.ID)
	work, ok := w.share.begin(part)
	if !ok {
		return nil, false
	}
	if w.retries.may(it.Claim(), time.Now()) {
		if w.claims.Take(it.Claim()) {
			if w.MayBegin == nil || w.MayBegin(it.ID) {
				return work, true
			}
			w.claims.Give(it.Claim())
		}
		if it.Claim() != it.Key { // the holder pokes when the item must be read again
			w.floor.hold(it.Key.ID)
		}
	}
	w.share.end(part)
	return nil, false
}

func (w *Worker) give(it records.Item) {
	more := w.Ended != nil && w.Ended(it.ID)
	asked := w.claims.Give(it.Claim())
	w.share.end(partOf(it.ID))
	if more || asked && it.Claim() != it.Key { // the work that was requested meanwhile is not done yet
		w.poke()
	}
}

// attempt works on items, and notes those that fail for a retry.
func (w *Worker) attempt(ctx context.Context, items []records.Item) {
	failed := w.failures(ctx, items)
	if ctx.Err() != nil {
		return
	}
	for _, it := range items {
		err := failed[it.Key]
		if err == nil {
			w.retries.done(it.Claim())
			continue
		}
		wait := w.retries.failed(it.Claim(), time.Now(), err)
		if ok, unsaid := w.logLimit.Take(time.Now()); ok {
			w.host.Log.Error("scheduled work failed; will retry", "kind", string(w.Kind), "work", w.Name, "id", it.ID, "in", wait, "not_logged", unsaid, "error", err)
		}
	}
	if len(failed) > 0 {
		Sleep(ctx, failurePause)
	}
}

// failures works on items and returns those that failed. If the error does not say which of
// several items failed, it works on each item alone.
func (w *Worker) failures(ctx context.Context, items []records.Item) FailedItems {
	err := w.safely(ctx, items...)
	var some FailedItems
	if err == nil || errors.As(err, &some) {
		return some
	}
	failed := FailedItems{}
	alone := len(items) > 1 && !errors.Is(err, store.ErrUnavailable)
	for _, it := range items {
		e := err
		if alone {
			if e = w.safely(ctx, it); errors.As(e, &some) {
				e = some[it.Key]
			}
		}
		if ctx.Err() != nil {
			break
		}
		if e != nil {
			failed[it.Key] = e
		}
	}
	return failed
}

func (w *Worker) safely(ctx context.Context, items ...records.Item) (err error) {
	ctx, end := w.host.Begin(ctx, "Run."+w.Name)
	defer end(&err)
	defer Recovered(&err)
	return w.Work(ctx, items...)
}

// unread logs that reading the agenda failed.
func (w *Worker) unread(err error) {
	if ok, unsaid := w.logLimit.Take(time.Now()); ok {
		w.host.Log.Error("reading the agenda failed; will retry", "kind", string(w.Kind), "not_logged", unsaid, "error", err)
	}
}
