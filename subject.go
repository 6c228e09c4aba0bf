package traintravel

import (
	"context"
	"slices"

	"github.com/google/uuid"
)

// What is known of a person, and its end. A booking that is erased keeps its trip,
// its places, its price and its payments, so that sums and trains stay right, and has
// no name and no owner any more; of what its payments came from nothing is left.

// export returns all that the store has of a subject.
func (d *desk) export(ctx context.Context, of Subject) (SubjectData, error) {
	var data SubjectData
	var left omissions
	err := d.books.store.View(ctx, func(r Reader) error {
		data, left = SubjectData{Subject: of}, nil
		var own []Booking
		more, err := d.books.eachBooking(ctx, r, "", func(b *Booking) {
			if b.Owner == of {
				own = append(own, *b)
			}
		})
		if err != nil {
			return err
		}
		left = append(left, more...)
		for _, b := range own {
			paid, more, err := readPayments(ctx, r, b.ID)
			if err != nil {
				return err
			}
			left = append(left, more...)
			data.Bookings = append(data.Bookings, BookingHistory{Booking: b, Payments: paid, Unreadable: len(more)})
		}
		subs, more, err := subscriptionsOf(ctx, r, of)
		left = append(left, more...)
		for _, sub := range subs {
			data.Subscriptions = append(data.Subscriptions, sub.Subscription)
		}
		return err
	})
	data.Unreadable = d.books.omit(ctx, left)
	return data, err
}

// subscriptionsOf are a subject's own, through whatever programs.
func subscriptionsOf(ctx context.Context, r Reader, of Subject) ([]subscription, omissions, error) {
	subs, left, err := readMarked(ctx, r, subjectPrefix(of), "")
	return slices.DeleteFunc(subs, func(s subscription) bool { return s.operator || s.Owner != of }), left, err
}

// eraseSubject removes who a subject is from what is over, and ends its subscriptions.
func (d *desk) eraseSubject(ctx context.Context, of Subject) (Erasure, error) {
	var done Erasure
	if of.ID == "" {
		return done, invalid("subject", "has no ID")
	}
	var own []uuid.UUID
	var subs []subscription
	var left omissions
	err := d.books.store.View(ctx, func(r Reader) (err error) {
		own = nil
		if left, err = d.books.eachBooking(ctx, r, "", func(b *Booking) {
			if b.Owner == of {
				own = append(own, b.ID)
			}
		}); err != nil {
			return err
		}
		var more omissions
		subs, more, err = subscriptionsOf(ctx, r, of)
		left = append(left, more...)
		return err
	})
	done.Unreadable = d.books.omit(ctx, left)
	if err != nil {
		return done, err
	}
	for _, sub := range subs {
		if err := d.books.update(ctx, d.books.now(), func(l *ledger) error { l.unsubscribe(&sub); return nil }); err != nil {
			return done, err
		}
		done.Subscriptions++
	}
	erased, left, err := d.erase(ctx, own, func(b *Booking) bool { return b.Owner == of })
	for _, id := range own {
		if !erased[id] && !left.of(bookingKey(id)) {
			done.Kept = append(done.Kept, id)
		}
	}
	done.Bookings = len(erased)
	done.Unreadable += d.books.omit(ctx, left)
	return done, err
}

// eraseAtOnce is how many bookings are erased in one update.
const eraseAtOnce = 32

// erase erases those of some bookings that are over and that are meant. It leaves out
// those of which something cannot be read.
func (d *desk) erase(ctx context.Context, ids []uuid.UUID, meant func(*Booking) bool) (erased map[uuid.UUID]bool, left omissions, err error) {
	erased = map[uuid.UUID]bool{}
	for some := range slices.Chunk(ids, eraseAtOnce) {
		done, err := d.eraseTogether(ctx, some, meant)
		if unreadable(err) { // one of them is: each by itself
			for _, id := range some {
				one, e := d.eraseTogether(ctx, []uuid.UUID{id}, meant)
				if err = e; unreadable(err) {
					left.add(bookingKey(id), err)
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
func (d *desk) eraseTogether(ctx context.Context, ids []uuid.UUID, meant func(*Booking) bool) (erased []uuid.UUID, err error) {
	err = d.books.update(ctx, d.books.now(), func(l *ledger) error {
		erased = nil
		for _, id := range ids {
			ok, err := l.erase(id, meant)
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
