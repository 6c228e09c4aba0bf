package traintravel_test

import (
	"context"
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

// A slip is a charge that was given up and comes to the bank after all.
type slip struct {
	*office
	charge traintravel.Charge
}

// lose pays so that the charge gets lost on the way, and is given up.
func (o *office) lose(b traintravel.Booking) *slip {
	o.t.Helper()
	s := &slip{office: o}
	p := o.mustPay(b, traintravel.Pending)
	o.clock.add(91 * time.Second)
	o.do()
	if got, err := o.Payment(o.t.Context(), anna, b.ID); err != nil || got.ID != p.ID || got.Status != traintravel.Failed {
		o.t.Fatalf("%+v, %v", got, err)
	}
	s.charge = traintravel.Charge{ID: p.ID, Booking: b.ID, Amount: b.Price, Source: visa(works)}
	return s
}

// arrive lets the charge come, and waits until it is noticed.
func (s *slip) arrive() {
	s.t.Helper()
	if out, err := s.bank.Gateway.Charge(s.t.Context(), s.charge); err != nil || out.Status != traintravel.Succeeded {
		s.t.Fatalf("%+v, %v", out, err)
	}
	s.clock.add(time.Hour)
	s.do()
	s.clock.add(time.Hour)
	s.do()
}

// TestLateSuccess: a charge that was given up succeeds after all. The booking
// is honoured if its places are its own or free, and else the money goes back.
func TestLateSuccess(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(o *office, b traintravel.Booking)
		want      traintravel.BookingStatus
		kept      int64 // charges that stay with the bank
	}{
		"still held": {func(*office, traintravel.Booking) {}, traintravel.Confirmed, 1},
		"expired and free": {func(o *office, b traintravel.Booking) {
			o.clock.set(b.Expires)
			o.do()
			o.stands(b.ID, traintravel.Expired)
		}, traintravel.Confirmed, 1},
		"expired and sold again": {func(o *office, b traintravel.Booking) {
			o.clock.set(b.Expires)
			o.mustPay(o.book(berta, b.TripID), traintravel.Succeeded)
		}, traintravel.Expired, 1},
		"cancelled": {func(o *office, b traintravel.Booking) {
			o.expect("cancelling", o.CancelBooking(o.t.Context(), anna, b.ID), nil)
		}, traintravel.Cancelled, 0},
		"paid by another attempt": {func(o *office, b traintravel.Booking) {
			o.mustPay(b, traintravel.Succeeded)
		}, traintravel.Confirmed, 1},
		"paid by another attempt and cancelled": {func(o *office, b traintravel.Booking) {
			o.mustPay(b, traintravel.Succeeded)
			o.expect("cancelling", o.CancelBooking(o.t.Context(), anna, b.ID), nil)
		}, traintravel.Cancelled, 0},
		"departed": {func(o *office, b traintravel.Booking) {
			o.clock.set(b.Legs[0].Origin.Time)
		}, traintravel.Expired, 0},
		"the train is withdrawn and the hold is over": {func(o *office, b traintravel.Booking) {
			o.clock.set(b.Expires)
			o.do()
			o.load(timetable(train("R 5", 20, "AB", seats(3))))
		}, traintravel.Expired, 0},
		"the train is withdrawn": {func(o *office, b traintravel.Booking) {
			o.load(timetable(train("R 5", 20, "AB", seats(3))))
		}, traintravel.Confirmed, 1},
	} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store, withoutCancel)
			b := o.book(anna, o.trip('D', 'E', "R 2"))
			o.bank.during("charge", func() error { return errLine }, nil)
			s := o.lose(b)
			test.meanwhile(o, b)
			if name == "the train is withdrawn" { // before the hold ends
				o.bank.Gateway.Charge(t.Context(), s.charge)
				o.clock.add(30 * time.Minute)
				o.do()
			}
			s.arrive()
			o.stands(b.ID, test.want)
			o.holds(test.kept * b.Price.Amount)
			books := o.audit()
			if books.Owed["eur"] != 0 || books.Open["eur"] != 0 || books.Kept["eur"] != test.kept*b.Price.Amount {
				t.Errorf("owed %v, open %v, kept %v", books.Owed, books.Open, books.Kept)
			}
			if p := books.Payments[s.charge.ID]; p.Status != traintravel.Succeeded || p.Failure != (traintravel.Failure{}) {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestLateSuccessTakesAnotherPlace if the first one is sold.
func TestLateSuccessTakesAnotherPlace(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store, withoutCancel)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		o.bank.during("charge", func() error { return errLine }, nil)
		s := o.lose(b)
		o.clock.set(b.Expires)
		other := o.book(berta, o.trip('A', 'D', "R 1"))
		if other.Legs[0].Coach != b.Legs[0].Coach {
			t.Fatalf("sold %+v", other.Legs[0])
		}
		o.bank.Gateway.Charge(t.Context(), s.charge)
		o.clock.add(30 * time.Minute)
		o.do()
		o.stands(b.ID, traintravel.Confirmed)
		if now := o.state(b.ID); now.Legs[0].Coach == b.Legs[0].Coach {
			t.Errorf("has the place of another: %+v", now.Legs[0])
		}
	})
}

// TestSucceedsWhileAnotherIsUnderWay: the charge that was given up arrives
// while the second attempt is at the bank, which succeeds or fails.
func TestSucceedsWhileAnotherIsUnderWay(t *testing.T) {
	for name, card := range map[string]traintravel.Secret{"and that succeeds": works, "and that fails": declined} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store, withoutCancel)
			b := o.book(anna, o.trip('A', 'D', "R 1"))
			o.bank.during("charge", func() error { return errLine }, nil)
			s := o.lose(b)
			second := o.another(withoutCancel)
			o.bank.during("charge", func() error {
				if _, err := o.bank.Gateway.Charge(context.Background(), s.charge); err != nil {
					t.Error(err)
				}
				second.clock.add(25 * time.Second)
				second.do()
				o.stands(b.ID, traintravel.Confirmed)
				o.expect("cancelling meanwhile", o.CancelBooking(t.Context(), anna, b.ID), traintravel.ErrPaymentInProgress)
				return nil
			}, nil)
			p, err := o.pay(b, card)
			if want := map[traintravel.Secret]traintravel.PaymentStatus{works: traintravel.Succeeded, declined: traintravel.Failed}[card]; err != nil || p.Status != want {
				t.Errorf("%+v, %v", p, err)
			}
			o.stands(b.ID, traintravel.Confirmed)
			o.do()
			o.holds(b.Price.Amount) // the second is given back
			if got := o.state(b.ID); got.PaidBy != s.charge.ID || got.OpenPayment != uuid.Nil {
				t.Errorf("%+v", got)
			}
			o.expect("cancelling", o.CancelBooking(t.Context(), anna, b.ID), nil)
			o.do()
			o.holds(0)
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

// TestLateSuccessOnAnotherLine: the train calls elsewhere now, at an index at
// which the booking boards. The money goes back.
func TestLateSuccessOnAnotherLine(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store, withoutCancel)
		o.load(timetable(train("R 1", 8, "ABD", seats(2))))
		b := o.book(anna, o.trip('B', 'D', "R 1"))
		o.bank.during("charge", func() error { return errLine }, nil)
		s := o.lose(b)
		o.clock.set(b.Expires)
		o.do()
		o.load(timetable(train("R 1", 8, "ACD", seats(2))))
		s.arrive()
		o.stands(b.ID, traintravel.Expired)
		o.holds(0)
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

// TestLateSuccessByAnOldTimetable: the service that finds out knows a
// timetable in which there is still a place. It takes none by that.
func TestLateSuccessByAnOldTimetable(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store, withoutCancel)
		b := o.book(anna, o.trip('D', 'E', "R 2"))
		o.bank.during("charge", func() error { return errLine }, nil)
		s := o.lose(b)
		o.clock.set(b.Expires)
		o.do()
		second := o.another(withoutCancel)
		second.trip('D', 'E', "R 2")
		o.load(timetable(train("R 5", 20, "AB", seats(3))))
		if _, err := o.bank.Gateway.Charge(t.Context(), s.charge); err != nil {
			t.Fatal(err)
		}
		second.clock.add(time.Hour)
		second.do()
		o.stands(b.ID, traintravel.Expired)
		second.do()
		o.holds(0)
	})
}
