package ledger_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// holdsFull expects a booking to be refused because of what the user holds, until an instant.
func holdsFull(o *officetest.Office, by traintravel.Caller, trip uuid.UUID, train bool, until time.Time, holds ...traintravel.Booking) {
	o.T.Helper()
	_, err := o.CreateBooking(o.T.Context(), by, traintravel.NewBooking{TripID: trip, PassengerName: by.ID})
	refused, ok := errors.AsType[*traintravel.HoldsError](err)
	if !ok || refused.Train != train || !refused.Until.Equal(until) || refused.RetryAfter != until.Sub(o.Clock.Now()) || len(refused.Bookings) < refused.Limit {
		o.T.Fatalf("booking: %+v, want a refusal until %v, because of a train: %t", err, until, train)
	}
	for _, b := range holds {
		if !slices.Contains(refused.Bookings, b.ID) {
			o.T.Errorf("%v is not named in %+v", b.ID, refused)
		}
	}
}

// By default a user holds nine bookings. One that is paid, cancelled or over makes room,
// at that instant.
func TestDefaultHoldLimit(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, officetest.MayHold(0, 0))
		trip := o.TripID('F', 'G', "S 3") // which has no places to run out of
		first := traintravel.NewBooking{TripID: trip, PassengerName: "Anna", IdempotencyKey: "first"}
		b, err := o.CreateBooking(t.Context(), officetest.Anna, first)
		if err != nil {
			t.Fatal(err)
		}
		held := []traintravel.Booking{b}
		for range 8 {
			o.Clock.Add(time.Minute)
			held = append(held, o.Book(officetest.Anna, trip))
		}
		holdsFull(o, officetest.Anna, trip, false, held[0].Expires, held...)
		if again, err := o.CreateBooking(t.Context(), officetest.Anna, first); err != nil || !again.Replayed || again.ID != b.ID {
			t.Errorf("what is repeated is answered %+v, %v", again, err)
		}
		o.Book(officetest.Berta, trip)

		o.MustPay(held[8], traintravel.Succeeded)
		held[8] = o.Book(officetest.Anna, trip)
		if err := o.CancelBooking(t.Context(), officetest.Anna, held[7].ID); err != nil {
			t.Fatal(err)
		}
		held[7] = o.Book(officetest.Anna, trip)
		o.MustPay(held[6], traintravel.Failed, officetest.Declined) // and so it is held on
		holdsFull(o, officetest.Anna, trip, false, held[0].Expires, held...)
		o.Clock.Set(held[0].Expires.Add(-1))
		holdsFull(o, officetest.Anna, trip, false, held[0].Expires, held...)
		o.Clock.Add(1)
		o.Book(officetest.Anna, trip) // nobody has swept
		o.Stands(b.ID, traintravel.Expired)
		holdsFull(o, officetest.Anna, trip, false, held[1].Expires)
	})
}

// A booking counts for as long as its payment is pending, and not when its hold would
// have ended. A payment that comes late takes no room.
func TestAPendingPaymentHolds(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, officetest.MayHold(2, 0), func(opts *traintravel.Options) { opts.PendingFor = 3 * time.Hour })
		trip := o.TripIn(3, 'F', 'G', "S 3")
		pending := true
		o.Bank.After = func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
			if pending {
				*out = traintravel.Outcome{Status: traintravel.Pending}
			}
			return nil
		}
		for range 2 {
			o.MustPay(o.Book(officetest.Anna, trip), traintravel.Pending)
		}
		until := officetest.Opens.Add(3 * time.Hour)
		holdsFull(o, officetest.Anna, trip, false, until)
		o.Clock.Set(until.Add(-1))
		o.Do()
		holdsFull(o, officetest.Anna, trip, false, until)
		o.Clock.Add(1)
		o.Do()
		for range 2 {
			o.Book(officetest.Anna, trip)
		}
		pending = false
		o.Clock.Add(10 * time.Minute)
		o.Do() // both payments have succeeded, and their bookings are confirmed
		holdsFull(o, officetest.Anna, trip, false, until.Add(time.Hour))
		confirmed := 0
		for _, b := range o.Audit().Bookings {
			if b.Status == traintravel.Confirmed {
				confirmed++
			}
		}
		if confirmed != 2 {
			t.Errorf("%d are confirmed", confirmed)
		}
	})
}

// A trip counts once, and takes a place on each of its trains.
func TestHoldLimitOfATrain(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), officetest.MayHold(4, 2))
	local, next := o.TripID('F', 'G', "S 3"), o.TripIn(1, 'F', 'G', "S 3")
	through := officetest.JoinTrips(o.TripID('D', 'F', "R 2"), local)
	a, b := o.Book(officetest.Anna, through), o.Book(officetest.Anna, local)
	holdsFull(o, officetest.Anna, local, true, a.Expires, a, b)
	holdsFull(o, officetest.Anna, officetest.JoinTrips(o.TripID('E', 'F', "R 2"), local), true, a.Expires, a, b)
	o.Book(officetest.Anna, next)
	if err := o.CancelBooking(t.Context(), officetest.Anna, a.ID); err != nil {
		t.Fatal(err)
	}
	o.Book(officetest.Anna, local)
	o.Book(officetest.Anna, next)
	holdsFull(o, officetest.Anna, o.TripIn(2, 'F', 'G', "S 3"), false, a.Expires)
	more := o.Another(officetest.MayHold(5, -1))
	more.Book(officetest.Anna, local)
	holdsFull(more, officetest.Anna, local, false, a.Expires)
	if _, err := o.CancelRun(t.Context(), b.Legs[0].Run, traintravel.CancelRunOptions{}); err != nil {
		t.Fatal(err)
	}
	o.Book(officetest.Anna, o.TripIn(2, 'F', 'G', "S 3"))
}

// Programs that the operator names have no limit when they act for themselves.
func TestProgramsOfTheOperatorHaveNoHoldLimit(t *testing.T) {
	t.Parallel()
	program := traintravel.Caller{Subject: traintravel.Subject{Issuer: officetest.Anna.Issuer, ID: "shop"}, Client: "shop", ForItself: true}
	named := func(o *traintravel.Options) {
		o.Holds = traintravel.HoldLimits{User: 1, Clients: []string{"", "shop"}}
	}
	for name, c := range map[string]struct {
		by      traintravel.Caller
		limited bool
	}{
		"the program":              {program, false},
		"a user of the program":    {traintravel.Caller{Subject: officetest.Anna.Subject, Client: "shop"}, true},
		"a user of its name":       {traintravel.Caller{Subject: program.Subject, Client: "shop"}, true},
		"another program":          {traintravel.Caller{Subject: program.Subject, Client: "app", ForItself: true}, true},
		"a program without a name": {traintravel.Caller{Subject: program.Subject, ForItself: true}, true},
	} {
		o := officetest.New(t, memstore.New(), named)
		trip := o.TripID('F', 'G', "S 3")
		b := o.Book(c.by, trip)
		if c.limited {
			holdsFull(o, c.by, trip, false, b.Expires)
			continue
		}
		for range 20 {
			if _, err := o.CreateBooking(t.Context(), c.by, traintravel.NewBooking{TripID: trip, PassengerName: "Anna"}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// A hold that has expired by one server's clock, and no longer counts, cannot be paid on another
// server whose clock is slow.
func TestUncountedHoldsCannotBePaid(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		slow := officetest.New(t, stores[0], officetest.MayHold(2, 0))
		trip := slow.TripIn(3, 'F', 'G', "S 3")
		old := []traintravel.Booking{slow.Book(officetest.Anna, trip), slow.Book(officetest.Anna, trip)}
		fast := slow.At(stores[1], officetest.MayHold(2, 0))
		slow.Clock.Set(old[0].Expires.Add(-time.Second))
		fast.Clock.Set(old[0].Expires)
		fast.Book(officetest.Anna, trip)
		for _, b := range old {
			_, err := slow.Pay(b)
			slow.Expect("paying", err, traintravel.ErrHoldExpired)
		}
		fast.Book(officetest.Anna, trip)
		holdsFull(fast, officetest.Anna, trip, false, fast.Clock.Now().Add(time.Hour))
	})
}

// Fifty requests of one user at once, at two servers: nine succeed.
func TestFiftyConcurrentBookingsKeepTheHoldLimit(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := officetest.New(t, stores[0], officetest.MayHold(0, 0))
		offices := []*officetest.Office{o, o.At(stores[1], officetest.MayHold(0, 0))}
		trips := []uuid.UUID{o.TripID('F', 'G', "S 3"), o.TripIn(1, 'F', 'G', "S 3")}
		got := officetest.AtOnce(50, func(i int) error {
			_, err := offices[i%2].CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: trips[i/2%2], PassengerName: "x"})
			if _, ok := errors.AsType[*traintravel.HoldsError](err); ok {
				return errFull
			}
			return err
		})
		if got["<nil>"] != 9 || got[errFull.Error()] != 41 {
			t.Errorf("%v", got)
		}
		if n := len(o.Audit().Bookings); n != 9 {
			t.Errorf("%d bookings", n)
		}
	})
}

var errFull = errors.New("full")

// An erasure leaves nothing that counts, and an erased user may book again.
func TestHoldsAfterAnErasure(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, officetest.MayHold(2, 0))
		trip := o.TripIn(3, 'F', 'G', "S 3")
		for range 2 {
			o.Book(officetest.Anna, trip)
		}
		if done, err := o.EraseSubject(t.Context(), officetest.Anna.Subject); err != nil || done.Bookings != 0 {
			t.Fatalf("%+v, %v", done, err)
		}
		holdsFull(o, officetest.Anna, trip, false, o.Clock.Now().Add(time.Hour)) // what is held is kept
		o.Clock.Add(time.Hour)
		if done, err := o.EraseSubject(t.Context(), officetest.Anna.Subject); err != nil || done.Bookings != 2 {
			t.Fatalf("%+v, %v", done, err)
		}
		for range 2 {
			o.Book(officetest.Anna, trip)
		}
		holdsFull(o, officetest.Anna, trip, false, o.Clock.Now().Add(time.Hour))
	})
}

// A booking that cannot be read counts for as long as it may be held.
func TestHoldsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	o := officetest.New(t, store, officetest.MayHold(1, 0), func(opts *traintravel.Options) { opts.PendingFor = 2 * time.Hour })
	trip := o.TripIn(3, 'F', 'G', "S 3")
	b := o.Book(officetest.Anna, trip)
	key := traintravel.Key{Table: traintravel.TableBookings, ID: string(b.ID[:])}
	restore := officetest.Spoil(t, store, key, true)
	holdsFull(o, officetest.Anna, trip, false, officetest.Opens.Add(3*time.Hour))
	o.Clock.Set(officetest.Opens.Add(3 * time.Hour))
	o.Book(officetest.Anna, trip)
	restore()
	o.Do()
}

// Of a user who buys a lot the latest bookings are looked at, and no more: it stays quick.
func TestHoldsBehindManyThatArePaid(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New(), officetest.MayHold(1, -1))
	trip := o.TripID('F', 'G', "S 3")
	b := o.Book(officetest.Anna, trip)
	shop := o.Another(officetest.MayHold(1000, -1))
	for n := range 201 {
		if n == 200 {
			holdsFull(o, officetest.Anna, trip, false, b.Expires, b)
		}
		shop.MustPay(shop.Book(officetest.Anna, trip), traintravel.Succeeded)
	}
	o.Book(officetest.Anna, trip)
}

func TestHoldLimitsAreChecked(t *testing.T) {
	t.Parallel()
	for field, h := range map[string]traintravel.HoldLimits{"User": {User: 1001}, "Train": {Train: 1001}} {
		if _, err := traintravel.New(memstore.New(), traintravel.Options{Holds: h}); !officetest.IsInvalid(err, "Options.Holds."+field) {
			t.Errorf("%+v: %v", h, err)
		}
	}
	o := officetest.New(t, memstore.New(), officetest.MayHold(-1, -1))
	trip := o.TripID('F', 'G', "S 3")
	for range 20 {
		o.Book(officetest.Anna, trip)
	}
	o = officetest.New(t, memstore.New(), officetest.MayHold(-1, 2))
	for day := range 5 {
		trip := o.TripIn(day, 'F', 'G', "S 3")
		b := o.Book(officetest.Anna, trip)
		o.Book(officetest.Anna, trip)
		holdsFull(o, officetest.Anna, trip, true, b.Expires)
	}
}
