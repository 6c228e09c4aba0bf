package traintravel_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// endings are how a booking ends while its payment is pending.
var endings = map[string]struct {
	end  func(o *office, b traintravel.Booking)
	want traintravel.BookingStatus
}{
	"nobody settles it": {func(o *office, b traintravel.Booking) {
		o.clock.add(24 * time.Hour)
	}, traintravel.Expired},
	"its place is sold again": {func(o *office, b traintravel.Booking) {
		o.clock.add(24 * time.Hour)
		o.book(berta, b.TripID)
	}, traintravel.Expired},
	"its train is cancelled": {func(o *office, b traintravel.Booking) {
		if _, err := o.CancelRun(o.t.Context(), b.Legs[0].Run, traintravel.CancelRunOptions{}); err != nil {
			o.t.Fatal(err)
		}
	}, traintravel.Cancelled},
	"its place is blocked": {func(o *office, b traintravel.Booking) {
		o.clock.add(24 * time.Hour)
		leg := b.Legs[0]
		if err := o.Block(o.t.Context(), leg.Run, traintravel.Block{Coach: leg.Coach, Seat: leg.Seat, Board: leg.Board, Alight: leg.Alight}); err != nil {
			o.t.Fatal(err)
		}
	}, traintravel.Expired},
}

// owe books a trip in a week and pays with a debit that stays pending. Run has looked at
// it for hours, so that it looks only once an hour.
func (o *office) owe() traintravel.Booking {
	o.t.Helper()
	b := o.book(anna, o.tripIn(7, 'D', 'E', "R 2"))
	o.bank.debits.slow = true
	o.mustPay(b, traintravel.Pending)
	for range 400 {
		o.clock.add(time.Minute)
		o.do()
	}
	o.stands(b.ID, traintravel.Held)
	o.clock.set(opens.Add(7 * time.Hour))
	return b
}

// TestEndedBookingIsCalledOff: a booking ends while its payment is pending. Run asks the
// gateway to cancel the payment at once, and nothing is taken.
func TestEndedBookingIsCalledOff(t *testing.T) {
	for name, ending := range endings {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store)
			b := o.owe()
			if o.bank.debits.banned != 0 {
				t.Fatal("it was cancelled while the booking was held")
			}
			ending.end(o, b)
			o.do()
			o.paymentIs(b, traintravel.Failed)
			o.stands(b.ID, ending.want)
			o.settle()
			o.inTime(5 * 24)
			o.stands(b.ID, ending.want)
			o.holds(0)
			if o.bank.debits.banned != 1 {
				t.Errorf("%d pending charges were cancelled", o.bank.debits.banned)
			}
		})
	}
}

// TestCallingOffGoesOn: the gateway does not cancel the payment of a booking that has
// ended, for three days. It is asked again, soon at first, until it does.
func TestCallingOffGoesOn(t *testing.T) {
	t.Parallel()
	for name, silence := range silences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, memstore.New())
			b := o.owe()
			o.bank.debits.firm = true
			asked := 0
			o.bank.after = answersTo("cancel", func(op string, id uuid.UUID, out *traintravel.Outcome) error {
				asked++
				return silence(op, id, out)
			})
			o.clock.add(24 * time.Hour)
			o.do()
			o.clock.add(10 * time.Second)
			o.do()
			if asked != 2 {
				t.Errorf("asked %d times within ten seconds", asked)
			}
			o.inTime(3 * 24)
			o.paymentIs(b, traintravel.Pending)
			if asked < 3*24 {
				t.Errorf("asked %d times in three days", asked)
			}
			o.bank.debits.firm, o.bank.after = false, nil
			o.inTime(1)
			o.paymentIs(b, traintravel.Failed)
			o.stands(b.ID, traintravel.Expired)
			o.holds(0)
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
			o := newOffice(t, memstore.New())
			b := o.book(anna, o.trip('D', 'E', "R 2"))
			o.bank.debits.slow = true
			cancel := func() error {
				_, err := o.CancelRun(context.Background(), b.Legs[0].Run, traintravel.CancelRunOptions{})
				if before {
					o.do()
				}
				return err
			}
			want := traintravel.Pending
			if before {
				want = traintravel.Failed
				o.bank.during("charge", cancel, nil)
			} else {
				o.bank.during("charge", nil, cancel)
			}
			o.mustPay(b, want)
			o.do()
			o.paymentIs(b, traintravel.Failed)
			o.stands(b.ID, traintravel.Cancelled)
			o.settle()
			o.holds(0)
		})
	}
}

// TestPaidByAnotherIsCalledOff: a charge that was given up confirms the booking while
// a second attempt is pending. The second is cancelled at once.
func TestPaidByAnotherIsCalledOff(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), withoutCancel)
	b := o.book(anna, o.trip('D', 'E', "R 2"))
	o.bank.during("charge", func() error { return errLine }, nil)
	s := o.lose(b)
	fences := o.another()
	o.bank.debits.slow = true
	second, err := fences.pay(b)
	if err != nil || second.Status != traintravel.Pending {
		t.Fatal(second, err)
	}
	if _, err := o.bank.Gateway.Charge(t.Context(), s.charge); err != nil {
		t.Fatal(err)
	}
	fences.clock.add(time.Hour)
	fences.do()
	o.stands(b.ID, traintravel.Confirmed)
	o.paymentIs(b, traintravel.Failed)
	o.settle()
	o.holds(b.Price.Amount)
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
		"just within a day":             {24*time.Hour - 1, withoutCancel, traintravel.Confirmed},
		"after a day":                   {24 * time.Hour, withoutCancel, traintravel.Expired},
		"after five days":               {5 * 24 * time.Hour, withoutCancel, traintravel.Expired},
		"within a day, past recall":     {23 * time.Hour, func(*traintravel.Options) {}, traintravel.Confirmed},
		"after five days, past recall":  {5 * 24 * time.Hour, func(*traintravel.Options) {}, traintravel.Expired},
		"after departure, within a day": {6*24*time.Hour + time.Hour, func(o *traintravel.Options) { o.PendingFor = 10 * 24 * time.Hour }, traintravel.Expired},
	} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store, test.options)
			b := o.owe()
			o.bank.debits.firm = true
			ends := o.state(b.ID).PinnedUntil
			if test.after < 5*24*time.Hour {
				o.clock.set(ends)
				o.do()
				o.stands(b.ID, traintravel.Expired)
			}
			o.clock.set(ends.Add(test.after - 1))
			o.settle()
			o.clock.add(1)
			o.do()
			o.clock.add(time.Hour)
			o.do()
			o.stands(b.ID, test.want)
			told := []traintravel.EventType{traintravel.BookingExpired, traintravel.BookingCreated}
			if test.want == traintravel.Confirmed {
				o.holds(b.Price.Amount)
				told = append([]traintravel.EventType{traintravel.BookingConfirmed}, told...)
			} else {
				o.holds(0)
			}
			o.told(b.ID, told...)
		})
	}
}

// TestOpenPaymentThatCannotBeRead: the booking expires all the same, and is called off
// when the payment can be read again.
func TestOpenPaymentThatCannotBeRead(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	o := newOffice(t, store)
	b := o.book(anna, o.tripIn(7, 'D', 'E', "R 2"))
	o.bank.debits.slow = true
	p := o.mustPay(b, traintravel.Pending)
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
	o.clock.add(24 * time.Hour)
	_ = o.RunDue(t.Context()) // it fails to follow the payment
	o.told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	put(was[0])
	o.do()
	o.paymentIs(b, traintravel.Failed)
}
