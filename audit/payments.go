package audit

import (
	"bytes"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// payments checks attempts and refunds, booking by booking: their keys are in the order
// of bookings.
func (a *auditor) payments() error {
	var waiting []records.Payment // the next page may have more of the last booking
	err := a.pages(store.TablePayments, func(page []store.Record) error {
		for _, rec := range page {
			key := store.Key{Table: store.TablePayments, ID: rec.ID}
			p, err := records.DecodePayment(rec.Value)
			if !a.readable(key, err) {
				if len(rec.ID) == 32 {
					a.unread[uuid.UUID([]byte(rec.ID[:16]))] = true
				}
				continue
			}
			if records.PaymentKey(p.Booking, p.ID) != key {
				a.say(FaultMisplaced, key, "payment %v is stored under the key of another record", p.ID)
				continue
			}
			waiting = append(waiting, p)
		}
		n := len(waiting)
		for n > 0 && waiting[n-1].Booking == waiting[len(waiting)-1].Booking {
			n--
		}
		whole := waiting[:n]
		waiting = slices.Clone(waiting[n:])
		err := a.paid(whole)
		maps.DeleteFunc(a.unread, func(booking uuid.UUID, _ bool) bool {
			return len(waiting) > 0 && bytes.Compare(booking[:], waiting[0].Booking[:]) < 0
		})
		return err
	})
	if err != nil {
		return err
	}
	return a.paid(waiting)
}

// paid checks all payments of some bookings.
func (a *auditor) paid(all []records.Payment) error {
	var l cited
	for i := range all {
		p := &all[i]
		l.want(records.BookingKey(p.Booking))
		if !p.Next.IsZero() {
			l.want(p.AgendaKey())
		}
	}
	if err := a.fetch(&l); err != nil {
		return err
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Booking == all[0].Booking {
			n++
		}
		of := all[:n]
		all = all[n:]
		v := l.at(records.BookingKey(of[0].Booking))
		if v == nil {
			for i := range of {
				a.say(FaultPaymentOrphan, of[i].Key(), "payment %v is for booking %v, which does not exist", of[i].ID, of[i].Booking)
			}
			continue
		}
		b, err := records.DecodeBooking(v, &a.zones)
		if err != nil {
			continue // reported when that record itself is checked
		}
		for i := range of {
			a.followed(&of[i], &l)
			a.resolved(&of[i])
			if of[i].RefundOf != uuid.Nil {
				a.refund(&of[i], of)
				continue
			}
			a.attempt(&of[i], of, &b)
			if b.LatestPayment == uuid.Nil {
				a.say(FaultPaymentMissing, records.BookingKey(b.ID), "booking %v has payment %v, but names no latest payment, so its owner does not see the payment", b.ID, of[i].ID)
			}
		}
	}
	return nil
}

// followed checks that work on a payment is scheduled as long as the payment needs it.
func (a *auditor) followed(p *records.Payment, l *cited) {
	switch {
	case p.Status != rail.Pending && p.Status != rail.Succeeded && p.Status != rail.Failed:
		a.say(FaultPaymentState, p.Key(), "payment %v has the unknown status %q", p.ID, p.Status)
	case p.Status == rail.Pending && !p.Settled.IsZero():
		a.say(FaultPaymentState, p.Key(), "payment %v is pending, but was settled at %v", p.ID, p.Settled)
	case p.Next.IsZero() && p.Status == rail.Pending:
		a.say(FaultPaymentStuck, p.Key(), "payment %v is pending, but no work on it is scheduled", p.ID)
	case p.Next.IsZero():
	case p.Status == rail.Succeeded:
		a.say(FaultPaymentState, p.Key(), "payment %v has succeeded, but work on it is still scheduled", p.ID)
	case !bytes.Equal(l.at(p.AgendaKey()), p.Booking[:]):
		a.say(FaultPaymentStuck, p.Key(), "payment %v is %v and due at %v, but the agenda does not have it", p.ID, p.Status, p.Next)
	}
}

// resolved checks the outcome of a payment or refund, and the settlements by operators.
func (a *auditor) resolved(p *records.Payment) {
	refund := p.RefundOf != uuid.Nil
	switch n := len(p.Settlements); {
	case !p.Resolution.Fits(p.Status) || !refund && p.Resolution != "":
		a.say(FaultPaymentState, p.Key(), "payment %v is %v (refund: %t), but has the resolution %q", p.ID, p.Status, refund, p.Resolution)
	case refund && p.Status == rail.Failed && (p.Resolution == "" || p.Failure.Code == ""):
		a.say(FaultPaymentState, p.Key(), "refund %v has failed, but does not record why it is impossible", p.ID)
	case n > 0 && p.Status == rail.Pending:
		a.say(FaultPaymentState, p.Key(), "payment %v is pending, but an operator has settled it", p.ID)
	case n > 0 && refund && !fits(p.Settlements[n-1].As, p.Payment):
		a.say(FaultPaymentState, p.Key(), "refund %v is %v with the resolution %q, but an operator has settled it as %s", p.ID, p.Status, p.Resolution, p.Settlements[n-1].As)
	}
	for _, d := range p.Settlements {
		if d.By == "" || d.At.IsZero() {
			a.say(FaultPaymentState, p.Key(), "an operator settled payment %v as %s, but the record does not name the operator and the time", p.ID, d.As)
		}
	}
}

// fits says whether the state of a refund agrees with the last settlement by an operator.
// The gateway may have made the refund at the same moment.
func fits(v rail.Verdict, p rail.Payment) bool {
	switch {
	case p.Status == rail.Succeeded && p.Resolution == "":
		return v != rail.AsFailed
	case v == rail.AsMadeElsewhere:
		return p.Resolution == rail.RefundedElsewhere
	}
	return v == rail.AsImpossible && p.Resolution == rail.RefundImpossible
}

// refund checks a refund against the payment that it gives back.
func (a *auditor) refund(p *records.Payment, of []records.Payment) {
	i := slices.IndexFunc(of, func(c records.Payment) bool { return c.ID == p.RefundOf })
	switch {
	case i < 0:
		a.say(FaultRefund, p.Key(), "refund %v is of payment %v, which does not exist", p.ID, p.RefundOf)
	case of[i].RefundOf != uuid.Nil || of[i].Status != rail.Succeeded:
		a.say(FaultRefund, p.Key(), "refund %v is of payment %v, which is %v (refund: %t)", p.ID, p.RefundOf, of[i].Status, of[i].RefundOf != uuid.Nil)
	case p.Amount.Amount >= 0 || -p.Amount.Amount > of[i].Amount.Amount || p.Amount.Currency != of[i].Amount.Currency:
		a.say(FaultRefund, p.Key(), "refund %v is over %v, but payment %v is over %v", p.ID, p.Amount, p.RefundOf, of[i].Amount)
	case p.ID.Version() == 8 && !slices.ContainsFunc(records.Purposes(), func(why records.Purpose) bool { return p.ID == records.RefundID(p.RefundOf, why) }):
		a.say(FaultRefund, p.Key(), "refund %v of payment %v does not have the ID derived from that payment, so the gateway may make the refund twice", p.ID, p.RefundOf)
	}
}

// attempt checks an attempt against its booking and its refunds.
func (a *auditor) attempt(p *records.Payment, of []records.Payment, b *rail.Booking) {
	if (p.Status == rail.Pending) != (b.OpenPayment == p.ID) {
		a.say(FaultPaymentOpen, p.Key(), "payment %v is %v, but the open payment of booking %v is %v", p.ID, p.Status, b.ID, b.OpenPayment)
	}
	if p.Status != rail.Succeeded {
		return
	}
	if b.PaidBy == p.ID {
		a.paying(p, b)
	}
	var refunds []records.Payment
	for _, r := range of {
		if r.RefundOf == p.ID {
			refunds = append(refunds, r)
		}
	}
	owed, known := givesBack(b, p)
	switch {
	case len(refunds) > 1 || known && owed.Amount == 0 && len(refunds) > 0:
		a.say(FaultRefund, p.Key(), "payment %v of booking %v, which is %v, has %d refunds, too many", p.ID, b.ID, b.Status, len(refunds))
	case !known || owed.Amount == 0 || a.unread[b.ID]:
	case len(refunds) == 0:
		a.say(FaultRefundMissing, p.Key(), "payment %v of booking %v, which is %v, has no refund, but %v must be refunded", p.ID, b.ID, b.Status, owed)
	case refunds[0].Amount.Amount != -owed.Amount:
		a.say(FaultRefund, p.Key(), "payment %v of booking %v, which is %v, must be refunded %v, but the refund is %v", p.ID, b.ID, b.Status, owed, refunds[0].Amount)
	}
}

// paying checks the payment that has confirmed a booking.
func (a *auditor) paying(p *records.Payment, b *rail.Booking) {
	if p.Amount != b.Price && !a.opts.AnyAmount {
		a.say(FaultAmount, p.Key(), "booking %v costs %v, but %v was paid", b.ID, b.Price, p.Amount)
	}
	if !b.Confirmed.IsZero() && !p.Settled.Equal(b.Confirmed) {
		a.say(FaultPaymentState, p.Key(), "payment %v was settled at %v, but confirmed booking %v at %v", p.ID, p.Settled, b.ID, b.Confirmed)
	}
}

// givesBack returns how much of a payment that succeeded must be refunded. The amount is
// unknown for bookings that were cancelled by a version that did not record it.
func givesBack(b *rail.Booking, p *records.Payment) (owed rail.Money, known bool) {
	switch {
	case b.PaidBy != p.ID: // the payment has bought nothing
		return p.Amount, true
	case b.Status == rail.Confirmed:
		return rail.Money{}, true
	case b.Status != rail.Cancelled:
		return p.Amount, true
	case b.ByOperator: // in full, whatever the terms of sale
		return p.Amount, true
	}
	return b.Refund, b.Refund != rail.Money{}
}
