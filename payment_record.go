package traintravel

import (
	"context"
	"slices"

	"github.com/google/uuid"
)

// paymentKey has the payments of a booking side by side.
func paymentKey(booking, id uuid.UUID) Key {
	return Key{TablePayments, string(append(booking[:], id[:]...))}
}

// paymentsOf is the range of a booking's payments.
func paymentsOf(booking uuid.UUID) Range {
	prefix := string(booking[:])
	return Range{Table: TablePayments, From: prefix, To: prefixEnd(prefix)}
}

func paymentOf(rec Record) (payment, error) { return decodePayment(rec.Value) }

// readPayments reads the payments of a booking in the order in which they were made, and
// returns as left what it cannot read.
func readPayments(ctx context.Context, r Reader, booking uuid.UUID) (found []Payment, left omissions, err error) {
	var all []payment
	left, err = eachOf(ctx, r, paymentsOf(booking), paymentOf, func(p payment) bool {
		all = append(all, p)
		return true
	})
	slices.SortStableFunc(all, func(a, b payment) int { return a.order - b.order }) // those of earlier versions by their IDs
	for _, p := range all {
		found = append(found, p.Payment)
	}
	return found, left, err
}

// Version 2 knows when the payment was settled, version 3 how a refund was resolved, what
// operators decided, the gateway's last error, and the order of a booking's payments.
const paymentVersion = 3

func (p *payment) encode() []byte {
	if p.erased {
		bare := *p
		bare.erasePayer()
		p = &bare
	}
	e := newEncoder(paymentVersion, 200)
	e.id(p.ID)
	e.id(p.Booking)
	addMoney(e, p.Amount)
	addSource(e, p.Source.Masked())
	e.str(string(p.Status))
	why := p.why()
	e.str(why.Code)
	e.str(why.Message)
	e.time(p.Created)
	e.id(p.RefundOf)
	e.flags(p.charging, p.unfenced, p.erased)
	e.time(p.deadline)
	e.time(p.next)
	e.uint(uint64(p.tries))
	e.time(p.Settled)
	e.str(string(p.Resolution))
	e.str(p.LastError)
	e.uint(uint64(len(p.Settlements)))
	for i := range p.Settlements {
		s := &p.Settlements[i]
		e.str(string(s.As))
		e.str(s.By)
		e.str(s.Reason)
		e.time(s.At)
	}
	e.uint(uint64(p.order))
	return e.b
}

func decodePayment(v []byte) (payment, error) {
	d, version := newDecoder("payment", paymentVersion, v)
	p := payment{Payment: Payment{ID: d.id(), Booking: d.id(), Amount: takeMoney(&d), Source: takeSource(&d)}}
	p.Status = PaymentStatus(d.str())
	p.fill(Failure{d.str(), d.str()})
	p.Created, p.RefundOf = d.time(), d.id()
	f := d.flags()
	p.charging, p.unfenced, p.erased = f[0], f[1], f[2]
	p.deadline, p.next, p.tries = d.time(), d.time(), int(d.uint())
	if version >= 2 {
		p.Settled = d.time()
	}
	if version >= 3 {
		p.Resolution, p.LastError = Resolution(d.str()), d.str()
		if n := d.len(11); n > 0 {
			p.Settlements = make([]Settlement, n)
		}
		for i := range p.Settlements {
			p.Settlements[i] = Settlement{As: Verdict(d.str()), By: d.str(), Reason: d.str(), At: d.time()}
		}
		p.order = int(d.uint())
	}
	return p, d.done()
}

// addSource writes a masked source: there is no room for a code or an address.
func addSource(e *encoder, s Source) {
	switch {
	case s.Card != nil:
		c := s.Card
		e.byte('c')
		e.str(c.Name)
		e.str(string(c.Number))
		e.uint(uint64(c.ExpMonth))
		e.uint(uint64(c.ExpYear))
		e.str(c.City)
		e.str(c.Country)
		e.str(c.PostCode)
	case s.Bank != nil:
		a := s.Bank
		e.byte('b')
		e.str(a.Name)
		e.str(string(a.Number))
		e.str(a.SortCode)
		e.str(string(a.AccountType))
		e.str(a.BankName)
		e.str(a.Country)
	default:
		e.byte(0)
	}
}

func takeSource(d *decoder) Source {
	switch d.byte() {
	case 'c':
		return Source{Card: &Card{
			Name: d.str(), Number: Secret(d.str()), ExpMonth: int(d.uint()), ExpYear: int(d.uint()),
			City: d.str(), Country: d.str(), PostCode: d.str(),
		}}
	case 'b':
		return Source{Bank: &BankAccount{
			Name: d.str(), Number: Secret(d.str()), SortCode: d.str(), AccountType: AccountType(d.str()),
			BankName: d.str(), Country: d.str(),
		}}
	case 0:
	default:
		d.fail()
	}
	return Source{}
}

func addMoney(e *encoder, m Money) {
	e.int(m.Amount)
	e.str(m.Currency)
}

func takeMoney(d *decoder) Money { return Money{Amount: d.int(), Currency: d.str()} }

// A purpose is why a charge is given back. The texts are part of refunds' IDs and never
// change.
type purpose string

const (
	forCancelling    purpose = "cancelled"     // its owner has cancelled the booking
	forCancelledRun  purpose = "run cancelled" // the operator has cancelled the train
	forPayingTooLate purpose = "paid too late" // the money came when the booking could not have it
)

var purposes = [...]purpose{forCancelling, forCancelledRun, forPayingTooLate}

// refundID makes the ID of a refund from its charge and purpose alone: a service that is
// restored from a backup and cancels again asks the gateway for the refund that it knows.
// It is a version 8 UUID with the time of the charge's version 7, and so orders after the
// charge and before every payment of a later millisecond.
func refundID(charge uuid.UUID, why purpose) uuid.UUID {
	id := hashID("refund", charge, string(why))
	copy(id[:6], charge[:6])
	return id
}
