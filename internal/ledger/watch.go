package ledger

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// The rules of attempts to pay whose outcome is unknown: when such an attempt has ended for its
// payer, when the gateway must cancel it, and when it need not be looked up any more.

// A Finding is the gateway's response about a charge. Status is Pending if it returned an error.
type Finding struct {
	rail.Outcome
	Unheard  bool      // the gateway was never asked to make the charge; Status is Pending
	Unfenced bool      // the charge was lost; if the finding is not final, Cancel has failed
	Asked    time.Time // the moment before the gateway was asked
	Trouble  string    // the gateway's error, if it has returned one
}

// final says that the outcome cannot change any more.
func (f Finding) final() bool { return f.Status != rail.Pending }

// ToCancel says whether the gateway must cancel a charge with this finding: because the attempt
// has ended for its payer, or because the charge was lost.
func (f Finding) ToCancel(p *records.Payment, b *rail.Booking) bool {
	return !f.final() && (p.Over(b, f.Asked) || f.Lost(p))
}

// Lost says that the gateway does not know a charge that cannot arrive any more.
func (f Finding) Lost(p *records.Payment) bool { return f.Unheard && !f.Asked.Before(p.Arrives()) }

// callOff schedules the cancellation of the open attempt of a booking that has just ended, or was
// paid by another attempt. A payment that cannot be read does not prevent the end of its booking:
// the check of the store reports it.
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

// FollowCharge records the gateway's response to a look-up by Run, and when Run asks again. An
// attempt that the gateway does not know fails when it cannot arrive any more, but is still
// looked up: only "not found" after that ends the look-ups.
func (l *Ledger) FollowCharge(sn *timetable.Snapshot, p *records.Payment, b *rail.Booking, f Finding) error {
	if p.Next.IsZero() && f.Status != rail.Succeeded {
		return nil // another update was faster
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

// lookAfter returns how long to wait before asking about a payment again.
func lookAfter(tries int) time.Duration {
	return min(5*time.Second<<min(tries, 10), time.Hour)
}

// FollowRefund records the gateway's response to a refund.
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

// LastError returns the text to store about a response of the gateway that has not settled a
// payment: empty if the gateway is still processing it.
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
