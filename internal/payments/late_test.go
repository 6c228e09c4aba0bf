package payments_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// A slip is a charge that was given up and comes to the bank after all.
type slip struct {
	*officetest.Office
	charge traintravel.Charge
}

// lose pays so that the charge gets lost on the way, and is given up.
func lose(o *officetest.Office, b traintravel.Booking) *slip {
	o.T.Helper()
	s := &slip{Office: o}
	p := o.MustPay(b, traintravel.Pending)
	o.Clock.Add(91 * time.Second)
	o.Do()
	if got, err := o.Payment(o.T.Context(), officetest.Anna, b.ID); err != nil || got.ID != p.ID || got.Status != traintravel.Failed {
		o.T.Fatalf("%+v, %v", got, err)
	}
	s.charge = traintravel.Charge{ID: p.ID, Booking: b.ID, Amount: b.Price, Source: officetest.Visa(officetest.Works)}
	return s
}

// arrive lets the charge come, and waits until it is noticed.
func (s *slip) arrive() {
	s.T.Helper()
	if out, err := s.Bank.Gateway.Charge(s.T.Context(), s.charge); err != nil || out.Status != traintravel.Succeeded {
		s.T.Fatalf("%+v, %v", out, err)
	}
	s.Clock.Add(time.Hour)
	s.Do()
	s.Clock.Add(time.Hour)
	s.Do()
}

// toldOfRefund expects that the owner is told of a booking that is over what came back for
// it, or that it is none of those.
func toldOfRefund(o *officetest.Office, b traintravel.Booking, want bool) {
	o.T.Helper()
	l, err := o.PastBookings(o.T.Context(), officetest.Anna, traintravel.Page{})
	one, oneErr := o.PastBooking(o.T.Context(), officetest.Anna, b.ID)
	switch {
	case err != nil:
		o.T.Fatal(err)
	case !want && (len(l.Items) > 0 || !errors.Is(oneErr, traintravel.ErrNotFound)):
		o.T.Errorf("%+v and %+v, %v are told", l.Items, one, oneErr)
	case want && (oneErr != nil || len(l.Items) != 1 || l.Items[0].ID != b.ID || len(one.Refunds) == 0 || len(l.Items[0].Refunds) != len(one.Refunds)):
		o.T.Errorf("%+v and %+v, %v are told", l.Items, one, oneErr)
	}
	for _, refund := range one.Refunds {
		if refund.Amount.Amount != -b.Price.Amount || refund.Status != traintravel.Succeeded || refund.Settled.IsZero() {
			o.T.Errorf("%+v", refund)
		}
	}
}

// TestLateSuccess: a charge that was given up succeeds after all. The booking
// is honoured if its places are its own or free, and else the money goes back.
func TestLateSuccess(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(o *officetest.Office, b traintravel.Booking)
		want      traintravel.BookingStatus
		kept      int64 // charges that stay with the bank
	}{
		"still held": {func(*officetest.Office, traintravel.Booking) {}, traintravel.Confirmed, 1},
		"expired and free": {func(o *officetest.Office, b traintravel.Booking) {
			o.Clock.Set(b.Expires)
			o.Do()
			o.Stands(b.ID, traintravel.Expired)
		}, traintravel.Confirmed, 1},
		"expired and sold again": {func(o *officetest.Office, b traintravel.Booking) {
			o.Clock.Set(b.Expires)
			o.MustPay(o.Book(officetest.Berta, b.TripID), traintravel.Succeeded)
		}, traintravel.Expired, 1},
		"cancelled": {func(o *officetest.Office, b traintravel.Booking) {
			o.Expect("cancelling", o.CancelBooking(o.T.Context(), officetest.Anna, b.ID), nil)
		}, traintravel.Cancelled, 0},
		"paid by another attempt": {func(o *officetest.Office, b traintravel.Booking) {
			o.MustPay(b, traintravel.Succeeded)
		}, traintravel.Confirmed, 1},
		"paid by another attempt and cancelled": {func(o *officetest.Office, b traintravel.Booking) {
			o.MustPay(b, traintravel.Succeeded)
			o.Expect("cancelling", o.CancelBooking(o.T.Context(), officetest.Anna, b.ID), nil)
		}, traintravel.Cancelled, 0},
		"departed": {func(o *officetest.Office, b traintravel.Booking) {
			o.Clock.Set(b.Legs[0].Origin.Time)
		}, traintravel.Expired, 0},
		"the train is withdrawn and the hold is over": {func(o *officetest.Office, b traintravel.Booking) {
			o.Clock.Set(b.Expires)
			o.Do()
			o.Load(officetest.Timetable(officetest.Train("R 5", 20, "AB", officetest.Seats(3))))
		}, traintravel.Expired, 0},
		"the train is withdrawn": {func(o *officetest.Office, b traintravel.Booking) {
			o.Load(officetest.Timetable(officetest.Train("R 5", 20, "AB", officetest.Seats(3))))
		}, traintravel.Confirmed, 1},
	} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store, officetest.WithoutCancel)
			b := o.Book(officetest.Anna, o.TripID('D', 'E', "R 2"))
			o.Bank.During("charge", func() error { return officetest.ErrLine }, nil)
			s := lose(o, b)
			test.meanwhile(o, b)
			if name == "the train is withdrawn" { // before the hold ends
				o.Bank.Gateway.Charge(t.Context(), s.charge)
				o.Clock.Add(30 * time.Minute)
				o.Do()
			}
			s.arrive()
			o.Stands(b.ID, test.want)
			toldOfRefund(o, b, test.kept == 0 || test.want == traintravel.Expired)
			o.BankHolds(test.kept * b.Price.Amount)
			books := o.Audit()
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
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, officetest.WithoutCancel)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Bank.During("charge", func() error { return officetest.ErrLine }, nil)
		s := lose(o, b)
		o.Clock.Set(b.Expires)
		other := o.Book(officetest.Berta, o.TripID('A', 'D', "R 1"))
		if other.Legs[0].Coach != b.Legs[0].Coach {
			t.Fatalf("sold %+v", other.Legs[0])
		}
		o.Bank.Gateway.Charge(t.Context(), s.charge)
		o.Clock.Add(30 * time.Minute)
		o.Do()
		o.Stands(b.ID, traintravel.Confirmed)
		if now := o.Stored(b.ID); now.Legs[0].Coach == b.Legs[0].Coach {
			t.Errorf("has the place of another: %+v", now.Legs[0])
		}
	})
}

// TestSucceedsWhileAnotherIsUnderWay: the charge that was given up arrives
// while the second attempt is at the bank, which succeeds or fails.
func TestSucceedsWhileAnotherIsUnderWay(t *testing.T) {
	for name, card := range map[string]traintravel.Secret{"and that succeeds": officetest.Works, "and that fails": officetest.Declined} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store, officetest.WithoutCancel)
			b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
			o.Bank.During("charge", func() error { return officetest.ErrLine }, nil)
			s := lose(o, b)
			second := o.Another(officetest.WithoutCancel)
			o.Bank.During("charge", func() error {
				if _, err := o.Bank.Gateway.Charge(context.Background(), s.charge); err != nil {
					t.Error(err)
				}
				second.Clock.Add(25 * time.Second)
				second.Do()
				o.Stands(b.ID, traintravel.Confirmed)
				o.Expect("cancelling meanwhile", o.CancelBooking(t.Context(), officetest.Anna, b.ID), traintravel.ErrPaymentInProgress)
				return nil
			}, nil)
			p, err := o.Pay(b, card)
			want, refused := traintravel.Failed, error(nil)
			if card == officetest.Works {
				want, refused = traintravel.Succeeded, traintravel.ErrPaidTooLate
			}
			if !errors.Is(err, refused) || p.Status != want {
				t.Errorf("%+v, %v", p, err)
			}
			o.Stands(b.ID, traintravel.Confirmed)
			o.Do()
			o.BankHolds(b.Price.Amount) // the second is given back
			if got := o.Stored(b.ID); got.PaidBy != s.charge.ID || got.OpenPayment != uuid.Nil {
				t.Errorf("%+v", got)
			}
			o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
			o.Do()
			o.BankHolds(0)
		})
	}
}

// TestLateSuccessOnAnotherLine: the train calls elsewhere now, at an index at
// which the booking boards. The money goes back.
func TestLateSuccessOnAnotherLine(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, officetest.WithoutCancel)
		o.Load(officetest.Timetable(officetest.Train("R 1", 8, "ABD", officetest.Seats(2))))
		b := o.Book(officetest.Anna, o.TripID('B', 'D', "R 1"))
		o.Bank.During("charge", func() error { return officetest.ErrLine }, nil)
		s := lose(o, b)
		o.Clock.Set(b.Expires)
		o.Do()
		o.Load(officetest.Timetable(officetest.Train("R 1", 8, "ACD", officetest.Seats(2))))
		s.arrive()
		o.Stands(b.ID, traintravel.Expired)
		o.BankHolds(0)
	})
}

// TestLateSuccessByAnOldTimetable: the service that finds out knows a
// timetable in which there is still a place. It takes none by that.
func TestLateSuccessByAnOldTimetable(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, officetest.WithoutCancel)
		b := o.Book(officetest.Anna, o.TripID('D', 'E', "R 2"))
		o.Bank.During("charge", func() error { return officetest.ErrLine }, nil)
		s := lose(o, b)
		o.Clock.Set(b.Expires)
		o.Do()
		second := o.Another(officetest.WithoutCancel)
		second.TripID('D', 'E', "R 2")
		o.Load(officetest.Timetable(officetest.Train("R 5", 20, "AB", officetest.Seats(3))))
		if _, err := o.Bank.Gateway.Charge(t.Context(), s.charge); err != nil {
			t.Fatal(err)
		}
		second.Clock.Add(time.Hour)
		second.Do()
		o.Stands(b.ID, traintravel.Expired)
		second.Do()
		o.BankHolds(0)
	})
}
