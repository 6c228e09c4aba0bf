package records

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// A Queued event refers to its booking, which holds the rest.
type Queued struct {
	Kind     rail.EventType
	Booking  uuid.UUID
	Payment  uuid.UUID // nil UUID if none
	Created  time.Time
	Failures int
	// Status is that of the booking of a payment that failed, since version 2. It may
	// change before the event is delivered.
	Status rail.BookingStatus
	// Copied is what the payment failed with, of version 2 alone. Since then the payment
	// keeps it, so that who erases a booking finds it.
	Copied rail.Failure
}

const queuedVersion = 3

// Encode returns the record.
func (q Queued) Encode() []byte {
	e := codec.NewEncoder(queuedVersion, 64)
	e.Str(string(q.Kind))
	e.ID(q.Booking)
	e.ID(q.Payment)
	e.Time(q.Created)
	e.Uint(uint64(q.Failures))
	e.Uint(uint64(q.Status))
	return e.B
}

// DecodeQueued reads what Queued.Encode wrote.
func DecodeQueued(v []byte) (Queued, error) {
	d, version := codec.NewDecoder("event", queuedVersion, v)
	q := Queued{Kind: rail.EventType(d.Str()), Booking: d.ID(), Payment: d.ID(), Created: d.Time(), Failures: int(d.Uint())}
	if version >= 2 {
		q.Status = rail.BookingStatus(d.Uint())
	}
	if version == 2 {
		q.Copied = rail.Failure{Code: d.Str(), Message: d.Str()}
	}
	return q, d.Done()
}

// Records are what an event is made from.
func (q *Queued) Records() []store.Key {
	if q.Booking == uuid.Nil {
		return nil
	}
	keys := []store.Key{BookingKey(q.Booking)}
	if q.Payment != uuid.Nil {
		keys = append(keys, PaymentKey(q.Booking, q.Payment))
	}
	return keys
}

// An OwedEvent is an event that all subscriptions got but some that could not be read.
type OwedEvent struct {
	To []uuid.UUID
	Queued
}

const owedVersion = 1

// Encode returns the record.
func (o OwedEvent) Encode() []byte {
	e := codec.NewEncoder(owedVersion, 96+16*len(o.To))
	e.Uint(uint64(len(o.To)))
	for _, id := range o.To {
		e.ID(id)
	}
	e.Str(string(o.Queued.Encode()))
	return e.B
}

// DecodeOwed reads what OwedEvent.Encode wrote.
func DecodeOwed(v []byte) (o OwedEvent, err error) {
	d, _ := codec.NewDecoder("owed event", owedVersion, v)
	for range d.Len(16) {
		o.To = append(o.To, d.ID())
	}
	q := d.Str()
	if err := d.Done(); err != nil {
		return OwedEvent{}, err
	}
	o.Queued, err = DecodeQueued([]byte(q))
	return o, err
}

// An EventKind is a kind of work that is an event. Decode reads what the agenda has of it.
type EventKind struct {
	Kind   Kind
	Decode func([]byte) (Queued, error)
}

// EventKinds are all of them.
func EventKinds() []EventKind {
	return []EventKind{
		{EventDue, DecodeQueued},
		{FanOutDue, DecodeQueued},
		{OwedDue, func(v []byte) (Queued, error) { o, err := DecodeOwed(v); return o.Queued, err }},
	}
}
