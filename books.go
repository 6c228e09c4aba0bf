package traintravel

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// The books are the bookings, payments, events and deliveries of a store. Whoever changes
// them does so by rules on a ledger: see [books.update]. Nothing of them is changed after
// they are made, but for what has a lock of its own.
type books struct {
	store    Store
	zones    *zones
	terms    terms
	now      func() time.Time
	log      *slog.Logger
	observer *Observer

	// committed is called with each ledger that is durable, before update returns.
	committed func(*ledger)

	floors     queueFloors
	subscribed atomic.Bool // somebody has: see subscribedKey
	omitted    logLimit    // what was logged of unreadable records
	overflows  logLimit    // what was logged of backlogs that were full
	forgotten  logLimit    // what was logged of dead letters that were too many
}

// Terms are the settings that the rules follow: see [Options].
type terms struct {
	anyAmount      bool
	holdFor        time.Duration
	pendingFor     time.Duration
	keepUnpaid     time.Duration
	declines       DeclineLimits
	holds          HoldLimits
	cardKey        []byte // under which numbers of cards are hashed to be counted
	fingerprintKey []byte
	notified       bool // somebody takes events away
	posted         bool // the operator has endpoints of its own
	backlog        int  // how many deliveries may wait for a subscription
}

// update runs rules on a ledger in one transaction and writes what they changed. It is
// told to b.committed when it is durable.
func (b *books) update(ctx context.Context, now time.Time, rules func(*ledger) error) error {
	var l *ledger
	subscribed := b.subscribed.Load()
	err := b.store.Update(ctx, func(tx Tx) error {
		l = &ledger{ctx: ctx, books: b, tx: tx, now: now, subscribed: subscribed}
		if err := rules(l); err != nil {
			return err
		}
		if err := l.queueEvents(); err != nil {
			return err
		}
		if err := l.fillQueues(); err != nil {
			return err
		}
		l.write()
		return nil
	})
	if err != nil {
		return err
	}
	if l.subscribed {
		b.subscribed.Store(true)
	}
	l.tell()
	b.committed(l)
	return nil
}

func (b *books) decodeBooking(v []byte) (Booking, error) { return decodeBooking(v, b.zones) }

func (b *books) bookingOf(rec Record) (Booking, error) { return b.decodeBooking(rec.Value) }

// readOne reads a record that is decoded then; ErrNotFound if there is none.
func readOne[T any](ctx context.Context, r Reader, k Key, decode func([]byte) (T, error)) (is T, err error) {
	v, err := r.Get(ctx, k)
	if err != nil {
		return is, err
	}
	if v[0] == nil {
		return is, ErrNotFound
	}
	return decode(v[0])
}

// booking reads anybody's booking, whatever its status.
func (b *books) booking(ctx context.Context, r Reader, id uuid.UUID) (Booking, error) {
	return readOne(ctx, r, bookingKey(id), b.decodeBooking)
}

// payment reads a payment of a booking.
func (b *books) payment(ctx context.Context, r Reader, booking, id uuid.UUID) (payment, error) {
	return readOne(ctx, r, paymentKey(booking, id), decodePayment)
}

// ownBooking reads a booking of the caller's, whatever its status.
func (b *books) ownBooking(ctx context.Context, r Reader, by Caller, id uuid.UUID) (Booking, error) {
	is, err := b.booking(ctx, r, id)
	if err == nil && !is.ownedBy(by) {
		return Booking{}, ErrNotFound
	}
	return is, err
}

// eachBooking reads all bookings from a key on, in the order in which they were made,
// and returns those that it cannot read.
func (b *books) eachBooking(ctx context.Context, r Reader, from string, each func(*Booking)) (omissions, error) {
	return eachOf(ctx, r, Range{Table: TableBookings, From: from}, b.bookingOf, func(b Booking) bool {
		each(&b)
		return true
	})
}

// bookingsOf reads the bookings that have something of an inventory, and returns those
// that it cannot read.
func (b *books) bookingsOf(ctx context.Context, r Reader, inv *inventory, each func(*Booking)) (left omissions, err error) {
	for ids := range slices.Chunk(inv.holders(), batch) {
		keys := make([]Key, len(ids))
		for i, id := range ids {
			keys[i] = bookingKey(id)
		}
		values, err := r.Get(ctx, keys...)
		if err != nil {
			return left, err
		}
		for i, v := range values {
			if v == nil {
				left.add(keys[i], errMissing)
			} else if is, err := b.decodeBooking(v); err != nil {
				left.add(keys[i], err)
			} else {
				each(&is)
			}
		}
	}
	return left, nil
}

// omit tells the log and the observer what an operation has left out, and how much it is.
func (b *books) omit(ctx context.Context, left omissions) int {
	for _, o := range left {
		if told := b.observer.Unreadable; told != nil {
			told(ctx, UnreadableRecord{o.key.Table, errors.Is(o.err, ErrNewerData)})
		}
		if ok, unsaid := b.omitted.take(time.Now()); ok {
			b.log.WarnContext(ctx, "a record could not be read and was left out; run check", "record", o.key.String(), "not_logged", unsaid, "error", o.err)
		}
	}
	return len(left)
}
