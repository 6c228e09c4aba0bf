package traintravel

import (
	"bytes"
	"slices"

	"github.com/google/uuid"
)

// payments checks attempts and refunds, booking by booking: their keys are in the order
// of bookings.
func (a *auditor) payments() error {
	var waiting []payment // of the latest booking there may be more to come
	err := a.table(TablePayments, func(page []Record) error {
		for _, rec := range page {
			key := Key{TablePayments, rec.ID}
			p, err := decodePayment(rec.Value)
			if !a.readable(key, err) {
				continue
			}
			if paymentKey(p.Booking, p.ID) != key {
				a.say(faultMisplaced, key, "payment %v stands under another key than its own", p.ID)
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
		return a.paid(whole)
	})
	if err != nil {
		return err
	}
	return a.paid(waiting)
}

// paid checks all payments of some bookings.
func (a *auditor) paid(all []payment) error {
	var l cited
	for i := range all {
		p := &all[i]
		l.want(bookingKey(p.Booking))
		if !p.next.IsZero() {
			l.want(p.agendaKey())
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
		v := l.at(bookingKey(of[0].Booking))
		if v == nil {
			for i := range of {
				a.say(faultPaymentOrphan, of[i].key(), "payment %v is for booking %v, which is not there", of[i].ID, of[i].Booking)
			}
			continue
		}
		b, err := decodeBooking(v, &a.zones)
		if err != nil {
			continue // it is reported where it stands
		}
		for i := range of {
			a.followed(&of[i], &l)
			if of[i].RefundOf != uuid.Nil {
				a.refund(&of[i], of)
			} else {
				a.attempt(&of[i], of, &b)
			}
		}
	}
	return nil
}

func (p *payment) key() Key { return paymentKey(p.Booking, p.ID) }

// followed checks that somebody looks after a payment that is not settled.
func (a *auditor) followed(p *payment, l *cited) {
	switch {
	case p.Status != Pending && p.Status != Succeeded && p.Status != Failed:
		a.say(faultPaymentState, p.key(), "payment %v has the unknown status %q", p.ID, p.Status)
	case p.Status == Pending && !p.Settled.IsZero():
		a.say(faultPaymentState, p.key(), "payment %v is pending, and was settled at %v", p.ID, p.Settled)
	case p.next.IsZero() && p.Status == Pending:
		a.say(faultPaymentStuck, p.key(), "payment %v is pending, and nobody looks after it", p.ID)
	case p.next.IsZero():
	case p.Status == Succeeded:
		a.say(faultPaymentState, p.key(), "payment %v has succeeded, and somebody still looks after it", p.ID)
	case !bytes.Equal(l.at(p.agendaKey()), p.Booking[:]):
		a.say(faultPaymentStuck, p.key(), "payment %v is %v and to be looked after at %v, and the agenda does not have it", p.ID, p.Status, p.next)
	}
}

// refund checks a refund against the payment that it gives back.
func (a *auditor) refund(p *payment, of []payment) {
	i := slices.IndexFunc(of, func(c payment) bool { return c.ID == p.RefundOf })
	switch {
	case i < 0:
		a.say(faultRefund, p.key(), "refund %v gives back payment %v, which is not there", p.ID, p.RefundOf)
	case of[i].RefundOf != uuid.Nil || of[i].Status != Succeeded:
		a.say(faultRefund, p.key(), "refund %v gives back payment %v, which is %v (a refund: %t)", p.ID, p.RefundOf, of[i].Status, of[i].RefundOf != uuid.Nil)
	case p.Amount.Amount >= 0 || -p.Amount.Amount > of[i].Amount.Amount || p.Amount.Currency != of[i].Amount.Currency:
		a.say(faultRefund, p.key(), "refund %v is of %v, and payment %v of %v", p.ID, p.Amount, p.RefundOf, of[i].Amount)
	case p.ID.Version() == 8 && !slices.ContainsFunc(purposes[:], func(why purpose) bool { return p.ID == refundID(p.RefundOf, why) }):
		a.say(faultRefund, p.key(), "refund %v of payment %v has not the ID that follows from that: the gateway may make it twice", p.ID, p.RefundOf)
	}
}

// attempt checks an attempt against its booking and its refunds.
func (a *auditor) attempt(p *payment, of []payment, b *Booking) {
	if (p.Status == Pending) != (b.OpenPayment == p.ID) {
		a.say(faultPaymentOpen, p.key(), "payment %v is %v, and the open payment of booking %v is %v", p.ID, p.Status, b.ID, b.OpenPayment)
	}
	if p.Status != Succeeded {
		return
	}
	if b.PaidBy == p.ID && p.Amount != b.Price && !a.opts.AnyAmount {
		a.say(faultAmount, p.key(), "booking %v costs %v and was paid with %v", b.ID, b.Price, p.Amount)
	}
	var refunds []payment
	for _, r := range of {
		if r.RefundOf == p.ID {
			refunds = append(refunds, r)
		}
	}
	kept := b.PaidBy == p.ID && b.Status == Confirmed
	sold := b.PaidBy == p.ID && b.Status == Cancelled // and cancelled on the operator's terms
	switch {
	case len(refunds) > 1 || kept && len(refunds) > 0:
		a.say(faultRefund, p.key(), "payment %v of booking %v, which is %v, is refunded %d times", p.ID, b.ID, b.Status, len(refunds))
	case !kept && !sold && (len(refunds) == 0 || refunds[0].Amount.Amount != -p.Amount.Amount):
		a.say(faultRefundMissing, p.key(), "payment %v has not bought booking %v, which is %v, and is not refunded in full", p.ID, b.ID, b.Status)
	}
}
