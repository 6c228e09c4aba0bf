package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/traintravel/traintravel"
)

// An entry is the durable record of an ID, written before Stripe is called.
type entry struct {
	Amount traintravel.Money
	Charge uuid.UUID // that a refund refunds; zero for a charge
	// Booking is the booking of a charge; zero for a refund, and in entries of earlier
	// versions.
	Booking uuid.UUID
	// Intent is the ID of the PaymentIntent, empty until it is known.
	Intent string
	// Outcome is kept once it is Failed or Succeeded: it never changes then.
	Outcome traintravel.Outcome
	// Fenced means that nothing may be charged at Stripe any more.
	Fenced bool
}

func (e entry) settled() bool {
	return e.Outcome.Status == traintravel.Failed || e.Outcome.Status == traintravel.Succeeded
}

// books are a file of entries by their IDs, which one process has open.
type books struct {
	db *bbolt.DB

	mu   sync.Mutex
	busy map[uuid.UUID]chan struct{} // closed when the work on an ID ends
}

var bucket = []byte("entries")

func openBooks(path string) (*books, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second})
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, fmt.Errorf("%s is in use by %s: one process has it open at a time. Stop that one first; two gateways with a file each could not refund each other's charges", path, holder(path))
	}
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
	_ = os.WriteFile(pidFile(path), []byte(strconv.Itoa(os.Getpid())), 0o600) // nothing depends on it
	return &books{db: db, busy: map[uuid.UUID]chan struct{}{}}, nil
}

// pidFile is beside the file of entries. It has the ID of the process that opened it last,
// for the error of a second process.
func pidFile(path string) string { return path + ".pid" }

// holder names the process that has the file open.
func holder(path string) string {
	text, err := os.ReadFile(pidFile(path))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		return "another process"
	}
	return fmt.Sprintf("process %d", pid)
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

// hold waits until no other goroutine works on an ID, or done is closed.
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
