package audittest

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/audit"
	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/rail"
)

// TravelCorruptions are damage to bicycles, connections and refunds, as Corruptions are.
// The store must hold what TestCheckFindsCorruptions puts there for them.
var TravelCorruptions = []Corruption{
	{"the clock was seen after the last day", func(v *Vandal) {
		e := codec.NewEncoder(agenda.ClockVersion, 9)
		e.Time(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))
		v.put(agenda.ClockKey(), e.B)
	}, []audit.FaultKind{audit.FaultClock}},
	{"the hook of a bicycle on a train with seats is gone", func(v *Vandal) {
		v.run(v.cyclist(true), func(_ *seats.Inventory, t *seats.Taken) { t.Hook = false })
	}, []audit.FaultKind{audit.FaultHookLost}},
	{"the hook of a bicycle on a train without seats is gone", func(v *Vandal) {
		b := v.cyclist(false)
		v.run(b, func(inv *seats.Inventory, _ *seats.Taken) { inv.Release(b.ID) })
	}, []audit.FaultKind{audit.FaultHookLost}},
	{"the hook of a paid bicycle lapses", func(v *Vandal) {
		b := v.cyclist(false)
		v.run(b, func(_ *seats.Inventory, t *seats.Taken) { t.Until = codec.Nanos(b.Created) })
	}, []audit.FaultKind{audit.FaultHookLost}},
	{"the hook of a bicycle is kept for another stretch", func(v *Vandal) {
		v.run(v.cyclist(false), func(_ *seats.Inventory, t *seats.Taken) { t.From, t.To = 1, 2 })
	}, []audit.FaultKind{audit.FaultHookLost}},
	{"the hook of a bicycle that an older version has sold is kept for another stretch", func(v *Vandal) {
		b := v.cyclist(false)
		b.Hooks = nil
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
		v.run(b, func(_ *seats.Inventory, t *seats.Taken) { t.From, t.To = 1, 2 })
	}, []audit.FaultKind{audit.FaultHookLost}},
	{"a hook where the booking has none", func(v *Vandal) {
		b := v.cyclist(true)
		b.Hooks = []bool{false}
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultHook}},
	{"a place that one has, and that is stranded for another", func(v *Vandal) {
		b := v.cyclist(true)
		c := v.booking(func(c *rail.Booking) bool {
			return c.ID != b.ID && c.Status == rail.Confirmed && c.Legs[0].Seat > 0 && c.Legs[0].Run == b.Legs[0].Run
		})
		c.Legs[0].Coach, c.Legs[0].Seat = b.Legs[0].Coach, b.Legs[0].Seat
		v.put(records.BookingKey(c.ID), records.EncodeBooking(&c))
		v.run(c, func(inv *seats.Inventory, t *seats.Taken) {
			s := inv.Strand(*t)
			s.Coach, s.Seat = b.Legs[0].Coach, b.Legs[0].Seat
			inv.Release(c.ID)
			inv.Stranded = append(inv.Stranded, s)
		})
	}, []audit.FaultKind{audit.FaultPlaceTwice}},
	{"two places for one booking", func(v *Vandal) {
		v.run(v.cyclist(true), func(inv *seats.Inventory, t *seats.Taken) {
			again := *t
			again.Place, again.Hook = 3, false
			inv.Taken = append(inv.Taken, again)
		})
	}, []audit.FaultKind{audit.FaultPlaceOrphan}},

	{"a refund for a cancelled run that is lost", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf != uuid.Nil && v.of(p).ByOperator })
		v.delete(p.Key())
	}, []audit.FaultKind{audit.FaultRefundMissing}},
	{"a refund for a cancelled run of a cent", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf != uuid.Nil && v.of(p).ByOperator })
		p.Amount.Amount = -1
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultRefund}},
	{"a refund on the terms of sale that is lost", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf != uuid.Nil && !v.of(p).ByOperator })
		v.delete(p.Key())
	}, []audit.FaultKind{audit.FaultRefundMissing}},
	{"a refund that the terms of sale do not give", func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf != uuid.Nil && !v.of(p).ByOperator })
		b := v.of(&p)
		b.Refund.Amount = 0
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultRefund}},
	{"a refund of a booking that is confirmed", func(v *Vandal) {
		b := v.status(rail.Confirmed)
		b.Refund = b.Price
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState}},
	{"a booking without its latest payment", func(v *Vandal) {
		b := v.status(rail.Confirmed)
		b.LatestPayment = uuid.Nil
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultPaymentMissing}},
	{"a payment that has confirmed and was never settled", func(v *Vandal) {
		b := v.status(rail.Confirmed)
		p := v.payment(func(p *records.Payment) bool { return p.ID == b.PaidBy })
		p.Settled = time.Time{}
		v.put(p.Key(), p.Encode())
	}, []audit.FaultKind{audit.FaultPaymentState}},

	{"a hold that ends before it begins", func(v *Vandal) {
		b := v.held()
		v.delete(records.HoldKey(&b))
		b.Expires = b.Created.Add(-time.Hour)
		v.put(records.HoldKey(&b), nil)
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
		v.run(b, func(_ *seats.Inventory, t *seats.Taken) { t.Until = codec.Nanos(b.Expires) })
	}, []audit.FaultKind{audit.FaultBookingState}},
	{"a price below zero", func(v *Vandal) {
		b := v.held()
		b.Price.Amount = -5
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState}},
	{"a price in no currency", func(v *Vandal) {
		b := v.held()
		b.Price.Currency = "€"
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState}},
	{"a journey whose last leg comes first", func(v *Vandal) {
		b := v.booking(func(b *rail.Booking) bool { return len(b.Legs) > 1 })
		b.Legs[0], b.Legs[1] = b.Legs[1], b.Legs[0]
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState}},
	{"a leg that ends before it begins", func(v *Vandal) {
		b := v.held()
		b.Legs[0].Destination.Time = b.Legs[0].Origin.Time.Add(-time.Minute)
		v.put(records.BookingKey(b.ID), records.EncodeBooking(&b))
	}, []audit.FaultKind{audit.FaultBookingState}},
}

// cyclist is a booking, paid, of somebody with a bicycle, with a seat or without.
func (v *Vandal) cyclist(seat bool) rail.Booking {
	return v.booking(func(b *rail.Booking) bool {
		return b.HasBicycle && b.Status == rail.Confirmed && b.Legs[0].Seat > 0 == seat
	})
}

// of is the booking of a payment.
func (v *Vandal) of(p *records.Payment) rail.Booking {
	return v.booking(func(b *rail.Booking) bool { return b.ID == p.Booking })
}
