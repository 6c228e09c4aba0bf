// Package store is the contract between the service and the database that it runs on: keys,
// tables, ranges, and updates that happen entirely or not at all. It must not know what the
// records mean. Package storetest tests whether a store keeps the contract.
package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Claims records which due work the services of one process have in progress on a
// [LocalStore]. The zero value is empty. It is safe for concurrent use.
type Claims struct {
	mu    sync.Mutex
	taken map[Key]bool // whether somebody else has asked for it
}

// Take claims the work with a key and reports whether it was free. If it was not, Give will
// tell the holder that it was requested meanwhile.
func (c *Claims) Take(k Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.taken[k]; ok {
		c.taken[k] = true
		return false
	}
	if c.taken == nil {
		c.taken = map[Key]bool{}
	}
	c.taken[k] = false
	return true
}

// Give releases the work that Take claimed, and reports whether it was requested meanwhile.
func (c *Claims) Give(k Key) (asked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked = c.taken[k]
	delete(c.taken, k)
	return asked
}

// A Store holds the data that must survive the process: an ordered map from keys
// to bytes with serializable, durable transactions. It knows nothing of trains:
// the packages above it contain every rule, encoding and index, to keep stores
// simple.
//
// Package store/boltstore is the embedded default, store/memstore the
// reference implementation, and store/storetest the conformance suite: to write
// another store, implement the three interfaces below and call storetest.Run.
//
// A Store must be safe for concurrent use. As a Reader, it answers a single Get or
// List on its own snapshot.
//
// Errors. An absent key is not an error (see [Reader.Get]). Apart from the errors of
// closures and contexts, an error of a store is opaque and means that nothing was
// written. It wraps [ErrUnavailable] if a retry may succeed soon. The one exception
// is [ErrUnknownOutcome]: a store returns it if it can neither complete nor undo
// an update, and refuses all later updates until it is reopened. If a closure makes
// several mistakes, the store may report any of them.
type Store interface {
	Reader

	// View runs fn with a Reader on which all reads see one snapshot: the
	// state between two updates in the order that Update promises, with every
	// update that returned before View was called. It returns fn's error as
	// it is. fn runs once, on the caller's goroutine, must not call the
	// Store's other methods, and is short: a View may hold up updates. If ctx
	// has ended, View may return its error and not run fn.
	View(ctx context.Context, fn func(Reader) error) error

	// Update runs fn and applies its writes: all of them or, if fn or the
	// store fails, none. Updates are serializable, and an update that returned
	// before another began precedes it. When Update returns nil, its writes
	// have reached stable storage, and so has everything that fn read.
	//
	// fn may run several times and on another goroutine, but never concurrently
	// with another closure that the store might combine with it. It must use only
	// its Tx and its own result (which it assigns anew on each run): no clock, no
	// randomness, no input or output, and no other method of the Store. It must
	// decide first and write last; see [Tx].
	//
	// If fn returns an error, nothing is written and Update returns that error
	// unchanged. This costs no write to stable storage and does not affect other
	// updates. A panic in fn also aborts the update and continues on the goroutine
	// that called Update.
	//
	// If ctx ends before fn has run for the last time, Update may return
	// ctx's error, and nothing was written. Later it waits for the outcome. fn does
	// not run after Update has returned.
	//
	// An update may write some thousand records and some MiB.
	Update(ctx context.Context, fn func(Tx) error) error
}

// A LocalStore is a Store that only one process can open, such as a file or
// the process's memory. Services of that process use it to tell each other what
// they work on. On any other store, services record that in the store itself,
// with a heartbeat (see Service.Run).
type LocalStore interface {
	Store

	// Claims returns the same each time, from whichever of the process's
	// stores on the same data: give the implementation a field of this type.
	Claims() *Claims
}

// A ReadyStore is a Store that can say whether it accepts updates. Other stores are assumed
// to accept them as long as they can be read.
type ReadyStore interface {
	Store

	// Ready returns nil if an update that writes would succeed now, as far as can be
	// determined within ctx, and otherwise the reason. Each health check calls it, so it
	// should be fast. It must be safe for concurrent use.
	Ready(ctx context.Context) error
}

// A Reader reads records. Values that a Reader given to a closure returns are
// valid until the closure returns; those of a Store itself, for good. They
// must not be modified.
type Reader interface {
	// Get returns the values of keys, in the order of the keys, in one round trip.
	// An absent key has the value nil; an empty value is an empty slice that is not
	// nil. If ctx has ended, Get may return its error.
	Get(ctx context.Context, keys ...Key) ([][]byte, error)

	// List returns the records of a range, ordered by key; no value is nil, but
	// it may be empty. If ctx has ended, List may return its error.
	List(ctx context.Context, r Range) ([]Record, error)
}

// A Tx reads and writes in an Update. Writes are buffered until the
// closure has returned nil, and of several to one key the last counts; the
// closure does not see them. Get and List after the first Put or Delete
// return [ErrReadAfterWrite], and so does Update then, whatever the closure
// returns: decide first, write last.
//
// A Tx belongs to the goroutine its closure runs on and is dead when the
// closure returns.
type Tx interface {
	Reader

	// Put sets the value of a key; nil is an empty value. The store keeps the slice: the caller must
	// not modify it afterwards. A value that was read may be put again.
	Put(key Key, value []byte)

	// Delete removes a key. Removing an absent one does nothing.
	Delete(key Key)
}

// A Key names a record. ID is 1 to [MaxKey] bytes, any bytes, compared as
// bytes: letter case matters and no byte is special.
type Key struct {
	Table Table
	ID    string
}

// String returns the table and the ID: as text if the ID is plain text, otherwise in
// hexadecimal.
func (k Key) String() string {
	for _, c := range []byte(k.ID) {
		if c <= ' ' || c > '~' {
			return fmt.Sprintf("%v %x", k.Table, k.ID)
		}
	}
	return fmt.Sprintf("%v %s", k.Table, k.ID)
}

// Limits of keys and values. A store accepts everything within them.
const (
	MaxKey   = 128     // bytes in Key.ID
	MaxValue = 1 << 20 // bytes in a value; a value may be empty
)

// Range selects records of one table: From <= ID < To. An empty From is the
// beginning, an empty To the end; neither need be a key, nor be as short as
// one, and a From that is not below To selects nothing. Reverse returns the
// greatest first. Limit is the most records returned, at the end that comes
// first; zero means all.
type Range struct {
	Table    Table
	From, To string
	Reverse  bool
	Limit    int
}

// A Record is a key and its value, as returned by List.
type Record struct {
	ID    string
	Value []byte
}

// Table is an ordered map of a store. [Tables] returns all tables; a store
// made by an older version of the module creates missing ones.
type Table uint8

// The tables. Their comments say what the keys are ordered by, for authors of stores who
// want to partition; a store may treat all tables alike.
const (
	TableMeta        Table = iota + 1 // few, small, one of them read by every update
	TableTimetable                    // generations, chunk by chunk
	TableBookings                     // creation time, random
	TableOwned                        // period, owner, creation time: index of TableBookings
	TableRuns                         // service date, train: the taken places
	TablePayments                     // booking, creation time
	TableIdempotency                  // random: idempotency keys and counts, kept for hours
	TableAgenda                       // kind, due time: scheduled work
	TableSandbox                      // payment: records of package sandbox
	TableWebhooks                     // few: subscriptions
	TableDeliveries                   // subscription, creation time; and a queue by due time
	TableReferences                   // random: the bookings by their references
	TableEnd
)

var tableNames = [...]string{
	TableMeta: "meta", TableTimetable: "timetable", TableBookings: "bookings", TableOwned: "owned",
	TableRuns: "runs", TablePayments: "payments", TableIdempotency: "idempotency", TableAgenda: "agenda",
	TableSandbox:  "sandbox",
	TableWebhooks: "webhooks", TableDeliveries: "deliveries",
	TableReferences: "references",
}

// String returns the table's name, lower-case ASCII letters that never change.
func (t Table) String() string {
	if t == 0 || t >= TableEnd {
		return fmt.Sprintf("table(%d)", uint8(t))
	}
	return tableNames[t]
}

// Tables returns every table, in ascending order.
func Tables() []Table {
	ts := make([]Table, 0, TableEnd-1)
	for t := TableMeta; t < TableEnd; t++ {
		ts = append(ts, t)
	}
	return ts
}

// CheckKey returns an error if the key and value must not be written. Stores call it on Put
// and, with a nil value, on Delete, and fail the update with its error. Reading a key that
// cannot be written finds nothing.
func CheckKey(key Key, value []byte) error {
	switch {
	case key.Table == 0 || key.Table >= TableEnd:
		return fmt.Errorf("traintravel: unknown table %v", key.Table)
	case key.ID == "" || len(key.ID) > MaxKey:
		return fmt.Errorf("traintravel: a key of table %v has %d bytes: want 1 to %d", key.Table, len(key.ID), MaxKey)
	case len(value) > MaxValue:
		return fmt.Errorf("traintravel: a value of table %v has %d bytes: want at most %d", key.Table, len(value), MaxValue)
	}
	return nil
}

// ErrReadAfterWrite is returned by the Get and List of a [Tx] after its first
// Put or Delete. It is a bug of the closure, never an error of the user.
var ErrReadAfterWrite = errors.New("traintravel: the closure of an update read after a write")

// ErrUnavailable is returned (wrapped) by a store that cannot work now, such as one whose
// database is down for longer than the store waits. Nothing was written, and the caller may
// try again.
var ErrUnavailable = errors.New("traintravel: the store is unavailable")

// ErrUnknownOutcome is returned (wrapped) by [Store.Update] if the response to a
// commit was lost and the store cannot find out whether the commit took place.
// Either all of its writes are stored or none.
var ErrUnknownOutcome = errors.New("traintravel: the outcome of the update is unknown")
