package desk_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// A booking that the operator cancelled stays visible to its owner until 30 days after its
// departure. After that it is listed with the past bookings.
func TestOwnersLearnOfCancelledRuns(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx := t.Context()
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.Joined(2))
		o.MustPay(b, traintravel.Succeeded)
		if _, err := o.CancelRun(ctx, b.Legs[1].Run, traintravel.CancelRunOptions{}); err != nil {
			t.Fatal(err)
		}
		is := func(when string, shown, told bool) {
			t.Helper()
			got, err := o.Booking(ctx, officetest.Anna, b.ID)
			if shown && (err != nil || got.Status != traintravel.Cancelled || !got.ByOperator || got.CancelledTrain() == nil || got.CancelledTrain().Number != "R 2") ||
				!shown && !errors.Is(err, traintravel.ErrNotFound) {
				t.Errorf("%s: %+v, %v", when, got, err)
			}
			if l, err := o.Bookings(ctx, officetest.Anna, traintravel.Page{}); err != nil || (len(l.Items) == 1) != shown {
				t.Errorf("%s: %+v, %v", when, l, err)
			}
			if l, err := o.PastBookings(ctx, officetest.Anna, traintravel.Page{}); err != nil || (len(l.Items) == 1) != told {
				t.Errorf("%s: %+v, %v", when, l, err)
			}
			refusal := traintravel.ErrNotFound
			if shown {
				refusal = traintravel.ErrCancelled
			}
			_, err = o.Ticket(ctx, officetest.Anna, b.ID)
			o.Expect(when+": the ticket", err, refusal)
			o.Expect(when+": cancelling", o.CancelBooking(ctx, officetest.Anna, b.ID), refusal)
			_, err = o.Pay(b)
			o.Expect(when+": paying", err, refusal)
			o.Expect(when+": another cancels", o.CancelBooking(ctx, officetest.Berta, b.ID), traintravel.ErrNotFound)
			for _, other := range []traintravel.Caller{officetest.Berta, {Subject: traintravel.Subject{Issuer: "another", ID: officetest.Anna.ID}}} {
				_, err = o.Booking(ctx, other, b.ID)
				o.Expect(when+": another's", err, traintravel.ErrNotFound)
				_, err = o.PastBooking(ctx, other, b.ID)
				o.Expect(when+": another's", err, traintravel.ErrNotFound)
				if l, err := o.PastBookings(ctx, other, traintravel.Page{}); err != nil || len(l.Items) != 0 {
					t.Errorf("%s: another sees %+v, %v", when, l, err)
				}
			}
		}
		is("at once", true, true)
		o.Clock.Set(b.Departs().Add(30*24*time.Hour - time.Second))
		o.Do()
		is("within 30 days", true, true)
		o.Clock.Add(time.Second)
		is("after 30 days", false, true)
		if _, err := o.EraseSubject(ctx, officetest.Anna.Subject); err != nil {
			t.Fatal(err)
		}
		is("erased", false, false)
	})
}

// Past bookings come newest first, each once, from both lists of their owner, whatever is
// booked, travelled on and cancelled between two pages.
func TestPastBookings(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx := t.Context()
		o := officetest.New(t, store, officetest.Unlimited)
		var want []uuid.UUID
		for i := range 11 {
			o.Clock.Add(time.Second)
			b := o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
			o.MustPay(b, traintravel.Succeeded)
			if i%3 == 0 {
				o.Expect("cancelling", o.CancelBooking(ctx, officetest.Anna, b.ID), nil)
			}
			want = append([]uuid.UUID{b.ID}, want...)
			o.Book(officetest.Anna, o.TripID('F', 'G', "S 3")) // is never paid
		}
		o.Clock.Set(officetest.Opens.Add(12 * time.Hour)) // travelled
		o.Do()
		for _, limit := range []int{1, 2, 3, 100} {
			got := officetest.Walk(t, limit, func(p traintravel.Page) (traintravel.List[traintravel.PastBooking], error) {
				return o.PastBookings(ctx, officetest.Anna, p)
			}, func(int) {
				b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
				o.MustPay(b, traintravel.Succeeded)
				o.Expect("cancelling", o.CancelBooking(ctx, officetest.Berta, b.ID), traintravel.ErrNotFound)
				o.Expect("cancelling", o.CancelBooking(ctx, officetest.Anna, b.ID), nil)
				want = append([]uuid.UUID{b.ID}, want...)
				o.Clock.Add(time.Second)
			})
			listed := want[len(want)-len(got):]
			for i, b := range got {
				if b.ID != listed[i] || (b.Outcome() == traintravel.WasCancelled) != (len(b.Refunds) == 1) {
					t.Errorf("limit %d: number %d is %v, %s", limit, i, b.ID, b.Outcome())
				}
			}
			if limit == 1 && len(got) != 11 || limit == 100 && len(got) != len(want) {
				t.Errorf("limit %d: %d are listed, of %d", limit, len(got), len(want))
			}
		}
		for page := 1; page < 12; page++ {
			l, err := o.PastBookings(ctx, officetest.Anna, traintravel.Page{Number: page, Limit: 4})
			if n := min(4, max(0, len(want)-4*(page-1))); err != nil || len(l.Items) != n || n > 0 && l.Items[0].ID != want[4*(page-1)] {
				t.Errorf("page %d: %+v, %v", page, l, err)
			}
		}
		if _, err := o.PastBookings(ctx, officetest.Anna, traintravel.Page{Limit: 101}); err == nil {
			t.Error("a page of 101 is given")
		}
	})
}
