package traintravel

import (
	"bytes"
	"encoding/binary"

	"github.com/google/uuid"
)

// agenda checks that what is to be done is of something, and notes what is to be done
// for subscriptions.
func (a *auditor) agenda(page []Record) error {
	var l cited
	entries := make([]agendaEntry, 0, len(page))
	for _, rec := range page {
		if !a.shaped(Key{TableAgenda, rec.ID}, 1+8+16) {
			continue
		}
		e := agendaEntry{rec: rec, key: Key{TableAgenda, rec.ID}, kind: kind(rec.ID[0]), id: uuid.UUID([]byte(rec.ID[9:]))}
		switch e.kind {
		case holdEnds:
			l.want(bookingKey(e.id))
		case paymentDue:
			if len(rec.Value) != 16 {
				a.say(faultUnreadable, e.key, "the entry of payment %v does not name its booking", e.id)
				continue
			}
			l.want(paymentKey(uuid.UUID(bytes.Clone(rec.Value)), e.id))
		case eventDue, fanOutDue:
			var err error
			if e.event, err = decodeQueued(rec.Value); !a.readable(e.key, err) {
				continue
			}
			l.want(e.event.records()...)
		case owedDue:
			o, err := decodeOwed(rec.Value)
			if !a.readable(e.key, err) {
				continue
			}
			e.event = o.queued
			l.want(e.event.records()...)
		case keyForgotten, countDue, travellersDue, unpaidPass, unpaidOver: // of what is gone, or was used anew: harmless
		case endpointDue:
			if at := e.at(); a.served[e.id] == 0 || at < a.served[e.id] {
				a.served[e.id] = max(1, at)
			}
		case sweepDue:
			a.sweeps[e.id]++
		default:
			a.say(faultUnknownKey, e.key, "nothing is known of the kind %q", rec.ID[0])
			continue
		}
		entries = append(entries, e)
	}
	if err := a.fetch(&l); err != nil {
		return err
	}
	for i := range entries {
		a.entry(&entries[i], &l)
	}
	return nil
}

type agendaEntry struct {
	rec   Record
	key   Key
	kind  kind
	id    uuid.UUID
	event queued
}

// at is when it is due, in nanos.
func (e *agendaEntry) at() int64 { return int64(binary.BigEndian.Uint64([]byte(e.rec.ID[1:9]))) }

func (a *auditor) entry(e *agendaEntry, l *cited) {
	due := fromNanos(e.at())
	switch e.kind {
	case holdEnds:
		v := l.at(bookingKey(e.id))
		b, err := decodeBooking(v, &a.zones)
		if v == nil || err == nil && b.holdKey() != e.key {
			a.say(faultAgendaOrphan, e.key, "a hold of booking %v ends at %v, and the booking has none that does", e.id, due)
		}
	case paymentDue:
		v := l.at(paymentKey(uuid.UUID(bytes.Clone(e.rec.Value)), e.id))
		p, err := decodePayment(v)
		if v == nil || err == nil && p.agendaKey() != e.key {
			a.say(faultAgendaOrphan, e.key, "payment %v is to be looked after at %v, and it is not there, or says otherwise", e.id, due)
		}
	case eventDue, fanOutDue, owedDue:
		q := &e.event
		if e.id != hashID("event", string(q.kind), q.booking, q.payment) {
			a.say(faultMisplaced, e.key, "the event %s of booking %v has the ID %v of another", q.kind, q.booking, e.id)
		}
		a.event(e.key, q, l)
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

// idempotency checks what is remembered of requests.
func (a *auditor) idempotency(page []Record) error {
	type memory struct {
		key, forget Key
		remembered
	}
	type declinesAt struct{ key, forget Key }
	var l cited
	var counts []declinesAt
	all := make([]memory, 0, len(page))
	for _, rec := range page {
		m := memory{key: Key{TableIdempotency, rec.ID}}
		var err error
		if len(rec.ID) == countSize && (rec.ID[0] == cardCount || rec.ID[0] == userCount) {
			var c declineCount
			if c, err = decodeCount(rec.Value); a.readable(m.key, err) {
				counts = append(counts, declinesAt{m.key, c.agendaKey(m.key)})
				l.want(c.agendaKey(m.key))
			}
			continue
		}
		if !a.shaped(m.key, 32) {
			continue
		}
		if m.remembered, err = decodeRemembered(rec.Value); !a.readable(m.key, err) {
			continue
		}
		m.forget = agendaKey(keyForgotten, m.created.Add(keyLife), hashID("key", rec.ID))
		l.want(m.forget, bookingKey(m.about))
		if m.payment != uuid.Nil {
			l.want(paymentKey(m.about, m.payment))
		}
		all = append(all, m)
	}
	if err := a.fetch(&l); err != nil {
		return err
	}
	for _, c := range counts {
		if string(l.at(c.forget)) != c.key.ID {
			a.say(faultIdempotencyEndless, c.key, "a count of declined payments is not on the agenda to be forgotten")
		}
	}
	for _, m := range all {
		if string(l.at(m.forget)) != m.key.ID {
			a.say(faultIdempotencyEndless, m.key, "the key of a request of %v is not on the agenda to be forgotten", m.created)
		}
		switch {
		case !l.has(bookingKey(m.about)) && m.expired(a.now): // it may be removed, and nobody is answered with it
		case !l.has(bookingKey(m.about)) && !a.subscribed: // else it may be of a subscription that is gone
			a.say(faultIdempotencyOrphan, m.key, "a request of %v has led to booking %v, which is not there", m.created, m.about)
		case l.has(bookingKey(m.about)) && m.payment != uuid.Nil && !l.has(paymentKey(m.about, m.payment)):
			a.say(faultIdempotencyOrphan, m.key, "a request of %v has led to payment %v, which is not there", m.created, m.payment)
		}
	}
	return nil
}
