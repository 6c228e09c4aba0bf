package payments_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// TestRefundAfterRestore: a booking is cancelled and refunded, the data are restored from
// a backup of before, and the booking is cancelled again, at another time. The gateway
// gets the same refund again and gives the money back once.
func TestRefundAfterRestore(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]func(*officetest.Office, traintravel.Booking) error{
		"by its owner": func(o *officetest.Office, b traintravel.Booking) error {
			return o.CancelBooking(t.Context(), officetest.Anna, b.ID)
		},
		"with its train": func(o *officetest.Office, b traintravel.Booking) error {
			_, err := o.CancelRun(t.Context(), b.Legs[0].Run, traintravel.CancelRunOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := officetest.New(t, memstore.New())
			b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
			charge := o.MustPay(b, traintravel.Succeeded)
			backup := memstore.New()
			if err := traintravel.Backup(t.Context(), backup, o.Store, traintravel.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			restored := o.At(backup)
			for i, o := range []*officetest.Office{o, restored} {
				o.Clock.Set(officetest.Opens.Add(time.Duration(i+1) * time.Minute))
				o.Expect("cancelling", cancel(o, b), nil)
				o.Do()
				o.BankHolds(0)
				refund := onlyRefund(o, b)
				if refund.Status != traintravel.Succeeded || refund.RefundOf != charge.ID {
					t.Errorf("%+v", refund)
				}
			}
			if first, again := onlyRefund(o, b), onlyRefund(restored, b); first.ID != again.ID {
				t.Errorf("the refund is %v, and after the restore %v", first.ID, again.ID)
			}
			if moved := o.Bank.Movements(); len(moved) != 2 {
				t.Errorf("the bank moved %+v", moved)
			}
			restored.Audit()
		})
	}
}

// TestRefundAsBefore: a refund that an earlier version recorded is made under the ID that
// it has.
func TestRefundAsBefore(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
	o.MustPay(b, traintravel.Succeeded)
	o.Clock.Add(time.Second)
	o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
	id, err := audittest.RefundAsBefore(t.Context(), o.Store)
	if err != nil || id.Version() != 7 {
		t.Fatal(id, err)
	}
	var asked []uuid.UUID
	o.Bank.Before = func(op string, id uuid.UUID) error {
		if asked = append(asked, id); len(asked) == 1 {
			return errors.New("the bank is closed")
		}
		return nil
	}
	for range 3 {
		o.Do()
		o.Clock.Add(time.Hour)
	}
	if len(asked) != 2 || asked[0] != id || asked[1] != id {
		t.Errorf("the bank was asked for %v, want %v twice", asked, id)
	}
	if refund := onlyRefund(o, b); refund.ID != id || refund.Status != traintravel.Succeeded {
		t.Errorf("%+v", refund)
	}
	o.BankHolds(0)
}

// refunding is an office with a cancelled booking whose refund the bank answers as said.
// Errors go on for as long as answers are nil.
func refunding(t *testing.T, answers ...*traintravel.Outcome) (o *officetest.Office, b traintravel.Booking, asked *int) {
	o = officetest.New(t, memstore.New())
	b = o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
	o.MustPay(b, traintravel.Succeeded)
	o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
	asked = new(int)
	o.Bank.Before = func(op string, _ uuid.UUID) error {
		if op == "refund" {
			*asked++
			if answers[min(*asked, len(answers))-1] == nil {
				return errors.New("404: no such charge")
			}
		}
		return nil
	}
	o.Bank.After = func(op string, _ uuid.UUID, out *traintravel.Outcome) error {
		if op == "refund" {
			*out = *answers[min(*asked, len(answers))-1]
		}
		return nil
	}
	return o, b, asked
}

// worksFor lets hours go by in which everything that is due is done.
func worksFor(o *officetest.Office, hours int) {
	for range hours {
		o.Do()
		o.Clock.Add(time.Hour)
	}
}

var (
	madeElsewhere = traintravel.Outcome{Status: traintravel.Succeeded, Resolution: traintravel.RefundedElsewhere}
	impossible    = traintravel.Outcome{
		Status: traintravel.Failed, Failure: traintravel.Failure{Code: "account_closed", Message: "The account is closed."},
		Resolution: traintravel.RefundImpossible,
	}
	failedOnce = traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: "no_funds", Message: "Card 4242 4242 4242 4242."}}
)

// TestRefundOutcomes: each answer that settles a refund is recorded, and the gateway is
// not asked again. All others are followed by another try.
func TestRefundOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []*traintravel.Outcome
		asked   int
		want    traintravel.Outcome
	}{
		"made":                      {[]*traintravel.Outcome{{Status: traintravel.Succeeded}}, 1, traintravel.Outcome{Status: traintravel.Succeeded}},
		"made elsewhere":            {[]*traintravel.Outcome{&madeElsewhere}, 1, madeElsewhere},
		"impossible":                {[]*traintravel.Outcome{&impossible}, 1, impossible},
		"impossible without a word": {[]*traintravel.Outcome{{Status: traintravel.Failed, Resolution: traintravel.RefundImpossible}}, 1, traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: traintravel.ProcessingError}, Resolution: traintravel.RefundImpossible}},
		"failed, then impossible":   {[]*traintravel.Outcome{&failedOnce, nil, &impossible}, 3, impossible},
		"failed, then made":         {[]*traintravel.Outcome{&failedOnce, {Status: traintravel.Pending}, {Status: traintravel.Succeeded}}, 3, traintravel.Outcome{Status: traintravel.Succeeded}},
		"answers that cannot be": {[]*traintravel.Outcome{
			{Status: traintravel.Pending, Resolution: traintravel.RefundImpossible},
			{Status: traintravel.Succeeded, Resolution: traintravel.RefundImpossible},
			{Status: traintravel.Failed, Resolution: traintravel.RefundedElsewhere},
			{Status: traintravel.Failed, Resolution: "lost"}, {Status: "impossible"}, &madeElsewhere,
		}, 6, madeElsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, b, asked := refunding(t, c.answers...)
			worksFor(o, 30)
			refund := onlyRefund(o, b)
			if got := (traintravel.Outcome{Status: refund.Status, Failure: refund.Failure, Resolution: refund.Resolution}); got != c.want || refund.Settled.IsZero() || refund.LastError != "" {
				t.Errorf("%+v, want %+v", refund, c.want)
			}
			if *asked != c.asked {
				t.Errorf("the bank was asked %d times, want %d", *asked, c.asked)
			}
			if st, err := o.State(t.Context()); err != nil || st.Refunds.Count != 0 {
				t.Errorf("%+v, %v", st, err)
			}
		})
	}
}

// onlyRefund is the one refund of a booking.
func onlyRefund(o *officetest.Office, b traintravel.Booking) traintravel.Payment {
	o.T.Helper()
	h, err := o.BookingHistory(o.T.Context(), b.ID)
	if err != nil {
		o.T.Fatal(err)
	}
	var refunds []traintravel.Payment
	for _, p := range h.Payments {
		if p.RefundOf != uuid.Nil {
			refunds = append(refunds, p)
		}
	}
	if len(refunds) != 1 {
		o.T.Fatalf("the refunds are %+v, want one", refunds)
	}
	return refunds[0]
}
