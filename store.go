package traintravel

import (
	"context"

	"github.com/traintravel/traintravel/audit"
	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/transfer"
)

// Agree lets programs that use one store, concurrently or one after the other, check
// that they agree on configuration that the store does not contain, such as their keys.
// It calls check with the value recorded last, or nil; check returns the value to record,
// or an error if the program must not continue, which Agree returns. Like the closure of
// an update, check may run several times. The value should be short and must not contain
// secrets; [Copy] copies it. Agree fails on a closed store, like a service.
func Agree(ctx context.Context, store Store, check func(recorded []byte) ([]byte, error)) error {
	return transfer.Agree(ctx, store, check)
}

// Agreed returns the value that a program on a store recorded last with Agree, or nil.
func Agreed(ctx context.Context, r Reader) ([]byte, error) { return transfer.Agreed(ctx, r) }

type (
	// CheckOptions configures Check. The zero value is valid.
	CheckOptions = audit.CheckOptions
	// A CheckReport is what Check found.
	CheckReport = audit.CheckReport
	// A Fault is an inconsistency in a store.
	Fault = audit.Fault
)

// Check reads one snapshot of a store completely, and reports every record that is
// inconsistent with others: places and bookings, in both directions; indexes and the agenda
// with their records; payments and refunds with bookings; events with what happened;
// deliveries with subscriptions; the timetable with its registry. It only counts the records
// of package sandbox.
//
// Faults are not errors: an error means that the check did not complete. Services may use the
// store meanwhile. Check uses the memory of one timetable, some megabytes, and some bytes for
// each webhook, however many bookings the store has.
func Check(ctx context.Context, store Store, opts CheckOptions) (CheckReport, error) {
	return audit.Check(ctx, store, opts)
}

type (
	// A FaultKind classifies faults. Its text never changes.
	FaultKind = audit.FaultKind
	// Claims records which due work the services of one process have in progress on a
	// [LocalStore].
	Claims = store.Claims
)

// Guard returns a store that behaves as for a [Service]: updates, and soon reads, fail
// with [ErrMoved] after its data has moved, and with [ErrCopying] while it is being filled
// (see [Copy]). It is for code that keeps its own data in the service's store, such as
// package sandbox.
func Guard(store Store) Store { return transfer.Guard(store) }

// CopyOptions configures Copy. The zero value is valid.
type CopyOptions = transfer.CopyOptions

// Copy moves all data of a store to another, of the same or another kind:
// bookings, payments, timetable, idempotency keys, and due work. IDs and page
// cursors do not change.
//
// At no time do services sell from both stores, or from half of the data. Copy first
// closes the source: services on it get [ErrMoved] from their next update on. Then it
// fills the target in chunks, while services on that get [ErrCopying], reads it again,
// compares, and opens it. Copy may be interrupted at any moment. If it can, it reopens
// the source; if the process is killed, both stores stay closed. Called again with the
// same two stores, it starts over. [Reopen] opens the source if you decide not to move.
//
// Copy refuses a target that has records of its own with [ErrHoldsData], and a target that
// is the source of another copy with ErrMoved as well. It refuses a source that has moved to
// another target with ErrMoved; also if it moved to this target but another source took that
// over, which is possible until a copy is complete. If the source has already moved to this
// target, Copy does nothing and does not call Progress. Of several concurrent calls for one
// target only the last continues.
func Copy(ctx context.Context, to, from Store, opts CopyOptions) error {
	return transfer.Copy(ctx, to, from, opts)
}

// Backup copies one snapshot of a store into an empty target. Services on the source
// continue; what they do meanwhile is not in the backup. Until everything is copied and
// verified, the target is closed, and services on it get [ErrCopying]. Backup may be
// interrupted at any moment; called again for the same target, it starts over. It refuses a
// target that has records of its own with [ErrHoldsData], and a closed source with
// [ErrMoved] or ErrCopying.
//
// Services must not sell from both stores: they would sell places twice.
func Backup(ctx context.Context, to, from Store, opts CopyOptions) error {
	return transfer.Backup(ctx, to, from, opts)
}

// Reopen opens a store whose data has moved, or was about to move, so that services
// can use it again. It does not contain what the target has sold since, and two stores
// that sell the same trains sell places twice. So Reopen first closes the target, if it is
// not nil, permanently: services on it get [ErrMoved] from their next update on. It refuses
// a target that the data has not moved to, and changes nothing. Pass a nil target if the
// target is lost or will not be used. If the store has not moved, Reopen changes nothing
// and returns an error.
func Reopen(ctx context.Context, store, target Store) error {
	return transfer.Reopen(ctx, store, target)
}

type (
	// A Store holds the data that must survive the process: an ordered map from keys to bytes
	// with serializable, durable transactions.
	Store = store.Store
	// A LocalStore is a Store that one process has to itself, such as a file or the process's
	// memory.
	LocalStore = store.LocalStore
	// A ReadyStore is a Store that can say whether it accepts updates. Other stores are
	// assumed to accept them as long as they can be read.
	ReadyStore = store.ReadyStore
	// A Reader reads records.
	Reader = store.Reader
	// A Tx reads and writes in an Update.
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
	// A Record is a key and its value, as returned by List.
	Record = store.Record
	// Table is an ordered map of a store. [Tables] returns all tables; a store made by an
	// older version of this package creates missing ones.
	Table = store.Table
)

// The tables. Their comments say what the keys are ordered by, for authors of stores who
// want to partition; a store may treat all tables alike.
const (
	TableMeta        = store.TableMeta        // few, small, one of them read by every update
	TableTimetable   = store.TableTimetable   // generations, chunk by chunk
	TableBookings    = store.TableBookings    // creation time, random
	TableOwned       = store.TableOwned       // period, owner, creation time: index of TableBookings
	TableRuns        = store.TableRuns        // service date, train: the taken places
	TablePayments    = store.TablePayments    // booking, creation time
	TableIdempotency = store.TableIdempotency // random: idempotency keys and counts, kept for hours
	TableAgenda      = store.TableAgenda      // kind, due time: scheduled work
	TableSandbox     = store.TableSandbox     // payment: records of package sandbox
	TableWebhooks    = store.TableWebhooks    // few: subscriptions
	TableDeliveries  = store.TableDeliveries  // subscription, creation time; and a queue by due time
	TableReferences  = store.TableReferences  // random: the bookings by their references
)

// Tables returns every table, in ascending order.
func Tables() []Table { return store.Tables() }

// CheckKey returns an error if the key and value must not be written. Stores call it on Put
// and, with a nil value, on Delete, and fail the update with its error. Reading a key that
// cannot be written finds nothing.
func CheckKey(key Key, value []byte) error { return store.CheckKey(key, value) }

// ErrReadAfterWrite is returned by the Get and List of a [Tx] after its first
// Put or Delete. It is a bug of the closure, never an error of the user.
var ErrReadAfterWrite = store.ErrReadAfterWrite

// ErrUnavailable is returned (wrapped) by a store that cannot work now, such as one whose
// database is down for longer than the store waits. Nothing was written, and the caller may
// try again.
var ErrUnavailable = store.ErrUnavailable

// ErrUnknownOutcome is returned (wrapped) by [Store.Update] if the response to a
// commit was lost and the store cannot find out whether the commit took place.
// Either all of its writes are stored or none.
var ErrUnknownOutcome = store.ErrUnknownOutcome
