package ledger

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// The rules of attempts to pay whose outcome the gateway has still to tell: when such an
// attempt has ended for its payer, what is called off at the gateway, and when nobody
// has to ask about it any more.

// A Finding is what the gateway has told about a charge. Status is Pending if it
// has told nothing: an error is not an answer.
type Finding struct {
	rail.Outcome
	Unheard  bool      // the gateway has never been asked for the charge; Status is Pending
	Unfenced bool      // the charge was lost; if it is not final, Cancel has failed
	Asked    time.Time // the moment before the gateway was asked
	Trouble  string    // the gateway's error, if it has returned one
}

// final says that the outcome is known for good.
func (f Finding) final() bool { return f.Status != rail.Pending }

// ToCancel says whether the gateway is to cancel a charge of which it has told this:
// because the attempt has ended for its payer, or because the charge was lost on its way.
func (f Finding) ToCancel(p *records.Payment, b *rail.Booking) bool {
	return !f.final() && (p.Over(b, f.Asked) || f.Lost(p))
}

// Lost says that the gateway has not heard of a charge that cannot be on its way any more.
func (f Finding) Lost(p *records.Payment) bool { return f.Unheard && !f.Asked.Before(p.Arrives()) }

// callOff brings it forward that the gateway is asked to cancel the open attempt of a
// booking that has just ended, or was paid by another attempt. A payment that cannot be
// read keeps nobody from ending its booking: the check of the store reports it.
func (l *Ledger) callOff(b *rail.Booking) error {
	if b.OpenPayment == uuid.Nil {
		return nil
	}
	p, err := l.Payment(b.ID, b.OpenPayment)
	switch err = records.Damaged(err); {
	case records.Unreadable(err):
		return nil
	case err != nil:
		return err
	}
	p.Tries, p.Next = 0, l.Now
	return nil
}

// FollowCharge records what the gateway has told about a charge when Run asked, and when Run
// asks again. An attempt of which the gateway has not heard is given up when it cannot
// arrive any more, and watched: only "not found" after that ends the watch.
func (l *Ledger) FollowCharge(sn *timetable.Snapshot, p *records.Payment, b *rail.Booking, f Finding) error {
	if p.Next.IsZero() && f.Status != rail.Succeeded {
		return nil // somebody else was quicker
	}
	out := f.Outcome
	if f.Lost(p) {
		out = rail.Outcome{Status: rail.Failed, Failure: rail.NeverArrived()}
	}
	if err := l.Settle(sn, p, b, out); err != nil {
		return err
	}
	if f.final() || f.Lost(p) && p.TooLate(b, f.Asked) {
		p.LastError, p.Next = "", time.Time{}
		return nil
	}
	p.Unfenced, p.LastError = f.Unfenced, f.Trouble
	p.Tries++
	p.Next = l.Now.Add(lookAfter(p.Tries))
	if at := p.Arrives(); f.Unheard && f.Asked.Before(at) && at.Before(p.Next) {
		p.Next = at
	}
	return nil
}

// lookAfter is how long to wait before asking about a payment again.
func lookAfter(tries int) time.Duration {
	return min(5*time.Second<<min(tries, 10), time.Hour)
}

// FollowRefund records what the gateway has answered to a refund.
func (l *Ledger) FollowRefund(r *records.Payment, out rail.Outcome, err error) {
	final := out.Status == rail.Succeeded || out.Resolution == rail.RefundImpossible
	switch {
	case r.Status == rail.Succeeded || r.Status == rail.Failed && out.Status != rail.Succeeded:
		return // it was settled meanwhile
	case final:
		if out.Status == rail.Failed {
			out.Failure.Code = cmp.Or(out.Failure.Code, rail.ProcessingError)
		}
		l.settled(r, out.Status, out.Failure.Bounded())
		r.Resolution = out.Resolution
	default:
		r.Tries++
		r.Next = l.Now.Add(lookAfter(r.Tries))
		r.LastError = LastError(out.Failure, err)
	}
}

// LastError is what is kept of a gateway's answer that has settled nothing: empty if the
// gateway is still at work.
func LastError(why rail.Failure, err error) string {
	text := why.Code
	switch {
	case err != nil:
		text = err.Error()
	case why.Message != "":
		text += ": " + why.Message
	}
	return rail.Failure{Message: text}.Bounded().Message
}
