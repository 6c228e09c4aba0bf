package desk

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The export and erasure of personal data. An erased booking keeps its trip, its places, its
// price and its payments, so that totals and inventories stay correct, but loses its name, its
// owner, and the sources of its payments.

// Export returns all data about a subject in the store.
func (d *Desk) Export(ctx context.Context, of rail.Subject) (rail.SubjectData, error) {
	var data rail.SubjectData
	var left records.Omissions
	err := d.Books.Store.View(ctx, func(r store.Reader) error {
		data, left = rail.SubjectData{Subject: of}, nil
		var own []rail.Booking
		more, err := d.Books.EachBooking(ctx, r, "", func(b *rail.Booking) {
			if b.Owner == of {
				own = append(own, *b)
			}
		})
		if err != nil {
			return err
		}
		left = append(left, more...)
		for _, b := range own {
			paid, more, err := records.ReadPayments(ctx, r, b.ID)
			if err != nil {
				return err
			}
			left = append(left, more...)
			data.Bookings = append(data.Bookings, rail.BookingHistory{Booking: b, Payments: paid, Unreadable: len(more)})
		}
		subs, more, err := subscriptionsOf(ctx, r, of)
		left = append(left, more...)
		for _, sub := range subs {
			data.Subscriptions = append(data.Subscriptions, sub.Subscription)
		}
		return err
	})
	data.Unreadable = d.Books.Omit(ctx, left)
	return data, err
}

// subscriptionsOf returns the subscriptions of a subject, through all programs.
func subscriptionsOf(ctx context.Context, r store.Reader, of rail.Subject) ([]records.Subscription, records.Omissions, error) {
	subs, left, err := records.ReadMarked(ctx, r, records.SubjectPrefix(of), "")
	return slices.DeleteFunc(subs, func(s records.Subscription) bool { return s.Operator || s.Owner != of }), left, err
}

// EraseSubject removes a subject's personal data from bookings that have ended, and ends its
// subscriptions.
func (d *Desk) EraseSubject(ctx context.Context, of rail.Subject) (rail.Erasure, error) {
	var done rail.Erasure
	if of.ID == "" {
		return done, rail.Invalid("subject", "has no ID")
	}
	var own []uuid.UUID
	var subs []records.Subscription
	var left records.Omissions
	err := d.Books.Store.View(ctx, func(r store.Reader) (err error) {
		own = nil
		if left, err = d.Books.EachBooking(ctx, r, "", func(b *rail.Booking) {
			if b.Owner == of {
				own = append(own, b.ID)
			}
		}); err != nil {
			return err
		}
		var more records.Omissions
		subs, more, err = subscriptionsOf(ctx, r, of)
		left = append(left, more...)
		return err
	})
	done.Unreadable = d.Books.Omit(ctx, left)
	if err != nil {
		return done, err
	}
	for _, sub := range subs {
		if err := d.Books.Update(ctx, d.Books.Now(), func(l *ledger.Ledger) error { l.Unsubscribe(&sub); return nil }); err != nil {
			return done, err
		}
		done.Subscriptions++
	}
	erased, left, err := d.erase(ctx, own, func(b *rail.Booking, _ []records.Payment) bool { return b.Owner == of })
	for _, id := range own {
		if !erased[id] && !left.Of(records.BookingKey(id)) {
			done.Kept = append(done.Kept, id)
		}
	}
	done.Bookings = len(erased)
	done.Unreadable += d.Books.Omit(ctx, left)
	return done, err
}

// meant selects bookings, with their payments, to be erased.
type meant = func(*rail.Booking, []records.Payment) bool

// eraseAtOnce is the number of bookings that are erased in one update.
const eraseAtOnce = 32

// erase erases the bookings that have ended and that which selects. It skips those with a record
// that cannot be read.
func (d *Desk) erase(ctx context.Context, ids []uuid.UUID, which meant) (erased map[uuid.UUID]bool, left records.Omissions, err error) {
	erased = map[uuid.UUID]bool{}
	for some := range slices.Chunk(ids, eraseAtOnce) {
		done, err := d.eraseTogether(ctx, some, which)
		if records.Unreadable(err) { // one of them is: each by itself
			for _, id := range some {
				one, e := d.eraseTogether(ctx, []uuid.UUID{id}, which)
				if err = e; records.Unreadable(err) {
					left.Add(records.BookingKey(id), err)
					err = nil
				}
				if err != nil {
					break
				}
				done = append(done, one...)
			}
		}
		for _, id := range done {
			erased[id] = true
		}
		if err != nil {
			return erased, left, err
		}
	}
	return erased, left, nil
}

// eraseTogether erases bookings in one update, all or none.
func (d *Desk) eraseTogether(ctx context.Context, ids []uuid.UUID, which meant) (erased []uuid.UUID, err error) {
	err = d.Books.Update(ctx, d.Books.Now(), func(l *ledger.Ledger) error {
		erased = nil
		for _, id := range ids {
			ok, err := l.Erase(id, which)
			if err != nil {
				return err
			}
			if ok {
				erased = append(erased, id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return erased, nil
}
