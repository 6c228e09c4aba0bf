package traintravel

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
)

// TableDeliveries has, of each subscription, its deliveries in the order of their IDs,
// and a queue of those that are pending in the order in which they are due. The agenda
// has an endpoint once, not each of its deliveries: so those that wait for a dead one
// are in nobody's way.

func deliveryKey(sub, id uuid.UUID) Key {
	return Key{TableDeliveries, "d" + string(sub[:]) + string(id[:])}
}

// deliveryID is the ID of a delivery in its key.
func deliveryID(key string) (id uuid.UUID) {
	copy(id[:], key[min(1+16, len(key)):])
	return id
}

// deliveriesOf lists the deliveries of a subscription after one of them.
func deliveriesOf(sub, after uuid.UUID, limit int) Range {
	prefix := "d" + string(sub[:])
	r := Range{Table: TableDeliveries, From: prefix, To: prefixEnd(prefix), Limit: limit}
	if after != uuid.Nil {
		r.From += string(after[:]) + "\x00"
	}
	return r
}

// queueOf lists the queue of a subscription: what is due at an instant, or all.
func queueOf(sub uuid.UUID, due time.Time, limit int) Range {
	prefix := "q" + string(sub[:])
	r := Range{Table: TableDeliveries, From: prefix, To: prefixEnd(prefix), Limit: limit}
	if !due.IsZero() {
		r.To = prefix + sortable(due.Add(1))
	}
	return r
}

// queueKey is where what is due at an instant begins in the queue of a subscription.
func queueKey(sub uuid.UUID, due time.Time) string { return "q" + string(sub[:]) + sortable(due) }

func sortable(t time.Time) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(max(0, nanos(t)))))
}

// queuedDelivery is the delivery that an entry of a queue leads to.
func queuedDelivery(key string) (id uuid.UUID) {
	copy(id[:], key[min(1+16+8, len(key)):])
	return id
}

// queuedFor is when an entry of a queue is due.
func queuedFor(id string) time.Time {
	if len(id) != queueKeySize {
		return time.Time{} // Check reports it
	}
	return time.Unix(0, int64(min(math.MaxInt64, binary.BigEndian.Uint64([]byte(id[17:25]))))).UTC()
}

// endpointKey puts an endpoint on the agenda of now, once for all that comes in a second.
func endpointKey(now time.Time, sub uuid.UUID) Key {
	return agendaKey(endpointDue, now.Truncate(time.Second), sub)
}

// A delivery is a Delivery with what its event is made from.
type delivery struct {
	Delivery
	queued queued
}

// newDelivery gives an event to a subscription. Doing so again makes the same.
func newDelivery(sub, event uuid.UUID, q queued) delivery {
	return delivery{queued: q, Delivery: Delivery{
		ID: timeID(q.created, hashID("delivery", event, sub)), Subscription: sub, Event: event,
		Type: q.kind, Created: q.created, Status: DeliveryPending,
	}}
}

const queueKeySize = 1 + 16 + 8 + 16

func (d *delivery) queueKey() Key {
	return Key{TableDeliveries, queueKey(d.Subscription, d.Next) + string(d.ID[:])}
}

const deliveryVersion = 3 // 2 has when it ended, and why; 3 has more reasons

// deliveryStatuses are those of records, by their byte.
var deliveryStatuses = [...]DeliveryStatus{DeliveryPending, DeliveryDelivered, DeliveryDead}

func (d *delivery) encode() []byte {
	e := newEncoder(deliveryVersion, 160)
	e.id(d.ID)
	e.id(d.Subscription)
	e.id(d.Event)
	for i, status := range deliveryStatuses {
		if d.Status == status {
			e.byte(byte(i))
		}
	}
	e.uint(uint64(d.Attempts))
	e.uint(uint64(d.LastStatus))
	e.time(d.Next)
	e.str(string(d.queued.encode()))
	e.time(d.Ended)
	e.byte(byte(max(0, slices.Index(deadReasons[:], d.Dead))))
	return e.b
}

func deliveryOf(rec Record) (delivery, error) { return decodeDelivery(rec.Value) }

func decodeDelivery(v []byte) (delivery, error) {
	r, version := newDecoder("delivery", deliveryVersion, v)
	d := delivery{Delivery: Delivery{ID: r.id(), Subscription: r.id(), Event: r.id()}}
	if status := int(r.byte()); status < len(deliveryStatuses) {
		d.Status = deliveryStatuses[status]
	} else {
		r.fail()
	}
	d.Attempts, d.LastStatus, d.Next = int(r.uint()), int(r.uint()), r.time()
	q := r.str()
	if version > 1 {
		d.Ended = r.time()
		if why := int(r.byte()); why < len(deadReasons) {
			d.Dead = deadReasons[why]
		} else {
			r.fail()
		}
	}
	if err := r.done(); err != nil {
		return delivery{}, err
	}
	var err error
	if d.queued, err = decodeQueued([]byte(q)); err != nil {
		return delivery{}, err
	}
	d.Type, d.Created = d.queued.kind, d.queued.created
	return d, nil
}
