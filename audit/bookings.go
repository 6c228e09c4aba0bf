package audit

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// booking checks a booking against its indexes, its places and its payments.
func (a *auditor) booking(key store.Key, value []byte, l *cited) func() {
	b, err := records.DecodeBooking(value, &a.zones)
	if !a.readable(key, err) {
		return nil
	}
	if records.BookingKey(b.ID) != key {
		a.say(FaultMisplaced, key, "booking %v is stored under the key of another record", b.ID)
		return nil
	}
	if k := records.OwnedKey(&b); k != (store.Key{}) {
		l.want(k)
	}
	if b.Reference != "" {
		l.want(records.ReferenceKey(b.Reference))
	}
	if b.Status == rail.Held {
		l.want(records.HoldKey(&b))
	}
	for _, p := range []uuid.UUID{b.LatestPayment, b.OpenPayment, b.PaidBy} {
		if p != uuid.Nil {
			l.want(records.PaymentKey(b.ID, p))
		}
	}
	if b.Status.Live() {
		for i := range b.Legs {
			l.want(seats.RunKey(b.Legs[i].Run))
		}
	}
	return func() {
		a.consistent(&b)
		a.indexes(&b, l)
		if b.Status.Live() {
			a.places(&b, l)
		}
	}
}

// consistent checks that the fields of a booking do not contradict each other.
func (a *auditor) consistent(b *rail.Booking) {
	key := records.BookingKey(b.ID)
	if b.Status < rail.Held || b.Status > rail.Cancelled {
		a.say(FaultBookingState, key, "booking %v has the unknown status %d", b.ID, b.Status)
	}
	if !b.Expires.After(b.Created) {
		a.say(FaultBookingState, key, "booking %v was made at %v and is held until %v, which is not later", b.ID, b.Created, b.Expires)
	}
	if b.Price.Amount <= 0 || !rail.ValidCurrency(b.Price.Currency) {
		a.say(FaultBookingState, key, "booking %v costs %d %q: want an amount above zero and a currency code of three lower-case letters", b.ID, b.Price.Amount, b.Price.Currency)
	}
	if b.Refund != (rail.Money{}) && (b.Status != rail.Cancelled || b.PaidBy == uuid.Nil || b.Refund.Amount < 0) {
		a.say(FaultBookingState, key, "booking %v is %v, paid by payment %v, and has a refund of %d %q", b.ID, b.Status, b.PaidBy, b.Refund.Amount, b.Refund.Currency)
	}
	if i := outOfOrder(b); i >= 0 {
		a.say(FaultBookingState, key, "leg %d of booking %v begins before the leg before it ends, or ends before it begins", i+1, b.ID)
	}
	if b.Expires.After(b.Departs()) || b.OpenPayment != uuid.Nil && b.PinnedUntil.After(b.Departs()) {
		a.say(FaultHoldLong, key, "booking %v is held until %v, but departs at %v", b.ID, b.HeldUntil(), b.Departs())
	}
	if (b.Status == rail.Confirmed) != (b.PaidBy != uuid.Nil) && b.Status != rail.Cancelled {
		a.say(FaultBookingState, key, "booking %v is %v, paid by payment %v", b.ID, b.Status, b.PaidBy)
	}
	if b.Status == rail.Confirmed && !b.Confirmed.Equal(b.Changed) || !b.Confirmed.IsZero() && b.PaidBy == uuid.Nil {
		a.say(FaultBookingState, key, "booking %v is %v since %v, confirmed at %v, paid by payment %v", b.ID, b.Status, b.Changed, b.Confirmed, b.PaidBy)
	}
	if b.Reference != "" && !rail.ValidReference(b.Reference) {
		a.say(FaultBookingState, key, "booking %v has the invalid reference %q", b.ID, b.Reference)
	}
	if b.CancelledLeg > 0 && !b.ByOperator {
		a.say(FaultBookingState, key, "booking %v names leg %d as cancelled, but the operator has not cancelled the booking", b.ID, b.CancelledLeg)
	}
	if b.ByOperator && b.Status != rail.Cancelled {
		a.say(FaultBookingState, key, "booking %v is %v, but recorded as cancelled by the operator", b.ID, b.Status)
	}
}

// indexes checks that the indexes and lists have the booking, and that the payments that it
// names exist.
func (a *auditor) indexes(b *rail.Booking, l *cited) {
	key := records.BookingKey(b.ID)
	// Run lists bookings that are over and were made by a version without references.
	if k := records.OwnedKey(b); k != (store.Key{}) && (b.Status.Live() || b.Reference != "") && !l.has(k) {
		a.say(FaultUnlisted, key, "booking %v is %v, but its owner's list does not have it", b.ID, b.Status)
	}
	if b.Reference != "" && string(l.at(records.ReferenceKey(b.Reference))) != string(b.ID[:]) {
		a.say(FaultReferenceLost, key, "booking %v has the reference %s, but the index of references does not lead to it", b.ID, b.Reference)
	}
	if b.Status == rail.Held && !l.has(records.HoldKey(b)) {
		a.say(FaultHoldEndless, key, "booking %v is held, but the end of its hold is not scheduled", b.ID)
	}
	a.named(b, l, "latest", b.LatestPayment, "")
	a.named(b, l, "open", b.OpenPayment, rail.Pending)
	a.named(b, l, "paying", b.PaidBy, rail.Succeeded)
}

// named checks that a payment that a booking names exists and, if status is not empty, has
// that status.
func (a *auditor) named(b *rail.Booking, l *cited, which string, id uuid.UUID, status rail.PaymentStatus) {
	if id == uuid.Nil {
		return
	}
	v := l.at(records.PaymentKey(b.ID, id))
	if v == nil {
		a.say(FaultPaymentMissing, records.BookingKey(b.ID), "booking %v is %v, but its %s payment %v does not exist", b.ID, b.Status, which, id)
		return
	}
	p, err := records.DecodePayment(v)
	if err != nil {
		return // reported when that record itself is checked
	}
	if status != "" && p.Status != status || p.RefundOf != uuid.Nil {
		a.say(FaultPaymentMissing, records.BookingKey(b.ID), "booking %v is %v, but its %s payment %v is %v (refund: %t)", b.ID, b.Status, which, id, p.Status, p.RefundOf != uuid.Nil)
	}
}

// outOfOrder returns the first leg that begins before the one before it has ended, or that
// ends before it begins; -1 if all legs are in order.
func outOfOrder(b *rail.Booking) int {
	at := b.Departs()
	for i := range b.Legs {
		from, to := b.Legs[i].Origin.Time, b.Legs[i].Destination.Time
		if from.Before(at) || to.Before(from) {
			return i
		}
		at = to
	}
	return -1
}

// reference checks that a reference leads to the booking that has it.
func (a *auditor) reference(key store.Key, value []byte, l *cited) func() {
	id, err := uuid.FromBytes(value)
	if !a.readable(key, err) {
		return nil
	}
	l.want(records.BookingKey(id))
	return func() {
		v := l.at(records.BookingKey(id))
		b, err := records.DecodeBooking(v, &a.zones)
		if v == nil || err == nil && records.ReferenceKey(b.Reference) != key {
			a.say(FaultReferenceOrphan, key, "the reference leads to booking %v, which does not exist or has another reference", id)
		}
	}
}

// owned checks that an owner's lists have only bookings of that owner.
func (a *auditor) owned(key store.Key, _ []byte, l *cited) func() {
	if !a.shaped(key, 8+16) {
		return nil
	}
	of := store.Key{Table: store.TableBookings, ID: key.ID[:records.OwnedPeriod] + key.ID[records.OwnedPeriod+8:]}
	l.want(of)
	return func() {
		v := l.at(of)
		if v == nil {
			a.say(FaultListed, key, "an owner's list has booking %x, which does not exist", of.ID)
			return
		}
		if b, err := records.DecodeBooking(v, &a.zones); err == nil && records.OwnedKey(&b) != key {
			a.say(FaultListed, key, "an owner's list has booking %v, which does not belong in that list or is another owner's: it is %v", b.ID, b.Status)
		}
	}
}
