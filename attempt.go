package traintravel

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
)

// An attempt to pay, and what a gateway answers to it.

// attempt is a new attempt to pay: failed already if the card has expired.
func (s *Service) attempt(booking uuid.UUID, amount Money, source Source, now time.Time) payment {
	p := payment{
		Payment: Payment{
			ID: timeID(now, s.newID()), Booking: booking, Amount: amount, Source: source.Masked(), Status: Pending, Created: now,
		},
		charging: true,
		deadline: now.Add(s.opts.ChargeTimeout),
	}
	p.next = p.deadline.Add(time.Second)
	if source.Card != nil && source.Card.Expired(now) {
		p.Status, p.Settled, p.Failure = Failed, now, Failure{ExpiredCard, "The card has expired."}
		p.charging, p.next = false, time.Time{}
	}
	return p
}

// inTime is the error of a payment that succeeded and has not confirmed its
// booking.
func inTime(p Payment, confirmed bool) error {
	if p.Status == Succeeded && !confirmed {
		return ErrPaidTooLate
	}
	return nil
}

// charge asks the gateway, unless it is too late to. A gateway that panics has
// an unknown outcome like one that fails.
func (s *Service) charge(ctx context.Context, c Charge) (out Outcome, err error) {
	if ctx.Err() != nil {
		return Outcome{Status: Failed, Failure: notAttempted}, nil
	}
	defer recovered(&err)
	out, err = s.opts.Gateway.Charge(ctx, c)
	out.Failure = Failure{c.Source.hide(out.Failure.Code), c.Source.hide(out.Failure.Message)}
	return out, valid(out, err)
}

// valid refuses an outcome that a charge cannot have.
func valid(out Outcome, err error) error {
	if err == nil && out.Resolution != "" {
		return fmt.Errorf("the gateway answered the resolution %q about a charge", out.Resolution)
	}
	return validRefund(out, err)
}

// validRefund refuses an outcome that a refund cannot have.
func validRefund(out Outcome, err error) error {
	switch {
	case err != nil:
		return err
	case out.Status != Pending && out.Status != Succeeded && out.Status != Failed:
		return fmt.Errorf("the gateway answered the unknown status %q", out.Status)
	case !out.Resolution.Fits(out.Status):
		return fmt.Errorf("the gateway answered the status %q with the resolution %q", out.Status, out.Resolution)
	}
	return nil
}

// bounded is a failure of which a record has room: of a gateway's words what
// can be shown, in one line and without numbers of cards.
func (f Failure) bounded() Failure {
	cut := func(s string) string {
		s = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || unicode.Is(unicode.Noncharacter_Code_Point, r) || unicode.Is(unicode.Bidi_Control, r) {
				return ' '
			}
			return r
		}, hideNumbers(strings.ToValidUTF8(s, ""), ""))
		return strings.ToValidUTF8(s[:min(len(s), maxFailure)], "")
	}
	return Failure{Code: cut(f.Code), Message: cut(f.Message)}
}

// recovered makes a panic of somebody else's code an error with its place.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
	}
}
