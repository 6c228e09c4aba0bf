package traintravel

import (
	"github.com/google/uuid"
)

// booking checks a booking against its indexes, its places and its payments.
func (a *auditor) booking(key Key, value []byte, l *cited) func() {
	b, err := decodeBooking(value, &a.zones)
	if !a.readable(key, err) {
		return nil
	}
	if bookingKey(b.ID) != key {
		a.say(faultMisplaced, key, "booking %v stands under another key than its own", b.ID)
		return nil
	}
	l.want(ownedKey(&b))
	if b.Status == Held {
		l.want(holdKey(&b))
	}
	for _, p := range []uuid.UUID{b.LatestPayment, b.OpenPayment, b.PaidBy} {
		if p != uuid.Nil {
			l.want(paymentKey(b.ID, p))
		}
	}
	if b.Status.live() {
		for i := range b.Legs {
			l.want(runKey(b.Legs[i].Run))
		}
	}
	return func() {
		a.consistent(&b)
		a.indexes(&b, l)
		if b.Status.live() {
			a.places(&b, l)
		}
	}
}

// consistent checks that a booking can be as it is.
func (a *auditor) consistent(b *Booking) {
	key := bookingKey(b.ID)
	if b.Status < Held || b.Status > Cancelled {
		a.say(faultBookingState, key, "booking %v has the unknown status %d", b.ID, b.Status)
	}
	if !b.Expires.After(b.Created) {
		a.say(faultBookingState, key, "booking %v was made at %v and held until %v, which is not later", b.ID, b.Created, b.Expires)
	}
	if b.Price.Amount <= 0 || !validCurrency(b.Price.Currency) {
		a.say(faultBookingState, key, "booking %v costs %d %q: a price is above zero, of a currency of three letters", b.ID, b.Price.Amount, b.Price.Currency)
	}
	if b.Refund != (Money{}) && (b.Status != Cancelled || b.PaidBy == uuid.Nil || b.Refund.Amount < 0) {
		a.say(faultBookingState, key, "booking %v is %v, paid by %v, and gives back %d %q", b.ID, b.Status, b.PaidBy, b.Refund.Amount, b.Refund.Currency)
	}
	if i := outOfOrder(b); i >= 0 {
		a.say(faultBookingState, key, "leg %d of booking %v begins before the leg before it ends, or ends before it begins", i+1, b.ID)
	}
	if b.Expires.After(b.departs()) || b.OpenPayment != uuid.Nil && b.PinnedUntil.After(b.departs()) {
		a.say(faultHoldLong, key, "booking %v is held until %v, and departs at %v", b.ID, b.HeldUntil(), b.departs())
	}
	if (b.Status == Confirmed) != (b.PaidBy != uuid.Nil) && b.Status != Cancelled {
		a.say(faultBookingState, key, "booking %v is %v, paid by %v", b.ID, b.Status, b.PaidBy)
	}
	if b.Status == Confirmed && !b.Confirmed.Equal(b.Changed) || !b.Confirmed.IsZero() && b.PaidBy == uuid.Nil {
		a.say(faultBookingState, key, "booking %v is %v since %v, confirmed at %v, paid by %v", b.ID, b.Status, b.Changed, b.Confirmed, b.PaidBy)
	}
	if b.ByOperator && b.Status != Cancelled {
		a.say(faultBookingState, key, "booking %v is %v, and cancelled by the operator", b.ID, b.Status)
	}
}

// indexes checks that a booking is listed where it is looked for, and that the payments that
// it names are there.
func (a *auditor) indexes(b *Booking, l *cited) {
	key := bookingKey(b.ID)
	if b.listed() && !l.has(ownedKey(b)) {
		a.say(faultUnlisted, key, "booking %v is %v and not in its owner's list", b.ID, b.Status)
	}
	if b.Status == Held && !l.has(holdKey(b)) {
		a.say(faultHoldEndless, key, "booking %v is held, and the end of its hold is not on the agenda", b.ID)
	}
	a.named(b, l, "latest", b.LatestPayment, "")
	a.named(b, l, "open", b.OpenPayment, Pending)
	a.named(b, l, "paying", b.PaidBy, Succeeded)
}

// named checks a payment that a booking names: that it is there and, unless any will
// do, has a status.
func (a *auditor) named(b *Booking, l *cited, which string, id uuid.UUID, status PaymentStatus) {
	if id == uuid.Nil {
		return
	}
	v := l.at(paymentKey(b.ID, id))
	if v == nil {
		a.say(faultPaymentMissing, bookingKey(b.ID), "booking %v is %v, and its %s payment %v is not there", b.ID, b.Status, which, id)
		return
	}
	p, err := decodePayment(v)
	if err != nil {
		return // it is reported where it stands
	}
	if status != "" && p.Status != status || p.RefundOf != uuid.Nil {
		a.say(faultPaymentMissing, bookingKey(b.ID), "booking %v is %v, and its %s payment %v is %v (a refund: %t)", b.ID, b.Status, which, id, p.Status, p.RefundOf != uuid.Nil)
	}
}

// outOfOrder is the first leg that begins before the one before it has ended, or that
// ends before it begins; -1 if there is none.
func outOfOrder(b *Booking) int {
	at := b.departs()
	for i := range b.Legs {
		from, to := b.Legs[i].Origin.Time, b.Legs[i].Destination.Time
		if from.Before(at) || to.Before(from) {
			return i
		}
		at = to
	}
	return -1
}

// owned checks that an owner's list holds what is theirs and lives.
func (a *auditor) owned(key Key, _ []byte, l *cited) func() {
	if !a.shaped(key, 8+16) {
		return nil
	}
	of := Key{TableBookings, key.ID[:ownedPeriod] + key.ID[ownedPeriod+8:]}
	l.want(of)
	return func() {
		v := l.at(of)
		if v == nil {
			a.say(faultListed, key, "an owner's list has booking %x, which is not there", of.ID)
			return
		}
		if b, err := decodeBooking(v, &a.zones); err == nil && (!b.listed() || ownedKey(&b) != key) {
			a.say(faultListed, key, "an owner's list has booking %v, which is %v, or another's", b.ID, b.Status)
		}
	}
}
