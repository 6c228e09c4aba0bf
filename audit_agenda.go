package traintravel

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// agenda checks that what is to be done is of something, and notes what is to be done
// for subscriptions.
func (a *auditor) agenda(key Key, value []byte, l *cited) func() {
	if !a.shaped(key, agendaKeySize) {
		return nil
	}
	id, due := uuid.UUID([]byte(key.ID[9:])), int64(binary.BigEndian.Uint64([]byte(key.ID[1:9])))
	switch k := kind(key.ID[0]); k {
	case holdEnds:
		return a.holdEnd(key, id, fromNanos(due), l)
	case paymentDue:
		return a.paymentDue(key, value, id, fromNanos(due), l)
	case eventDue, fanOutDue:
		q, err := decodeQueued(value)
		return a.queued(key, id, q, err, l)
	case owedDue:
		o, err := decodeOwed(value)
		return a.queued(key, id, o.queued, err, l)
	case surplusDue, keyForgotten, countDue, travellersDue, unpaidPass, unpaidOver: // of what is gone, or was used anew: harmless
	case endpointDue:
		if a.served[id] == 0 || due < a.served[id] {
			a.served[id] = max(1, due)
		}
	case sweepDue:
		a.sweeps[id]++
	default:
		a.say(faultUnknownKey, key, "nothing is known of the kind %q", key.ID[0])
	}
	return nil
}

// holdEnd checks that a booking has a hold that ends.
func (a *auditor) holdEnd(key Key, id uuid.UUID, due time.Time, l *cited) func() {
	l.want(bookingKey(id))
	return func() {
		v := l.at(bookingKey(id))
		b, err := decodeBooking(v, &a.zones)
		if v == nil || err == nil && holdKey(&b) != key {
			a.say(faultAgendaOrphan, key, "a hold of booking %v ends at %v, and the booking has none that does", id, due)
		}
	}
}

// paymentDue checks that there is a payment to be looked after.
func (a *auditor) paymentDue(key Key, booking []byte, id uuid.UUID, due time.Time, l *cited) func() {
	if len(booking) != 16 {
		a.say(faultUnreadable, key, "the entry of payment %v does not name its booking", id)
		return nil
	}
	of := paymentKey(uuid.UUID(bytes.Clone(booking)), id)
	l.want(of)
	return func() {
		v := l.at(of)
		p, err := decodePayment(v)
		if v == nil || err == nil && p.agendaKey() != key {
			a.say(faultAgendaOrphan, key, "payment %v is to be looked after at %v, and it is not there, or says otherwise", id, due)
		}
	}
}

// queued checks an event that is to be told, if it could be read.
func (a *auditor) queued(key Key, id uuid.UUID, q queued, err error, l *cited) func() {
	if !a.readable(key, err) {
		return nil
	}
	l.want(q.records()...)
	return func() {
		if id != hashID("event", string(q.kind), q.booking, q.payment) {
			a.say(faultMisplaced, key, "the event %s of booking %v has the ID %v of another", q.kind, q.booking, id)
		}
		a.event(key, &q, l)
	}
}

// event checks that what an event tells has happened.
func (a *auditor) event(key Key, q *queued, l *cited) {
	keys := q.records()
	if len(keys) == 0 {
		return // a ping
	}
	for _, k := range keys {
		if !l.has(k) {
			a.say(faultEventOrphan, key, "the event %s is of booking %v and payment %v, of which one is not there", q.kind, q.booking, q.payment)
			return
		}
	}
	b, err := decodeBooking(l.at(keys[0]), &a.zones)
	if err != nil {
		return // it is reported where it stands
	}
	var p payment
	if len(keys) > 1 {
		if p, err = decodePayment(l.at(keys[1])); err != nil {
			return
		}
	}
	happened := false
	switch q.kind {
	case BookingCreated:
		happened = true
	case BookingConfirmed:
		happened = b.PaidBy == q.payment && p.Status == Succeeded
	case BookingCancelled:
		happened = b.Status == Cancelled
	case BookingExpired:
		happened = b.Status == Expired || b.PaidBy != uuid.Nil // late
	case PaymentFailed:
		happened = len(keys) > 1 && p.Status != Pending // it may have come after all
	}
	if !happened {
		a.say(faultEventUntrue, key, "the event %s is of booking %v, which is %v, and payment %v, which is %q", q.kind, b.ID, b.Status, q.payment, p.Status)
	}
}

// idempotency checks what is remembered of requests, and of payments that were declined.
func (a *auditor) idempotency(key Key, value []byte, l *cited) func() {
	if len(key.ID) == countSize && (key.ID[0] == cardCount || key.ID[0] == userCount) {
		return a.declines(key, value, l)
	}
	if !a.shaped(key, 32) {
		return nil
	}
	m, err := decodeRemembered(value)
	if !a.readable(key, err) {
		return nil
	}
	booking, forget := bookingKey(m.about), agendaKey(keyForgotten, m.created.Add(keyLife), hashID("key", key.ID))
	l.want(forget, booking)
	if m.payment != uuid.Nil {
		l.want(paymentKey(m.about, m.payment))
	}
	return func() {
		if string(l.at(forget)) != key.ID {
			a.say(faultIdempotencyEndless, key, "the key of a request of %v is not on the agenda to be forgotten", m.created)
		}
		switch {
		case !l.has(booking) && m.expired(a.now): // it may be removed, and nobody is answered with it
		case !l.has(booking) && !a.subscribed: // else it may be of a subscription that is gone
			a.say(faultIdempotencyOrphan, key, "a request of %v has led to booking %v, which is not there", m.created, m.about)
		case l.has(booking) && m.payment != uuid.Nil && !l.has(paymentKey(m.about, m.payment)):
			a.say(faultIdempotencyOrphan, key, "a request of %v has led to payment %v, which is not there", m.created, m.payment)
		}
	}
}

// declines checks a count of declined payments.
func (a *auditor) declines(key Key, value []byte, l *cited) func() {
	c, err := decodeCount(value)
	if !a.readable(key, err) {
		return nil
	}
	forget := c.agendaKey(key)
	l.want(forget)
	return func() {
		if string(l.at(forget)) != key.ID {
			a.say(faultIdempotencyEndless, key, "a count of declined payments is not on the agenda to be forgotten")
		}
	}
}
