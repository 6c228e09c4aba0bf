package payments_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// TestAnswerIsLost: the bank has charged, and its answer does not arrive. It
// is not failed but pending, and is found out.
func TestAnswerIsLost(t *testing.T) {
	for name, lose := range map[string]func() error{
		"error": func() error { return officetest.ErrLine },
		"panic": func() error { panic("the gateway has a bug") },
	} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store)
			b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
			o.Bank.During("charge", nil, lose)
			p := o.MustPay(b, traintravel.Pending)
			o.BankHolds(b.Price.Amount)
			_, err := o.Pay(b)
			o.Expect("paying again", err, traintravel.ErrPaymentInProgress)
			o.Do()
			o.Stands(b.ID, traintravel.Held) // the charge might still arrive: too early to ask
			o.Clock.Add(31 * time.Second)
			o.Do()
			o.Stands(b.ID, traintravel.Confirmed)
			if got, err := o.Payment(t.Context(), officetest.Anna, b.ID); err != nil || got.ID != p.ID || got.Status != traintravel.Succeeded {
				t.Errorf("%+v, %v", got, err)
			}
			o.BankHolds(b.Price.Amount)
			o.Do()
			o.Told(b.ID, traintravel.BookingConfirmed, traintravel.BookingCreated)
		})
	}
}

// TestInvalidOutcome: an unknown status counts as an error.
func TestInvalidOutcome(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Bank.After = func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
			out.Status = "declined?"
			return nil
		}
		o.MustPay(b, traintravel.Pending)
		o.Clock.Add(31 * time.Second)
		o.Do()
		o.Stands(b.ID, traintravel.Held)
		o.Bank.After = nil
		o.Clock.Add(time.Minute)
		o.Do()
		o.Stands(b.ID, traintravel.Confirmed)
	})
}

// TestChargeNeverArrives: the bank has not heard of it. That becomes a failure
// when it cannot arrive any more, a minute after its deadline, and the hold is
// as it was.
func TestChargeNeverArrives(t *testing.T) {
	for name, option := range map[string]func(*traintravel.Options){
		"fenced": func(*traintravel.Options) {}, "unfenced": officetest.WithoutCancel,
	} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store, option)
			trip := o.TripID('D', 'E', "R 2")
			b := o.Book(officetest.Anna, trip)
			o.Bank.During("charge", func() error { return officetest.ErrLine }, nil)
			p := o.MustPay(b, traintravel.Pending)
			for range 8 { // to 89 s
				o.Clock.Add(11 * time.Second)
				o.Do()
				if got, err := o.Payment(t.Context(), officetest.Anna, b.ID); err != nil || got.Status != traintravel.Pending {
					t.Fatalf("after %v: %+v, %v", o.Clock.Now().Sub(officetest.Opens), got, err)
				}
			}
			o.Clock.Set(officetest.Opens.Add(90 * time.Second))
			o.Do()
			got, err := o.Payment(t.Context(), officetest.Anna, b.ID)
			if err != nil || got.ID != p.ID || got.Status != traintravel.Failed || got.Failure.Code != traintravel.ProcessingError {
				t.Fatalf("%+v, %v", got, err)
			}
			o.Stands(b.ID, traintravel.Held)
			o.TryBook(officetest.Berta, trip, traintravel.ErrSoldOut)
			o.MustPay(b, traintravel.Succeeded) // another try
			for range 48 {
				o.Clock.Add(time.Hour)
				o.Do()
			}
			o.BankHolds(b.Price.Amount)
			o.Told(b.ID, traintravel.BookingConfirmed, traintravel.BookingCreated, traintravel.PaymentFailed)
			if n := len(o.Post.Events); n != 3 {
				t.Errorf("%d events are delivered, some of them twice", n)
			}

			// Once more, after the end of the hold: then it is over.
			o.Clock.Set(officetest.Opens)
			b = o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
			o.Bank.During("charge", func() error { return officetest.ErrLine }, nil)
			o.Clock.Set(b.Expires.Add(-time.Second))
			o.MustPay(b, traintravel.Pending)
			o.Clock.Add(10 * time.Minute)
			o.Do()
			o.Stands(b.ID, traintravel.Expired)
		})
	}
}

// TestTwoThatPayAtOnce: one attempt, whatever the other does between.
func TestTwoThatPayAtOnce(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Bank.During("charge", func() error {
			_, err := o.Another().Pay(b)
			o.Expect("at another service", err, traintravel.ErrPaymentInProgress)
			return nil
		}, func() error {
			_, err := o.Pay(b)
			o.Expect("when it is charged and not recorded", err, traintravel.ErrPaymentInProgress)
			return nil
		})
		o.MustPay(b, traintravel.Succeeded)
		if n := len(o.Bank.Movements()); n != 1 {
			t.Errorf("%d charges", n)
		}
	})
}

// TestConcurrentLookups: between one service's look-up and its record of the outcome, another
// service looks up the same charge, or the payer gets the response.
func TestConcurrentLookups(t *testing.T) {
	for _, card := range []traintravel.Secret{officetest.Works, officetest.Declined} {
		officetest.OnEveryStoreCase(t, string(card), func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store)
			b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
			o.Bank.During("charge", nil, func() error { return officetest.ErrLine })
			o.MustPay(b, traintravel.Pending, card)
			o.Clock.Add(31 * time.Second)
			other := o.Another()
			o.Bank.During("lookup", nil, func() error { other.Do(); return nil })
			o.Do()
			o.Do()
			want := traintravel.Confirmed
			if card == officetest.Declined {
				want = traintravel.Held
				o.BankHolds(0)
			} else {
				o.BankHolds(b.Price.Amount)
			}
			o.Stands(b.ID, want)
			if n := len(o.Post.Events); n != 2 {
				t.Errorf("%d events", n)
			}
			if n := len(o.Audit().Payments); n != 1 {
				t.Errorf("%d payments", n)
			}
		})
	}
}

// TestAnsweredWhileLookedUp: Run asks the bank too early, and records what it
// heard when the payment has been settled.
func TestAnsweredWhileLookedUp(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		ahead := o.Another()
		ahead.Clock.Add(31 * time.Second)
		atBank, answer, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
		o.Bank.Before = func(op string, _ uuid.UUID) error {
			if op == "charge" {
				close(atBank)
				<-answer
			}
			return nil
		}
		o.Bank.After = func(op string, _ uuid.UUID, out *traintravel.Outcome) error {
			if op == "charge" {
				return nil
			}
			*out = traintravel.Outcome{Status: traintravel.Pending}
			return nil
		}
		go func() {
			defer close(answered)
			o.MustPay(b, traintravel.Succeeded)
		}()
		<-atBank
		ahead = ahead.On(&officetest.Interposed{Store: store, Before: func() {
			select {
			case <-answer:
			default:
				close(answer)
			}
			<-answered
		}})
		ahead.Do()
		o.Stands(b.ID, traintravel.Confirmed) // and nobody looks after the payment: see the audit
		o.BankHolds(b.Price.Amount)
	})
}

// TestRunSettlesBeforeThePayerDoes: Run looks up the outcome of a charge before the gateway's
// response to it is recorded. It counts once.
func TestRunSettlesBeforeThePayerDoes(t *testing.T) {
	for _, card := range []traintravel.Secret{officetest.Works, officetest.Declined} {
		officetest.OnEveryStoreCase(t, string(card), func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store)
			b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
			ahead := o.Another()
			ahead.Clock.Add(31 * time.Second)
			o.Bank.During("charge", nil, func() error { ahead.Do(); return nil })
			status, kept := traintravel.Succeeded, b.Price.Amount
			if card == officetest.Declined {
				status, kept = traintravel.Failed, 0
			}
			o.MustPay(b, status, card)
			o.Do()
			o.BankHolds(kept)
			if books := o.Audit(); len(books.Payments) != 1 || len(o.Post.Events) != 2 {
				t.Errorf("%d payments and %d events", len(books.Payments), len(o.Post.Events))
			}
		})
	}
}
