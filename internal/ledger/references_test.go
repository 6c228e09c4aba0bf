package ledger_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

// found expects that a text finds one booking, or none if it is nil.
func found(o *officetest.Office, text string, want uuid.UUID) {
	o.T.Helper()
	f, err := o.LookUpBookings(o.T.Context(), text, 5)
	if err != nil || want == uuid.Nil && len(f.Bookings) > 0 || want != uuid.Nil && (len(f.Bookings) != 1 || f.Bookings[0].ID != want) {
		o.T.Fatalf("%q finds %+v, %v; want %v", text, f.Bookings, err, want)
	}
}

// A booking has its reference for as long as there is the booking.
func TestReference(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		held := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
		paid := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
		if ref, ok := traintravel.ParseReference(held.Reference); !ok || ref != held.Reference || held.Reference == paid.Reference {
			t.Fatalf("the references are %q and %q", held.Reference, paid.Reference)
		}
		for _, text := range []string{held.Reference, strings.ToLower(held.Reference), " " + held.Reference[:3] + "-" + held.Reference[3:], held.ID.String(), held.ID.String()[19:]} {
			found(o, text, held.ID)
		}
		found(o, "222222", uuid.Nil)
		o.MustPay(paid, traintravel.Succeeded)
		found(o, paid.Reference, paid.ID)
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, paid.ID), nil)
		o.Do()
		found(o, paid.Reference, paid.ID)
		if got := o.Stored(paid.ID).Reference; got != paid.Reference {
			t.Errorf("the reference was %s and is %s", paid.Reference, got)
		}
		o.Clock.Add(2 * time.Hour)
		o.Do() // the hold ends
		found(o, held.Reference, held.ID)
		for range 20 {
			o.Clock.Add(day)
			o.Do()
		}
		found(o, held.Reference, uuid.Nil) // removed
		if _, err := o.EraseSubject(t.Context(), officetest.Anna.Subject); err != nil {
			t.Fatal(err)
		}
		found(o, paid.Reference, paid.ID) // erased, and still there
	})
}

// An answer that is given again has the reference that it had.
func TestReferenceIsReplayed(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, storetest.Twice(memstore.New()))
	ask := traintravel.NewBooking{TripID: o.TripID('A', 'B', "R 5"), PassengerName: "Anna", IdempotencyKey: "key"}
	first, err := o.CreateBooking(t.Context(), officetest.Anna, ask)
	if err != nil {
		t.Fatal(err)
	}
	again, err := o.CreateBooking(t.Context(), officetest.Anna, ask)
	if err != nil || !again.Replayed || again.Reference != first.Reference {
		t.Errorf("%+v, %v", again, err)
	}
}

// Bookings of earlier versions get a reference if they are still to be travelled on, and are
// listed if they are over, in two passes a day apart, and never again.
func TestEarlierBookings(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, officetest.KeepUnpaid, officetest.Unlimited)
		ride := o.TripID('A', 'B', "R 5")
		tomorrow, err := o.Direct(t.Context(), "R 5", traintravel.DateOf(officetest.Opens)+3, officetest.Station('A'), officetest.Station('B'))
		if err != nil {
			t.Fatal(err)
		}
		lapsed := o.Book(officetest.Anna, ride)
		travelled := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
		o.MustPay(travelled, traintravel.Succeeded)
		cancelled := o.Book(officetest.Anna, ride)
		o.MustPay(cancelled, traintravel.Succeeded)
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, cancelled.ID), nil)
		o.Clock.Add(time.Second)
		stopped := o.Book(officetest.Anna, o.TripID('G', 'H', "R 4"))
		o.MustPay(stopped, traintravel.Succeeded)
		if _, err := o.CancelRun(t.Context(), stopped.Legs[0].Run, traintravel.CancelRunOptions{}); err != nil {
			t.Fatal(err)
		}
		o.Clock.Add(5 * time.Hour) // the hold has lapsed, and one has arrived
		o.Do()
		live := o.Book(officetest.Berta, tomorrow)
		o.MustPay(live, traintravel.Succeeded)
		o.Do()
		all := []traintravel.Booking{lapsed, travelled, cancelled, stopped, live}
		for _, b := range all {
			if err := audittest.Vandalize(t.Context(), store, audittest.MakeEarlier(b.ID)); err != nil {
				t.Fatal(err)
			}
		}
		o.Audit()
		past := func() (ids []uuid.UUID) {
			t.Helper()
			for _, b := range officetest.Walk(t, 1, func(p traintravel.Page) (traintravel.List[traintravel.PastBooking], error) {
				return o.PastBookings(t.Context(), officetest.Anna, p)
			}, func(int) {}) {
				ids = append(ids, b.ID)
			}
			return ids
		}
		if got, want := past(), []uuid.UUID{travelled.ID}; !slices.Equal(got, want) {
			t.Errorf("over are %v, want %v", got, want)
		}
		o.Do()
		if got, want := past(), []uuid.UUID{stopped.ID, cancelled.ID, travelled.ID}; !slices.Equal(got, want) {
			t.Errorf("over are %v, want %v", got, want)
		}
		given := o.Stored(live.ID).Reference
		if _, ok := traintravel.ParseReference(given); !ok {
			t.Fatalf("the reference is %q", given)
		}
		found(o, given, live.ID)
		for _, b := range all[:4] {
			if got := o.Stored(b.ID).Reference; got != "" {
				t.Errorf("a booking that is over got the reference %s", got)
			}
		}

		// A server of the version before sells one more.
		late := o.Book(officetest.Berta, tomorrow)
		if err := audittest.Vandalize(t.Context(), store, audittest.MakeEarlier(late.ID)); err != nil {
			t.Fatal(err)
		}
		o.MustPay(late, traintravel.Succeeded)
		o.Do()
		if got := o.Stored(late.ID).Reference; got != "" {
			t.Errorf("the second pass came at once: %s", got)
		}
		o.Clock.Add(25 * time.Hour)
		o.Do()
		if got := o.Stored(late.ID).Reference; got == "" {
			t.Error("the second pass did not come")
		}
		if err := audittest.Vandalize(t.Context(), store, audittest.MakeEarlier(late.ID)); err != nil {
			t.Fatal(err)
		}
		o.Clock.Add(25 * time.Hour)
		o.Do()
		if got := o.Stored(late.ID).Reference; got != "" {
			t.Error("a third pass has come")
		}
	})
}
