package traintravel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
)

// TestOutcomes are those of the sandbox: a decline leaves the hold.
func TestOutcomes(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, officetest.Unlimited)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		pay := func(source traintravel.Source) (traintravel.Payment, error) {
			return o.PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: source})
		}
		for number, code := range map[traintravel.Secret]string{
			"4000 0000 0000 0002":      traintravel.CardDeclined,
			"4000-0000-0000-9995":      traintravel.InsufficientFunds,
			"4000000000000069":         traintravel.ExpiredCard,
			"4000000000000127":         traintravel.IncorrectCVC,
			"4000000000000119":         traintravel.ProcessingError,
			"AT86 1904 3002 3547 3202": "debit_not_authorized",
		} {
			source := officetest.Visa(number)
			if number[0] == 'A' {
				source = officetest.Iban(number)
			}
			p, err := pay(source)
			if err != nil || p.Status != traintravel.Failed || p.Failure.Code != code || p.Failure.Message == "" {
				t.Errorf("%v: %+v, %v", number, p, err)
			}
			got, err := o.Payment(t.Context(), officetest.Anna, b.ID)
			if err != nil || !cmp.Equal(got, p) {
				t.Errorf("read %s, %v", cmp.Diff(p, got), err)
			}
			if o.Stored(b.ID).Status != traintravel.Held {
				t.Fatal("the hold is gone")
			}
			o.Clock.Add(time.Second)
		}
		p, err := pay(officetest.Iban("AT611904300234573201"))
		if err != nil || p.Status != traintravel.Succeeded || p.Source.Bank.Number != "****************3201" {
			t.Errorf("%+v, %v", p, err)
		}
		_, err = pay(officetest.Visa(officetest.Works))
		o.Expect("paying again", err, traintravel.ErrAlreadyPaid)
		o.BankHolds(b.Price.Amount)
		all, err := o.Payments(t.Context(), officetest.Anna, b.ID, traintravel.Page{})
		if err != nil || len(all.Items) != 7 || all.Items[0].ID != p.ID {
			t.Errorf("%+v, %v", all, err)
		}
		o.Do()
		o.Told(b.ID, traintravel.BookingConfirmed, traintravel.BookingCreated, traintravel.PaymentFailed, traintravel.PaymentFailed,
			traintravel.PaymentFailed, traintravel.PaymentFailed, traintravel.PaymentFailed, traintravel.PaymentFailed)
	})
}

// TestPaymentsThatAreRefused have charged nothing, and left no trace.
func TestPaymentsThatAreRefused(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		for name, amount := range map[string]traintravel.Money{
			"a cent less":      {Amount: 2499, Currency: "eur"},
			"a cent more":      {Amount: 2501, Currency: "eur"},
			"another currency": {Amount: 2500, Currency: "chf"},
		} {
			_, err := o.PayBooking(ctx, officetest.Anna, b.ID, traintravel.NewPayment{Amount: amount, Source: officetest.Visa(officetest.Works)})
			var mismatch *traintravel.AmountError
			if !errors.As(err, &mismatch) || mismatch.Due != b.Price {
				t.Errorf("%s: %v", name, err)
			}
		}
		wrongCard, both := officetest.Visa("4242424242424241"), officetest.Visa(officetest.Works)
		both.Bank = officetest.Iban("AT611904300234573201").Bank
		for field, n := range map[string]traintravel.NewPayment{
			"amount":        {Amount: traintravel.Money{Currency: "eur"}, Source: officetest.Visa(officetest.Works)},
			"currency":      {Amount: traintravel.Money{Amount: 2500, Currency: "EUR"}, Source: officetest.Visa(officetest.Works)},
			"source":        {Amount: b.Price},
			"source.number": {Amount: b.Price, Source: wrongCard},
		} {
			_, err := o.PayBooking(ctx, officetest.Anna, b.ID, n)
			var wrong *traintravel.InvalidError
			if !errors.As(err, &wrong) || wrong.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		_, err := o.PayBooking(ctx, officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: both})
		if err == nil {
			t.Error("two sources are accepted")
		}
		_, err = o.PayBooking(ctx, officetest.Anna, uuid.New(), traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works)})
		o.Expect("no booking", err, traintravel.ErrNotFound)
		poor := o.Another(func(opts *traintravel.Options) { opts.Gateway = nil })
		_, err = poor.Pay(b)
		o.Expect("no gateway", err, traintravel.ErrNoGateway)
		_, err = o.Payment(ctx, officetest.Anna, b.ID)
		o.Expect("before the first attempt", err, traintravel.ErrNotFound)
		if all, err := o.Payments(ctx, officetest.Anna, b.ID, traintravel.Page{}); err != nil || len(all.Items) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
		if len(o.Bank.Movements()) > 0 {
			t.Error("the bank was asked")
		}
	})
}

// TestExpiredCard is an attempt that failed, of which the bank never hears.
func TestExpiredCard(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		source := officetest.Visa(officetest.Works)
		source.Card.ExpMonth, source.Card.ExpYear = 2, 2026 // it is March
		n := traintravel.NewPayment{Amount: b.Price, Source: source, IdempotencyKey: "k"}
		p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, n)
		if err != nil || p.Status != traintravel.Failed || p.Failure.Code != traintravel.ExpiredCard {
			t.Fatalf("%+v, %v", p, err)
		}
		again, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, n)
		if p.Replayed = true; err != nil || !cmp.Equal(p, again) {
			t.Errorf("again: %s, %v", cmp.Diff(p, again), err)
		}
		if len(o.Bank.Movements()) > 0 {
			t.Error("the bank was asked")
		}
		source.Card.ExpMonth = 3
		if p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: source}); err != nil || p.Status != traintravel.Succeeded {
			t.Errorf("in its last month: %+v, %v", p, err)
		}
		o.Do()
		o.Told(b.ID, traintravel.BookingConfirmed, traintravel.BookingCreated, traintravel.PaymentFailed)
	})
}

// TestCallerDisconnects in the middle of a charge: it is finished without them.
func TestCallerDisconnects(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		ctx, goAway := context.WithCancel(t.Context())
		o.Bank.Before = func(string, uuid.UUID) error { goAway(); return nil }
		p, err := o.PayBooking(ctx, officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works)})
		if err != nil || p.Status != traintravel.Succeeded {
			t.Errorf("%+v, %v", p, err)
		}
		o.Stands(b.ID, traintravel.Confirmed)

		_, err = o.PayBooking(ctx, officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works)})
		o.Expect("one who is gone before", err, context.Canceled)
		o.BankHolds(b.Price.Amount)
	})
}

// TestSettlesLater: a payment from a bank account whose outcome is known only later.
func TestSettlesLater(t *testing.T) {
	for number, ok := range map[traintravel.Secret]bool{"AT321904300235473204": true, "AT051904300235473205": false} {
		officetest.OnEveryStoreCase(t, string(number[16:]), func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store)
			b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
			later := &slow{Gateway: sandbox.New()}
			o = o.Another(func(opts *traintravel.Options) { opts.Gateway = later })
			p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Iban(number)})
			if err != nil || p.Status != traintravel.Pending {
				t.Fatalf("%+v, %v", p, err)
			}
			for range 3 {
				o.Clock.Add(time.Minute)
				o.Do()
				o.Stands(b.ID, traintravel.Held)
			}
			_, err = o.Pay(b)
			o.Expect("paying again", err, traintravel.ErrPaymentInProgress)
			o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), traintravel.ErrPaymentInProgress)
			if later.settled = (traintravel.Outcome{Status: traintravel.Succeeded}); !ok {
				later.settled = traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: "debit_not_authorized", Message: "No."}}
			}
			o.Clock.Add(time.Hour)
			o.Do()
			p, err = o.Payment(t.Context(), officetest.Anna, b.ID)
			if ok {
				o.Stands(b.ID, traintravel.Confirmed)
			} else {
				o.Stands(b.ID, traintravel.Expired) // the hold has run out meanwhile
			}
			if err != nil || p.Status != later.settled.Status || p.Failure != later.settled.Failure {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

// slow is a sandbox whose charges settle when it is told, not with time.
type slow struct {
	*sandbox.Gateway
	settled traintravel.Outcome
}

func (s *slow) Lookup(context.Context, uuid.UUID) (traintravel.Outcome, error) {
	if s.settled.Status == "" {
		return traintravel.Outcome{Status: traintravel.Pending}, nil
	}
	return s.settled, nil
}

// TestRefundIsTriedUntilItSucceeds, and made once.
func TestRefundIsTriedUntilItSucceeds(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.MustPay(b, traintravel.Succeeded)
		o.Clock.Add(time.Second)
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
		tries := 0
		refused := errors.New("the bank is closed")
		// Refused, answered with Failed and with Pending, and made without an
		// answer: after each it is tried again.
		o.Bank.Before = func(op string, _ uuid.UUID) error {
			if op == "refund" {
				if tries++; tries == 1 {
					return refused
				} else if tries == 2 {
					panic("the bank is on fire")
				}
			}
			return nil
		}
		o.Bank.After = func(op string, _ uuid.UUID, out *traintravel.Outcome) error {
			if op == "refund" {
				switch tries {
				case 3:
					return refused
				case 4:
					*out = traintravel.Outcome{Status: traintravel.Failed}
				case 5:
					*out = traintravel.Outcome{Status: traintravel.Pending}
				}
			}
			return nil
		}
		for try := 1; try <= 6; try++ {
			refund, err := o.Payments(t.Context(), officetest.Anna, b.ID, traintravel.Page{Limit: 1})
			if err != nil || refund.Items[0].Status != traintravel.Pending {
				t.Fatalf("before try %d: %+v, %v", try, refund.Items, err)
			}
			if owed := o.Audit().Owed["eur"]; owed != b.Price.Amount {
				t.Errorf("the books owe %d", owed)
			}
			o.Do()
			if tries != try {
				t.Fatalf("%d tries, want %d", tries, try)
			}
			o.Clock.Add(2 * time.Hour)
		}
		o.Do()
		if owed := o.Audit().Owed["eur"]; owed != 0 || tries != 6 {
			t.Errorf("the books owe %d after %d tries", owed, tries)
		}
		o.BankHolds(0)
		if n := len(o.Bank.Movements()); n != 2 {
			t.Errorf("%d movements", n)
		}
	})
}

// TestAnyAmount, if the operator wants it, is what was paid and is given back.
func TestAnyAmount(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, func(opts *traintravel.Options) { opts.AnyAmount = true })
		for _, amount := range []traintravel.Money{{Amount: 1, Currency: "eur"}, {Amount: 4999, Currency: "gbp"}, {Amount: 2500, Currency: "eur"}} {
			b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
			p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: amount, Source: officetest.Visa(officetest.Works)})
			if err != nil || p.Status != traintravel.Succeeded || p.Amount != amount {
				t.Fatalf("%+v, %v", p, err)
			}
			if got := o.Bank.Balance(amount.Currency); got != amount {
				t.Errorf("the bank holds %v of %v", got, amount)
			}
			o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
			o.Do()
			if got := o.Bank.Balance(amount.Currency); got.Amount != 0 {
				t.Errorf("the bank holds %v of %v", got, amount)
			}
		}
	})
}
