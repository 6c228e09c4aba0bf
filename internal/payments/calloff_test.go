package payments_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// endings are how a booking ends while its payment is pending.
var endings = map[string]struct {
	end  func(o *officetest.Office, b traintravel.Booking)
	want traintravel.BookingStatus
}{
	"nobody settles it": {func(o *officetest.Office, b traintravel.Booking) {
		o.Clock.Add(24 * time.Hour)
	}, traintravel.Expired},
	"its place is sold again": {func(o *officetest.Office, b traintravel.Booking) {
		o.Clock.Add(24 * time.Hour)
		o.Book(officetest.Berta, b.TripID)
	}, traintravel.Expired},
	"its train is cancelled": {func(o *officetest.Office, b traintravel.Booking) {
		if _, err := o.CancelRun(o.T.Context(), b.Legs[0].Run, traintravel.CancelRunOptions{}); err != nil {
			o.T.Fatal(err)
		}
	}, traintravel.Cancelled},
	"its place is blocked": {func(o *officetest.Office, b traintravel.Booking) {
		o.Clock.Add(24 * time.Hour)
		leg := b.Legs[0]
		if err := o.Block(o.T.Context(), leg.Run, traintravel.Block{Coach: leg.Coach, Seat: leg.Seat, Board: leg.Board, Alight: leg.Alight}); err != nil {
			o.T.Fatal(err)
		}
	}, traintravel.Expired},
}

// owe books a trip in a week and pays with a debit that stays pending. Run has looked at
// it for hours, so that it looks only once an hour.
func owe(o *officetest.Office) traintravel.Booking {
	o.T.Helper()
	b := o.Book(officetest.Anna, o.TripIn(7, 'D', 'E', "R 2"))
	o.Bank.Debits.Slow = true
	o.MustPay(b, traintravel.Pending)
	for range 400 {
		o.Clock.Add(time.Minute)
		o.Do()
	}
	o.Stands(b.ID, traintravel.Held)
	o.Clock.Set(officetest.Opens.Add(7 * time.Hour))
	return b
}

// TestChargeOfAnEndedBookingIsCancelled: a booking ends while its payment is pending. Run asks the
// gateway to cancel the payment at once, and nothing is taken.
func TestChargeOfAnEndedBookingIsCancelled(t *testing.T) {
	for name, ending := range endings {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store)
			b := owe(o)
			if o.Bank.Debits.Banned != 0 {
				t.Fatal("it was cancelled while the booking was held")
			}
			ending.end(o, b)
			o.Do()
			paymentIs(o, b, traintravel.Failed)
			o.Stands(b.ID, ending.want)
			o.Settle()
			inTime(o, need.Sample(24, 5*24))
			o.Stands(b.ID, ending.want)
			o.BankHolds(0)
			if o.Bank.Debits.Banned != 1 {
				t.Errorf("%d pending charges were cancelled", o.Bank.Debits.Banned)
			}
		})
	}
}

// TestCancellationOfAChargeIsRetried: for three days the gateway does not cancel the payment of a
// booking that has ended. The service asks again, soon at first, until it does.
func TestCancellationOfAChargeIsRetried(t *testing.T) {
	t.Parallel()
	for name, silence := range silences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := officetest.New(t, memstore.New())
			b := owe(o)
			o.Bank.Debits.Firm = true
			asked := 0
			o.Bank.After = answersTo("cancel", func(op string, id uuid.UUID, out *traintravel.Outcome) error {
				asked++
				return silence(op, id, out)
			})
			o.Clock.Add(24 * time.Hour)
			o.Do()
			o.Clock.Add(10 * time.Second)
			o.Do()
			if asked != 2 {
				t.Errorf("asked %d times within ten seconds", asked)
			}
			inTime(o, 3*24)
			paymentIs(o, b, traintravel.Pending)
			if asked < 3*24 {
				t.Errorf("asked %d times in three days", asked)
			}
			o.Bank.Debits.Firm, o.Bank.After = false, nil
			inTime(o, 1)
			paymentIs(o, b, traintravel.Failed)
			o.Stands(b.ID, traintravel.Expired)
			o.BankHolds(0)
		})
	}
}

// TestCancelledInTheMiddle: the operator cancels a train while one of its bookings is
// being paid. A charge that has not come yet is fenced; one that is pending is cancelled.
func TestCancelledInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"before the charge comes": true, "while it is pending": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := officetest.New(t, memstore.New())
			b := o.Book(officetest.Anna, o.TripID('D', 'E', "R 2"))
			o.Bank.Debits.Slow = true
			cancel := func() error {
				_, err := o.CancelRun(context.Background(), b.Legs[0].Run, traintravel.CancelRunOptions{})
				if before {
					o.Do()
				}
				return err
			}
			want := traintravel.Pending
			if before {
				want = traintravel.Failed
				o.Bank.During("charge", cancel, nil)
			} else {
				o.Bank.During("charge", nil, cancel)
			}
			o.MustPay(b, want)
			o.Do()
			paymentIs(o, b, traintravel.Failed)
			o.Stands(b.ID, traintravel.Cancelled)
			o.Settle()
			o.BankHolds(0)
		})
	}
}

// TestSecondChargeIsCancelled: a charge that was given up confirms the booking while
// a second attempt is pending. The second is cancelled at once.
func TestSecondChargeIsCancelled(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), officetest.WithoutCancel)
	b := o.Book(officetest.Anna, o.TripID('D', 'E', "R 2"))
	o.Bank.During("charge", func() error { return officetest.ErrLine }, nil)
	s := lose(o, b)
	fences := o.Another()
	o.Bank.Debits.Slow = true
	second, err := fences.Pay(b)
	if err != nil || second.Status != traintravel.Pending {
		t.Fatal(second, err)
	}
	if _, err := o.Bank.Gateway.Charge(t.Context(), s.charge); err != nil {
		t.Fatal(err)
	}
	fences.Clock.Add(time.Hour)
	fences.Do()
	o.Stands(b.ID, traintravel.Confirmed)
	paymentIs(o, b, traintravel.Failed)
	o.Settle()
	o.BankHolds(b.Price.Amount)
}

// TestLateDebit: a debit that nobody could cancel succeeds after its booking has expired.
// Within 24 hours the booking gets its place again; later the money goes back, and the
// booking stays as it is. What a client is told fits.
func TestLateDebit(t *testing.T) {
	for name, test := range map[string]struct {
		after   time.Duration
		options func(*traintravel.Options)
		want    traintravel.BookingStatus
	}{
		"just within a day":             {24*time.Hour - 1, officetest.WithoutCancel, traintravel.Confirmed},
		"after a day":                   {24 * time.Hour, officetest.WithoutCancel, traintravel.Expired},
		"after five days":               {5 * 24 * time.Hour, officetest.WithoutCancel, traintravel.Expired},
		"within a day, past recall":     {23 * time.Hour, func(*traintravel.Options) {}, traintravel.Confirmed},
		"after five days, past recall":  {5 * 24 * time.Hour, func(*traintravel.Options) {}, traintravel.Expired},
		"after departure, within a day": {6*24*time.Hour + time.Hour, func(o *traintravel.Options) { o.PendingFor = 10 * 24 * time.Hour }, traintravel.Expired},
	} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store, test.options)
			b := owe(o)
			o.Bank.Debits.Firm = true
			ends := o.Stored(b.ID).PinnedUntil
			if test.after < 5*24*time.Hour {
				o.Clock.Set(ends)
				o.Do()
				o.Stands(b.ID, traintravel.Expired)
			}
			o.Clock.Set(ends.Add(test.after - 1))
			o.Settle()
			o.Clock.Add(1)
			o.Do()
			o.Clock.Add(time.Hour)
			o.Do()
			o.Stands(b.ID, test.want)
			told := []traintravel.EventType{traintravel.BookingExpired, traintravel.BookingCreated}
			if test.want == traintravel.Confirmed {
				o.BankHolds(b.Price.Amount)
				told = append([]traintravel.EventType{traintravel.BookingConfirmed}, told...)
			} else {
				o.BankHolds(0)
			}
			o.Told(b.ID, told...)
		})
	}
}

// TestOpenPaymentThatCannotBeRead: the booking expires all the same, and is called off
// when the payment can be read again.
func TestOpenPaymentThatCannotBeRead(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	o := officetest.New(t, store)
	b := o.Book(officetest.Anna, o.TripIn(7, 'D', 'E', "R 2"))
	o.Bank.Debits.Slow = true
	p := o.MustPay(b, traintravel.Pending)
	key := traintravel.Key{Table: traintravel.TablePayments, ID: string(append(b.ID[:], p.ID[:]...))}
	was, err := store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	put := func(v []byte) {
		t.Helper()
		if err := store.Update(t.Context(), func(tx traintravel.Tx) error { tx.Put(key, v); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	put([]byte("damaged"))
	o.Clock.Add(24 * time.Hour)
	_ = o.RunDue(t.Context()) // it fails to follow the payment
	o.Told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	put(was[0])
	o.Do()
	paymentIs(o, b, traintravel.Failed)
}
