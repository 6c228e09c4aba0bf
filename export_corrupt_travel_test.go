package traintravel

import (
	"time"

	"github.com/google/uuid"
)

// TravelCorruptions are damage to bicycles, connections and refunds, as Corruptions are.
// The store must hold what TestCheckFindsCorruptions puts there for them.
var TravelCorruptions = []Corruption{
	{"the clock was seen after the last day", func(v *Vandal) {
		e := newEncoder(clockVersion, 9)
		e.time(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))
		v.put(clockKey, e.b)
	}, []FaultKind{faultClock}},
	{"the hook of a bicycle on a train with seats is gone", func(v *Vandal) {
		v.run(v.cyclist(true), func(_ *inventory, t *taken) { t.hook = false })
	}, []FaultKind{faultHookLost}},
	{"the hook of a bicycle on a train without seats is gone", func(v *Vandal) {
		b := v.cyclist(false)
		v.run(b, func(inv *inventory, _ *taken) { inv.release(b.ID) })
	}, []FaultKind{faultHookLost}},
	{"the hook of a paid bicycle lapses", func(v *Vandal) {
		b := v.cyclist(false)
		v.run(b, func(_ *inventory, t *taken) { t.until = nanos(b.Created) })
	}, []FaultKind{faultHookLost}},
	{"the hook of a bicycle is kept for another stretch", func(v *Vandal) {
		v.run(v.cyclist(false), func(_ *inventory, t *taken) { t.from, t.to = 1, 2 })
	}, []FaultKind{faultHookLost}},
	{"the hook of a bicycle that an older version has sold is kept for another stretch", func(v *Vandal) {
		b := v.cyclist(false)
		b.Hooks = nil
		v.put(bookingKey(b.ID), encodeBooking(&b))
		v.run(b, func(_ *inventory, t *taken) { t.from, t.to = 1, 2 })
	}, []FaultKind{faultHookLost}},
	{"a hook where the booking has none", func(v *Vandal) {
		b := v.cyclist(true)
		b.Hooks = []bool{false}
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultHook}},
	{"a place that one has, and that is stranded for another", func(v *Vandal) {
		b := v.cyclist(true)
		c := v.booking(func(c *Booking) bool {
			return c.ID != b.ID && c.Status == Confirmed && c.Legs[0].Seat > 0 && c.Legs[0].Run == b.Legs[0].Run
		})
		c.Legs[0].Coach, c.Legs[0].Seat = b.Legs[0].Coach, b.Legs[0].Seat
		v.put(bookingKey(c.ID), encodeBooking(&c))
		v.run(c, func(inv *inventory, t *taken) {
			s := inv.strand(*t)
			s.coach, s.seat = b.Legs[0].Coach, b.Legs[0].Seat
			inv.release(c.ID)
			inv.stranded = append(inv.stranded, s)
		})
	}, []FaultKind{faultPlaceTwice}},
	{"two places for one booking", func(v *Vandal) {
		v.run(v.cyclist(true), func(inv *inventory, t *taken) {
			again := *t
			again.place, again.hook = 3, false
			inv.taken = append(inv.taken, again)
		})
	}, []FaultKind{faultPlaceOrphan}},

	{"a refund for a cancelled run that is lost", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf != uuid.Nil && v.of(p).ByOperator })
		v.delete(p.key())
	}, []FaultKind{faultRefundMissing}},
	{"a refund for a cancelled run of a cent", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf != uuid.Nil && v.of(p).ByOperator })
		p.Amount.Amount = -1
		v.put(p.key(), p.encode())
	}, []FaultKind{faultRefund}},
	{"a refund on the terms of sale that is lost", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf != uuid.Nil && !v.of(p).ByOperator })
		v.delete(p.key())
	}, []FaultKind{faultRefundMissing}},
	{"a refund that the terms of sale do not give", func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf != uuid.Nil && !v.of(p).ByOperator })
		b := v.of(&p)
		b.Refund.Amount = 0
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultRefund}},
	{"a refund of a booking that is confirmed", func(v *Vandal) {
		b := v.status(Confirmed)
		b.Refund = b.Price
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultBookingState}},
	{"a booking without its latest payment", func(v *Vandal) {
		b := v.status(Confirmed)
		b.LatestPayment = uuid.Nil
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultPaymentMissing}},
	{"a payment that has confirmed and was never settled", func(v *Vandal) {
		b := v.status(Confirmed)
		p := v.payment(func(p *payment) bool { return p.ID == b.PaidBy })
		p.Settled = time.Time{}
		v.put(p.key(), p.encode())
	}, []FaultKind{faultPaymentState}},

	{"a hold that ends before it begins", func(v *Vandal) {
		b := v.held()
		v.delete(holdKey(&b))
		b.Expires = b.Created.Add(-time.Hour)
		v.put(holdKey(&b), nil)
		v.put(bookingKey(b.ID), encodeBooking(&b))
		v.run(b, func(_ *inventory, t *taken) { t.until = nanos(b.Expires) })
	}, []FaultKind{faultBookingState}},
	{"a price below zero", func(v *Vandal) {
		b := v.held()
		b.Price.Amount = -5
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultBookingState}},
	{"a price in no currency", func(v *Vandal) {
		b := v.held()
		b.Price.Currency = "€"
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultBookingState}},
	{"a journey whose last leg comes first", func(v *Vandal) {
		b := v.booking(func(b *Booking) bool { return len(b.Legs) > 1 })
		b.Legs[0], b.Legs[1] = b.Legs[1], b.Legs[0]
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultBookingState}},
	{"a leg that ends before it begins", func(v *Vandal) {
		b := v.held()
		b.Legs[0].Destination.Time = b.Legs[0].Origin.Time.Add(-time.Minute)
		v.put(bookingKey(b.ID), encodeBooking(&b))
	}, []FaultKind{faultBookingState}},
}

// cyclist is a booking, paid, of somebody with a bicycle, with a seat or without.
func (v *Vandal) cyclist(seat bool) Booking {
	return v.booking(func(b *Booking) bool {
		return b.HasBicycle && b.Status == Confirmed && b.Legs[0].Seat > 0 == seat
	})
}

// of is the booking of a payment.
func (v *Vandal) of(p *payment) Booking {
	return v.booking(func(b *Booking) bool { return b.ID == p.Booking })
}
