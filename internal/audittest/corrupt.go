package audittest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/audit"
	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/transfer"
)

// A Corruption is damage done to a store by hand, and what Check must find of it.
type Corruption struct {
	Name string
	Do   func(*Vandal)
	// Finds are the kinds of faults, sorted: the first thing that comes to mind, and
	// what follows from it.
	Finds []audit.FaultKind
}

// A Vandal changes the records of a store on which nobody works.
type Vandal struct {
	ctx   context.Context
	store store.Store
	err   error
}

// Vandalize does damage to a store.
func Vandalize(ctx context.Context, of store.Store, do func(*Vandal)) error {
	v := &Vandal{ctx: ctx, store: of}
	do(v)
	return v.err
}

func (v *Vandal) put(k store.Key, value []byte) {
	v.err = cmp.Or(v.err, v.store.Update(v.ctx, func(tx store.Tx) error { tx.Put(k, value); return nil }))
}

func (v *Vandal) delete(k store.Key) {
	v.err = cmp.Or(v.err, v.store.Update(v.ctx, func(tx store.Tx) error { tx.Delete(k); return nil }))
}

// first is the first record of a table whose key begins so; the test fails if there
// is none.
func (v *Vandal) first(t store.Table, prefix string) (store.Key, []byte) {
	records, err := v.store.List(v.ctx, store.Range{Table: t, From: prefix, To: codec.PrefixEnd(prefix), Limit: 1})
	if err != nil || len(records) == 0 {
		panic("there is no such record")
	}
	return store.Key{Table: t, ID: records[0].ID}, records[0].Value
}

// each calls fn with the records of a table until it returns true.
func (v *Vandal) each(t store.Table, fn func(store.Key, []byte) bool) {
	records, err := v.store.List(v.ctx, store.Range{Table: t})
	v.err = cmp.Or(v.err, err)
	if !slices.ContainsFunc(records, func(r store.Record) bool { return fn(store.Key{Table: t, ID: r.ID}, r.Value) }) {
		panic("there is no such record")
	}
}

// booking finds a booking that is as is wanted.
func (v *Vandal) booking(want func(*rail.Booking) bool) (b rail.Booking) {
	v.each(store.TableBookings, func(_ store.Key, value []byte) bool {
		var err error
		b, err = records.DecodeBooking(value, &tz.Zones{})
		return err == nil && want(&b)
	})
	return b
}

func (v *Vandal) held() rail.Booking {
	return v.booking(func(b *rail.Booking) bool { return b.Status == rail.Held && b.LatestPayment == uuid.Nil })
}

func (v *Vandal) status(s rail.BookingStatus) rail.Booking {
	return v.booking(func(b *rail.Booking) bool { return b.Status == s })
}

func (v *Vandal) payment(want func(*records.Payment) bool) (p records.Payment) {
	v.each(store.TablePayments, func(_ store.Key, value []byte) bool {
		var err error
		p, err = records.DecodePayment(value)
		return err == nil && want(&p)
	})
	return p
}

// run changes the inventory of a booking's first leg.
func (v *Vandal) run(b rail.Booking, change func(*seats.Inventory, *seats.Taken)) {
	key := seats.RunKey(b.Legs[0].Run)
	values, err := v.store.Get(v.ctx, key)
	v.err = cmp.Or(v.err, err)
	inv, err := seats.DecodeInventory(values[0])
	v.err = cmp.Or(v.err, err)
	i := slices.IndexFunc(inv.Taken, func(t seats.Taken) bool { return t.Booking == b.ID })
	change(inv, &inv.Taken[i])
	v.put(key, inv.Encode())
}

func (v *Vandal) delivery(change func(*records.Delivery)) {
	key, value := v.first(store.TableDeliveries, "d")
	d, err := records.DecodeDelivery(value)
	v.err = cmp.Or(v.err, err)
	change(&d)
	if d.Status != rail.DeliveryPending {
		q, _ := v.first(store.TableDeliveries, "q")
		v.delete(q)
		v.delete(key)
	}
	v.put(records.DeliveryKey(d.Subscription, d.ID), d.Encode())
}

var nobody = uuid.MustParse("01900000-0000-7000-8000-000000000001")

// Corruptions are one or more for each kind of fault. The store must hold what
// TestCheckFindsCorruptions puts there.
var Corruptions = []Corruption{
	{"a booking is cut short", func(v *Vandal) {
		b := v.held()
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b)[:50])
	}, []audit.FaultKind{audit.FaultUnreadable}},
	{"a server's record is nonsense", func(v *Vandal) {
		v.put(agenda.ServerKey(nobody), []byte{1, 0xff})
	}, []audit.FaultKind{audit.FaultUnreadable}},
	{"a payment is of a newer version", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf != uuid.Nil })
		value := p.Encode()
		value[0] = 99
		v.put(p.Key(), value)
	}, []audit.FaultKind{audit.FaultNewer}},
	{"an unknown name", func(v *Vandal) {
		v.put(store.Key{Table: store.TableMeta, ID: "nonsense"}, nil)
	}, []audit.FaultKind{audit.FaultUnknownKey}},
	{"an unknown kind of work", func(v *Vandal) {
		v.put(records.AgendaKey('z', time.Unix(1, 0), nobody), nil)
	}, []audit.FaultKind{audit.FaultUnknownKey}},
	{"a key that is too short", func(v *Vandal) {
		v.put(store.Key{Table: store.TableOwned, ID: "short"}, nil)
	}, []audit.FaultKind{audit.FaultUnknownKey}},
	{"a booking under another's key", func(v *Vandal) {
		b := v.status(rail.Expired)
		v.put(records.BookingKey(nobody), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultMisplaced}},
	{"half a copy", func(v *Vandal) {
		v.put(transfer.ClosedKey(), transfer.Closing{Move: nobody, Attempt: nobody, Began: time.Unix(1, 0)}.Encode())
	}, []audit.FaultKind{audit.FaultHalfCopy}},

	{"a confirmed booking that nobody paid", func(v *Vandal) {
		b := v.status(rail.Confirmed)
		b.PaidBy = uuid.Nil
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState, audit.FaultEventUntrue, audit.FaultRefundMissing}},
	{"a booking that was confirmed before it became so", func(v *Vandal) {
		b := v.status(rail.Confirmed)
		b.Confirmed = b.Created.Add(-time.Second)
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState, audit.FaultPaymentState}},
	{"a hold that was confirmed", func(v *Vandal) {
		b := v.held()
		b.Confirmed = b.Created
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState}},
	{"a hold that the operator has cancelled", func(v *Vandal) {
		b := v.held()
		b.ByOperator = true
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState}},
	{"a booking that is not listed", func(v *Vandal) {
		b := v.held()
		v.delete(records.OwnedKey(&b))
	}, []audit.FaultKind{audit.FaultUnlisted}},
	{"a cancelled booking that is listed as one that is not", func(v *Vandal) {
		b := v.booking(func(b *rail.Booking) bool { return b.Status == rail.Cancelled && !b.ByOperator })
		b.Status = rail.Held
		v.put(records.OwnedKey(&b), nil)
	}, []audit.FaultKind{audit.FaultListed}},
	{"a cancelled booking that is not listed as over", func(v *Vandal) {
		b := v.booking(func(b *rail.Booking) bool { return b.Status == rail.Cancelled && !b.ByOperator })
		v.delete(records.OwnedKey(&b))
	}, []audit.FaultKind{audit.FaultUnlisted}},
	{"a booking that its reference does not lead to", func(v *Vandal) {
		b := v.held()
		v.delete(records.ReferenceKey(b.Reference))
	}, []audit.FaultKind{audit.FaultReferenceLost}},
	{"a reference of two bookings", func(v *Vandal) {
		b, o := v.held(), v.status(rail.Confirmed)
		v.delete(records.ReferenceKey(b.Reference))
		b.Reference = o.Reference
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultReferenceLost}},
	{"a reference of no booking", func(v *Vandal) {
		v.put(records.ReferenceKey(records.DrawReference(nobody, 0)), nobody[:])
	}, []audit.FaultKind{audit.FaultReferenceOrphan}},
	{"a reference of a booking that has another", func(v *Vandal) {
		b := v.held()
		v.put(records.ReferenceKey(records.DrawReference(nobody, 0)), b.ID[:])
	}, []audit.FaultKind{audit.FaultReferenceOrphan}},
	{"a reference that leads to no ID", func(v *Vandal) {
		v.put(records.ReferenceKey(records.DrawReference(nobody, 0)), []byte{1})
	}, []audit.FaultKind{audit.FaultUnreadable}},
	{"a reference that cannot be", func(v *Vandal) {
		b := v.held()
		v.delete(records.ReferenceKey(b.Reference))
		b.Reference = "O0I1L"
		v.put(records.ReferenceKey(b.Reference), b.ID[:])
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState}},
	{"a hold of which the operator has cancelled a train", func(v *Vandal) {
		b := v.held()
		b.CancelledLeg = 1
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState}},
	{"a hold that nobody ends", func(v *Vandal) {
		b := v.held()
		v.delete(records.HoldKey(&b))
	}, []audit.FaultKind{audit.FaultHoldEndless}},
	{"a hold beyond departure", func(v *Vandal) {
		b := v.held()
		v.delete(records.HoldKey(&b))
		b.Expires = b.Departs().Add(time.Hour)
		v.put(records.HoldKey(&b), nil)
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
		v.run(b, func(_ *seats.Inventory, t *seats.Taken) { t.Until = codec.Nanos(b.Expires) })
	}, []audit.FaultKind{audit.FaultHoldLong}},
	{"a booking without its place", func(v *Vandal) {
		v.run(v.status(rail.Confirmed), func(inv *seats.Inventory, t *seats.Taken) { inv.Release(t.Booking) })
	}, []audit.FaultKind{audit.FaultPlaceLost}},
	{"a place that is sold twice", func(v *Vandal) {
		v.run(v.status(rail.Confirmed), func(inv *seats.Inventory, t *seats.Taken) {
			t.Place = inv.Taken[(slices.IndexFunc(inv.Taken, func(o seats.Taken) bool { return o.Booking == t.Booking })+1)%len(inv.Taken)].Place
		})
	}, []audit.FaultKind{audit.FaultPlaceLost, audit.FaultPlaceTwice}},
	{"a place for nobody", func(v *Vandal) {
		v.run(v.status(rail.Confirmed), func(inv *seats.Inventory, t *seats.Taken) {
			o := *t
			o.Booking, o.Place = nobody, seats.NoPlace
			inv.Taken = append(inv.Taken, o)
		})
	}, []audit.FaultKind{audit.FaultPlaceOrphan}},
	{"a place that the train does not have", func(v *Vandal) {
		v.run(v.status(rail.Confirmed), func(_ *seats.Inventory, t *seats.Taken) { t.Place = 77 })
	}, []audit.FaultKind{audit.FaultPlaceLost, audit.FaultPlaceUnknown}},
	{"a hook without a bicycle", func(v *Vandal) {
		v.run(v.status(rail.Confirmed), func(_ *seats.Inventory, t *seats.Taken) { t.Hook = true })
	}, []audit.FaultKind{audit.FaultHook}},
	{"a booking on a run that is cancelled", func(v *Vandal) {
		v.run(v.status(rail.Confirmed), func(inv *seats.Inventory, _ *seats.Taken) { inv.Cancelled = true })
	}, []audit.FaultKind{audit.FaultRunCancelled}},

	{"a payment for nothing", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.Status == rail.Failed })
		p.Booking = nobody
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultPaymentOrphan}},
	{"a payment that is lost", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.Status == rail.Failed })
		v.delete(p.Key())
	}, []audit.FaultKind{audit.FaultEventOrphan, audit.FaultPaymentMissing}},
	{"a payment of an unknown status", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.Status == rail.Failed })
		p.Status = "lost"
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultPaymentState}},
	{"a pending payment that is settled", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.Status == rail.Pending && p.RefundOf == uuid.Nil })
		p.Settled = p.Created
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultPaymentState}},
	{"two open payments", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.Status == rail.Pending && p.RefundOf == uuid.Nil })
		p.ID = nobody
		v.put(p.Key(), p.Encode())
		v.put(p.AgendaKey(), p.Booking[:])
	}, []audit.FaultKind{audit.FaultPaymentOpen}},
	{"a payment that nobody looks after", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.Status == rail.Pending && p.RefundOf == uuid.Nil })
		v.delete(p.AgendaKey())
	}, []audit.FaultKind{audit.FaultPaymentStuck}},
	{"a payment of another sum", func(v *Vandal) {
		b := v.status(rail.Confirmed)
		p := v.payment(func(p *records.Payment) bool { return p.ID == b.PaidBy })
		p.Amount.Amount--
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultAmount}},
	{"a refund of too much", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf != uuid.Nil })
		p.Amount.Amount *= 2
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultRefund}},
	{"a refund under an ID that does not follow from its charge", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf != uuid.Nil })
		v.delete(p.Key())
		if !p.Next.IsZero() {
			v.delete(p.AgendaKey())
			p.ID[15]++
			v.put(p.AgendaKey(), p.Booking[:])
		} else {
			p.ID[15]++
		}
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultRefund}},
	{"a refund that has failed, and nobody knows why", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf != uuid.Nil })
		if !p.Next.IsZero() {
			v.delete(p.AgendaKey())
		}
		p.Status, p.Next = rail.Failed, time.Time{}
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultPaymentState}},
	{"a charge that was made elsewhere", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf == uuid.Nil && p.Status == rail.Succeeded })
		p.Resolution = rail.RefundedElsewhere
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultPaymentState}},
	{"a pending payment that an operator has settled", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.Status == rail.Pending })
		p.Settlements = []rail.Settlement{{As: rail.AsFailed, By: "carla", Reason: "lost", At: p.Created}}
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultPaymentState}},
	{"a payment that nobody knows who has settled", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf == uuid.Nil && p.Status == rail.Failed })
		p.Settlements = []rail.Settlement{{As: rail.AsFailed}}
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultPaymentState}},
	{"money for an expired booking", func(v *Vandal) {
		b := v.status(rail.Expired)
		p := v.payment(func(p *records.Payment) bool { return p.Status == rail.Succeeded && p.RefundOf == uuid.Nil })
		p.ID, p.Booking = nobody, b.ID
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultPaymentMissing, audit.FaultRefundMissing}},

	{"an idempotency key for ever", func(v *Vandal) {
		key, _ := v.first(store.TableAgenda, string(byte(records.KeyForgotten)))
		v.delete(key)
	}, []audit.FaultKind{audit.FaultIdempotencyEndless}},
	{"an answer that is lost", func(v *Vandal) {
		v.each(store.TableIdempotency, func(key store.Key, value []byte) bool {
			r, err := records.DecodeRemembered(value)
			if len(key.ID) == ledger.CountSize || err != nil {
				return false
			}
			r.Payment = nobody
			v.put(key, r.Encode())
			return true
		})
	}, []audit.FaultKind{audit.FaultIdempotencyOrphan}},
	{"a count of declined payments for ever", func(v *Vandal) {
		key, _ := v.first(store.TableAgenda, string(byte(records.CountDue)))
		v.delete(key)
	}, []audit.FaultKind{audit.FaultIdempotencyEndless}},
	{"a hold of nobody", func(v *Vandal) {
		v.put(records.AgendaKey(records.HoldEnds, time.Unix(1, 0), nobody), nil)
	}, []audit.FaultKind{audit.FaultAgendaOrphan}},
	{"a payment to be followed that is none", func(v *Vandal) {
		v.put(records.AgendaKey(records.PaymentDue, time.Unix(1, 0), nobody), nobody[:])
	}, []audit.FaultKind{audit.FaultAgendaOrphan}},
	{"an event of nobody", func(v *Vandal) {
		q := records.Queued{Kind: rail.BookingCreated, Booking: nobody, Created: time.Unix(1, 0)}
		v.put(records.AgendaKey(records.EventDue, q.Created, ids.HashID("event", string(q.Kind), q.Booking, q.Payment)), q.Encode())
	}, []audit.FaultKind{audit.FaultEventOrphan}},
	{"an event that has not happened", func(v *Vandal) {
		q := records.Queued{Kind: rail.BookingCancelled, Booking: v.held().ID, Created: time.Unix(1, 0)}
		v.put(records.AgendaKey(records.FanOutDue, q.Created, ids.HashID("event", string(q.Kind), q.Booking, q.Payment)), q.Encode())
	}, []audit.FaultKind{audit.FaultEventUntrue}},

	{"a subscription that is not found", func(v *Vandal) {
		key, _ := v.first(store.TableWebhooks, "o")
		v.delete(key)
	}, []audit.FaultKind{audit.FaultSubscriptionUnmarked}},
	{"an endpoint of the operator's that is not listed", func(v *Vandal) {
		key, _ := v.first(store.TableWebhooks, records.OperatorPrefix)
		v.delete(key)
	}, []audit.FaultKind{audit.FaultSubscriptionUnmarked}},
	{"a mark of an endpoint of the operator's that is none", func(v *Vandal) {
		v.put(store.Key{Table: store.TableWebhooks, ID: records.OperatorPrefix + string(nobody[:])}, nil)
	}, []audit.FaultKind{audit.FaultSubscriptionMark}},
	{"a mark of nobody", func(v *Vandal) {
		v.put(store.Key{Table: store.TableWebhooks, ID: records.SubjectPrefix(rail.Subject{Issuer: "a", ID: "b"}) + string(nobody[:])}, nil)
	}, []audit.FaultKind{audit.FaultSubscriptionMark}},
	{"a subscription that is not swept", func(v *Vandal) {
		key, _ := v.first(store.TableAgenda, string(byte(records.SweepDue)))
		v.delete(key)
	}, []audit.FaultKind{audit.FaultSubscriptionUnswept}},
	{"a delivery to nobody", func(v *Vandal) {
		v.delivery(func(d *records.Delivery) { d.Subscription, d.Status, d.Next = nobody, rail.DeliveryDead, time.Time{} })
	}, []audit.FaultKind{audit.FaultDeliveryOrphan}},
	{"a delivery that is not queued", func(v *Vandal) {
		key, _ := v.first(store.TableDeliveries, "q")
		v.delete(key)
	}, []audit.FaultKind{audit.FaultDeliveryStuck}},
	{"a delivery that nobody makes", func(v *Vandal) {
		v.each(store.TableAgenda, func(k store.Key, _ []byte) bool {
			if k.ID[0] == byte(records.EndpointDue) {
				v.delete(k)
			}
			return k.ID[0] > byte(records.EndpointDue)-1
		})
	}, []audit.FaultKind{audit.FaultDeliveryStuck}},
	{"a delivery that was made and is due", func(v *Vandal) {
		v.delivery(func(d *records.Delivery) { d.Status = rail.DeliveryDelivered })
	}, []audit.FaultKind{audit.FaultDeliveryState}},
	{"a queue without its delivery", func(v *Vandal) {
		_, value := v.first(store.TableDeliveries, "d")
		d, err := records.DecodeDelivery(value)
		v.err = cmp.Or(v.err, err)
		d.ID = nobody
		v.put(d.QueueKey(), nil)
	}, []audit.FaultKind{audit.FaultQueueOrphan}},

	{"a part of the timetable is gone", func(v *Vandal) {
		key, _ := v.first(store.TableTimetable, "")
		v.delete(key)
	}, []audit.FaultKind{audit.FaultTimetable}},
	{"a timetable that cannot be read", func(v *Vandal) {
		v.each(store.TableTimetable, func(k store.Key, value []byte) bool {
			if k.ID[16] != 't' {
				return false
			}
			value = bytes.Clone(value)
			value[0] = 77
			v.put(k, value)
			return true
		})
	}, []audit.FaultKind{audit.FaultTimetable}},
	{"trains with the numbers of others", func(v *Vandal) {
		v.each(store.TableTimetable, func(k store.Key, value []byte) bool {
			if k.ID[16] != 'r' {
				return false
			}
			r, err := trains.DecodeRegistry(value)
			v.err = cmp.Or(v.err, err)
			r.Entries[0].Number, r.Entries[1].Number = r.Entries[1].Number, r.Entries[0].Number
			v.put(k, r.Encode())
			return true
		})
	}, []audit.FaultKind{audit.FaultRegistry}},
}

// RemoveBooking removes the record of a booking, as a pass over unpaid ones does.
func RemoveBooking(id uuid.UUID) func(*Vandal) {
	return func(v *Vandal) {
		b := v.booking(func(b *rail.Booking) bool { return b.ID == id })
		v.delete(records.ReferenceKey(b.Reference))
		v.delete(records.BookingKey(id))
	}
}
