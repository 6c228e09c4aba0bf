package traintravel_test

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
func annasBookings(o *office) (over, travelling, held traintravel.Booking) {
	o.t.Helper()
	book := func(trip uuid.UUID) traintravel.Booking {
		o.clock.add(time.Second)
		b, err := o.CreateBooking(o.t.Context(), anna, traintravel.NewBooking{TripID: trip, PassengerName: "Anna Secretly"})
		if err != nil {
			o.t.Fatal(err)
		}
		return b
	}
	over = book(o.trip('A', 'B', "R 1")) // from 8:00 to 9:00
	o.mustPay(over, traintravel.Failed, declined)
	o.mustPay(over, traintravel.Succeeded)
	travelling = book(o.trip('A', 'B', "R 5")) // at 20:00
	o.mustPay(travelling, traintravel.Succeeded)
	cancelled := book(o.trip('B', 'C', "R 1"))
	o.mustPay(cancelled, traintravel.Succeeded)
	if err := o.CancelBooking(o.t.Context(), anna, cancelled.ID); err != nil {
		o.t.Fatal(err)
	}
	o.clock.add(time.Second)
	o.book(berta, o.trip('C', 'D', "R 1"))
	book(o.trip('G', 'H', "R 4")) // whose hold lapses
	o.do()
	o.clock.set(opens.Add(6 * time.Hour))
	held = book(o.trip('F', 'G', "S 3"))
	return over, travelling, held
}

func TestSubject(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		over, travelling, held := annasBookings(o)
		before := o.audit()

		data, err := o.ExportSubject(t.Context(), anna.Subject)
		if err != nil || len(data.Bookings) != 5 || len(data.Bookings[0].Payments) != 2 || data.Bookings[0].Booking.ID != over.ID {
			t.Fatalf("%+v, %v", data, err)
		}
		if data, err := o.ExportSubject(t.Context(), traintravel.Subject{Issuer: "elsewhere", ID: "anna"}); err != nil || len(data.Bookings) != 0 {
			t.Errorf("%+v, %v", data, err)
		}

		done, err := o.EraseSubject(t.Context(), anna.Subject)
		if err != nil || done.Bookings != 3 || !slices.Equal(done.Kept, []uuid.UUID{travelling.ID, held.ID}) {
			t.Fatalf("%+v, %v", done, err)
		}
		after := o.audit()
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
		if _, err := o.Booking(t.Context(), anna, over.ID); !errors.Is(err, traintravel.ErrNotFound) {
			t.Error(err)
		}
		if l, err := o.Bookings(t.Context(), anna, traintravel.Page{}); err != nil || len(l.Items) != 2 {
			t.Errorf("%+v, %v", l, err)
		}
		if _, err := o.Booking(t.Context(), traintravel.Caller{}, over.ID); !errors.Is(err, traintravel.ErrNotFound) {
			t.Error("nobody is the owner of what is erased:", err)
		}
		if m := o.manifest(o.run("R 1")); len(m.Riders) != 1 || m.Riders[0].Booking != over.ID {
			t.Errorf("%+v: the place is taken all the same", m)
		}

		// What was kept goes when it is over, and then nothing is left.
		o.clock.add(24 * time.Hour)
		o.do()
		done, err = o.EraseSubject(t.Context(), anna.Subject)
		if err != nil || done.Bookings != 2 || len(done.Kept) != 0 {
			t.Fatalf("%+v, %v", done, err)
		}
		o.do()
		if holdsText(t, store, "Secretly") || holdsText(t, store, "************4242") || holdsText(t, store, "https://id.example\x04anna") {
			t.Error("the store still knows her")
		}
		if b := o.audit().Bookings; len(b) != 6 {
			t.Error(len(b))
		}
		if _, err := o.EraseSubject(t.Context(), traintravel.Subject{}); !isInvalid(err, "subject") {
			t.Error(err)
		}
	})
}

// A booking whose payment may still succeed is not erased: the place may be hers yet.
func TestErasingWaitsForPayments(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('F', 'G', "S 3"))
		o.bank.before = func(op string, _ uuid.UUID) error { return errors.New("the line is dead") }
		o.mustPay(b, traintravel.Pending)
		o.clock.add(30 * time.Hour) // past departure
		done, err := o.EraseSubject(t.Context(), anna.Subject)
		if err != nil || done.Bookings != 0 || len(done.Kept) != 1 {
			t.Fatalf("%+v, %v", done, err)
		}
		o.bank.before = nil
		for range 30 {
			o.do()
			o.clock.add(time.Hour)
		}
		done, err = o.EraseSubject(t.Context(), anna.Subject)
		if err != nil || done.Bookings != 1 || len(done.Kept) != 0 {
			t.Fatalf("%+v, %v", done, err)
		}
	})
}

func TestErasingEndsSubscriptions(t *testing.T) {
	t.Parallel()
	o, _ := withWebhooks(t, memstore.New())
	sub := o.subscribe(anna, hook)
	o.book(anna, o.trip('A', 'B', "R 1"))
	data, err := o.ExportSubject(t.Context(), anna.Subject)
	if err != nil || len(data.Subscriptions) != 1 {
		t.Fatalf("%+v, %v", data, err)
	}
	if done, err := o.EraseSubject(t.Context(), anna.Subject); err != nil || done.Subscriptions != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	o.do()
	if _, err := o.Subscription(t.Context(), anna, sub.ID); !errors.Is(err, traintravel.ErrNotFound) {
		t.Error(err)
	}
	if holdsText(t, o.store, hook) {
		t.Error("the store still knows where she listens")
	}
}

// Run forgets travellers when they have been home for long enough, and goes on from
// where all before are forgotten.
func TestRetain(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store, func(opts *traintravel.Options) { opts.Retain, opts.KeepUnpaid = 30*24*time.Hour, -1 })
		annasBookings(o)
		o.do()
		o.do() // as another server does
		names := func() (n int) {
			for _, b := range o.audit().Bookings {
				if b.PassengerName != "" {
					n++
				}
			}
			return n
		}
		o.do()
		if n := names(); n != 6 {
			t.Fatal(n, "names are left at once")
		}
		o.clock.set(opens.Add(30*24*time.Hour + 5*time.Hour)) // R 1 has been there for 30 days
		o.do()
		if n := names(); n != 3 {
			t.Fatal(n, "names are left after R 1")
		}
		o.do()
		o.clock.add(24 * time.Hour)
		o.do()
		if n := names(); n != 0 {
			t.Fatal(n, "names are left after all")
		}
		o.clock.add(24 * time.Hour)
		o.do()
	})
}

// Run does so by itself.
func TestRetainWhileRunning(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), func(opts *traintravel.Options) { opts.Retain = time.Hour })
	b := o.book(anna, o.trip('A', 'B', "R 1"))
	o.clock.add(48 * time.Hour)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = o.Run(ctx) }()
	for ; o.audit().Bookings[b.ID].PassengerName != ""; time.Sleep(time.Millisecond) {
		if t.Context().Err() != nil {
			t.Fatal("it is not erased")
		}
	}
	stop()
	<-ended
	if _, err := traintravel.New(o.store, traintravel.Options{Retain: time.Minute}); !isInvalid(err, "Options.Retain") {
		t.Error(err)
	}
}
