package traintravel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// silences are what a gateway may do other than to give an outcome.
var silences = map[string]func(op string, id uuid.UUID, out *traintravel.Outcome) error{
	"an error": func(string, uuid.UUID, *traintravel.Outcome) error { return errLine },
	"a panic":  func(string, uuid.UUID, *traintravel.Outcome) error { panic("the gateway has a bug") },
	"pending": func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
		*out = isPending
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
func (o *office) loseCharges() {
	o.bank.before = func(op string, _ uuid.UUID) error {
		if op == "charge" {
			return errLine
		}
		return nil
	}
}

// inTime lets hours pass, in which Run works.
func (o *office) inTime(hours int) {
	o.t.Helper()
	for range hours {
		o.clock.add(time.Hour)
		o.do()
	}
}

// paymentIs expects the latest payment of a booking to have a status.
func (o *office) paymentIs(b traintravel.Booking, want traintravel.PaymentStatus) {
	o.t.Helper()
	if p, err := o.Payment(o.t.Context(), traintravel.Caller{Subject: b.Owner}, b.ID); err != nil || p.Status != want {
		o.t.Fatalf("the payment is %v (%+v), want %v, %v", p.Status, p.Failure, want, err)
	}
}

// tripIn is a direct trip some days after opens.
func (o *office) tripIn(days int, from, to rune, number string) uuid.UUID {
	o.t.Helper()
	id, err := o.direct(o.t.Context(), number, traintravel.DateOf(opens)+traintravel.Date(days), station(from), station(to))
	if err != nil {
		o.t.Fatal(err)
	}
	return id
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
				o := newOffice(t, memstore.New(), withoutCancel)
				b := o.book(anna, o.trip('A', 'B', "R 5"))
				o.loseCharges()
				s := o.lose(b)
				if _, err := o.bank.Gateway.Charge(t.Context(), s.charge); err != nil {
					t.Fatal(err)
				}
				o.clock.add(24 * time.Hour)
				o.bank.after = answersTo("lookup", silence)
				o.do()
				o.inTime(hours)
				o.holds(b.Price.Amount)
				o.bank.after = nil
				o.inTime(2)
				o.stands(b.ID, traintravel.Expired)
				o.holds(0)
			}
		})
	}
}

// TestWatchEnds: a charge that never arrives is looked up for a day, and no longer.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), withoutCancel)
	b := o.book(anna, o.trip('A', 'B', "R 5"))
	o.loseCharges()
	o.lose(b)
	looked := 0
	o.bank.before = func(string, uuid.UUID) error { looked++; return nil }
	o.inTime(23)
	if looked < 20 {
		t.Errorf("looked %d times within a day", looked)
	}
	o.inTime(3)
	looked = 0
	o.inTime(10)
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
			o := newOffice(t, memstore.New(), func(opts *traintravel.Options) {
				gateway.bank = opts.Gateway.(*bank)
				opts.Gateway = gateway
			})
			b := o.book(anna, o.trip('A', 'B', "R 5"))
			o.loseCharges()
			p := o.mustPay(b, traintravel.Pending)
			for range 4 {
				o.clock.add(5 * time.Minute)
				o.do()
				o.paymentIs(b, traintravel.Pending)
				_, err := o.pay(b)
				o.expect("paying again", err, traintravel.ErrPaymentInProgress)
			}
			o.bank.before, gateway.answer = nil, nil
			o.mustPay(b, traintravel.Succeeded) // without waiting for Run
			late := traintravel.Charge{ID: p.ID, Booking: b.ID, Amount: b.Price, Source: visa(works)}
			if out, err := o.bank.Gateway.Charge(t.Context(), late); err != nil || out.Status != traintravel.Failed {
				t.Errorf("the lost charge arrives: %+v, %v", out, err)
			}
			o.holds(b.Price.Amount)
		})
	}
}

// deafToCancel is a bank that does nothing when it is asked to cancel, and answers
// something, unless that is nil.
type deafToCancel struct {
	*bank
	answer func(string, uuid.UUID, *traintravel.Outcome) error
}

func (d *deafToCancel) Cancel(ctx context.Context, id uuid.UUID) (out traintravel.Outcome, err error) {
	if d.answer == nil {
		return d.bank.Cancel(ctx, id)
	}
	err = d.answer("cancel", id, &out)
	return out, err
}

// TestGatewayThatCannotCancel is asked to, says so, and is treated like one without Cancel.
func TestGatewayThatCannotCancel(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New())
	b := o.book(anna, o.trip('A', 'B', "R 5"))
	o.bank.before = func(op string, _ uuid.UUID) error {
		switch op {
		case "charge":
			return errLine
		case "cancel":
			return fmt.Errorf("cancelling: %w", errors.ErrUnsupported)
		}
		return nil
	}
	o.lose(b)
	o.inTime(2)
	o.stands(b.ID, traintravel.Expired)
}
