package traintravel

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// A Corruption is damage done to a store by hand, and what Check must find of it.
type Corruption struct {
	Name string
	Do   func(*Vandal)
	// Finds are the kinds of faults, sorted: the first thing that comes to mind, and
	// what follows from it.
	Finds []FaultKind
}

// A Vandal changes the records of a store on which nobody works.
type Vandal struct {
	ctx   context.Context
	store Store
	err   error
}

// Vandalize does damage to a store.
func Vandalize(ctx context.Context, store Store, do func(*Vandal)) error {
	v := &Vandal{ctx: ctx, store: store}
	do(v)
	return v.err
}

func (v *Vandal) put(k Key, value []byte) {
	v.err = cmp.Or(v.err, v.store.Update(v.ctx, func(tx Tx) error { tx.Put(k, value); return nil }))
}

func (v *Vandal) delete(k Key) {
	v.err = cmp.Or(v.err, v.store.Update(v.ctx, func(tx Tx) error { tx.Delete(k); return nil }))
}

// first is the first record of a table whose key begins so; the test fails if there
// is none.
func (v *Vandal) first(t Table, prefix string) (Key, []byte) {
	records, err := v.store.List(v.ctx, Range{Table: t, From: prefix, To: prefixEnd(prefix), Limit: 1})
	if err != nil || len(records) == 0 {
		panic("there is no such record")
	}
	return Key{t, records[0].ID}, records[0].Value
}

// each calls fn with the records of a table until it returns true.
func (v *Vandal) each(t Table, fn func(Key, []byte) bool) {
	records, err := v.store.List(v.ctx, Range{Table: t})
	v.err = cmp.Or(v.err, err)
	if !slices.ContainsFunc(records, func(r Record) bool { return fn(Key{t, r.ID}, r.Value) }) {
		panic("there is no such record")
	}
}

// booking finds a booking that is as is wanted.
func (v *Vandal) booking(want func(*Booking) bool) (b Booking) {
	v.each(TableBookings, func(_ Key, value []byte) bool {
		var err error
		b, err = decodeBooking(value, &zones{})
		return err == nil && want(&b)
	})
	return b
}

func (v *Vandal) held() Booking {
	return v.booking(func(b *Booking) bool { return b.Status == Held && b.LatestPayment == uuid.Nil })
}

func (v *Vandal) status(s BookingStatus) Booking {
	return v.booking(func(b *Booking) bool { return b.Status == s })
}

func (v *Vandal) payment(want func(*payment) bool) (p payment) {
	v.each(TablePayments, func(_ Key, value []byte) bool {
		var err error
		p, err = decodePayment(value)
		return err == nil && want(&p)
	})
	return p
}

// run changes the inventory of a booking's first leg.
func (v *Vandal) run(b Booking, change func(*inventory, *taken)) {
	key := runKey(b.Legs[0].Run)
	values, err := v.store.Get(v.ctx, key)
	v.err = cmp.Or(v.err, err)
	inv, err := decodeInventory(values[0])
	v.err = cmp.Or(v.err, err)
	i := slices.IndexFunc(inv.taken, func(t taken) bool { return t.booking == b.ID })
	change(inv, &inv.taken[i])
	v.put(key, inv.encode())
}

func (v *Vandal) delivery(change func(*delivery)) {
	key, value := v.first(TableDeliveries, "d")
	d, err := decodeDelivery(value)
	v.err = cmp.Or(v.err, err)
	change(&d)
	if d.Status != DeliveryPending {
		q, _ := v.first(TableDeliveries, "q")
		v.delete(q)
		v.delete(key)
	}
	v.put(deliveryKey(d.Subscription, d.ID), d.encode())
}

var nobody = uuid.MustParse("01900000-0000-7000-8000-000000000001")

// Corruptions are one or more for each kind of fault. The store must hold what
// TestCheckFindsCorruptions puts there.
var Corruptions = []Corruption{
	{"a booking is cut short", func(v *Vandal) {
		b := v.held()
		v.put(bookingKey(b.ID), encodeBooking(&b)[:50])
	}, []FaultKind{faultUnreadable}},
	{"a server's record is nonsense", func(v *Vandal) {
		v.put(serverKey(nobody), []byte{1, 0xff})
	}, []FaultKind{faultUnreadable}},
	{"a payment is of a newer version", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf != uuid.Nil })
		value := p.encode()
		value[0] = 99
		v.put(p.key(), value)
	}, []FaultKind{faultNewer}},
	{"an unknown name", func(v *Vandal) {
		v.put(Key{TableMeta, "nonsense"}, nil)
	}, []FaultKind{faultUnknownKey}},
	{"an unknown kind of work", func(v *Vandal) {
		v.put(agendaKey('z', time.Unix(1, 0), nobody), nil)
	}, []FaultKind{faultUnknownKey}},
	{"a key that is too short", func(v *Vandal) {
		v.put(Key{TableOwned, "short"}, nil)
	}, []FaultKind{faultUnknownKey}},
	{"a booking under another's key", func(v *Vandal) {
		b := v.status(Expired)
		v.put(bookingKey(nobody), encodeBooking(&b))
	}, []FaultKind{faultMisplaced}},
	{"half a copy", func(v *Vandal) {
		v.put(closedKey, closing{move: nobody, attempt: nobody, began: time.Unix(1, 0)}.encode())
	}, []FaultKind{faultHalfCopy}},

	{"a confirmed booking that nobody paid", func(v *Vandal) {
		b := v.status(Confirmed)
		b.PaidBy = uuid.Nil
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultBookingState, faultEventUntrue, faultRefundMissing}},
	{"a booking that was confirmed before it became so", func(v *Vandal) {
		b := v.status(Confirmed)
		b.Confirmed = b.Created.Add(-time.Second)
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultBookingState, faultPaymentState}},
	{"a hold that was confirmed", func(v *Vandal) {
		b := v.held()
		b.Confirmed = b.Created
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultBookingState}},
	{"a hold that the operator has cancelled", func(v *Vandal) {
		b := v.held()
		b.ByOperator = true
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultBookingState}},
	{"a booking that is not listed", func(v *Vandal) {
		b := v.held()
		v.delete(ownedKey(&b))
	}, []FaultKind{faultUnlisted}},
	{"a cancelled booking that is listed", func(v *Vandal) {
		b := v.status(Cancelled)
		v.put(ownedKey(&b), nil)
	}, []FaultKind{faultListed}},
	{"a hold that nobody ends", func(v *Vandal) {
		b := v.held()
		v.delete(holdKey(&b))
	}, []FaultKind{faultHoldEndless}},
	{"a hold beyond departure", func(v *Vandal) {
		b := v.held()
		v.delete(holdKey(&b))
		b.Expires = b.departs().Add(time.Hour)
		v.put(holdKey(&b), nil)
		v.put(bookingKey(b.ID), encodeBooking(&b))
		v.run(b, func(_ *inventory, t *taken) { t.until = nanos(b.Expires) })
	}, []FaultKind{faultHoldLong}},
	{"a booking without its place", func(v *Vandal) {
		v.run(v.status(Confirmed), func(inv *inventory, t *taken) { inv.release(t.booking) })
	}, []FaultKind{faultPlaceLost}},
	{"a place that is sold twice", func(v *Vandal) {
		v.run(v.status(Confirmed), func(inv *inventory, t *taken) {
			t.place = inv.taken[(slices.IndexFunc(inv.taken, func(o taken) bool { return o.booking == t.booking })+1)%len(inv.taken)].place
		})
	}, []FaultKind{faultPlaceLost, faultPlaceTwice}},
	{"a place for nobody", func(v *Vandal) {
		v.run(v.status(Confirmed), func(inv *inventory, t *taken) {
			o := *t
			o.booking, o.place = nobody, noPlace
			inv.taken = append(inv.taken, o)
		})
	}, []FaultKind{faultPlaceOrphan}},
	{"a place that the train does not have", func(v *Vandal) {
		v.run(v.status(Confirmed), func(_ *inventory, t *taken) { t.place = 77 })
	}, []FaultKind{faultPlaceLost, faultPlaceUnknown}},
	{"a hook without a bicycle", func(v *Vandal) {
		v.run(v.status(Confirmed), func(_ *inventory, t *taken) { t.hook = true })
	}, []FaultKind{faultHook}},
	{"a booking on a run that is cancelled", func(v *Vandal) {
		v.run(v.status(Confirmed), func(inv *inventory, _ *taken) { inv.cancelled = true })
	}, []FaultKind{faultRunCancelled}},

	{"a payment for nothing", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.Status == Failed })
		p.Booking = nobody
		v.put(p.key(), p.encode())
	}, []FaultKind{faultPaymentOrphan}},
	{"a payment that is lost", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.Status == Failed })
		v.delete(p.key())
	}, []FaultKind{faultEventOrphan, faultPaymentMissing}},
	{"a payment of an unknown status", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.Status == Failed })
		p.Status = "lost"
		v.put(p.key(), p.encode())
	}, []FaultKind{faultPaymentState}},
	{"a pending payment that is settled", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.Status == Pending && p.RefundOf == uuid.Nil })
		p.Settled = p.Created
		v.put(p.key(), p.encode())
	}, []FaultKind{faultPaymentState}},
	{"two open payments", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.Status == Pending && p.RefundOf == uuid.Nil })
		p.ID = nobody
		v.put(p.key(), p.encode())
		v.put(p.agendaKey(), p.Booking[:])
	}, []FaultKind{faultPaymentOpen}},
	{"a payment that nobody looks after", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.Status == Pending && p.RefundOf == uuid.Nil })
		v.delete(p.agendaKey())
	}, []FaultKind{faultPaymentStuck}},
	{"a payment of another sum", func(v *Vandal) {
		b := v.status(Confirmed)
		p := v.payment(func(p *payment) bool { return p.ID == b.PaidBy })
		p.Amount.Amount--
		v.put(p.key(), p.encode())
	}, []FaultKind{faultAmount}},
	{"a refund of too much", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf != uuid.Nil })
		p.Amount.Amount *= 2
		v.put(p.key(), p.encode())
	}, []FaultKind{faultRefund}},
	{"a refund under an ID that does not follow from its charge", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf != uuid.Nil })
		v.delete(p.key())
		if !p.next.IsZero() {
			v.delete(p.agendaKey())
			p.ID[15]++
			v.put(p.agendaKey(), p.Booking[:])
		} else {
			p.ID[15]++
		}
		v.put(p.key(), p.encode())
	}, []FaultKind{faultRefund}},
	{"a refund that has failed, and nobody knows why", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf != uuid.Nil })
		if !p.next.IsZero() {
			v.delete(p.agendaKey())
		}
		p.Status, p.next = Failed, time.Time{}
		v.put(p.key(), p.encode())
	}, []FaultKind{faultPaymentState}},
	{"a charge that was made elsewhere", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf == uuid.Nil && p.Status == Succeeded })
		p.Resolution = RefundedElsewhere
		v.put(p.key(), p.encode())
	}, []FaultKind{faultPaymentState}},
	{"a pending payment that an operator has settled", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.Status == Pending })
		p.Settlements = []Settlement{{As: AsFailed, By: "carla", Reason: "lost", At: p.Created}}
		v.put(p.key(), p.encode())
	}, []FaultKind{faultPaymentState}},
	{"a payment that nobody knows who has settled", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf == uuid.Nil && p.Status == Failed })
		p.Settlements = []Settlement{{As: AsFailed}}
		v.put(p.key(), p.encode())
	}, []FaultKind{faultPaymentState}},
	{"money for an expired booking", func(v *Vandal) {
		b := v.status(Expired)
		p := v.payment(func(p *payment) bool { return p.Status == Succeeded && p.RefundOf == uuid.Nil })
		p.ID, p.Booking = nobody, b.ID
		v.put(p.key(), p.encode())
	}, []FaultKind{faultPaymentMissing, faultRefundMissing}},

	{"an idempotency key for ever", func(v *Vandal) {
		key, _ := v.first(TableAgenda, string(byte(keyForgotten)))
		v.delete(key)
	}, []FaultKind{faultIdempotencyEndless}},
	{"an answer that is lost", func(v *Vandal) {
		v.each(TableIdempotency, func(key Key, value []byte) bool {
			r, err := decodeRemembered(value)
			if len(key.ID) == countSize || err != nil {
				return false
			}
			r.payment = nobody
			v.put(key, r.encode())
			return true
		})
	}, []FaultKind{faultIdempotencyOrphan}},
	{"a count of declined payments for ever", func(v *Vandal) {
		key, _ := v.first(TableAgenda, string(byte(countDue)))
		v.delete(key)
	}, []FaultKind{faultIdempotencyEndless}},
	{"a hold of nobody", func(v *Vandal) {
		v.put(agendaKey(holdEnds, time.Unix(1, 0), nobody), nil)
	}, []FaultKind{faultAgendaOrphan}},
	{"a payment to be followed that is none", func(v *Vandal) {
		v.put(agendaKey(paymentDue, time.Unix(1, 0), nobody), nobody[:])
	}, []FaultKind{faultAgendaOrphan}},
	{"an event of nobody", func(v *Vandal) {
		q := queued{kind: BookingCreated, booking: nobody, created: time.Unix(1, 0)}
		v.put(agendaKey(eventDue, q.created, hashID("event", string(q.kind), q.booking, q.payment)), q.encode())
	}, []FaultKind{faultEventOrphan}},
	{"an event that has not happened", func(v *Vandal) {
		q := queued{kind: BookingCancelled, booking: v.held().ID, created: time.Unix(1, 0)}
		v.put(agendaKey(fanOutDue, q.created, hashID("event", string(q.kind), q.booking, q.payment)), q.encode())
	}, []FaultKind{faultEventUntrue}},

	{"a subscription that is not found", func(v *Vandal) {
		key, _ := v.first(TableWebhooks, "o")
		v.delete(key)
	}, []FaultKind{faultSubscriptionUnmarked}},
	{"an endpoint of the operator's that is not listed", func(v *Vandal) {
		key, _ := v.first(TableWebhooks, operatorPrefix)
		v.delete(key)
	}, []FaultKind{faultSubscriptionUnmarked}},
	{"a mark of an endpoint of the operator's that is none", func(v *Vandal) {
		v.put(Key{TableWebhooks, operatorPrefix + string(nobody[:])}, nil)
	}, []FaultKind{faultSubscriptionMark}},
	{"a mark of nobody", func(v *Vandal) {
		v.put(Key{TableWebhooks, subjectPrefix(Subject{"a", "b"}) + string(nobody[:])}, nil)
	}, []FaultKind{faultSubscriptionMark}},
	{"a subscription that is not swept", func(v *Vandal) {
		key, _ := v.first(TableAgenda, string(byte(sweepDue)))
		v.delete(key)
	}, []FaultKind{faultSubscriptionUnswept}},
	{"a delivery to nobody", func(v *Vandal) {
		v.delivery(func(d *delivery) { d.Subscription, d.Status, d.Next = nobody, DeliveryDead, time.Time{} })
	}, []FaultKind{faultDeliveryOrphan}},
	{"a delivery that is not queued", func(v *Vandal) {
		key, _ := v.first(TableDeliveries, "q")
		v.delete(key)
	}, []FaultKind{faultDeliveryStuck}},
	{"a delivery that nobody makes", func(v *Vandal) {
		v.each(TableAgenda, func(k Key, _ []byte) bool {
			if k.ID[0] == byte(endpointDue) {
				v.delete(k)
			}
			return k.ID[0] > byte(endpointDue)-1
		})
	}, []FaultKind{faultDeliveryStuck}},
	{"a delivery that was made and is due", func(v *Vandal) {
		v.delivery(func(d *delivery) { d.Status = DeliveryDelivered })
	}, []FaultKind{faultDeliveryState}},
	{"a queue without its delivery", func(v *Vandal) {
		_, value := v.first(TableDeliveries, "d")
		d, err := decodeDelivery(value)
		v.err = cmp.Or(v.err, err)
		d.ID = nobody
		v.put(d.queueKey(), nil)
	}, []FaultKind{faultQueueOrphan}},

	{"a part of the timetable is gone", func(v *Vandal) {
		key, _ := v.first(TableTimetable, "")
		v.delete(key)
	}, []FaultKind{faultTimetable}},
	{"a timetable that cannot be read", func(v *Vandal) {
		v.each(TableTimetable, func(k Key, value []byte) bool {
			if k.ID[16] != 't' {
				return false
			}
			value = bytes.Clone(value)
			value[0] = 77
			v.put(k, value)
			return true
		})
	}, []FaultKind{faultTimetable}},
	{"trains with the numbers of others", func(v *Vandal) {
		v.each(TableTimetable, func(k Key, value []byte) bool {
			if k.ID[16] != 'r' {
				return false
			}
			r, err := decodeRegistry(value)
			v.err = cmp.Or(v.err, err)
			r.entries[0].number, r.entries[1].number = r.entries[1].number, r.entries[0].number
			v.put(k, r.encode())
			return true
		})
	}, []FaultKind{faultRegistry}},
}

// FaultKinds are all there are.
func FaultKinds() (kinds []FaultKind) {
	for k := range meanings {
		kinds = append(kinds, k)
	}
	return kinds
}
