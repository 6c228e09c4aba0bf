package traintravel

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// An EventType names what happened to a booking.
type EventType string

// The events. The first is the documented one.
const (
	BookingCreated   EventType = "newBooking"
	BookingConfirmed EventType = "bookingConfirmed"
	BookingCancelled EventType = "bookingCancelled"
	BookingExpired   EventType = "bookingExpired"
	PaymentFailed    EventType = "paymentFailed"
)

// An Event tells that something happened to a booking. It is queued in the
// same update that makes it happen.
type Event struct {
	// ID is the same each time the event is delivered, and no other event's.
	ID      uuid.UUID
	Type    EventType
	Created time.Time
	// Booking is the booking in the status that the event brought about.
	Booking Booking
	// Payment is the payment that bookingConfirmed or paymentFailed is about,
	// nil for other events.
	Payment *Payment
}

// A Notifier takes events to whoever wants them: a queue, a webhook, a mail.
// [Service.Run] calls Notify for each event until it returns nil, at least
// once and perhaps more than once after a crash, in no promised order, from
// several goroutines at once. Its context ends after a minute or when Run is
// told to stop. An error is logged and the event tried again later: at once,
// after 5 seconds, and more and more rarely up to once a day.
type Notifier interface {
	Notify(ctx context.Context, e Event) error
}

// A NotifierFunc is a function that is a Notifier.
type NotifierFunc func(ctx context.Context, e Event) error

// Notify calls f.
func (f NotifierFunc) Notify(ctx context.Context, e Event) error { return f(ctx, e) }

// retryAfter is how long an event waits after its first, second, … failure.
var retryAfter = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// A queued event refers to its booking, which holds the rest.
type queued struct {
	kind     EventType
	booking  uuid.UUID
	payment  uuid.UUID // nil UUID if none
	created  time.Time
	failures int
	// status is that of the booking of a payment that failed, since version 2. It may
	// change before the event is delivered.
	status BookingStatus
	// copied is what the payment failed with, of version 2 alone. Since then the payment
	// keeps it, so that who erases a booking finds it.
	copied Failure
}

const queuedVersion = 3

func (q queued) encode() []byte {
	e := newEncoder(queuedVersion, 64)
	e.str(string(q.kind))
	e.id(q.booking)
	e.id(q.payment)
	e.time(q.created)
	e.uint(uint64(q.failures))
	e.uint(uint64(q.status))
	return e.b
}

func decodeQueued(v []byte) (queued, error) {
	d, version := newDecoder("event", queuedVersion, v)
	q := queued{kind: EventType(d.str()), booking: d.id(), payment: d.id(), created: d.time(), failures: int(d.uint())}
	if version >= 2 {
		q.status = BookingStatus(d.uint())
	}
	if version == 2 {
		q.copied = Failure{d.str(), d.str()}
	}
	return q, d.done()
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

// records are what an event is made from.
func (q *queued) records() []Key {
	if q.booking == uuid.Nil {
		return nil
	}
	keys := []Key{bookingKey(q.booking)}
	if q.payment != uuid.Nil {
		keys = append(keys, paymentKey(q.booking, q.payment))
	}
	return keys
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
		e.Booking = e.Booking.atCreation()
	case BookingConfirmed:
		e.as(Confirmed)
	case BookingCancelled:
		e.as(Cancelled)
	case BookingExpired:
		e.as(Expired)
	}
	if q.payment != uuid.Nil {
		p, err := decodePayment(v[1])
		if err != nil {
			return Event{}, err
		}
		e.Payment = &p.Payment
		if q.kind == PaymentFailed {
			e.asFailed(q, p.why())
		}
	}
	return e, nil
}

// as makes the booking what it became when the event was queued.
func (e *Event) as(s BookingStatus) {
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

// asFailed takes back what has become of a booking and a payment since the
// payment failed: another may have confirmed the booking, or this one turned
// out to have succeeded after all.
func (e *Event) asFailed(q queued, why Failure) {
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
