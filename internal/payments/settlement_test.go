package payments_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// A charge has no resolution: one is taken for an outcome that is not known.
func TestResolutionOfCharge(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
	o.Bank.After = func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
		*out = madeElsewhere
		return nil
	}
	o.MustPay(b, traintravel.Pending)
	o.Clock.Add(time.Minute)
	o.Do()
	o.Stands(b.ID, traintravel.Held)
}

// TestStuckPayments: what nobody but a person can settle is listed until one has.
func TestStuckPayments(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	o, b, _ := refunding(t, &failedOnce, nil)
	second := o.Book(officetest.Berta, o.TripID('D', 'E', "R 2"))
	o.MustPay(second, traintravel.Succeeded)
	stuck := func(want ...string) {
		t.Helper()
		found, unreadable, err := o.StuckPayments(t.Context(), day)
		if err != nil || unreadable != 0 {
			t.Fatal(unreadable, err)
		}
		var got []string
		for _, p := range found {
			got = append(got, string(p.Status)+" "+p.LastError+p.Failure.Code)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	o.Do()
	if refund := onlyRefund(o, b); refund.LastError == "" || strings.Contains(refund.LastError, "4242 4242") {
		t.Errorf("%+v", refund)
	}
	worksFor(o, 23)
	stuck()
	worksFor(o, 1)
	stuck("pending 404: no such charge")
	if st, err := o.State(t.Context()); err != nil || st.StuckRefunds != 1 || st.StuckPayments != 0 {
		t.Errorf("%+v, %v", st, err)
	}

	// Another booking, whose refund is impossible at once.
	if _, err := o.CancelRun(t.Context(), second.Legs[0].Run, traintravel.CancelRunOptions{Past: true}); err != nil {
		t.Fatal(err)
	}
	o.Bank.After = func(op string, _ uuid.UUID, out *traintravel.Outcome) error { *out = impossible; return nil }
	first := onlyRefund(o, b).ID
	o.Bank.Before = func(_ string, id uuid.UUID) error {
		if id == first {
			return errors.New("404: no such charge")
		}
		return nil
	}
	o.Do()
	refund := onlyRefund(o, second)
	stuck("pending 404: no such charge", "failed account_closed")
	if found, err := o.FindPayment(t.Context(), refund.ID); err != nil || found.ID != refund.ID || found.Booking != second.ID {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := o.FindPayment(t.Context(), uuid.New()); !errors.Is(err, traintravel.ErrNotFound) {
		t.Error(err)
	}
	settled, err := o.SettlePayment(t.Context(), second.ID, refund.ID, traintravel.Settlement{As: traintravel.AsImpossible, By: "carla", Reason: "a voucher was sent"})
	if err != nil || settled.Failure != impossible.Failure || len(settled.Settlements) != 1 {
		t.Errorf("%+v, %v", settled, err)
	}
	stuck("pending 404: no such charge")
	worksFor(o, 1)
	o.Audit()
}

// TestSettleRefund: an operator settles a refund, and it shows who, when and why.
func TestSettleRefund(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		as     traintravel.Verdict
		answer *traintravel.Outcome
		want   traintravel.Outcome
	}{
		{traintravel.AsSucceeded, nil, traintravel.Outcome{Status: traintravel.Succeeded}},
		{traintravel.AsMadeElsewhere, nil, madeElsewhere},
		{traintravel.AsMadeElsewhere, &impossible, madeElsewhere},
		{traintravel.AsSucceeded, &impossible, traintravel.Outcome{Status: traintravel.Succeeded}},
		{traintravel.AsImpossible, &impossible, impossible},
		{traintravel.AsImpossible, nil, traintravel.Outcome{Status: traintravel.Failed, Resolution: traintravel.RefundImpossible,
			Failure: traintravel.Failure{Code: traintravel.ProcessingError, Message: "The refund could not be made. Please contact us."}}},
	} {
		t.Run(string(c.as), func(t *testing.T) {
			t.Parallel()
			o, b, asked := refunding(t, c.answer)
			worksFor(o, 2)
			was := *asked
			id := onlyRefund(o, b).ID
			d := traintravel.Settlement{As: c.as, By: "carla", Reason: "Paid back in cash."}
			for range 2 { // the answer was lost
				_, err := o.SettlePayment(t.Context(), b.ID, id, d)
				if err != nil && !errors.Is(err, traintravel.ErrPaymentSettled) {
					t.Fatal(err)
				}
			}
			d.At = o.Clock.Now().UTC()
			worksFor(o, 50)
			refund := onlyRefund(o, b)
			if got := (traintravel.Outcome{Status: refund.Status, Failure: refund.Failure, Resolution: refund.Resolution}); got != c.want || *asked != was {
				t.Errorf("%+v, asked %d times more; want %+v", refund, *asked-was, c.want)
			}
			if diff := cmp.Diff([]traintravel.Settlement{d}, refund.Settlements); diff != "" {
				t.Error(diff)
			}
			if done, err := o.EraseSubject(t.Context(), officetest.Anna.Subject); err != nil || done.Bookings != 1 {
				t.Fatal(done, err)
			}
			if refund := onlyRefund(o, b); refund.Settlements[0].Reason != "" || refund.Settlements[0].By != "carla" {
				t.Errorf("after the traveller was erased: %+v", refund.Settlements)
			}
		})
	}
}

// TestSettleCharge: an operator settles a charge of which the gateway says for ever that
// it is pending. What follows for booking and money is what follows from the gateway's word.
func TestSettleCharge(t *testing.T) {
	t.Parallel()
	settle := func(o *officetest.Office, p traintravel.Payment, as traintravel.Verdict) traintravel.Payment {
		t.Helper()
		got, err := o.SettlePayment(t.Context(), p.Booking, p.ID, traintravel.Settlement{As: as, By: "carla", Reason: "as the bank says"})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	pending := func(t *testing.T) (*officetest.Office, traintravel.Booking, traintravel.Payment) {
		o := officetest.New(t, memstore.New(), officetest.WithoutCancel)
		b := o.Book(officetest.Anna, o.TripID('D', 'E', "R 2"))
		o.Bank.After = func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
			*out = traintravel.Outcome{Status: traintravel.Pending}
			return nil
		}
		p := o.MustPay(b, traintravel.Pending)
		o.Clock.Add(5 * time.Minute)
		o.Do()
		return o, b, p
	}
	t.Run("as succeeded", func(t *testing.T) {
		t.Parallel()
		o, b, p := pending(t)
		if got := settle(o, p, traintravel.AsSucceeded); got.Status != traintravel.Succeeded {
			t.Errorf("%+v", got)
		}
		o.Stands(b.ID, traintravel.Confirmed)
		o.Do()
		o.BankHolds(b.Price.Amount)
	})
	t.Run("and the gateway's error is kept until then", func(t *testing.T) {
		t.Parallel()
		o, b, p := pending(t)
		o.Bank.Before = func(string, uuid.UUID) error { return errors.New("401: the key has expired") }
		o.Clock.Add(time.Hour)
		o.Do()
		stuck, _, err := o.StuckPayments(t.Context(), time.Hour)
		if err != nil || len(stuck) != 1 || stuck[0].ID != p.ID || stuck[0].LastError != "401: the key has expired" {
			t.Errorf("%+v, %v", stuck, err)
		}
		if got := settle(o, p, traintravel.AsSucceeded); got.LastError != "" {
			t.Errorf("%+v", got)
		}
		o.Stands(b.ID, traintravel.Confirmed)
	})
	t.Run("as succeeded, too late", func(t *testing.T) {
		t.Parallel()
		o, b, p := pending(t)
		o.Clock.Set(b.Legs[0].Origin.Time.Add(time.Hour))
		o.Do()
		settle(o, p, traintravel.AsSucceeded)
		o.Bank.After = nil
		o.Do()
		o.Stands(b.ID, traintravel.Expired)
		o.BankHolds(0)
	})
	t.Run("as failed", func(t *testing.T) {
		t.Parallel()
		o, b, p := pending(t)
		if got := settle(o, p, traintravel.AsFailed); got.Status != traintravel.Failed || got.Failure.Code != traintravel.ProcessingError {
			t.Errorf("%+v", got)
		}
		o.Stands(b.ID, traintravel.Held)
		o.Clock.Add(time.Hour)
		o.Do()
		o.Stands(b.ID, traintravel.Expired)
	})
	t.Run("as failed, and the money comes all the same", func(t *testing.T) {
		t.Parallel()
		o, b, p := pending(t)
		settle(o, p, traintravel.AsFailed)
		o.Bank.After = nil
		o.MustPay(b, traintravel.Succeeded)
		worksFor(o, 4)
		o.Stands(b.ID, traintravel.Confirmed)
		o.BankHolds(b.Price.Amount) // and not twice
	})
	t.Run("as failed twice ends the watch", func(t *testing.T) {
		t.Parallel()
		o, b, p := pending(t)
		settle(o, p, traintravel.AsFailed)
		o.Do()
		settle(o, p, traintravel.AsFailed)
		o.Bank.Before = func(op string, _ uuid.UUID) error {
			t.Errorf("the bank is asked for a %s", op)
			return nil
		}
		worksFor(o, 30)
		o.Stands(b.ID, traintravel.Expired)
	})
}

// TestSettleRefused: what cannot be settled by hand says why.
func TestSettleRefused(t *testing.T) {
	t.Parallel()
	o, b, _ := refunding(t, nil)
	refund := onlyRefund(o, b)
	charge := refund.RefundOf
	good := traintravel.Settlement{As: traintravel.AsSucceeded, By: "carla", Reason: "it was made"}
	try := func(id uuid.UUID, change func(*traintravel.Settlement)) error {
		d := good
		change(&d)
		_, err := o.SettlePayment(t.Context(), b.ID, id, d)
		return err
	}
	for field, change := range map[string]func(*traintravel.Settlement){
		"as":     func(d *traintravel.Settlement) { d.As = "lost" },
		"by":     func(d *traintravel.Settlement) { d.By = "" },
		"reason": func(d *traintravel.Settlement) { d.Reason = " " },
	} {
		if wrong := (*traintravel.InvalidError)(nil); !errors.As(try(refund.ID, change), &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, wrong)
		}
	}
	for reason, change := range map[string]func(*traintravel.Settlement){
		"a refund as failed":      func(d *traintravel.Settlement) { d.As = traintravel.AsFailed },
		"the number of a card":    func(d *traintravel.Settlement) { d.Reason = "to " + string(officetest.Works) },
		"a reason of two lines":   func(d *traintravel.Settlement) { d.Reason = "a\nb" },
		"a reason that is a book": func(d *traintravel.Settlement) { d.Reason = strings.Repeat("a", 201) },
	} {
		if err := try(refund.ID, change); !errors.As(err, new(*traintravel.InvalidError)) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	as := func(v traintravel.Verdict) func(*traintravel.Settlement) {
		return func(d *traintravel.Settlement) { d.As = v }
	}
	if err := try(charge, as(traintravel.AsMadeElsewhere)); !errors.As(err, new(*traintravel.InvalidError)) {
		t.Errorf("a charge made elsewhere: %v", err)
	}
	if err := try(charge, as(traintravel.AsFailed)); !errors.Is(err, traintravel.ErrPaymentSettled) {
		t.Errorf("a charge that has succeeded: %v", err)
	}
	if err := try(uuid.New(), as(traintravel.AsFailed)); !errors.Is(err, traintravel.ErrNotFound) {
		t.Errorf("no payment: %v", err)
	}
	if err := try(refund.ID, as(traintravel.AsSucceeded)); err != nil {
		t.Error(err)
	}
	if err := try(refund.ID, as(traintravel.AsImpossible)); !errors.Is(err, traintravel.ErrPaymentSettled) {
		t.Errorf("a refund that has succeeded: %v", err)
	}

	// A charge that the gateway is being asked for at this moment.
	second := o.Book(officetest.Berta, o.TripID('D', 'E', "R 2"))
	var during error
	o.Bank.Before = func(op string, id uuid.UUID) error {
		_, during = o.SettlePayment(t.Context(), second.ID, id, good)
		return nil
	}
	o.MustPay(second, traintravel.Succeeded)
	if !errors.Is(during, traintravel.ErrPaymentInProgress) {
		t.Errorf("during the charge: %v", during)
	}
}
