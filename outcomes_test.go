package traintravel_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

var errLine = errors.New("the line is dead")

// during sets what the bank does before or after an operation, once.
func (b *bank) during(op string, before, after func() error) {
	b.before = func(got string, _ uuid.UUID) error {
		if got != op || before == nil {
			return nil
		}
		f := before
		before = nil
		return f()
	}
	b.after = func(got string, _ uuid.UUID, _ *traintravel.Outcome) error {
		if got != op || after == nil {
			return nil
		}
		f := after
		after = nil
		return f()
	}
}

// TestAnswerIsLost: the bank has charged, and its answer does not arrive. It
// is not failed but pending, and is found out.
func TestAnswerIsLost(t *testing.T) {
	for name, lose := range map[string]func() error{
		"error": func() error { return errLine },
		"panic": func() error { panic("the gateway has a bug") },
	} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store)
			b := o.book(anna, o.trip('A', 'D', "R 1"))
			o.bank.during("charge", nil, lose)
			p := o.mustPay(b, traintravel.Pending)
			o.holds(b.Price.Amount)
			_, err := o.pay(b)
			o.expect("paying again", err, traintravel.ErrPaymentInProgress)
			o.do()
			o.stands(b.ID, traintravel.Held) // the charge might still arrive: too early to ask
			o.clock.add(31 * time.Second)
			o.do()
			o.stands(b.ID, traintravel.Confirmed)
			if got, err := o.Payment(t.Context(), anna, b.ID); err != nil || got.ID != p.ID || got.Status != traintravel.Succeeded {
				t.Errorf("%+v, %v", got, err)
			}
			o.holds(b.Price.Amount)
			o.do()
			o.told(b.ID, traintravel.BookingConfirmed, traintravel.BookingCreated)
		})
	}
}

// TestNonsenseOutcome: a status that is none says nothing.
func TestNonsenseOutcome(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		o.bank.after = func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
			out.Status = "declined?"
			return nil
		}
		o.mustPay(b, traintravel.Pending)
		o.clock.add(31 * time.Second)
		o.do()
		o.stands(b.ID, traintravel.Held)
		o.bank.after = nil
		o.clock.add(time.Minute)
		o.do()
		o.stands(b.ID, traintravel.Confirmed)
	})
}

// TestChargeNeverArrives: the bank has not heard of it. That becomes a failure
// when it cannot arrive any more, a minute after its deadline, and the hold is
// as it was.
func TestChargeNeverArrives(t *testing.T) {
	for name, option := range map[string]func(*traintravel.Options){
		"fenced": func(*traintravel.Options) {}, "unfenced": withoutCancel,
	} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store, option)
			trip := o.trip('D', 'E', "R 2")
			b := o.book(anna, trip)
			o.bank.during("charge", func() error { return errLine }, nil)
			p := o.mustPay(b, traintravel.Pending)
			for range 8 { // to 89 s
				o.clock.add(11 * time.Second)
				o.do()
				if got, err := o.Payment(t.Context(), anna, b.ID); err != nil || got.Status != traintravel.Pending {
					t.Fatalf("after %v: %+v, %v", o.clock.now().Sub(opens), got, err)
				}
			}
			o.clock.set(opens.Add(90 * time.Second))
			o.do()
			got, err := o.Payment(t.Context(), anna, b.ID)
			if err != nil || got.ID != p.ID || got.Status != traintravel.Failed || got.Failure.Code != traintravel.ProcessingError {
				t.Fatalf("%+v, %v", got, err)
			}
			o.stands(b.ID, traintravel.Held)
			o.tryBook(berta, trip, traintravel.ErrSoldOut)
			o.mustPay(b, traintravel.Succeeded) // another try
			for range 48 {
				o.clock.add(time.Hour)
				o.do()
			}
			o.holds(b.Price.Amount)
			o.told(b.ID, traintravel.BookingConfirmed, traintravel.BookingCreated, traintravel.PaymentFailed)
			if n := len(o.post.events); n != 3 {
				t.Errorf("%d events are delivered, some of them twice", n)
			}

			// Once more, after the end of the hold: then it is over.
			o.clock.set(opens)
			b = o.book(anna, o.trip('A', 'B', "R 1"))
			o.bank.during("charge", func() error { return errLine }, nil)
			o.clock.set(b.Expires.Add(-time.Second))
			o.mustPay(b, traintravel.Pending)
			o.clock.add(10 * time.Minute)
			o.do()
			o.stands(b.ID, traintravel.Expired)
		})
	}
}

// TestTwoThatPayAtOnce: one attempt, whatever the other does between.
func TestTwoThatPayAtOnce(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		o.bank.during("charge", func() error {
			_, err := o.another().pay(b)
			o.expect("at another service", err, traintravel.ErrPaymentInProgress)
			return nil
		}, func() error {
			_, err := o.pay(b)
			o.expect("when it is charged and not recorded", err, traintravel.ErrPaymentInProgress)
			return nil
		})
		o.mustPay(b, traintravel.Succeeded)
		if n := len(o.bank.Movements()); n != 1 {
			t.Errorf("%d charges", n)
		}
	})
}

// TestTwoFindOutAtOnce: between one service's word with the bank and its
// record of it, another one finds out the same, or the payer is answered.
func TestTwoFindOutAtOnce(t *testing.T) {
	for _, card := range []traintravel.Secret{works, declined} {
		onEveryStoreCase(t, string(card), func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store)
			b := o.book(anna, o.trip('A', 'D', "R 1"))
			o.bank.during("charge", nil, func() error { return errLine })
			o.mustPay(b, traintravel.Pending, card)
			o.clock.add(31 * time.Second)
			other := o.another()
			o.bank.during("lookup", nil, func() error { other.do(); return nil })
			o.do()
			o.do()
			want := traintravel.Confirmed
			if card == declined {
				want = traintravel.Held
				o.holds(0)
			} else {
				o.holds(b.Price.Amount)
			}
			o.stands(b.ID, want)
			if n := len(o.post.events); n != 2 {
				t.Errorf("%d events", n)
			}
			if n := len(o.audit().Payments); n != 1 {
				t.Errorf("%d payments", n)
			}
		})
	}
}

// TestAnsweredWhileLookedUp: Run asks the bank too early, and records what it
// heard when the payment has been settled.
func TestAnsweredWhileLookedUp(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		ahead := o.another()
		ahead.clock.add(31 * time.Second)
		atBank, answer, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
		o.bank.before = func(op string, _ uuid.UUID) error {
			if op == "charge" {
				close(atBank)
				<-answer
			}
			return nil
		}
		o.bank.after = func(op string, _ uuid.UUID, out *traintravel.Outcome) error {
			if op == "charge" {
				return nil
			}
			*out = traintravel.Outcome{Status: traintravel.Pending}
			return nil
		}
		go func() {
			defer close(answered)
			o.mustPay(b, traintravel.Succeeded)
		}()
		<-atBank
		ahead = ahead.on(&interposed{Store: store, before: func() {
			select {
			case <-answer:
			default:
				close(answer)
			}
			<-answered
		}})
		ahead.do()
		o.stands(b.ID, traintravel.Confirmed) // and nobody looks after the payment: see the audit
		o.holds(b.Price.Amount)
	})
}

// TestRunIsQuickerThanTheAnswer: what became of a charge is found out before
// the bank's answer to it is recorded. It counts once.
func TestRunIsQuickerThanTheAnswer(t *testing.T) {
	for _, card := range []traintravel.Secret{works, declined} {
		onEveryStoreCase(t, string(card), func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store)
			b := o.book(anna, o.trip('A', 'D', "R 1"))
			ahead := o.another()
			ahead.clock.add(31 * time.Second)
			o.bank.during("charge", nil, func() error { ahead.do(); return nil })
			status, kept := traintravel.Succeeded, b.Price.Amount
			if card == declined {
				status, kept = traintravel.Failed, 0
			}
			o.mustPay(b, status, card)
			o.do()
			o.holds(kept)
			if books := o.audit(); len(books.Payments) != 1 || len(o.post.events) != 2 {
				t.Errorf("%d payments and %d events", len(books.Payments), len(o.post.events))
			}
		})
	}
}
