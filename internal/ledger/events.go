package ledger

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
)

// tellStopped logs the subscriptions that a durable update has stopped, and reports them to
// the observer.
func (l *Ledger) tellStopped() {
	for i := range l.Stopped {
		sub := &l.Stopped[i]
		if sub.Disabling.By == rail.DisabledByReceiver {
			l.books.Log.WarnContext(l.Ctx, "webhook disabled because its receiver responded with 410; its owner can enable it again", "webhook", sub.ID)
		}
		if told := l.books.Observer.Disabled; told != nil {
			told(l.Ctx, sub.Disabling.By)
		}
	}
}

// RetryAfter returns how long an event waits after one more failure than the given number.
func RetryAfter(failures int) time.Duration {
	return retryAfter[min(failures, len(retryAfter)-1)]
}

// retryAfter is how long an event waits after its first, second, … failure.
var retryAfter = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// event queues an event.
func (l *Ledger) event(t rail.EventType, booking, payment uuid.UUID) {
	l.queue(records.Queued{Kind: t, Booking: booking, Payment: payment, Created: l.Now})
}

// paymentFailed queues the event of a payment that has just failed.
func (l *Ledger) paymentFailed(b *rail.Booking, p *records.Payment) {
	l.queue(records.Queued{Kind: rail.PaymentFailed, Booking: b.ID, Payment: p.ID, Created: l.Now, Status: b.Status})
}

// queue adds an event, which is put on the agenda after the rules have run.
func (l *Ledger) queue(q records.Queued) { l.events = append(l.events, q) }

// queueEvents puts the events on the agenda, for the Notifier and for subscriptions if any
// exist.
func (l *Ledger) queueEvents() error {
	if len(l.events) == 0 {
		return nil
	}
	if err := l.askSubscribed(); err != nil {
		return err
	}
	for _, q := range l.events {
		id := ids.HashID("event", string(q.Kind), q.Booking, q.Payment)
		if l.books.Terms.Notified {
			l.Put(records.AgendaKey(records.EventDue, l.Now, id), q.Encode())
		}
		if l.subscribed {
			l.Put(records.AgendaKey(records.FanOutDue, l.Now, id), q.Encode())
		}
	}
	return nil
}

// askSubscribed finds out whether subscriptions may exist, also for a service without webhooks
// besides one that has them. Once they do, it need not ask again.
func (l *Ledger) askSubscribed() error {
	if l.subscribed {
		return nil
	}
	v, err := l.Tx.Get(l.Ctx, records.SubscribedKey())
	if err != nil || v[0] != nil {
		l.subscribed = err == nil
		return err
	}
	if l.books.Terms.Posted {
		l.Put(records.SubscribedKey(), []byte{1})
		l.subscribed = true
	}
	return nil
}

// ErrBookingGone is the error of an event whose booking has been removed. By then the event was
// delivered or given up: see RemoveUnpaid.
var ErrBookingGone = errors.New("the booking that the event is about has been removed")

// EventOf makes the event of a queue entry from its records.
func (b *Books) EventOf(id uuid.UUID, q records.Queued, v [][]byte) (e rail.Event, err error) {
	e = rail.Event{ID: id, Type: q.Kind, Created: q.Created}
	if q.Booking == uuid.Nil {
		return e, nil
	}
	if v[0] == nil {
		return rail.Event{}, ErrBookingGone
	}
	if e.Booking, err = records.DecodeBooking(v[0], b.Zones); err != nil {
		return rail.Event{}, err
	}
	switch q.Kind {
	case rail.BookingCreated:
		e.Booking = atCreation(&e.Booking)
	case rail.BookingConfirmed:
		restore(&e, rail.Confirmed)
	case rail.BookingCancelled:
		restore(&e, rail.Cancelled)
	case rail.BookingExpired:
		restore(&e, rail.Expired)
	}
	if q.Payment != uuid.Nil {
		p, err := records.DecodePayment(v[1])
		if err != nil {
			return rail.Event{}, err
		}
		e.Payment = &p.Payment
		if q.Kind == rail.PaymentFailed {
			restoreFailed(&e, q, p.Why())
		}
	}
	return e, nil
}

// restore sets the booking to its state when the event was queued.
func restore(e *rail.Event, s rail.BookingStatus) {
	b := &e.Booking
	b.Status, b.Changed = s, e.Created
	b.ByOperator = b.ByOperator && s == rail.Cancelled
	if s != rail.Cancelled {
		b.Refund, b.CancelledLeg = rail.Money{}, 0
	}
	if s != rail.Confirmed && s != rail.Cancelled {
		b.PaidBy, b.Confirmed = uuid.Nil, time.Time{}
	}
	b.GivenBack = b.GivenBack && s == rail.Cancelled
}

// restoreFailed undoes later changes of a booking and a payment since the payment failed:
// another may have confirmed the booking, or this one may have succeeded after all.
func restoreFailed(e *rail.Event, q records.Queued, why rail.Failure) {
	if q.Status == 0 { // not known of an event of version 1
		return
	}
	b := &e.Booking
	b.Status, b.PinnedUntil, b.OpenPayment = q.Status, time.Time{}, uuid.Nil
	if q.Status != rail.Cancelled {
		b.Refund, b.CancelledLeg = rail.Money{}, 0
	}
	if q.Status != rail.Confirmed && q.Status != rail.Cancelled {
		b.PaidBy = uuid.Nil
	}
	if q.Copied != (rail.Failure{}) && !b.Erased() {
		why = q.Copied
	}
	e.Payment.Status, e.Payment.Settled, e.Payment.Failure = rail.Failed, q.Created, why
}

// atCreation returns the booking as CreateBooking returned it.
func atCreation(b *rail.Booking) rail.Booking {
	first := *b
	first.Status, first.Changed, first.PinnedUntil = rail.Held, first.Created, time.Time{}
	first.Confirmed, first.ByOperator, first.CancelledLeg, first.Refund, first.GivenBack = time.Time{}, false, 0, rail.Money{}, false
	first.LatestPayment, first.OpenPayment, first.PaidBy, first.PaymentCount = uuid.Nil, uuid.Nil, uuid.Nil, 0
	return first
}
