package agenda

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/traintravel/traintravel/store"
)

const (
	// firstRetry and longestRetry are the shortest and the longest wait before an item
	// that failed is tried again.
	firstRetry   = time.Second
	longestRetry = time.Minute
	// maxRetries is the maximum number of failing items of a kind that are remembered.
	// Further items have no wait of their own: Run retries them each time it reads them.
	maxRetries = 1 << 16
)

// retries remembers the items of a kind that failed: when each may be tried again. It is
// kept in memory, because an item's key follows from a record that perhaps only a newer
// server can read, so this one must not write the item. It is safe for concurrent use.
type retries struct {
	mu    sync.Mutex
	items map[store.Key]*retry // by records.Item.Claim
	pass  uint64               // counts how often the agenda was read from its beginning
	tell  func(n int)          // is called with the number of failing items when it changes; may be nil
}

type retry struct {
	tries int
	after time.Time
	pass  uint64 // the pass that last read the item
}

// may says whether an item may be attempted now.
func (r *retries) may(k store.Key, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.items[k]
	if f == nil {
		return true
	}
	f.pass = r.pass
	return !now.Before(f.after)
}

// failed notes that an item failed and returns how long it waits: from a second up to
// longestRetry, unless the store is unavailable.
func (r *retries) failed(k store.Key, now time.Time, err error) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.items[k]
	if f == nil {
		if len(r.items) >= maxRetries {
			return 0
		}
		if r.items == nil {
			r.items = map[store.Key]*retry{}
		}
		f = &retry{}
		r.items[store.Key{Table: k.Table, ID: strings.Clone(k.ID)}] = f
		defer r.changed()
	}
	wait := firstRetry
	if !errors.Is(err, store.ErrUnavailable) {
		wait = min(firstRetry<<min(f.tries, 10), longestRetry)
		f.tries++
	}
	f.after, f.pass = now.Add(wait), r.pass
	return wait
}

// done forgets an item that did not fail.
func (r *retries) done(k store.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.items[k]; ok {
		delete(r.items, k)
		r.changed()
	}
}

func (r *retries) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.items)
}

// begin begins a pass through the agenda.
func (r *retries) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pass++
}

// end ends a pass: items that it has not read are done, or belong to other servers.
func (r *retries) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.items)
	for k, f := range r.items {
		if f.pass != r.pass {
			delete(r.items, k)
		}
	}
	if len(r.items) != n {
		r.changed()
	}
}

// forget forgets all.
func (r *retries) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.items) > 0 {
		clear(r.items)
		r.changed()
	}
}

func (r *retries) changed() {
	if r.tell != nil {
		r.tell(len(r.items))
	}
}

// FailedItems has the errors of the items that failed in a batch. The others are done.
type FailedItems map[store.Key]error

// Error returns one line for each item.
func (f FailedItems) Error() string {
	var errs []error
	for _, err := range f {
		errs = append(errs, err)
	}
	return errors.Join(errs...).Error()
}
