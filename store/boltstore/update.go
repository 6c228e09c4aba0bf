package boltstore

import (
	"context"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/group"
)

// A group is full, and the next one begins, when it has run so many closures or
// has been given so many bytes to write.
const (
	maxCalls = 1024
	maxBytes = 8 << 20
)

// Update implements [traintravel.Store].
func (s *Store) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	return s.queue.Update(ctx, fn, s.lead)
}

// lead runs one group, the caller's own call first.
func (s *Store) lead(own *group.Call) {
	g := batch{store: s, err: group.ErrGoexit}
	defer g.end()
	var err error
	if g.tx, err = s.begin(); err != nil {
		g.err = err
		for c := own; c != nil; c = s.queue.Take() {
			g.calls = append(g.calls, c)
		}
		return
	}
	g.run(own)
	if g.over == nil {
		g.err = nil
		return
	}
	begun := time.Now()
	g.err = g.apply()
	g.took = time.Since(begun)
}

// begin begins the one transaction that writes.
func (s *Store) begin() (*bolt.Tx, error) {
	if err := s.queue.Failed(); err != nil {
		return nil, err
	}
	tx, err := s.db.Begin(true)
	if err != nil {
		return nil, s.readable(err)
	}
	return tx, nil
}

// A batch is the calls that share one transaction of the file.
type batch struct {
	store *Store
	tx    *bolt.Tx
	over  group.Overlay
	size  int           // bytes written to over
	calls []*group.Call // run, and to be answered after the commit
	took  time.Duration // by the commit; zero if there was nothing to be committed
	err   error         // why nothing was committed
}

// run runs closures until the queue is empty or the group is full.
func (g *batch) run(own *group.Call) {
	r := &reader{store: g.store, tx: g.tx}
	for n, c := 0, own; c != nil; c = g.store.queue.Take() {
		if c.Err = c.Ctx.Err(); c.Err != nil {
			c.Answer()
			continue
		}
		g.calls = append(g.calls, c)
		t := &group.Tx{Reader: r}
		if c.Run(t) && len(t.Writes) > 0 {
			for _, w := range t.Writes {
				g.size += len(w.ID) + len(w.Value)
			}
			g.over.Merge(t.Writes)
			r.over = g.over
		}
		if g.over == nil {
			// It has seen nothing but what is durable, and has written nothing.
			g.calls = g.calls[:0]
			c.Answer()
		}
		if n++; n == maxCalls || g.size >= maxBytes {
			return
		}
	}
}

// apply writes the overlay to the file, and commits.
func (g *batch) apply() (err error) {
	id := g.tx.ID()
	defer func() {
		if p := recover(); p != nil { // bbolt found a page that is none
			err = fmt.Errorf("damaged: %v", p)
			g.store.queue.Fail(fmt.Errorf("boltstore: %s is %w", g.store.path, err))
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
			if w.Value == nil {
				err = b.Delete([]byte(w.ID))
			} else {
				err = b.Put([]byte(w.ID), w.Value)
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
	s.queue.Fail(fmt.Errorf("boltstore: %s takes no more updates until it is opened anew, for one failed: %w", s.path, err))
	return fmt.Errorf("%w: %w", traintravel.ErrUnknownOutcome, err)
}

// end answers every call of the group.
func (g *batch) end() {
	g.rollback()
	for _, c := range g.calls {
		if g.err != nil {
			c.Err = g.err
		}
		c.Answer()
	}
	if g.store.told != nil && g.took > 0 {
		g.store.told(len(g.calls), g.took, g.err)
	}
}

// rollback ends the transaction, unless the commit has.
func (g *batch) rollback() {
	defer func() { _ = recover() }() // after a panic in the commit, which was reported
	if g.tx != nil {
		_ = g.tx.Rollback()
	}
}
