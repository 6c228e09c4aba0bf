package traintravel

import (
	"errors"
	"time"

	"github.com/google/uuid"
)

// retryAfter is how long an event waits after its first, second, … failure.
var retryAfter = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// event queues an event.
func (l *ledger) event(t EventType, booking, payment uuid.UUID) {
	l.queue(queued{kind: t, booking: booking, payment: payment, created: l.now})
}

// paymentFailed queues the event of a payment that has just failed.
func (l *ledger) paymentFailed(b *Booking, p *payment) {
	l.queue(queued{kind: PaymentFailed, booking: b.ID, payment: p.ID, created: l.now, status: b.Status})
}

// queue has an event put on the agenda when the rules have run.
func (l *ledger) queue(q queued) { l.events = append(l.events, q) }

// queueEvents puts the events on the agenda, for those who are there to be told.
func (l *ledger) queueEvents() error {
	if len(l.events) == 0 {
		return nil
	}
	if err := l.askSubscribed(); err != nil {
		return err
	}
	for _, q := range l.events {
		id := hashID("event", string(q.kind), q.booking, q.payment)
		if l.books.terms.notified {
			l.put(agendaKey(eventDue, l.now, id), q.encode())
		}
		if l.subscribed {
			l.put(agendaKey(fanOutDue, l.now, id), q.encode())
		}
	}
	return nil
}

// askSubscribed finds out whether there may be subscriptions: also for a service
// without webhooks, beside one that has them. Once there are, nobody has to look again.
func (l *ledger) askSubscribed() error {
	if l.subscribed {
		return nil
	}
	v, err := l.tx.Get(l.ctx, subscribedKey)
	if err != nil || v[0] != nil {
		l.subscribed = err == nil
		return err
	}
	if l.books.terms.posted {
		l.put(subscribedKey, []byte{1})
		l.subscribed = true
	}
	return nil
}

// errBookingGone is of an event whose booking has been removed. The event is delivered by
// then, or given up: see [Service.removeUnpaid].
var errBookingGone = errors.New("the booking that the event is about has been removed")

// eventOf makes the event that a queued one stands for from its records.
func (b *books) eventOf(id uuid.UUID, q queued, v [][]byte) (e Event, err error) {
	e = Event{ID: id, Type: q.kind, Created: q.created}
	if q.booking == uuid.Nil {
		return e, nil
	}
	if v[0] == nil {
		return Event{}, errBookingGone
	}
	if e.Booking, err = decodeBooking(v[0], b.zones); err != nil {
		return Event{}, err
	}
	switch q.kind {
	case BookingCreated:
		e.Booking = atCreation(&e.Booking)
	case BookingConfirmed:
		restore(&e, Confirmed)
	case BookingCancelled:
		restore(&e, Cancelled)
	case BookingExpired:
		restore(&e, Expired)
	}
	if q.payment != uuid.Nil {
		p, err := decodePayment(v[1])
		if err != nil {
			return Event{}, err
		}
		e.Payment = &p.Payment
		if q.kind == PaymentFailed {
			restoreFailed(&e, q, p.why())
		}
	}
	return e, nil
}

// restore makes the booking what it became when the event was queued.
func restore(e *Event, s BookingStatus) {
	b := &e.Booking
	b.Status, b.Changed = s, e.Created
	b.ByOperator = b.ByOperator && s == Cancelled
	if s != Cancelled {
		b.Refund = Money{}
	}
	if s != Confirmed && s != Cancelled {
		b.PaidBy, b.Confirmed = uuid.Nil, time.Time{}
	}
}

// restoreFailed takes back what has become of a booking and a payment since the
// payment failed: another may have confirmed the booking, or this one turned
// out to have succeeded after all.
func restoreFailed(e *Event, q queued, why Failure) {
	if q.status == 0 { // not known of an event of version 1
		return
	}
	b := &e.Booking
	b.Status, b.PinnedUntil, b.OpenPayment = q.status, time.Time{}, uuid.Nil
	if q.status != Cancelled {
		b.Refund = Money{}
	}
	if q.status != Confirmed && q.status != Cancelled {
		b.PaidBy = uuid.Nil
	}
	if q.copied != (Failure{}) && !b.Erased() {
		why = q.copied
	}
	e.Payment.Status, e.Payment.Settled, e.Payment.Failure = Failed, q.created, why
}

// atCreation is the booking as CreateBooking returned it.
func atCreation(b *Booking) Booking {
	first := *b
	first.Status, first.Changed, first.PinnedUntil = Held, first.Created, time.Time{}
	first.Confirmed, first.ByOperator, first.Refund = time.Time{}, false, Money{}
	first.LatestPayment, first.OpenPayment, first.PaidBy, first.PaymentCount = uuid.Nil, uuid.Nil, uuid.Nil, 0
	return first
}
