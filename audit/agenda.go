package audit

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// agenda checks that what is to be done is of something, and notes what is to be done
// for subscriptions.
func (a *auditor) agenda(key store.Key, value []byte, l *cited) func() {
	if !a.shaped(key, records.AgendaKeySize) {
		return nil
	}
	id, due := uuid.UUID([]byte(key.ID[9:])), int64(binary.BigEndian.Uint64([]byte(key.ID[1:9])))
	switch k := records.Kind(key.ID[0]); k {
	case records.HoldEnds:
		return a.holdEnd(key, id, codec.FromNanos(due), l)
	case records.PaymentDue:
		return a.paymentDue(key, value, id, codec.FromNanos(due), l)
	case records.EventDue, records.FanOutDue:
		q, err := records.DecodeQueued(value)
		return a.queued(key, id, q, err, l)
	case records.OwedDue:
		o, err := records.DecodeOwed(value)
		return a.queued(key, id, o.Queued, err, l)
	case records.SurplusDue, records.KeyForgotten, records.CountDue, records.TravellersDue, records.UnpaidPass, records.UnpaidOver, records.EarlierPass: // of what is gone, or was used anew: harmless
	case records.EndpointDue:
		if a.served[id] == 0 || due < a.served[id] {
			a.served[id] = max(1, due)
		}
	case records.SweepDue:
		a.sweeps[id]++
	default:
		a.say(FaultUnknownKey, key, "nothing is known of the kind %q", key.ID[0])
	}
	return nil
}

// holdEnd checks that a booking has a hold that ends.
func (a *auditor) holdEnd(key store.Key, id uuid.UUID, due time.Time, l *cited) func() {
	l.want(records.BookingKey(id))
	return func() {
		v := l.at(records.BookingKey(id))
		b, err := records.DecodeBooking(v, &a.zones)
		if v == nil || err == nil && records.HoldKey(&b) != key {
			a.say(FaultAgendaOrphan, key, "a hold of booking %v ends at %v, and the booking has none that does", id, due)
		}
	}
}

// paymentDue checks that there is a payment to be looked after.
func (a *auditor) paymentDue(key store.Key, booking []byte, id uuid.UUID, due time.Time, l *cited) func() {
	if len(booking) != 16 {
		a.say(FaultUnreadable, key, "the entry of payment %v does not name its booking", id)
		return nil
	}
	of := records.PaymentKey(uuid.UUID(bytes.Clone(booking)), id)
	l.want(of)
	return func() {
		v := l.at(of)
		p, err := records.DecodePayment(v)
		if v == nil || err == nil && p.AgendaKey() != key {
			a.say(FaultAgendaOrphan, key, "payment %v is to be looked after at %v, and it is not there, or says otherwise", id, due)
		}
	}
}

// queued checks an event that is to be told, if it could be read.
func (a *auditor) queued(key store.Key, id uuid.UUID, q records.Queued, err error, l *cited) func() {
	if !a.readable(key, err) {
		return nil
	}
	l.want(q.Records()...)
	return func() {
		if id != ids.HashID("event", string(q.Kind), q.Booking, q.Payment) {
			a.say(FaultMisplaced, key, "the event %s of booking %v has the ID %v of another", q.Kind, q.Booking, id)
		}
		a.event(key, &q, l)
	}
}

// event checks that what an event tells has happened.
func (a *auditor) event(key store.Key, q *records.Queued, l *cited) {
	keys := q.Records()
	if len(keys) == 0 {
		return // a ping
	}
	for _, k := range keys {
		if !l.has(k) {
			a.say(FaultEventOrphan, key, "the event %s is of booking %v and payment %v, of which one is not there", q.Kind, q.Booking, q.Payment)
			return
		}
	}
	b, err := records.DecodeBooking(l.at(keys[0]), &a.zones)
	if err != nil {
		return // it is reported where it stands
	}
	var p records.Payment
	if len(keys) > 1 {
		if p, err = records.DecodePayment(l.at(keys[1])); err != nil {
			return
		}
	}
	happened := false
	switch q.Kind {
	case rail.BookingCreated:
		happened = true
	case rail.BookingConfirmed:
		happened = b.PaidBy == q.Payment && p.Status == rail.Succeeded
	case rail.BookingCancelled:
		happened = b.Status == rail.Cancelled
	case rail.BookingExpired:
		happened = b.Status == rail.Expired || b.PaidBy != uuid.Nil // late
	case rail.PaymentFailed:
		happened = len(keys) > 1 && p.Status != rail.Pending // it may have come after all
	}
	if !happened {
		a.say(FaultEventUntrue, key, "the event %s is of booking %v, which is %v, and payment %v, which is %q", q.Kind, b.ID, b.Status, q.Payment, p.Status)
	}
}

// idempotency checks what is remembered of requests, and of payments that were declined.
func (a *auditor) idempotency(key store.Key, value []byte, l *cited) func() {
	if len(key.ID) == ledger.CountSize && (key.ID[0] == ledger.CardCount || key.ID[0] == ledger.UserCount) {
		return a.declines(key, value, l)
	}
	if !a.shaped(key, 32) {
		return nil
	}
	m, err := records.DecodeRemembered(value)
	if !a.readable(key, err) {
		return nil
	}
	booking, forget := records.BookingKey(m.About), records.AgendaKey(records.KeyForgotten, m.Created.Add(records.KeyLife), ids.HashID("key", key.ID))
	l.want(forget, booking)
	if m.Payment != uuid.Nil {
		l.want(records.PaymentKey(m.About, m.Payment))
	}
	return func() {
		if string(l.at(forget)) != key.ID {
			a.say(FaultIdempotencyEndless, key, "the key of a request of %v is not on the agenda to be forgotten", m.Created)
		}
		switch {
		case !l.has(booking) && m.Expired(a.now): // it may be removed, and nobody is answered with it
		case !l.has(booking) && !a.subscribed: // else it may be of a subscription that is gone
			a.say(FaultIdempotencyOrphan, key, "a request of %v has led to booking %v, which is not there", m.Created, m.About)
		case l.has(booking) && m.Payment != uuid.Nil && !l.has(records.PaymentKey(m.About, m.Payment)):
			a.say(FaultIdempotencyOrphan, key, "a request of %v has led to payment %v, which is not there", m.Created, m.Payment)
		}
	}
}

// declines checks a count of declined payments.
func (a *auditor) declines(key store.Key, value []byte, l *cited) func() {
	c, err := records.DecodeCount(value)
	if !a.readable(key, err) {
		return nil
	}
	forget := c.AgendaKey(key)
	l.want(forget)
	return func() {
		if string(l.at(forget)) != key.ID {
			a.say(FaultIdempotencyEndless, key, "a count of declined payments is not on the agenda to be forgotten")
		}
	}
}
