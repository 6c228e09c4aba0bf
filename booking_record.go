package traintravel

import (
	"github.com/google/uuid"
)

func bookingKey(id uuid.UUID) Key { return Key{TableBookings, string(id[:])} }

// Version 2 knows when the status changed, version 3 when the booking was confirmed
// and whether the operator cancelled it, version 4 on which legs a bicycle has a place
// and what a cancelled booking was to give back, and how many payments there are.
const bookingVersion = 4

func encodeBooking(b *Booking) []byte {
	e := newEncoder(bookingVersion, 200+160*len(b.Legs))
	e.id(b.ID)
	e.id(b.TripID)
	e.str(b.Owner.Issuer)
	e.str(b.Owner.ID)
	e.str(b.Client)
	e.str(b.PassengerName)
	e.flags(b.HasBicycle, b.HasDog, b.LatestPayment != uuid.Nil, b.OpenPayment != uuid.Nil, b.PaidBy != uuid.Nil, b.ByOperator)
	e.byte(byte(b.Status))
	e.time(b.Created)
	e.time(b.Expires)
	addMoney(e, b.Price)
	if b.LatestPayment != uuid.Nil {
		e.id(b.LatestPayment)
	}
	if b.OpenPayment != uuid.Nil {
		e.id(b.OpenPayment)
		e.time(b.PinnedUntil)
	}
	if b.PaidBy != uuid.Nil {
		e.id(b.PaidBy)
	}
	e.uint(uint64(len(b.Legs)))
	for i := range b.Legs {
		l := &b.Legs[i]
		e.id(l.Run.Train)
		e.int(int64(l.Run.Date))
		e.str(l.Operator)
		e.str(l.Number)
		addStop(e, l.Origin)
		addStop(e, l.Destination)
		e.str(l.Coach)
		e.uint(uint64(l.Seat))
		e.byte(byte(l.Board))
		e.byte(byte(l.Alight))
	}
	e.time(b.Changed)
	e.time(b.Confirmed)
	e.uint(uint64(len(b.Hooks)))
	for _, hook := range b.Hooks {
		e.flags(hook)
	}
	addMoney(e, b.Refund)
	e.uint(uint64(b.PaymentCount))
	return e.b
}

func addStop(e *encoder, s Stop) {
	e.id(s.Station)
	e.str(s.Name)
	e.time(s.Time)
	e.str(s.Time.Location().String())
}

func takeStop(d *decoder, z *zones) Stop {
	s := Stop{Station: d.id(), Name: d.str(), Time: d.time()}
	s.Time = s.Time.In(z.get(d.str()))
	return s
}

func decodeBooking(v []byte, z *zones) (Booking, error) {
	d, version := newDecoder("booking", bookingVersion, v)
	b := Booking{ID: d.id(), TripID: d.id(), Owner: Subject{d.str(), d.str()}, Client: d.str(), PassengerName: d.str()}
	f := d.flags()
	b.HasBicycle, b.HasDog, b.ByOperator = f[0], f[1], f[5]
	b.Status, b.Created, b.Expires, b.Price = BookingStatus(d.byte()), d.time(), d.time(), takeMoney(&d)
	if f[2] {
		b.LatestPayment = d.id()
	}
	if f[3] {
		b.OpenPayment, b.PinnedUntil = d.id(), d.time()
	}
	if f[4] {
		b.PaidBy = d.id()
	}
	b.Legs = make([]Leg, d.len(70))
	for i := range b.Legs {
		b.Legs[i] = Leg{
			Run: RunID{d.id(), Date(d.int())}, Operator: d.str(), Number: d.str(), Origin: takeStop(&d, z), Destination: takeStop(&d, z),
			Coach: d.str(), Seat: int(d.uint()), Board: int(d.byte()), Alight: int(d.byte()),
		}
	}
	if version >= 2 {
		b.Changed = d.time()
	}
	switch {
	case version >= 3:
		b.Confirmed = d.time()
	case b.Status == Confirmed:
		b.Confirmed = b.Changed
	}
	if version >= 4 {
		if n := d.len(1); n > 0 {
			b.Hooks = make([]bool, n)
		}
		for i := range b.Hooks {
			b.Hooks[i] = d.flags()[0]
		}
		b.Refund = takeMoney(&d)
		b.PaymentCount = int(d.uint())
	}
	if len(b.Legs) == 0 || len(b.Hooks) > 0 && len(b.Hooks) != len(b.Legs) {
		d.fail()
	}
	return b, d.done()
}
