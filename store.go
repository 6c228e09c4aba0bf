package traintravel

import (
	"context"

	"github.com/traintravel/traintravel/audit"
	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/transfer"
)

// Agree lets programs that use one store, at the same time or one after the other,
// find out whether they have in common what the store does not decide, such as their
// keys. Check gets what was recorded last, or nil, and returns what to record, or the
// error of a program that must not go on, which Agree returns. It may run several
// times, as the closure of an update does. What is recorded is short, holds no secret,
// and goes along with a [Copy]. A store that is closed is refused, as to a service.
func Agree(ctx context.Context, store Store, check func(recorded []byte) ([]byte, error)) error {
	return transfer.Agree(ctx, store, check)
}

// Agreed is what programs on a store have recorded last by Agree, or nil.
func Agreed(ctx context.Context, r Reader) ([]byte, error) { return transfer.Agreed(ctx, r) }

type (
	// CheckOptions are what Check may be told. The zero value works.
	CheckOptions = audit.CheckOptions
	// A CheckReport is what Check found.
	CheckReport = audit.CheckReport
	// A Fault is one thing that is wrong with a store.
	Fault = audit.Fault
)

// Check reads all of a store, as it is at one instant, and reports every record that
// does not agree with the others: places with bookings, both ways; indexes and the
// agenda with what they are of; payments and refunds with bookings; events with what
// has happened; deliveries with subscriptions; the timetable with its registry. What
// package sandbox remembers is counted, and no more.
//
// Faults are no error: an error says that the check did not come to its end. Services
// may work on the store meanwhile. It takes the memory of one timetable and some
// megabytes, and of webhooks some bytes each, however many bookings there are.
func Check(ctx context.Context, store Store, opts CheckOptions) (CheckReport, error) {
	return audit.Check(ctx, store, opts)
}

type (
	// A FaultKind tells faults apart. Its text never changes.
	FaultKind = audit.FaultKind
	// Claims are what the services of one process have in hand of the work that is due in a
	// [LocalStore].
	Claims = store.Claims
)

// Guard returns the store as a [Service] sees it: updates, and soon reads, fail
// with [ErrMoved] or [ErrCopying] while its data has moved, or is being filled in
// (see [Copy]). It is for what keeps data of its own beside the service's, such as
// package sandbox.
func Guard(store Store) Store { return transfer.Guard(store) }

// CopyOptions are what Copy may be told. The zero value works.
type CopyOptions = transfer.CopyOptions

// Copy moves all data of a store to another, of the same kind or of another:
// bookings, payments, timetable, idempotency keys, and what is due. IDs and pages
// stay as they are.
//
// No service sells from both, or from half of it. First the source is closed:
// services on it get [ErrMoved] from their next update on. Then the target is
// filled, chunk by chunk, while services on it get [ErrCopying]; it is read again
// and compared; and last it is opened. Copy may be interrupted at any moment. It
// opens the source again if it can; who is killed leaves both closed. Called again
// with the same two stores, it starts over. [Reopen] opens a source that is not to
// be moved after all.
//
// A target that has records of its own is refused with [ErrHoldsData], one that is
// a source with ErrMoved as well. A source that has moved elsewhere is refused with
// ErrMoved: to another target, or to this one before another source took it over,
// which may be as long as the copy has not come to its end. Where the source has moved
// to this target already, nothing is done, and Progress is never called. Of several
// calls for one target at a time only the last goes on.
func Copy(ctx context.Context, to, from Store, opts CopyOptions) error {
	return transfer.Copy(ctx, to, from, opts)
}

// Backup fills an empty store with all that another holds at one instant, and leaves
// that one to the services on it: what they do meanwhile is not in the backup. Until all
// is copied and verified the target is closed, and services on it get [ErrCopying].
// Backup may be interrupted at any moment; called again for the same target, it starts
// over. A target that has records of its own is refused with [ErrHoldsData], a source
// that is closed with [ErrMoved] or ErrCopying.
//
// Services must not sell from both stores: they would sell places twice.
func Backup(ctx context.Context, to, from Store, opts CopyOptions) error {
	return transfer.Backup(ctx, to, from, opts)
}

// Reopen opens a store whose data has moved, or was about to, so that services
// use it again. What the target has sold since is not in it: two stores that sell
// the same trains sell places twice. So the target, if it is not nil, is closed
// before, for good: services on it get [ErrMoved] from their next update on. One
// that the data has not moved to is refused, and nothing is changed. A nil target
// is one that is lost, or that nobody will use. A store that has not moved is left
// as it is, with an error.
func Reopen(ctx context.Context, store, target Store) error {
	return transfer.Reopen(ctx, store, target)
}

type (
	// A Store keeps what must outlive the process: an ordered map from keys to bytes with
	// serializable, durable transactions.
	Store = store.Store
	// A LocalStore is a Store that one process has to itself, such as a file or the process's
	// memory.
	LocalStore = store.LocalStore
	// A ReadyStore is a Store that can say whether it takes updates. One that does not
	// implement it is taken to do so for as long as it can be read.
	ReadyStore = store.ReadyStore
	// A Reader reads records.
	Reader = store.Reader
	// A Tx is what an Update reads and writes.
	Tx = store.Tx
	// A Key names a record. ID is 1 to [MaxKey] bytes, any bytes, compared as bytes: letter
	// case matters and no byte is special.
	Key = store.Key
)

// Limits of keys and values. A store accepts everything within them.
const (
	MaxKey   = store.MaxKey   // bytes in Key.ID
	MaxValue = store.MaxValue // bytes in a value; a value may be empty
)

type (
	// Range selects records of one table: From <= ID < To.
	Range = store.Range
	// A Record is one result of List.
	Record = store.Record
	// Table is one ordered map of a store. [Tables] returns all there are; a store made by an
	// older version of this package creates the ones it lacks.
	Table = store.Table
)

// The tables. The comment says what orders the keys, for authors of stores who
// wish to partition; a store may treat them all alike.
const (
	TableMeta        = store.TableMeta        // few, small, one of them read by every update
	TableTimetable   = store.TableTimetable   // generations, chunk by chunk
	TableBookings    = store.TableBookings    // creation time, random
	TableOwned       = store.TableOwned       // period, owner, creation time: index of TableBookings
	TableRuns        = store.TableRuns        // service date, train: who has which place
	TablePayments    = store.TablePayments    // booking, creation time
	TableIdempotency = store.TableIdempotency // random: what is remembered of requests, for hours
	TableAgenda      = store.TableAgenda      // kind, due time: what Run does next
	TableSandbox     = store.TableSandbox     // payment: what package sandbox remembers
	TableWebhooks    = store.TableWebhooks    // few: subscriptions
	TableDeliveries  = store.TableDeliveries  // subscription, creation time; and a queue by due time
	TableReferences  = store.TableReferences  // random: the bookings by their references
)

// Tables returns every table, in ascending order.
func Tables() []Table { return store.Tables() }

// CheckKey returns an error that says why key and value may not be written, or
// nil. Stores call it on Put and, with a nil value, on Delete, and fail the
// update with its error. Reading a key that could not be written finds nothing.
func CheckKey(key Key, value []byte) error { return store.CheckKey(key, value) }

// ErrReadAfterWrite is returned by the Get and List of a [Tx] after its first
// Put or Delete. It is a mistake in the closure, never the user's.
var ErrReadAfterWrite = store.ErrReadAfterWrite

// ErrUnavailable is returned (wrapped) by a store that cannot do its work at the
// moment, such as one whose database is away and does not come back within the
// time that the store waits. Nothing was written, and the caller may try again.
var ErrUnavailable = store.ErrUnavailable

// ErrUnknownOutcome is returned (wrapped) by [Store.Update] when the answer to
// a commit was lost and nothing the store can look up tells whether it took
// place. The writes are there in full or not at all.
var ErrUnknownOutcome = store.ErrUnknownOutcome
