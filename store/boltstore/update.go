package boltstore

import (
	"context"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
)

// A group is full, and the next one begins, when it has run so many closures or
// has been given so many bytes to write.
const (
	maxCalls = 1024
	maxBytes = 8 << 20
)

var errGoexit = errors.New("boltstore: a closure ended the goroutine that ran it (runtime.Goexit)")

// Update implements [traintravel.Store].
func (s *Store) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &call{ctx: ctx, fn: fn}
	lead, err := s.queue.join(c)
	if err != nil {
		return err
	}
	if lead || s.queue.wait(c) {
		s.lead()
	}
	if c.panicked {
		panic(c.reason)
	}
	return c.err
}

// lead runs one group, the caller's own call first, and passes the leadership on.
func (s *Store) lead() {
	g := group{store: s, err: errGoexit}
	defer g.end()
	var err error
	if g.tx, err = s.begin(); err != nil {
		g.err = err
		for c := s.queue.take(); c != nil; c = s.queue.take() {
			g.calls = append(g.calls, c)
		}
		return
	}
	g.run()
	g.err = g.apply()
}

// begin begins the one transaction that writes.
func (s *Store) begin() (*bolt.Tx, error) {
	if err := s.queue.failed(); err != nil {
		return nil, err
	}
	tx, err := s.db.Begin(true)
	if err != nil {
		return nil, s.readable(err)
	}
	return tx, nil
}

// A group is the calls that share one transaction of the file.
type group struct {
	store *Store
	tx    *bolt.Tx
	over  overlay
	size  int     // bytes written to over
	calls []*call // run, and to be answered after the commit
	err   error   // why nothing was committed
}

// run runs closures until the queue is empty or the group is full.
func (g *group) run() {
	r := reader{store: g.store, tx: g.tx}
	for n := 0; n < maxCalls && g.size < maxBytes; n++ {
		c := g.store.queue.take()
		if c == nil {
			return
		}
		if c.err = c.ctx.Err(); c.err != nil {
			c.answer()
			continue
		}
		g.calls = append(g.calls, c)
		t := &tx{reader: r}
		c.run(t)
		r.buckets = t.buckets
		if c.err == nil && !c.panicked && len(t.writes) > 0 {
			for _, w := range t.writes {
				g.size += len(w.id) + len(w.value)
			}
			g.over.merge(t.writes)
			r.over = g.over
		}
		if g.over == nil {
			// It has seen nothing but what is durable, and has written nothing.
			g.calls = g.calls[:0]
			c.answer()
		}
	}
}

// run runs the closure and keeps what came of it.
func (c *call) run(t *tx) {
	c.err = errGoexit
	defer func() {
		t.tx = nil
		c.reason = recover()
		c.panicked = c.reason != nil
	}()
	c.err = c.fn(t)
	if t.err != nil { // whatever the closure makes of it
		c.err = t.err
	}
}

// apply writes the overlay to the file, and commits.
func (g *group) apply() (err error) {
	if g.over == nil {
		return nil
	}
	id := g.tx.ID()
	defer func() {
		if p := recover(); p != nil { // bbolt found a page that is none
			err = fmt.Errorf("damaged: %v", p)
			g.store.queue.fail(fmt.Errorf("boltstore: %s is %w", g.store.path, err))
		}
		if err != nil {
			err = g.store.failed(id, err)
		}
	}()
	for t, ws := range g.over {
		if len(ws) == 0 {
			continue
		}
		b := g.tx.Bucket(g.store.names[t])
		b.FillPercent = fill(traintravel.Table(t))
		for _, w := range ws {
			if w.value == nil {
				err = b.Delete([]byte(w.id))
			} else {
				err = b.Put([]byte(w.id), w.value)
			}
			if err != nil {
				return err
			}
		}
	}
	return g.store.commit(g.tx)
}

// failed says what a failure of transaction id means. If the file shows the
// transaction all the same, only the last sync failed: whether it is on stable
// storage nobody knows, and nothing more must be built on it.
func (s *Store) failed(id int, err error) error {
	err = fmt.Errorf("boltstore: %s: commit: %w", s.path, err)
	tx, viewErr := s.db.Begin(false)
	if viewErr != nil {
		return err
	}
	defer tx.Rollback()
	if tx.ID() < id {
		return err
	}
	s.queue.fail(fmt.Errorf("boltstore: %s takes no more updates until it is opened anew, for one failed: %w", s.path, err))
	return fmt.Errorf("%w: %w", traintravel.ErrUnknownOutcome, err)
}

// end answers every call of the group, and passes the leadership on: last, for
// some of those callers come back at once with their next update.
func (g *group) end() {
	defer g.store.queue.pass()
	g.rollback()
	for _, c := range g.calls {
		if g.err != nil {
			c.err = g.err
		}
		c.answer()
	}
}

// rollback ends the transaction, unless the commit has.
func (g *group) rollback() {
	defer func() { _ = recover() }() // after a panic in the commit, which was reported
	if g.tx != nil {
		_ = g.tx.Rollback()
	}
}
