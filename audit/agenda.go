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

// agenda checks that each scheduled item belongs to a record, and notes the items of
// subscriptions.
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
	case records.SurplusDue, records.KeyForgotten, records.CountDue, records.TravellersDue, records.UnpaidPass, records.UnpaidOver, records.EarlierPass: // harmless if the record was removed, or used again
	case records.EndpointDue:
		if a.served[id] == 0 || due < a.served[id] {
			a.served[id] = max(1, due)
		}
	case records.SweepDue:
		a.sweeps[id]++
	default:
		a.say(FaultUnknownKey, key, "unknown kind of agenda entry %q", key.ID[0])
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
			a.say(FaultAgendaOrphan, key, "the hold of booking %v is scheduled to end at %v, but the booking has no such hold", id, due)
		}
	}
}

// paymentDue checks that the payment exists and is due then.
func (a *auditor) paymentDue(key store.Key, booking []byte, id uuid.UUID, due time.Time, l *cited) func() {
	if len(booking) != 16 {
		a.say(FaultUnreadable, key, "the agenda entry of payment %v does not name its booking", id)
		return nil
	}
	of := records.PaymentKey(uuid.UUID(bytes.Clone(booking)), id)
	l.want(of)
	return func() {
		v := l.at(of)
		p, err := records.DecodePayment(v)
		if v == nil || err == nil && p.AgendaKey() != key {
			a.say(FaultAgendaOrphan, key, "work on payment %v is scheduled at %v, but the payment does not exist or is not due then", id, due)
		}
	}
}

// queued checks a queued event, if it could be read.
func (a *auditor) queued(key store.Key, id uuid.UUID, q records.Queued, err error, l *cited) func() {
	if !a.readable(key, err) {
		return nil
	}
	l.want(q.Records()...)
	return func() {
		if id != ids.HashID("event", string(q.Kind), q.Booking, q.Payment) {
			a.say(FaultMisplaced, key, "the event %s of booking %v has the ID %v, which belongs to another event", q.Kind, q.Booking, id)
		}
		a.event(key, &q, l)
	}
}

// event checks that an event has happened.
func (a *auditor) event(key store.Key, q *records.Queued, l *cited) {
	keys := q.Records()
	if len(keys) == 0 {
		return // a ping
	}
	for _, k := range keys {
		if !l.has(k) {
			a.say(FaultEventOrphan, key, "the event %s names booking %v and payment %v, at least one of which does not exist", q.Kind, q.Booking, q.Payment)
			return
		}
	}
	b, err := records.DecodeBooking(l.at(keys[0]), &a.zones)
	if err != nil {
		return // reported when that record itself is checked
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
		a.say(FaultEventUntrue, key, "the event %s has not happened: booking %v is %v, payment %v is %q", q.Kind, b.ID, b.Status, q.Payment, p.Status)
	}
}

// idempotency checks idempotency keys and counts of declined payments.
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
			a.say(FaultIdempotencyEndless, key, "the removal of the idempotency key of a request made at %v is not scheduled", m.Created)
		}
		switch {
		case !l.has(booking) && m.Expired(a.now): // expired: the booking may be removed, and the key is not used any more
		case !l.has(booking) && !a.subscribed: // else the key may be that of a deleted subscription
			a.say(FaultIdempotencyOrphan, key, "the idempotency key of a request made at %v names booking %v, which does not exist", m.Created, m.About)
		case l.has(booking) && m.Payment != uuid.Nil && !l.has(records.PaymentKey(m.About, m.Payment)):
			a.say(FaultIdempotencyOrphan, key, "the idempotency key of a request made at %v names payment %v, which does not exist", m.Created, m.Payment)
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
			a.say(FaultIdempotencyEndless, key, "the removal of a count of declined payments is not scheduled")
		}
	}
}
