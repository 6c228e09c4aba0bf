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

// Claims are what the services of one process have in hand of the work that is
// due in a [LocalStore]. The zero value is none. They are safe for concurrent
// use.
type Claims struct {
	mu    sync.Mutex
	taken map[Key]bool // whether somebody else has asked for it
}

// Take takes the work that a key names in hand, and says whether nobody had it. Who has
// it is told by Give that somebody else has asked for it.
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

// Give gives back what Take took, and says whether somebody else has asked for it meanwhile.
func (c *Claims) Give(k Key) (asked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked = c.taken[k]
	delete(c.taken, k)
	return asked
}

// A Store keeps what must outlive the process: an ordered map from keys to
// bytes with serializable, durable transactions. It knows nothing of trains:
// every rule, every record's encoding and every index is written once, in the
// packages above it, so that a store has little to get wrong.
//
// Package store/boltstore is the embedded default, store/memstore the
// reference, and store/storetest the contract as a test suite: an author of
// another store implements the three interfaces below and calls storetest.Run.
//
// A Store is safe for concurrent use. Being a Reader itself, it answers a
// single Get or List on a snapshot of its own.
//
// Errors. An absent key is not an error (see [Reader.Get]). Whatever a store
// returns beside the errors of the closures and contexts it was given is an
// opaque failure: the caller knows that nothing was written. It wraps
// [ErrUnavailable] if the same call may succeed a little later. The one exception
// is [ErrUnknownOutcome]. A store that can neither finish an update that is
// durable nor undo it returns that, and refuses all later updates until it is
// opened anew. Of several mistakes in one closure the store may report any.
type Store interface {
	Reader

	// View runs fn with a Reader on which all reads see one snapshot: the
	// state between two updates in the order that Update promises, with every
	// update that returned before View was called. It returns fn's error as
	// it is. fn runs once, on the caller's goroutine, must not call the
	// Store's other methods, and is short: a View may hold up updates. If ctx
	// has ended, View may return its error and not run fn.
	View(ctx context.Context, fn func(Reader) error) error

	// Update runs fn and applies what it wrote: all of it or, if fn or the
	// store fails, nothing. Updates appear to have run one after another, in
	// an order in which one that returned before another began comes first.
	// When Update returns nil, the writes have reached stable storage, and so
	// has everything that fn read.
	//
	// fn may run several times and on another goroutine, at the same time as
	// no other closure that the store would mix with it. It touches nothing
	// but its Tx and its own result (which it assigns anew on each run): no
	// clock, no random, no input or output, no other method of the Store. It
	// decides first and writes last; see [Tx].
	//
	// An error from fn gives the update up and is returned as it is. Such a
	// refusal costs no write to stable storage and disturbs no other update.
	// A panic in fn gives it up likewise and goes on on the goroutine that
	// called Update.
	//
	// If ctx ends before fn has run for the last time, Update may return
	// ctx's error, and nothing was written. Later than that it waits for the
	// outcome. fn does not run any more when Update has returned.
	//
	// An update may write some thousand records and some MiB.
	Update(ctx context.Context, fn func(Tx) error) error
}

// A LocalStore is a Store that one process has to itself, such as a file or
// the process's memory. Services of that process say to each other through it
// what they work on. Those on any other store say so in the store itself, and
// keep writing to it that they live (see Service.Run).
type LocalStore interface {
	Store

	// Claims returns the same each time, from whichever of the process's
	// stores on the same data: give the implementation a field of this type.
	Claims() *Claims
}

// A ReadyStore is a Store that can say whether it takes updates. One that does not
// implement it is taken to do so for as long as it can be read.
type ReadyStore interface {
	Store

	// Ready returns nil if an update that writes would succeed now, as far as can be
	// told within ctx, or else why it would not. It is called for each health check,
	// so it is quick mostly, and it is safe for concurrent use.
	Ready(ctx context.Context) error
}

// A Reader reads records. Values that a Reader given to a closure returns are
// valid until the closure returns; those of a Store itself, for good. They
// must not be modified.
type Reader interface {
	// Get returns the value of each key in the order asked, in one round
	// trip; nil stands for a key that is absent, and an empty slice that is
	// not nil for an empty value. If ctx has ended, its error may be returned.
	Get(ctx context.Context, keys ...Key) ([][]byte, error)

	// List returns the records of a range in the order of their keys; none is
	// nil or empty. If ctx has ended, its error may be returned.
	List(ctx context.Context, r Range) ([]Record, error)
}

// A Tx is what an Update reads and writes. Writes are kept aside until the
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
	// not modify it any more. A value that was read may be put again.
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

// String is the table and the ID: as it is if it is plain text, or else its bytes in
// hexadecimal digits.
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

// A Record is one result of List.
type Record struct {
	ID    string
	Value []byte
}

// Table is one ordered map of a store. [Tables] returns all there are; a store
// made by an older version of the module creates the ones it lacks.
type Table uint8

// The tables. The comment says what orders the keys, for authors of stores who
// wish to partition; a store may treat them all alike.
const (
	TableMeta        Table = iota + 1 // few, small, one of them read by every update
	TableTimetable                    // generations, chunk by chunk
	TableBookings                     // creation time, random
	TableOwned                        // period, owner, creation time: index of TableBookings
	TableRuns                         // service date, train: who has which place
	TablePayments                     // booking, creation time
	TableIdempotency                  // random: what is remembered of requests, for hours
	TableAgenda                       // kind, due time: what Run does next
	TableSandbox                      // payment: what package sandbox remembers
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

// CheckKey returns an error that says why key and value may not be written, or
// nil. Stores call it on Put and, with a nil value, on Delete, and fail the
// update with its error. Reading a key that could not be written finds nothing.
func CheckKey(key Key, value []byte) error {
	switch {
	case key.Table == 0 || key.Table >= TableEnd:
		return fmt.Errorf("traintravel: no such table: %v", key.Table)
	case key.ID == "" || len(key.ID) > MaxKey:
		return fmt.Errorf("traintravel: a key of table %v has %d bytes, not 1 to %d", key.Table, len(key.ID), MaxKey)
	case len(value) > MaxValue:
		return fmt.Errorf("traintravel: a value of table %v has %d bytes, more than %d", key.Table, len(value), MaxValue)
	}
	return nil
}

// ErrReadAfterWrite is returned by the Get and List of a [Tx] after its first
// Put or Delete. It is a mistake in the closure, never the user's.
var ErrReadAfterWrite = errors.New("traintravel: a read after a write in one update")

// ErrUnavailable is returned (wrapped) by a store that cannot do its work at the
// moment, such as one whose database is away and does not come back within the
// time that the store waits. Nothing was written, and the caller may try again.
var ErrUnavailable = errors.New("traintravel: the store is not available at the moment")

// ErrUnknownOutcome is returned (wrapped) by [Store.Update] when the answer to
// a commit was lost and nothing the store can look up tells whether it took
// place. The writes are there in full or not at all.
var ErrUnknownOutcome = errors.New("traintravel: the outcome of the update is unknown")
