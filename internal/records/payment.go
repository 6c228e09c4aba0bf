package records

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// PaymentKey has the payments of a booking side by side.
func PaymentKey(booking, id uuid.UUID) store.Key {
	return store.Key{Table: store.TablePayments, ID: string(append(booking[:], id[:]...))}
}

// PaymentsOf is the range of a booking's payments.
func PaymentsOf(booking uuid.UUID) store.Range {
	prefix := string(booking[:])
	return store.Range{Table: store.TablePayments, From: prefix, To: codec.PrefixEnd(prefix)}
}

// PaymentOf reads the record of a payment.
func PaymentOf(rec store.Record) (Payment, error) { return DecodePayment(rec.Value) }

// ReadPayments reads the payments of a booking in the order in which they were made, and
// returns as left what it cannot read.
func ReadPayments(ctx context.Context, r store.Reader, booking uuid.UUID) (found []rail.Payment, left Omissions, err error) {
	var all []Payment
	left, err = EachOf(ctx, r, PaymentsOf(booking), PaymentOf, func(p Payment) bool {
		all = append(all, p)
		return true
	})
	slices.SortStableFunc(all, func(a, b Payment) int { return a.Order - b.Order }) // those of earlier versions by their IDs
	for _, p := range all {
		found = append(found, p.Payment)
	}
	return found, left, err
}

// Version 2 knows when the payment was settled, version 3 how a refund was resolved, what
// operators decided, the gateway's last error, and the order of a booking's payments.
const paymentVersion = 3

// Encode returns the record.
func (p *Payment) Encode() []byte {
	if p.Erased {
		bare := *p
		bare.ErasePayer()
		p = &bare
	}
	e := codec.NewEncoder(paymentVersion, 200)
	e.ID(p.ID)
	e.ID(p.Booking)
	addMoney(e, p.Amount)
	addSource(e, p.Source.Masked())
	e.Str(string(p.Status))
	why := p.Why()
	e.Str(why.Code)
	e.Str(why.Message)
	e.Time(p.Created)
	e.ID(p.RefundOf)
	e.Flags(p.Charging, p.Unfenced, p.Erased)
	e.Time(p.Deadline)
	e.Time(p.Next)
	e.Uint(uint64(p.Tries))
	e.Time(p.Settled)
	e.Str(string(p.Resolution))
	e.Str(p.LastError)
	e.Uint(uint64(len(p.Settlements)))
	for i := range p.Settlements {
		s := &p.Settlements[i]
		e.Str(string(s.As))
		e.Str(s.By)
		e.Str(s.Reason)
		e.Time(s.At)
	}
	e.Uint(uint64(p.Order))
	return e.B
}

// DecodePayment reads what Payment.Encode wrote.
func DecodePayment(v []byte) (Payment, error) {
	d, version := codec.NewDecoder("payment", paymentVersion, v)
	p := Payment{Payment: rail.Payment{ID: d.ID(), Booking: d.ID(), Amount: takeMoney(&d), Source: takeSource(&d)}}
	p.Status = rail.PaymentStatus(d.Str())
	p.fill(rail.Failure{Code: d.Str(), Message: d.Str()})
	p.Created, p.RefundOf = d.Time(), d.ID()
	f := d.Flags()
	p.Charging, p.Unfenced, p.Erased = f[0], f[1], f[2]
	p.Deadline, p.Next, p.Tries = d.Time(), d.Time(), int(d.Uint())
	if version >= 2 {
		p.Settled = d.Time()
	}
	if version >= 3 {
		p.Resolution, p.LastError = rail.Resolution(d.Str()), d.Str()
		if n := d.Len(11); n > 0 {
			p.Settlements = make([]rail.Settlement, n)
		}
		for i := range p.Settlements {
			p.Settlements[i] = rail.Settlement{As: rail.Verdict(d.Str()), By: d.Str(), Reason: d.Str(), At: d.Time()}
		}
		p.Order = int(d.Uint())
	}
	return p, d.Done()
}

// addSource writes a masked source: there is no room for a code or an address.
func addSource(e *codec.Encoder, s rail.Source) {
	switch {
	case s.Card != nil:
		c := s.Card
		e.Byte('c')
		e.Str(c.Name)
		e.Str(string(c.Number))
		e.Uint(uint64(c.ExpMonth))
		e.Uint(uint64(c.ExpYear))
		e.Str(c.City)
		e.Str(c.Country)
		e.Str(c.PostCode)
	case s.Bank != nil:
		a := s.Bank
		e.Byte('b')
		e.Str(a.Name)
		e.Str(string(a.Number))
		e.Str(a.SortCode)
		e.Str(string(a.AccountType))
		e.Str(a.BankName)
		e.Str(a.Country)
	default:
		e.Byte(0)
	}
}

func takeSource(d *codec.Decoder) rail.Source {
	switch d.Byte() {
	case 'c':
		return rail.Source{Card: &rail.Card{
			Name: d.Str(), Number: rail.Secret(d.Str()), ExpMonth: int(d.Uint()), ExpYear: int(d.Uint()),
			City: d.Str(), Country: d.Str(), PostCode: d.Str(),
		}}
	case 'b':
		return rail.Source{Bank: &rail.BankAccount{
			Name: d.Str(), Number: rail.Secret(d.Str()), SortCode: d.Str(), AccountType: rail.AccountType(d.Str()),
			BankName: d.Str(), Country: d.Str(),
		}}
	case 0:
	default:
		d.Fail()
	}
	return rail.Source{}
}

func addMoney(e *codec.Encoder, m rail.Money) {
	e.Int(m.Amount)
	e.Str(m.Currency)
}

func takeMoney(d *codec.Decoder) rail.Money { return rail.Money{Amount: d.Int(), Currency: d.Str()} }

// A Purpose is why a charge is given back. The texts are part of refunds' IDs and never
// change.
type Purpose string

const (
	ForCancelling    Purpose = "cancelled"     // its owner has cancelled the booking
	ForCancelledRun  Purpose = "run cancelled" // the operator has cancelled the train
	ForPayingTooLate Purpose = "paid too late" // the money came when the booking could not have it
)

// Purposes are all there are.
func Purposes() []Purpose {
	return []Purpose{ForCancelling, ForCancelledRun, ForPayingTooLate}
}

// RefundID makes the ID of a refund from its charge and purpose alone: a service that is
// restored from a backup and cancels again asks the gateway for the refund that it knows.
// It is a version 8 UUID with the time of the charge's version 7, and so orders after the
// charge and before every payment of a later millisecond.
func RefundID(charge uuid.UUID, why Purpose) uuid.UUID {
	id := ids.HashID("refund", charge, string(why))
	copy(id[:6], charge[:6])
	return id
}
