package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
)

// An entry is what is written down of an ID, durably, before Stripe hears of it.
type entry struct {
	Amount traintravel.Money
	Charge uuid.UUID // what a refund gives back, zero for a charge
	// Intent is the ID of the PaymentIntent, empty until it is known.
	Intent string
	// Outcome is kept once it is Failed or Succeeded: it never changes then.
	Outcome traintravel.Outcome
	// Fenced says that nothing must be asked of Stripe any more.
	Fenced bool
}

func (e entry) settled() bool {
	return e.Outcome.Status == traintravel.Failed || e.Outcome.Status == traintravel.Succeeded
}

// books are a file of entries by their IDs, which one process has open.
type books struct {
	db *bbolt.DB

	mu   sync.Mutex
	busy map[uuid.UUID]chan struct{} // who is at work on an ID
}

var bucket = []byte("entries")

func openBooks(path string) (*books, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &books{db: db, busy: map[uuid.UUID]chan struct{}{}}, nil
}

func (b *books) close() { _ = b.db.Close() }

// read returns the entry of an ID, and whether there is one.
func (b *books) read(id uuid.UUID) (e entry, ok bool, err error) {
	err = b.db.View(func(tx *bbolt.Tx) error {
		v := tx.Bucket(bucket).Get(id[:])
		if ok = v != nil; !ok {
			return nil
		}
		return json.Unmarshal(v, &e)
	})
	return e, ok, err
}

// write is on the disk when it returns.
func (b *books) write(id uuid.UUID, e entry) error {
	v, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return b.db.Batch(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(id[:], v) })
}

// hold waits until nobody else is at work on an ID, or done is closed.
func (b *books) hold(done <-chan struct{}, id uuid.UUID) (release func(), ok bool) {
	for {
		b.mu.Lock()
		other := b.busy[id]
		if other == nil {
			mine := make(chan struct{})
			b.busy[id] = mine
			b.mu.Unlock()
			return func() {
				b.mu.Lock()
				delete(b.busy, id)
				b.mu.Unlock()
				close(mine)
			}, true
		}
		b.mu.Unlock()
		select {
		case <-other:
		case <-done:
			return nil, false
		}
	}
}
