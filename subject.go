package traintravel

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// What is known of a person, and its end. A booking that is erased keeps its trip,
// its places, its price and its payments, so that sums and trains stay right, and has
// no name and no owner any more; of what its payments came from nothing is left.

// SubjectData is all that a store has of a subject.
type SubjectData struct {
	Subject       Subject
	Bookings      []BookingHistory // the oldest first, whatever their status
	Subscriptions []Subscription   // the newest first, without their secrets
	// Unreadable is how many records could not be read: bookings that may be the
	// subject's, and payments and subscriptions that are. [Check] names them.
	Unreadable int
}

// ExportSubject returns all that the store has of a subject, as a person may ask for it
// (Regulation (EU) 2016/679, article 15). It looks through all bookings.
func (s *Service) ExportSubject(ctx context.Context, of Subject) (SubjectData, error) {
	var data SubjectData
	var left omissions
	err := s.store.View(ctx, func(r Reader) error {
		data, left = SubjectData{Subject: of}, nil
		var own []Booking
		more, err := s.books.eachBooking(ctx, r, "", func(b *Booking) {
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
	data.Unreadable = s.books.omit(ctx, left)
	return data, err
}

// subscriptionsOf are a subject's own, through whatever programs.
func subscriptionsOf(ctx context.Context, r Reader, of Subject) ([]subscription, omissions, error) {
	subs, left, err := readMarked(ctx, r, subjectPrefix(of), "")
	return slices.DeleteFunc(subs, func(s subscription) bool { return s.operator || s.Owner != of }), left, err
}

// An Erasure says what EraseSubject did.
type Erasure struct {
	Bookings      int // that were erased
	Subscriptions int // that were ended
	// Kept are the bookings that are still needed: the journey is not over, or a
	// payment may still succeed. Cancel them, or erase the subject again later.
	Kept []uuid.UUID
	// Unreadable is how many records could not be read, and so were not erased: bookings
	// that may be the subject's, bookings that are and of which a payment or a train cannot
	// be read, and subscriptions. [Check] names them. Erase the subject again when they can
	// be read.
	Unreadable int
}

// EraseSubject removes who the subject is from all bookings that are over, and ends
// its subscriptions, as a person may ask for it (Regulation (EU) 2016/679, article 17).
// It looks through all bookings. Broken off, it goes on when it is called again.
//
// Idempotency keys hold no more than hashes, and are forgotten after a day. What the
// gateway, and whoever is told of events, know of the subject is theirs to erase.
func (s *Service) EraseSubject(ctx context.Context, of Subject) (Erasure, error) {
	var done Erasure
	if of.ID == "" {
		return done, invalid("subject", "has no ID")
	}
	var own []uuid.UUID
	var subs []subscription
	var left omissions
	err := s.store.View(ctx, func(r Reader) (err error) {
		own = nil
		if left, err = s.books.eachBooking(ctx, r, "", func(b *Booking) {
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
	done.Unreadable = s.books.omit(ctx, left)
	if err != nil {
		return done, err
	}
	for _, sub := range subs {
		if err := s.books.update(ctx, s.now(), func(l *ledger) error { l.unsubscribe(&sub); return nil }); err != nil {
			return done, err
		}
		done.Subscriptions++
	}
	erased, left, err := s.erase(ctx, own, func(b *Booking) bool { return b.Owner == of })
	for _, id := range own {
		if !erased[id] && !left.of(bookingKey(id)) {
			done.Kept = append(done.Kept, id)
		}
	}
	done.Bookings = len(erased)
	done.Unreadable += s.books.omit(ctx, left)
	return done, err
}

// eraseAtOnce is how many bookings are erased in one update.
const eraseAtOnce = 32

// erase erases those of some bookings that are over and that are meant. It leaves out
// those of which something cannot be read.
func (s *Service) erase(ctx context.Context, ids []uuid.UUID, meant func(*Booking) bool) (erased map[uuid.UUID]bool, left omissions, err error) {
	erased = map[uuid.UUID]bool{}
	for some := range slices.Chunk(ids, eraseAtOnce) {
		done, err := s.eraseTogether(ctx, some, meant)
		if unreadable(err) { // one of them is: each by itself
			for _, id := range some {
				one, e := s.eraseTogether(ctx, []uuid.UUID{id}, meant)
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
func (s *Service) eraseTogether(ctx context.Context, ids []uuid.UUID, meant func(*Booking) bool) (erased []uuid.UUID, err error) {
	err = s.books.update(ctx, s.now(), func(l *ledger) error {
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

// erase removes from a booking who it is for, if it is over. It reads all of it
// before it changes anything.
func (l *ledger) erase(id uuid.UUID, meant func(*Booking) bool) (bool, error) {
	v, err := l.tx.Get(l.ctx, bookingKey(id))
	if err != nil {
		return false, err
	}
	if v[0] == nil {
		return false, nil
	}
	b, err := decodeBooking(v[0], l.books.zones)
	if err != nil || !meant(&b) || b.Erased() {
		return false, err
	}
	records, err := l.tx.List(l.ctx, paymentsOf(id))
	if err != nil {
		return false, err
	}
	payments := make([]payment, len(records))
	for i, rec := range records {
		if payments[i], err = decodePayment(rec.Value); err != nil {
			return false, err
		}
	}
	if !b.over(l.now) || slices.ContainsFunc(payments, payment.mayComeIn) {
		return false, nil
	}
	if b.lapsed(l.now) {
		if err := l.expire(id); err != nil {
			return false, err
		}
	}
	copies, err := l.copies(&b, payments)
	if err != nil {
		return false, err
	}
	is, err := l.booking(id)
	if err != nil {
		return false, err
	}
	eraseCaller(is)
	for i := range copies { // which the encoding has no room for
		l.put(deliveryKey(copies[i].Subscription, copies[i].ID), copies[i].encode())
	}
	l.webhooks = true // what was read to be posted is read again
	for i, was := range payments {
		e := &entry[payment]{key: Key{TablePayments, records[i].ID}, read: records[i].Value, before: was, after: was}
		e.after.erasePayer()
		l.payments = append(l.payments, e)
	}
	return true, nil
}

// Erased says whether who the booking is for has been removed: its name and its owner,
// by [Service.EraseSubject] or Options.Retain.
func (b *Booking) Erased() bool { return b.Owner == Subject{} && b.PassengerName == "" }

// over says that nobody travels on the booking any more.
func (b *Booking) over(now time.Time) bool {
	return !b.live(now) && b.OpenPayment == uuid.Nil || b.Status == Confirmed && !now.Before(b.arrives())
}

// arrives is when the trip ends.
func (b *Booking) arrives() time.Time { return b.Legs[len(b.Legs)-1].Destination.Time }

// mayComeIn says whether an attempt to pay may still succeed, and its booking with it.
func (p payment) mayComeIn() bool { return p.RefundOf == uuid.Nil && !p.next.IsZero() }
