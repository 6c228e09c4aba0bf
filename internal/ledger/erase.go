package ledger

import (
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The data that an erasure removes besides the name and the owner of a booking.

// eraseCaller removes the caller who made a booking.
func eraseCaller(b *rail.Booking) {
	if b.Client == b.Owner.ID { // a program that books for itself
		b.Client = ""
	}
	b.PassengerName, b.Owner = "", rail.Subject{}
}

// copies returns the deliveries with a copy of the gateway's messages about failed payments of
// a booking, which version 2 of events had. It finds them by the ID of the event at each
// endpoint that may have got it.
func (l *Ledger) copies(b *rail.Booking, payments []records.Payment) (found []records.Delivery, err error) {
	var keys []store.Key
	var subs []records.Subscription
	for i := range payments {
		p := &payments[i]
		if p.Status != rail.Failed || p.Settled.IsZero() {
			continue
		}
		if subs == nil {
			if subs, err = l.listeners(b); err != nil {
				return nil, err
			}
		}
		q := records.Queued{Kind: rail.PaymentFailed, Booking: b.ID, Payment: p.ID, Created: p.Settled}
		event := ids.HashID("event", string(q.Kind), q.Booking, q.Payment)
		for i := range subs {
			d := records.NewDelivery(subs[i].ID, event, q)
			keys = append(keys, records.DeliveryKey(d.Subscription, d.ID))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	values, err := l.Tx.Get(l.Ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if v == nil {
			continue
		}
		d, err := records.DecodeDelivery(v)
		if err == nil && d.Queued.Copied != (rail.Failure{}) {
			found = append(found, d)
		}
	}
	return found, nil
}

// listeners returns the endpoints, disabled or not, that may have got events of a booking. It
// skips those that cannot be read, so that they do not prevent an erasure.
func (l *Ledger) listeners(b *rail.Booking) (subs []records.Subscription, err error) {
	prefixes := []string{records.SubjectPrefix(b.Owner), records.OperatorPrefix}
	if b.Client != "" {
		prefixes = append(prefixes, records.ClientPrefix(b.Owner.Issuer, b.Client))
	}
	seen := map[uuid.UUID]bool{}
	for _, prefix := range prefixes {
		some, _, err := records.ReadMarked(l.Ctx, l.Tx, prefix, "")
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

// Erase removes the personal data of a booking that has ended, if it is meant with its payments.
// It reads all records before it changes any.
func (l *Ledger) Erase(id uuid.UUID, meant func(*rail.Booking, []records.Payment) bool) (bool, error) {
	v, err := l.Tx.Get(l.Ctx, records.BookingKey(id))
	if err != nil {
		return false, err
	}
	if v[0] == nil {
		return false, nil
	}
	b, err := records.DecodeBooking(v[0], l.books.Zones)
	if err != nil || b.Erased() {
		return false, err
	}
	found, err := l.Tx.List(l.Ctx, records.PaymentsOf(id))
	if err != nil {
		return false, err
	}
	payments := make([]records.Payment, len(found))
	for i, rec := range found {
		if payments[i], err = records.DecodePayment(rec.Value); err != nil {
			return false, err
		}
	}
	if !meant(&b, payments) || !b.Over(l.Now) || slices.ContainsFunc(payments, records.Payment.MayComeIn) {
		return false, nil
	}
	if b.Lapsed(l.Now) {
		if err := l.Expire(id); err != nil {
			return false, err
		}
	}
	copies, err := l.copies(&b, payments)
	if err != nil {
		return false, err
	}
	is, err := l.Booking(id)
	if err != nil {
		return false, err
	}
	eraseCaller(is)
	for i := range copies { // which the encoding cannot express
		l.Put(records.DeliveryKey(copies[i].Subscription, copies[i].ID), copies[i].Encode())
	}
	l.Webhooks = true // posters must read their deliveries again
	for i, was := range payments {
		e := &entry[records.Payment]{key: store.Key{Table: store.TablePayments, ID: found[i].ID}, read: found[i].Value, before: was, after: was}
		e.after.ErasePayer()
		l.payments = append(l.payments, e)
	}
	return true, nil
}
