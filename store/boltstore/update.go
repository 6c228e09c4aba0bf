package boltstore

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

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
	return s.queue.Update(ctx, func(tx traintravel.Tx) (err error) {
		defer s.faults(&err, nil)()
		return fn(tx)
	}, s.lead)
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
	g.commit()
}

// commit commits what the group has to write, and knows how long it took.
func (g *batch) commit() {
	g.tried = true
	begun := time.Now()
	g.err = g.apply()
	g.took = time.Since(begun)
}

// begin begins the one transaction that writes, if the file is in its place. The place
// is locked then.
func (s *Store) begin() (tx *bolt.Tx, err error) {
	if err := s.queue.Failed(); err != nil {
		return nil, err
	}
	if s.db.IsReadOnly() {
		return nil, s.readable(berrors.ErrDatabaseReadOnly)
	}
	s.place.mu.Lock()
	defer func() {
		if err != nil {
			s.place.mu.Unlock()
		}
	}()
	if err := s.place.before(); err != nil {
		return nil, s.placed(err)
	}
	return s.open(true)
}

// A batch is the calls that share one transaction of the file.
type batch struct {
	store *Store
	tx    *bolt.Tx
	over  group.Overlay
	size  int           // bytes written to over
	calls []*group.Call // run, and to be answered after the commit
	probe bool          // of [Store.Ready]: it writes what no call has asked for
	tried bool          // there was something to be committed
	took  time.Duration // by the commit
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
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // another program may truncate the file at any moment
	defer func() {
		if p := recover(); p != nil { // bbolt found an invalid page
			err = fmt.Errorf("damaged: %v", p)
			g.store.queue.Fail(fmt.Errorf("boltstore: %w: %s is %w", traintravel.ErrUnavailable, g.store.path, err))
		}
		if err != nil {
			err = g.store.failed(id, err)
		}
	}()
	if g.probe {
		if err := g.store.probe(g.tx); err != nil {
			return err
		}
	}
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
	if err := g.store.commit(g.tx); err != nil {
		return err
	}
	if err := g.store.place.after(id); err != nil { // the commit may be in a file that was moved
		return fmt.Errorf("%w: %w", traintravel.ErrUnknownOutcome, g.store.placed(err))
	}
	return nil
}

// failed interprets the failure of transaction id. If the file shows the transaction
// nevertheless, only the last sync failed: the transaction may not be on stable storage, so
// no further update must be based on it.
func (s *Store) failed(id int, err error) error {
	if errors.Is(err, traintravel.ErrUnknownOutcome) {
		return err
	}
	err = fmt.Errorf("boltstore: %s: commit: %w", s.path, err)
	tx, viewErr := s.db.Begin(false)
	if viewErr != nil {
		return err
	}
	defer tx.Rollback()
	if tx.ID() < id {
		return err
	}
	s.place.last = s.place.heads()
	s.queue.Fail(fmt.Errorf("boltstore: %w: %s takes no more updates until it is opened again, because one failed: %w", traintravel.ErrUnavailable, s.path, err))
	return fmt.Errorf("%w: %w", traintravel.ErrUnknownOutcome, err)
}

// end returns a result to every call of the group.
func (g *batch) end() {
	g.rollback()
	if g.tx != nil {
		g.store.place.mu.Unlock()
	}
	if g.tried && !errors.Is(g.err, traintravel.ErrUnknownOutcome) {
		g.store.proof.set(g.err)
	}
	for _, c := range g.calls {
		if g.err != nil {
			c.Err = g.err
		}
		c.Answer()
	}
	if g.store.told != nil && (g.tried || g.tx == nil) && (g.err != nil || !g.probe) {
		g.store.told(len(g.calls), g.took, g.err)
	}
}

// rollback ends the transaction, unless the commit has.
func (g *batch) rollback() {
	defer func() {
		if recover() != nil { // after a panic in the commit, which was reported
			g.store.stuck.Store(true)
		}
	}()
	if g.tx != nil {
		_ = g.tx.Rollback()
	}
}
