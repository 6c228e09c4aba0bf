package ledger

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/loglimit"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The Books are the bookings, payments, events and deliveries of a store. Whoever changes
// them does so by rules on a ledger: see Update. Nothing of them is changed after
// they are made, but for what has a lock of its own.
type Books struct {
	Store    store.Store
	Zones    *tz.Zones
	Terms    Terms
	Now      func() time.Time
	Log      *slog.Logger
	Observer *rail.Observer

	// Committed is called with each ledger that is durable, before Update returns.
	Committed func(*Ledger)

	Floors     records.QueueFloors
	subscribed atomic.Bool       // somebody has: see records.SubscribedKey
	omitted    loglimit.LogLimit // what was logged of unreadable records
	overflows  loglimit.LogLimit // what was logged of backlogs that were full
	Forgotten  loglimit.LogLimit // what was logged of dead letters that were too many
}

// Terms are the settings that the rules follow: see traintravel.Options.
type Terms struct {
	AnyAmount      bool
	HoldFor        time.Duration
	PendingFor     time.Duration
	KeepUnpaid     time.Duration
	Declines       rail.DeclineLimits
	Holds          rail.HoldLimits
	CardKey        []byte // under which numbers of cards are hashed to be counted
	FingerprintKey []byte
	Notified       bool // somebody takes events away
	Posted         bool // the operator has endpoints of its own
	Backlog        int  // how many deliveries may wait for a subscription
}

func (b *Books) decodeBooking(v []byte) (rail.Booking, error) {
	return records.DecodeBooking(v, b.Zones)
}

// BookingOf reads the record of a booking.
func (b *Books) BookingOf(rec store.Record) (rail.Booking, error) { return b.decodeBooking(rec.Value) }

// readOne reads a record that is decoded then; ErrNotFound if there is none.
func readOne[T any](ctx context.Context, r store.Reader, k store.Key, decode func([]byte) (T, error)) (is T, err error) {
	v, err := r.Get(ctx, k)
	if err != nil {
		return is, err
	}
	if v[0] == nil {
		return is, rail.ErrNotFound
	}
	return decode(v[0])
}

// Booking reads anybody's booking, whatever its status.
func (b *Books) Booking(ctx context.Context, r store.Reader, id uuid.UUID) (rail.Booking, error) {
	return readOne(ctx, r, records.BookingKey(id), b.decodeBooking)
}

// Payment reads a payment of a booking.
func (b *Books) Payment(ctx context.Context, r store.Reader, booking, id uuid.UUID) (records.Payment, error) {
	return readOne(ctx, r, records.PaymentKey(booking, id), records.DecodePayment)
}

// OwnBooking reads a booking of the caller's, whatever its status.
func (b *Books) OwnBooking(ctx context.Context, r store.Reader, by rail.Caller, id uuid.UUID) (rail.Booking, error) {
	is, err := b.Booking(ctx, r, id)
	if err == nil && !is.OwnedBy(by) {
		return rail.Booking{}, rail.ErrNotFound
	}
	return is, err
}

// EachBooking reads all bookings from a key on, in the order in which they were made,
// and returns those that it cannot read.
func (b *Books) EachBooking(ctx context.Context, r store.Reader, from string, each func(*rail.Booking)) (records.Omissions, error) {
	return records.EachOf(ctx, r, store.Range{Table: store.TableBookings, From: from}, b.BookingOf, func(b rail.Booking) bool {
		each(&b)
		return true
	})
}

// BookingsOf reads the bookings that have something of an inventory, and returns those
// that it cannot read.
func (b *Books) BookingsOf(ctx context.Context, r store.Reader, inv *seats.Inventory, each func(*rail.Booking)) (left records.Omissions, err error) {
	for ids := range slices.Chunk(inv.Holders(), records.Batch) {
		keys := make([]store.Key, len(ids))
		for i, id := range ids {
			keys[i] = records.BookingKey(id)
		}
		values, err := r.Get(ctx, keys...)
		if err != nil {
			return left, err
		}
		for i, v := range values {
			if v == nil {
				left.Add(keys[i], records.ErrMissing)
			} else if is, err := b.decodeBooking(v); err != nil {
				left.Add(keys[i], err)
			} else {
				each(&is)
			}
		}
	}
	return left, nil
}

// Omit logs the records that an operation has skipped, reports them to the observer, and
// returns their number.
func (b *Books) Omit(ctx context.Context, left records.Omissions) int {
	for _, o := range left {
		if told := b.Observer.Unreadable; told != nil {
			told(ctx, rail.UnreadableRecord{Table: o.Key.Table, Newer: errors.Is(o.Err, codec.ErrNewerData)})
		}
		if ok, unsaid := b.omitted.Take(time.Now()); ok {
			b.Log.WarnContext(ctx, "skipped an unreadable record; run check", "record", o.Key.String(), "not_logged", unsaid, "error", o.Err)
		}
	}
	return len(left)
}
