package traintravel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

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
			want, refused := traintravel.Failed, error(nil)
			if card == works {
				want, refused = traintravel.Succeeded, traintravel.ErrPaidTooLate
			}
			if !errors.Is(err, refused) || p.Status != want {
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
