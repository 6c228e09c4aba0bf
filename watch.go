package traintravel

import (
	"cmp"
	"time"

	"github.com/google/uuid"
)

// The rules of attempts to pay whose outcome the gateway has still to tell: when such an
// attempt has ended for its payer, what is called off at the gateway, and when nobody
// has to ask about it any more.

// A finding is what the gateway has told about a charge. Status is Pending if it
// has told nothing: an error is not an answer.
type finding struct {
	Outcome
	unheard  bool      // the gateway has never been asked for the charge; Status is Pending
	unfenced bool      // the charge was lost; if it is not final, Cancel has failed
	asked    time.Time // the moment before the gateway was asked
	trouble  string    // the gateway's error, if it has returned one
}

// final says that the outcome is known for good.
func (f finding) final() bool { return f.Status != Pending }

// toCancel says whether the gateway is to cancel a charge of which it has told this:
// because the attempt has ended for its payer, or because the charge was lost on its way.
func (f finding) toCancel(p *payment, b *Booking) bool {
	return !f.final() && (p.over(b, f.asked) || f.lost(p))
}

// lost says that the gateway has not heard of a charge that cannot be on its way any more.
func (f finding) lost(p *payment) bool { return f.unheard && !f.asked.Before(p.arrives()) }

// callOff brings it forward that the gateway is asked to cancel the open attempt of a
// booking that has just ended, or was paid by another attempt. A payment that cannot be
// read keeps nobody from ending its booking: the check of the store reports it.
func (l *ledger) callOff(b *Booking) error {
	if b.OpenPayment == uuid.Nil {
		return nil
	}
	p, err := l.payment(b.ID, b.OpenPayment)
	switch err = damaged(err); {
	case unreadable(err):
		return nil
	case err != nil:
		return err
	}
	p.tries, p.next = 0, l.now
	return nil
}

// followCharge records what the gateway has told about a charge when Run asked, and when Run
// asks again. An attempt of which the gateway has not heard is given up when it cannot
// arrive any more, and watched: only "not found" after that ends the watch.
func (l *ledger) followCharge(sn *snapshot, p *payment, b *Booking, f finding) error {
	if p.next.IsZero() && f.Status != Succeeded {
		return nil // somebody else was quicker
	}
	out := f.Outcome
	if f.lost(p) {
		out = Outcome{Status: Failed, Failure: neverArrived}
	}
	if err := l.settle(sn, p, b, out); err != nil {
		return err
	}
	if f.final() || f.lost(p) && p.tooLate(b, f.asked) {
		p.LastError, p.next = "", time.Time{}
		return nil
	}
	p.unfenced, p.LastError = f.unfenced, f.trouble
	p.tries++
	p.next = l.now.Add(lookAfter(p.tries))
	if at := p.arrives(); f.unheard && f.asked.Before(at) && at.Before(p.next) {
		p.next = at
	}
	return nil
}

// lookAfter is how long to wait before asking about a payment again.
func lookAfter(tries int) time.Duration {
	return min(5*time.Second<<min(tries, 10), time.Hour)
}

// followRefund records what the gateway has answered to a refund.
func (l *ledger) followRefund(r *payment, out Outcome, err error) {
	final := out.Status == Succeeded || out.Resolution == RefundImpossible
	switch {
	case r.Status == Succeeded || r.Status == Failed && out.Status != Succeeded:
		return // it was settled meanwhile
	case final:
		if out.Status == Failed {
			out.Failure.Code = cmp.Or(out.Failure.Code, ProcessingError)
		}
		l.settled(r, out.Status, out.Failure.bounded())
		r.Resolution = out.Resolution
	default:
		r.tries++
		r.next = l.now.Add(lookAfter(r.tries))
		r.LastError = lastError(out.Failure, err)
	}
}

// lastError is what is kept of a gateway's answer that has settled nothing: empty if the
// gateway is still at work.
func lastError(why Failure, err error) string {
	text := why.Code
	switch {
	case err != nil:
		text = err.Error()
	case why.Message != "":
		text += ": " + why.Message
	}
	return Failure{Message: text}.bounded().Message
}
