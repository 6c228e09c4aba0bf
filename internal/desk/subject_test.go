package desk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// holdsText says whether a text is anywhere in a store.
func holdsText(t *testing.T, store traintravel.Store, text string) bool {
	t.Helper()
	for _, table := range traintravel.Tables() {
		records, err := store.List(t.Context(), traintravel.Range{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range records {
			if strings.Contains(string(rec.Value), text) || strings.Contains(rec.ID, text) {
				return true
			}
		}
	}
	return false
}

// annasBookings are bookings of anna's in all states, with a name to look for.
func annasBookings(o *officetest.Office) (over, travelling, held traintravel.Booking) {
	o.T.Helper()
	book := func(trip uuid.UUID) traintravel.Booking {
		o.Clock.Add(time.Second)
		b, err := o.CreateBooking(o.T.Context(), officetest.Anna, traintravel.NewBooking{TripID: trip, PassengerName: "Anna Secretly"})
		if err != nil {
			o.T.Fatal(err)
		}
		return b
	}
	over = book(o.TripID('A', 'B', "R 1")) // from 8:00 to 9:00
	o.MustPay(over, traintravel.Failed, officetest.Declined)
	o.MustPay(over, traintravel.Succeeded)
	travelling = book(o.TripID('A', 'B', "R 5")) // at 20:00
	o.MustPay(travelling, traintravel.Succeeded)
	cancelled := book(o.TripID('B', 'C', "R 1"))
	o.MustPay(cancelled, traintravel.Succeeded)
	if err := o.CancelBooking(o.T.Context(), officetest.Anna, cancelled.ID); err != nil {
		o.T.Fatal(err)
	}
	o.Clock.Add(time.Second)
	o.Book(officetest.Berta, o.TripID('C', 'D', "R 1"))
	book(o.TripID('G', 'H', "R 4")) // whose hold lapses
	o.Do()
	o.Clock.Set(officetest.Opens.Add(6 * time.Hour))
	held = book(o.TripID('F', 'G', "S 3"))
	return over, travelling, held
}

func TestSubject(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		over, travelling, held := annasBookings(o)
		before := o.Audit()

		data, err := o.ExportSubject(t.Context(), officetest.Anna.Subject)
		if err != nil || len(data.Bookings) != 5 || len(data.Bookings[0].Payments) != 2 || data.Bookings[0].Booking.ID != over.ID {
			t.Fatalf("%+v, %v", data, err)
		}
		if data, err := o.ExportSubject(t.Context(), traintravel.Subject{Issuer: "elsewhere", ID: "anna"}); err != nil || len(data.Bookings) != 0 {
			t.Errorf("%+v, %v", data, err)
		}

		done, err := o.EraseSubject(t.Context(), officetest.Anna.Subject)
		if err != nil || done.Bookings != 3 || !slices.Equal(done.Kept, []uuid.UUID{travelling.ID, held.ID}) {
			t.Fatalf("%+v, %v", done, err)
		}
		after := o.Audit()
		if fmt.Sprint(after.Kept, after.Owed, after.Open) != fmt.Sprint(before.Kept, before.Owed, before.Open) {
			t.Error("the sums are others:", after, before)
		}
		got := after.Bookings[over.ID]
		if got.PassengerName != "" || got.Owner != (traintravel.Subject{}) || got.Status != traintravel.Confirmed || got.Price != over.Price || got.Legs[0].Seat != over.Legs[0].Seat {
			t.Errorf("%+v", got)
		}
		for _, p := range after.Payments {
			if p.Booking == over.ID && (p.Source.Card != nil || p.Failure.Message != "") {
				t.Errorf("%+v", p)
			}
		}
		if _, err := o.Booking(t.Context(), officetest.Anna, over.ID); !errors.Is(err, traintravel.ErrNotFound) {
			t.Error(err)
		}
		if l, err := o.Bookings(t.Context(), officetest.Anna, traintravel.Page{}); err != nil || len(l.Items) != 2 {
			t.Errorf("%+v, %v", l, err)
		}
		if _, err := o.Booking(t.Context(), traintravel.Caller{}, over.ID); !errors.Is(err, traintravel.ErrNotFound) {
			t.Error("nobody is the owner of what is erased:", err)
		}
		if m := o.ManifestOf(o.RunOf("R 1")); len(m.Riders) != 1 || m.Riders[0].Booking != over.ID {
			t.Errorf("%+v: the place is taken all the same", m)
		}

		// What was kept goes when it is over, and then nothing is left.
		o.Clock.Add(24 * time.Hour)
		o.Do()
		done, err = o.EraseSubject(t.Context(), officetest.Anna.Subject)
		if err != nil || done.Bookings != 2 || len(done.Kept) != 0 {
			t.Fatalf("%+v, %v", done, err)
		}
		o.Do()
		if holdsText(t, store, "Secretly") || holdsText(t, store, "************4242") || holdsText(t, store, "https://id.example\x04anna") {
			t.Error("the store still knows her")
		}
		if b := o.Audit().Bookings; len(b) != 6 {
			t.Error(len(b))
		}
		if _, err := o.EraseSubject(t.Context(), traintravel.Subject{}); !officetest.IsInvalid(err, "subject") {
			t.Error(err)
		}
	})
}

// A booking whose payment may still succeed is not erased: the place may be hers yet.
func TestErasingWaitsForPayments(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		o.Bank.Before = func(op string, _ uuid.UUID) error { return errors.New("the line is dead") }
		o.MustPay(b, traintravel.Pending)
		o.Clock.Add(30 * time.Hour) // past departure
		done, err := o.EraseSubject(t.Context(), officetest.Anna.Subject)
		if err != nil || done.Bookings != 0 || len(done.Kept) != 1 {
			t.Fatalf("%+v, %v", done, err)
		}
		o.Bank.Before = nil
		for range 30 {
			o.Do()
			o.Clock.Add(time.Hour)
		}
		done, err = o.EraseSubject(t.Context(), officetest.Anna.Subject)
		if err != nil || done.Bookings != 1 || len(done.Kept) != 0 {
			t.Fatalf("%+v, %v", done, err)
		}
	})
}

func TestErasingEndsSubscriptions(t *testing.T) {
	t.Parallel()
	o, _ := officetest.WithWebhooks(t, memstore.New())
	sub := o.MustSubscribe(officetest.Anna, officetest.Hook)
	o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
	data, err := o.ExportSubject(t.Context(), officetest.Anna.Subject)
	if err != nil || len(data.Subscriptions) != 1 {
		t.Fatalf("%+v, %v", data, err)
	}
	if done, err := o.EraseSubject(t.Context(), officetest.Anna.Subject); err != nil || done.Subscriptions != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	o.Do()
	if _, err := o.Subscription(t.Context(), officetest.Anna, sub.ID); !errors.Is(err, traintravel.ErrNotFound) {
		t.Error(err)
	}
	if holdsText(t, o.Store, officetest.Hook) {
		t.Error("the store still knows where she listens")
	}
}

// Run forgets travellers when they have been home for long enough, and goes on from
// where all before are forgotten.
func TestRetain(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, func(opts *traintravel.Options) { opts.Retain, opts.KeepUnpaid = 30*24*time.Hour, -1 })
		annasBookings(o)
		o.Do()
		o.Do() // as another server does
		names := func() (n int) {
			for _, b := range o.Audit().Bookings {
				if b.PassengerName != "" {
					n++
				}
			}
			return n
		}
		o.Do()
		if n := names(); n != 6 {
			t.Fatal(n, "names are left at once")
		}
		o.Clock.Set(officetest.Opens.Add(30*24*time.Hour + 5*time.Hour)) // R 1 has been there for 30 days
		o.Do()
		if n := names(); n != 3 {
			t.Fatal(n, "names are left after R 1")
		}
		o.Do()
		o.Clock.Add(24 * time.Hour)
		o.Do()
		if n := names(); n != 0 {
			t.Fatal(n, "names are left after all")
		}
		o.Clock.Add(24 * time.Hour)
		o.Do()
	})
}

// A traveller whose events nobody has delivered until the data is due to be erased gets them
// first.
func TestRetainAfterEvents(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o, m := officetest.WithWebhooks(t, store, func(opts *traintravel.Options) { opts.Retain = time.Hour })
		o.MustSubscribe(officetest.Anna, officetest.Hook, traintravel.EventTypes()...)
		b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
		o.Clock.Add(48 * time.Hour)
		for range 3 {
			if err := o.RunDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			o.Clock.Add(7 * time.Hour)
		}
		if got := m.Of(officetest.Hook, b.ID); !slices.Contains(got, traintravel.BookingCreated) || !slices.Contains(got, traintravel.BookingExpired) {
			t.Errorf("she got %v", got)
		}
		if name := o.Audit().Bookings[b.ID].PassengerName; name != "" {
			t.Errorf("the name %q is left", name)
		}
	})
}

// Run does so by itself.
func TestRetainWhileRunning(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), func(opts *traintravel.Options) { opts.Retain = time.Hour })
	b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
	o.Clock.Add(48 * time.Hour)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = o.Run(ctx) }()
	for ; o.Audit().Bookings[b.ID].PassengerName != ""; time.Sleep(time.Millisecond) {
		o.Clock.Add(time.Minute) // its hold ends first, and the next pass finds it
		if t.Context().Err() != nil {
			t.Fatal("it is not erased")
		}
	}
	stop()
	<-ended
	if _, err := traintravel.New(o.Store, traintravel.Options{Retain: time.Minute}); !officetest.IsInvalid(err, "Options.Retain") {
		t.Error(err)
	}
}
