// Package records says how bookings, payments, events, deliveries and subscriptions stand in a
// store: their keys, their fields and the versions of their formats. It must not know when a
// record may change; package ledger has those rules.
package records

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// BookingKey names the record of a booking.
func BookingKey(id uuid.UUID) store.Key {
	return store.Key{Table: store.TableBookings, ID: string(id[:])}
}

// Version 2 knows when the status changed, version 3 when the booking was confirmed
// and whether the operator cancelled it, version 4 on which legs a bicycle has a place
// and what a cancelled booking was to give back, and how many payments there are. Version 5
// has the reference, knows the leg that was cancelled, and what came and is given back.
const bookingVersion = 5

// EncodeBooking returns the record of a booking.
func EncodeBooking(b *rail.Booking) []byte {
	e := codec.NewEncoder(bookingVersion, 200+160*len(b.Legs))
	e.ID(b.ID)
	e.ID(b.TripID)
	e.Str(b.Owner.Issuer)
	e.Str(b.Owner.ID)
	e.Str(b.Client)
	e.Str(b.PassengerName)
	e.Flags(b.HasBicycle, b.HasDog, b.LatestPayment != uuid.Nil, b.OpenPayment != uuid.Nil, b.PaidBy != uuid.Nil, b.ByOperator, b.GivenBack)
	e.Byte(byte(b.Status))
	e.Time(b.Created)
	e.Time(b.Expires)
	addMoney(e, b.Price)
	if b.LatestPayment != uuid.Nil {
		e.ID(b.LatestPayment)
	}
	if b.OpenPayment != uuid.Nil {
		e.ID(b.OpenPayment)
		e.Time(b.PinnedUntil)
	}
	if b.PaidBy != uuid.Nil {
		e.ID(b.PaidBy)
	}
	e.Uint(uint64(len(b.Legs)))
	for i := range b.Legs {
		l := &b.Legs[i]
		e.ID(l.Run.Train)
		e.Int(int64(l.Run.Date))
		e.Str(l.Operator)
		e.Str(l.Number)
		addStop(e, l.Origin)
		addStop(e, l.Destination)
		e.Str(l.Coach)
		e.Uint(uint64(l.Seat))
		e.Byte(byte(l.Board))
		e.Byte(byte(l.Alight))
	}
	e.Time(b.Changed)
	e.Time(b.Confirmed)
	e.Uint(uint64(len(b.Hooks)))
	for _, hook := range b.Hooks {
		e.Flags(hook)
	}
	addMoney(e, b.Refund)
	e.Uint(uint64(b.PaymentCount))
	e.Str(b.Reference)
	e.Byte(byte(b.CancelledLeg))
	return e.B
}

func addStop(e *codec.Encoder, s rail.Stop) {
	e.ID(s.Station)
	e.Str(s.Name)
	e.Time(s.Time)
	e.Str(s.Time.Location().String())
}

func takeStop(d *codec.Decoder, z *tz.Zones) rail.Stop {
	s := rail.Stop{Station: d.ID(), Name: d.Str(), Time: d.Time()}
	s.Time = s.Time.In(z.Get(d.Str()))
	return s
}

// DecodeBooking reads what EncodeBooking wrote. The zones are those that times show in.
func DecodeBooking(v []byte, z *tz.Zones) (rail.Booking, error) {
	d, version := codec.NewDecoder("booking", bookingVersion, v)
	b := rail.Booking{ID: d.ID(), TripID: d.ID(), Owner: rail.Subject{Issuer: d.Str(), ID: d.Str()}, Client: d.Str(), PassengerName: d.Str()}
	f := d.Flags()
	b.HasBicycle, b.HasDog, b.ByOperator, b.GivenBack = f[0], f[1], f[5], f[6]
	b.Status, b.Created, b.Expires, b.Price = rail.BookingStatus(d.Byte()), d.Time(), d.Time(), takeMoney(&d)
	if f[2] {
		b.LatestPayment = d.ID()
	}
	if f[3] {
		b.OpenPayment, b.PinnedUntil = d.ID(), d.Time()
	}
	if f[4] {
		b.PaidBy = d.ID()
	}
	b.Legs = make([]rail.Leg, d.Len(70))
	for i := range b.Legs {
		b.Legs[i] = rail.Leg{
			Run: rail.RunID{Train: d.ID(), Date: rail.Date(d.Int())}, Operator: d.Str(), Number: d.Str(), Origin: takeStop(&d, z), Destination: takeStop(&d, z),
			Coach: d.Str(), Seat: int(d.Uint()), Board: int(d.Byte()), Alight: int(d.Byte()),
		}
	}
	if version >= 2 {
		b.Changed = d.Time()
	}
	switch {
	case version >= 3:
		b.Confirmed = d.Time()
	case b.Status == rail.Confirmed:
		b.Confirmed = b.Changed
	}
	if version >= 4 {
		if n := d.Len(1); n > 0 {
			b.Hooks = make([]bool, n)
		}
		for i := range b.Hooks {
			b.Hooks[i] = d.Flags()[0]
		}
		b.Refund = takeMoney(&d)
		b.PaymentCount = int(d.Uint())
	}
	if version >= 5 {
		b.Reference, b.CancelledLeg = d.Str(), int(d.Byte())
	}
	if b.CancelledLeg > len(b.Legs) || len(b.Legs) == 0 || len(b.Hooks) > 0 && len(b.Hooks) != len(b.Legs) {
		d.Fail()
	}
	return b, d.Done()
}
