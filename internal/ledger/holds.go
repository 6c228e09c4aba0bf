package ledger

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The unpaid bookings of a user are limited, because one user could otherwise block a whole
// train without paying.
//
// This needs no record of its own. The update that makes a booking lists its owner's latest
// bookings in TableOwned: no hold is older than HoldFor and PendingFor together. It reads them
// only if they are as many as the limit, which is rare. It ends those that have expired, so
// that no server with a slow clock can take a payment for one that did not count.
//
// The number of bookings that it reads is limited, so that a user with many bookings does not
// slow down others. Users can hide a hold behind that many later bookings, which they have paid.

const (
	paidAmong = 200 // the number of paid bookings that are read, besides the limit of holds

	// slowClock is the largest tolerated difference between the clocks of two servers: a hold
	// that has expired on one is ended there while it may not have expired on the other.
	slowClock = time.Hour
)

// A booker is the data about a caller that the update that makes a booking needs.
type booker struct {
	mark    string    // records.OwnerMark
	random  uuid.UUID // of the booking's ID
	counted bool      // whether the caller's holds count
	since   time.Time // the creation of the oldest booking to be listed
	limit   int       // the number of bookings to list
}

// Booker returns a booker whose list covers all bookings that may be held, if they count, or
// otherwise one booking that a clock ahead of now has made.
func (b *Books) Booker(by rail.Caller, now time.Time, random uuid.UUID) booker {
	t := &b.Terms
	is := booker{mark: records.OwnerMark(by.Subject), random: random, counted: t.Holds.Count(by), since: now, limit: 1}
	if is.counted {
		is.since, is.limit = now.Add(-t.HoldFor).Add(-t.PendingFor-slowClock), paidAmong+max(t.Holds.User, t.Holds.Train)
	}
	return is
}

func (b *booker) recent(l *Ledger) ([]uuid.UUID, error) {
	return records.RecentOwned(l.Ctx, l.Tx, b.mark, b.since, l.Now, b.limit)
}

// roomFor refuses a booking if its owner has reached a limit, counting the recent bookings.
func (l *Ledger) roomFor(sn *timetable.Snapshot, b *rail.Booking, recent []uuid.UUID) error {
	holds := &l.books.Terms.Holds
	if len(recent) < holds.Least() {
		return nil
	}
	if err := l.CheckCurrent(sn); err != nil { // trains may have changed identity in the next
		return err
	}
	held, err := l.stillHeld(b.Owner, recent)
	if err != nil {
		return err
	}
	if held, err = l.endOwnLapsed(held); err != nil {
		return err
	}
	return holds.Allow(b, held, l.Now)
}

// stillHeld returns the held bookings of an owner, including lapsed ones. A booking that cannot
// be read counts as held for as long as a hold can last.
func (l *Ledger) stillHeld(owner rail.Subject, list []uuid.UUID) (held []rail.Booking, err error) {
	keys := make([]store.Key, len(list))
	for i, id := range list {
		keys[i] = records.BookingKey(id)
	}
	values, err := l.Tx.Get(l.Ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, id := range list {
		if values[i] == nil {
			continue
		}
		b, err := l.books.decodeBooking(values[i])
		if err != nil {
			b = rail.Booking{ID: id, Owner: owner, Status: rail.Held, Expires: ids.TimeOf(id).Add(l.books.Terms.HoldFor).Add(l.books.Terms.PendingFor)}
			if b.Lapsed(l.Now) {
				continue
			}
		}
		if b.Status == rail.Held && b.Owner == owner {
			held = append(held, b)
			l.fetched = append(l.fetched, fetched{keys[i], values[i]})
		}
	}
	return held, nil
}

// endOwnLapsed ends the expired holds, and returns the others. A hold on a run that cannot be
// read does not change: nobody can pay for it.
func (l *Ledger) endOwnLapsed(held []rail.Booking) (live []rail.Booking, err error) {
	for _, b := range held {
		if !b.Lapsed(l.Now) {
			live = append(live, b)
		} else if err := l.Expire(b.ID); err != nil && !records.Unreadable(err) {
			return nil, err
		}
	}
	return live, nil
}
