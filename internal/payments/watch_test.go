package payments_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// silences are what a gateway may do other than to give an outcome.
var silences = map[string]func(op string, id uuid.UUID, out *traintravel.Outcome) error{
	"an error": func(string, uuid.UUID, *traintravel.Outcome) error { return officetest.ErrLine },
	"a panic":  func(string, uuid.UUID, *traintravel.Outcome) error { panic("the gateway has a bug") },
	"pending": func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
		*out = officetest.IsPending
		return nil
	},
	"an unknown status": func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
		out.Status = "perhaps"
		return nil
	},
}

// answersTo does something to what the bank answers to an operation.
func answersTo(op string, answer func(string, uuid.UUID, *traintravel.Outcome) error) func(string, uuid.UUID, *traintravel.Outcome) error {
	return func(got string, id uuid.UUID, out *traintravel.Outcome) error {
		if got != op {
			return nil
		}
		return answer(got, id, out)
	}
}

// loseCharges has the bank lose charges on their way, until it is told otherwise.
func loseCharges(o *officetest.Office) {
	o.Bank.Before = func(op string, _ uuid.UUID) error {
		if op == "charge" {
			return officetest.ErrLine
		}
		return nil
	}
}

// inTime lets hours pass, in which Run works.
func inTime(o *officetest.Office, hours int) {
	o.T.Helper()
	for range hours {
		o.Clock.Add(time.Hour)
		o.Do()
	}
}

// paymentIs expects the latest payment of a booking to have a status.
func paymentIs(o *officetest.Office, b traintravel.Booking, want traintravel.PaymentStatus) {
	o.T.Helper()
	if p, err := o.Payment(o.T.Context(), traintravel.Caller{Subject: b.Owner}, b.ID); err != nil || p.Status != want {
		o.T.Fatalf("the payment is %v (%+v), want %v, %v", p.Status, p.Failure, want, err)
	}
}

// TestWatchEndsWithNotFoundAlone: a charge that was given up arrives after all. The
// service does not look for a day, and then the gateway gives no outcome, some times or
// for days. The money is found in the end.
func TestWatchEndsWithNotFoundAlone(t *testing.T) {
	t.Parallel()
	for name, silence := range silences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, hours := range []int{1, 50} {
				o := officetest.New(t, memstore.New(), officetest.WithoutCancel)
				b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
				loseCharges(o)
				s := lose(o, b)
				if _, err := o.Bank.Gateway.Charge(t.Context(), s.charge); err != nil {
					t.Fatal(err)
				}
				o.Clock.Add(24 * time.Hour)
				o.Bank.After = answersTo("lookup", silence)
				o.Do()
				inTime(o, hours)
				o.BankHolds(b.Price.Amount)
				o.Bank.After = nil
				inTime(o, 2)
				o.Stands(b.ID, traintravel.Expired)
				o.BankHolds(0)
			}
		})
	}
}

// TestWatchEnds: a charge that never arrives is looked up for a day, and no longer.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), officetest.WithoutCancel)
	b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
	loseCharges(o)
	lose(o, b)
	looked := 0
	o.Bank.Before = func(string, uuid.UUID) error { looked++; return nil }
	inTime(o, 23)
	if looked < 20 {
		t.Errorf("looked %d times within a day", looked)
	}
	inTime(o, 3)
	looked = 0
	inTime(o, 10)
	if looked > 0 {
		t.Errorf("looked %d times after that", looked)
	}
}

// TestFenceThatIsNotSet: the gateway does not say that it has cancelled a lost charge. The
// payment stays pending, and no other is taken, until it says so.
func TestFenceThatIsNotSet(t *testing.T) {
	t.Parallel()
	for name, silence := range silences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gateway := &deafToCancel{answer: silence}
			o := officetest.New(t, memstore.New(), func(opts *traintravel.Options) {
				gateway.Bank = opts.Gateway.(*officetest.Bank)
				opts.Gateway = gateway
			})
			b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
			loseCharges(o)
			p := o.MustPay(b, traintravel.Pending)
			for range 4 {
				o.Clock.Add(5 * time.Minute)
				o.Do()
				paymentIs(o, b, traintravel.Pending)
				_, err := o.Pay(b)
				o.Expect("paying again", err, traintravel.ErrPaymentInProgress)
			}
			o.Bank.Before, gateway.answer = nil, nil
			o.MustPay(b, traintravel.Succeeded) // without waiting for Run
			late := traintravel.Charge{ID: p.ID, Booking: b.ID, Amount: b.Price, Source: officetest.Visa(officetest.Works)}
			if out, err := o.Bank.Gateway.Charge(t.Context(), late); err != nil || out.Status != traintravel.Failed {
				t.Errorf("the lost charge arrives: %+v, %v", out, err)
			}
			o.BankHolds(b.Price.Amount)
		})
	}
}

// deafToCancel is a bank that does nothing when it is asked to cancel, and answers
// something, unless that is nil.
type deafToCancel struct {
	*officetest.Bank
	answer func(string, uuid.UUID, *traintravel.Outcome) error
}

func (d *deafToCancel) Cancel(ctx context.Context, id uuid.UUID) (out traintravel.Outcome, err error) {
	if d.answer == nil {
		return d.Bank.Cancel(ctx, id)
	}
	err = d.answer("cancel", id, &out)
	return out, err
}

// TestGatewayThatCannotCancel is asked to, says so, and is treated like one without Cancel.
func TestGatewayThatCannotCancel(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
	o.Bank.Before = func(op string, _ uuid.UUID) error {
		switch op {
		case "charge":
			return officetest.ErrLine
		case "cancel":
			return fmt.Errorf("cancelling: %w", errors.ErrUnsupported)
		}
		return nil
	}
	lose(o, b)
	inTime(o, 2)
	o.Stands(b.ID, traintravel.Expired)
}
