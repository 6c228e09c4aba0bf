package records

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// TableDeliveries has, of each subscription, its deliveries in the order of their IDs,
// and a queue of those that are pending in the order in which they are due. The agenda
// has an endpoint once, not each of its deliveries: so those that wait for a dead one
// are in nobody's way.

// DeliveryKey names the record of a delivery of a subscription.
func DeliveryKey(sub, id uuid.UUID) store.Key {
	return store.Key{Table: store.TableDeliveries, ID: "d" + string(sub[:]) + string(id[:])}
}

// DeliveryID is the ID of a delivery in its key.
func DeliveryID(key string) (id uuid.UUID) {
	copy(id[:], key[min(1+16, len(key)):])
	return id
}

// DeliveriesOf lists the deliveries of a subscription after one of them.
func DeliveriesOf(sub, after uuid.UUID, limit int) store.Range {
	prefix := "d" + string(sub[:])
	r := store.Range{Table: store.TableDeliveries, From: prefix, To: codec.PrefixEnd(prefix), Limit: limit}
	if after != uuid.Nil {
		r.From += string(after[:]) + "\x00"
	}
	return r
}

// QueueOf lists the queue of a subscription: what is due at an instant, or all.
func QueueOf(sub uuid.UUID, due time.Time, limit int) store.Range {
	prefix := "q" + string(sub[:])
	r := store.Range{Table: store.TableDeliveries, From: prefix, To: codec.PrefixEnd(prefix), Limit: limit}
	if !due.IsZero() {
		r.To = prefix + Sortable(due.Add(1))
	}
	return r
}

// QueueKey is where what is due at an instant begins in the queue of a subscription.
func QueueKey(sub uuid.UUID, due time.Time) string { return "q" + string(sub[:]) + Sortable(due) }

// Sortable is an instant as eight bytes that order like it, from 1970 on.
func Sortable(t time.Time) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(max(0, codec.Nanos(t)))))
}

// QueuedDelivery is the delivery that an entry of a queue leads to.
func QueuedDelivery(key string) (id uuid.UUID) {
	copy(id[:], key[min(1+16+8, len(key)):])
	return id
}

// QueuedFor is when an entry of a queue is due.
func QueuedFor(id string) time.Time {
	if len(id) != QueueKeySize {
		return time.Time{} // Check reports it
	}
	return time.Unix(0, int64(min(math.MaxInt64, binary.BigEndian.Uint64([]byte(id[17:25]))))).UTC()
}

// EndpointKey puts an endpoint on the agenda of now, once for all that comes in a second.
func EndpointKey(now time.Time, sub uuid.UUID) store.Key {
	return AgendaKey(EndpointDue, now.Truncate(time.Second), sub)
}

// A Delivery is a rail.Delivery with what its event is made from.
type Delivery struct {
	rail.Delivery
	Queued Queued
}

// NewDelivery gives an event to a subscription. Doing so again makes the same.
func NewDelivery(sub, event uuid.UUID, q Queued) Delivery {
	return Delivery{Queued: q, Delivery: rail.Delivery{
		ID: ids.TimeID(q.Created, ids.HashID("delivery", event, sub)), Subscription: sub, Event: event,
		Type: q.Kind, Created: q.Created, Status: rail.DeliveryPending,
	}}
}

// QueueKeySize is how many bytes the key of an entry of a queue has.
const QueueKeySize = 1 + 16 + 8 + 16

// QueueKey names the entry of the delivery in the queue of its subscription.
func (d *Delivery) QueueKey() store.Key {
	return store.Key{Table: store.TableDeliveries, ID: QueueKey(d.Subscription, d.Next) + string(d.ID[:])}
}

const deliveryVersion = 3 // 2 has when it ended, and why; 3 has more reasons

// deliveryStatuses are those of records, by their byte.
var deliveryStatuses = [...]rail.DeliveryStatus{rail.DeliveryPending, rail.DeliveryDelivered, rail.DeliveryDead}

// Encode returns the record.
func (d *Delivery) Encode() []byte {
	e := codec.NewEncoder(deliveryVersion, 160)
	e.ID(d.ID)
	e.ID(d.Subscription)
	e.ID(d.Event)
	for i, status := range deliveryStatuses {
		if d.Status == status {
			e.Byte(byte(i))
		}
	}
	e.Uint(uint64(d.Attempts))
	e.Uint(uint64(d.LastStatus))
	e.Time(d.Next)
	e.Str(string(d.Queued.Encode()))
	e.Time(d.Ended)
	e.Byte(byte(max(0, slices.Index(deadReasons[:], d.Dead))))
	return e.B
}

// DeliveryOf reads the record of a delivery.
func DeliveryOf(rec store.Record) (Delivery, error) { return DecodeDelivery(rec.Value) }

// DecodeDelivery reads what Delivery.Encode wrote.
func DecodeDelivery(v []byte) (Delivery, error) {
	r, version := codec.NewDecoder("delivery", deliveryVersion, v)
	d := Delivery{Delivery: rail.Delivery{ID: r.ID(), Subscription: r.ID(), Event: r.ID()}}
	if status := int(r.Byte()); status < len(deliveryStatuses) {
		d.Status = deliveryStatuses[status]
	} else {
		r.Fail()
	}
	d.Attempts, d.LastStatus, d.Next = int(r.Uint()), int(r.Uint()), r.Time()
	q := r.Str()
	if version > 1 {
		d.Ended = r.Time()
		if why := int(r.Byte()); why < len(deadReasons) {
			d.Dead = deadReasons[why]
		} else {
			r.Fail()
		}
	}
	if err := r.Done(); err != nil {
		return Delivery{}, err
	}
	var err error
	if d.Queued, err = DecodeQueued([]byte(q)); err != nil {
		return Delivery{}, err
	}
	d.Type, d.Created = d.Queued.Kind, d.Queued.Created
	return d, nil
}
