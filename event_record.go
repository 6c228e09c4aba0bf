package traintravel

import (
	"time"

	"github.com/google/uuid"
)

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

// An owedEvent is an event that all subscriptions got but some that could not be read.
type owedEvent struct {
	to []uuid.UUID
	queued
}

const owedVersion = 1

func (o owedEvent) encode() []byte {
	e := newEncoder(owedVersion, 96+16*len(o.to))
	e.uint(uint64(len(o.to)))
	for _, id := range o.to {
		e.id(id)
	}
	e.str(string(o.queued.encode()))
	return e.b
}

func decodeOwed(v []byte) (o owedEvent, err error) {
	d, _ := newDecoder("owed event", owedVersion, v)
	for range d.len(16) {
		o.to = append(o.to, d.id())
	}
	q := d.str()
	if err := d.done(); err != nil {
		return owedEvent{}, err
	}
	o.queued, err = decodeQueued([]byte(q))
	return o, err
}

// eventKinds are the kinds of work that are events, and read what the agenda has of them.
var eventKinds = map[kind]func([]byte) (queued, error){
	eventDue: decodeQueued, fanOutDue: decodeQueued,
	owedDue: func(v []byte) (queued, error) { o, err := decodeOwed(v); return o.queued, err },
}
