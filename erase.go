package traintravel

import (
	"slices"

	"github.com/google/uuid"
)

// What an erasure removes besides the name and the owner of a booking.

// eraseCaller removes from a booking who made it.
func eraseCaller(b *Booking) {
	if b.Client == b.Owner.ID { // a program that books for itself
		b.Client = ""
	}
	b.PassengerName, b.Owner = "", Subject{}
}

// copies are the deliveries that hold a copy of what the gateway said of failed payments
// of a booking: version 2 of events had one. They are found by the ID that the event has
// at each endpoint that may have got it.
func (l *ledger) copies(b *Booking, payments []payment) (found []delivery, err error) {
	var keys []Key
	var subs []subscription
	for i := range payments {
		p := &payments[i]
		if p.Status != Failed || p.Settled.IsZero() {
			continue
		}
		if subs == nil {
			if subs, err = l.listeners(b); err != nil {
				return nil, err
			}
		}
		q := queued{kind: PaymentFailed, booking: b.ID, payment: p.ID, created: p.Settled}
		event := hashID("event", string(q.kind), q.booking, q.payment)
		for i := range subs {
			d := newDelivery(subs[i].ID, event, q)
			keys = append(keys, deliveryKey(d.Subscription, d.ID))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	values, err := l.tx.Get(l.ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if v == nil {
			continue
		}
		d, err := decodeDelivery(v)
		if err == nil && d.queued.copied != (Failure{}) {
			found = append(found, d)
		}
	}
	return found, nil
}

// listeners are the endpoints, disabled or not, that may have got events of a booking. One
// that cannot be read is left out: it keeps nobody from being erased.
func (l *ledger) listeners(b *Booking) (subs []subscription, err error) {
	prefixes := []string{subjectPrefix(b.Owner), operatorPrefix}
	if b.Client != "" {
		prefixes = append(prefixes, clientPrefix(b.Owner.Issuer, b.Client))
	}
	seen := map[uuid.UUID]bool{}
	for _, prefix := range prefixes {
		some, _, err := readMarked(l.ctx, l.tx, prefix, "")
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			if !seen[s.ID] {
				seen[s.ID] = true
				subs = append(subs, s)
			}
		}
	}
	return subs, nil
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
