package traintravel_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// mayHold sets what a user may hold: in all, and on a train.
func mayHold(user, train int) func(*traintravel.Options) {
	return func(o *traintravel.Options) { o.Holds = traintravel.HoldLimits{User: user, Train: train} }
}

// holdsFull expects a booking to be refused because of what the user holds, until an instant.
func (o *office) holdsFull(by traintravel.Caller, trip uuid.UUID, train bool, until time.Time, holds ...traintravel.Booking) {
	o.t.Helper()
	_, err := o.CreateBooking(o.t.Context(), by, traintravel.NewBooking{TripID: trip, PassengerName: by.ID})
	refused, ok := errors.AsType[*traintravel.HoldsError](err)
	if !ok || refused.Train != train || !refused.Until.Equal(until) || refused.RetryAfter != until.Sub(o.clock.now()) || len(refused.Bookings) < refused.Limit {
		o.t.Fatalf("booking: %+v, want a refusal until %v, because of a train: %t", err, until, train)
	}
	for _, b := range holds {
		if !slices.Contains(refused.Bookings, b.ID) {
			o.t.Errorf("%v is not named in %+v", b.ID, refused)
		}
	}
}

// By default a user holds nine bookings. One that is paid, cancelled or over makes room,
// at that instant.
func TestAUserHoldsNine(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store, mayHold(0, 0))
		trip := o.trip('F', 'G', "S 3") // which has no places to run out of
		first := traintravel.NewBooking{TripID: trip, PassengerName: "Anna", IdempotencyKey: "first"}
		b, err := o.CreateBooking(t.Context(), anna, first)
		if err != nil {
			t.Fatal(err)
		}
		held := []traintravel.Booking{b}
		for range 8 {
			o.clock.add(time.Minute)
			held = append(held, o.book(anna, trip))
		}
		o.holdsFull(anna, trip, false, held[0].Expires, held...)
		if again, err := o.CreateBooking(t.Context(), anna, first); err != nil || !again.Replayed || again.ID != b.ID {
			t.Errorf("what is repeated is answered %+v, %v", again, err)
		}
		o.book(berta, trip)

		o.mustPay(held[8], traintravel.Succeeded)
		held[8] = o.book(anna, trip)
		if err := o.CancelBooking(t.Context(), anna, held[7].ID); err != nil {
			t.Fatal(err)
		}
		held[7] = o.book(anna, trip)
		o.mustPay(held[6], traintravel.Failed, declined) // and so it is held on
		o.holdsFull(anna, trip, false, held[0].Expires, held...)
		o.clock.set(held[0].Expires.Add(-1))
		o.holdsFull(anna, trip, false, held[0].Expires, held...)
		o.clock.add(1)
		o.book(anna, trip) // nobody has swept
		o.stands(b.ID, traintravel.Expired)
		o.holdsFull(anna, trip, false, held[1].Expires)
	})
}

// A booking counts for as long as its payment is pending, and not when its hold would
// have ended. A payment that comes late takes no room.
func TestAPendingPaymentHolds(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store, mayHold(2, 0), func(opts *traintravel.Options) { opts.PendingFor = 3 * time.Hour })
		trip := o.tripIn(3, 'F', 'G', "S 3")
		pending := true
		o.bank.after = func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
			if pending {
				*out = traintravel.Outcome{Status: traintravel.Pending}
			}
			return nil
		}
		for range 2 {
			o.mustPay(o.book(anna, trip), traintravel.Pending)
		}
		until := opens.Add(3 * time.Hour)
		o.holdsFull(anna, trip, false, until)
		o.clock.set(until.Add(-1))
		o.do()
		o.holdsFull(anna, trip, false, until)
		o.clock.add(1)
		o.do()
		for range 2 {
			o.book(anna, trip)
		}
		pending = false
		o.clock.add(10 * time.Minute)
		o.do() // both payments have succeeded, and their bookings are confirmed
		o.holdsFull(anna, trip, false, until.Add(time.Hour))
		confirmed := 0
		for _, b := range o.audit().Bookings {
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
func TestAUserHoldsSomeOfATrain(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), mayHold(4, 2))
	local, next := o.trip('F', 'G', "S 3"), o.tripIn(1, 'F', 'G', "S 3")
	through := joinTrips(o.trip('D', 'F', "R 2"), local)
	a, b := o.book(anna, through), o.book(anna, local)
	o.holdsFull(anna, local, true, a.Expires, a, b)
	o.holdsFull(anna, joinTrips(o.trip('E', 'F', "R 2"), local), true, a.Expires, a, b)
	o.book(anna, next)
	if err := o.CancelBooking(t.Context(), anna, a.ID); err != nil {
		t.Fatal(err)
	}
	o.book(anna, local)
	o.book(anna, next)
	o.holdsFull(anna, o.tripIn(2, 'F', 'G', "S 3"), false, a.Expires)
	more := o.another(mayHold(5, -1))
	more.book(anna, local)
	more.holdsFull(anna, local, false, a.Expires)
	if _, err := o.CancelRun(t.Context(), b.Legs[0].Run, traintravel.CancelRunOptions{}); err != nil {
		t.Fatal(err)
	}
	o.book(anna, o.tripIn(2, 'F', 'G', "S 3"))
}

// Programs that the operator names have no limit when they act for themselves.
func TestProgramsOfTheOperatorHoldAsTheyLike(t *testing.T) {
	t.Parallel()
	program := traintravel.Caller{Subject: traintravel.Subject{Issuer: anna.Issuer, ID: "shop"}, Client: "shop", ForItself: true}
	named := func(o *traintravel.Options) {
		o.Holds = traintravel.HoldLimits{User: 1, Clients: []string{"", "shop"}}
	}
	for name, c := range map[string]struct {
		by      traintravel.Caller
		limited bool
	}{
		"the program":              {program, false},
		"a user of the program":    {traintravel.Caller{Subject: anna.Subject, Client: "shop"}, true},
		"a user of its name":       {traintravel.Caller{Subject: program.Subject, Client: "shop"}, true},
		"another program":          {traintravel.Caller{Subject: program.Subject, Client: "app", ForItself: true}, true},
		"a program without a name": {traintravel.Caller{Subject: program.Subject, ForItself: true}, true},
	} {
		o := newOffice(t, memstore.New(), named)
		trip := o.trip('F', 'G', "S 3")
		b := o.book(c.by, trip)
		if c.limited {
			o.holdsFull(c.by, trip, false, b.Expires)
			continue
		}
		for range 20 {
			if _, err := o.CreateBooking(t.Context(), c.by, traintravel.NewBooking{TripID: trip, PassengerName: "Anna"}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// A hold that is over for one server's clock, and counts no more, cannot be paid on
// another whose clock is slow.
func TestWhatDoesNotCountCannotBePaid(t *testing.T) {
	onSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		slow := newOffice(t, stores[0], mayHold(2, 0))
		trip := slow.tripIn(3, 'F', 'G', "S 3")
		old := []traintravel.Booking{slow.book(anna, trip), slow.book(anna, trip)}
		fast := slow.at(stores[1], mayHold(2, 0))
		slow.clock.set(old[0].Expires.Add(-time.Second))
		fast.clock.set(old[0].Expires)
		fast.book(anna, trip)
		for _, b := range old {
			_, err := slow.pay(b)
			slow.expect("paying", err, traintravel.ErrHoldExpired)
		}
		fast.book(anna, trip)
		fast.holdsFull(anna, trip, false, fast.clock.now().Add(time.Hour))
	})
}

// Fifty requests of one user at once, at two servers: nine succeed.
func TestFiftyAtOnceHoldNine(t *testing.T) {
	onSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := newOffice(t, stores[0], mayHold(0, 0))
		offices := []*office{o, o.at(stores[1], mayHold(0, 0))}
		trips := []uuid.UUID{o.trip('F', 'G', "S 3"), o.tripIn(1, 'F', 'G', "S 3")}
		got := atOnce(50, func(i int) error {
			_, err := offices[i%2].CreateBooking(t.Context(), anna, traintravel.NewBooking{TripID: trips[i/2%2], PassengerName: "x"})
			if _, ok := errors.AsType[*traintravel.HoldsError](err); ok {
				return errFull
			}
			return err
		})
		if got["<nil>"] != 9 || got[errFull.Error()] != 41 {
			t.Errorf("%v", got)
		}
		if n := len(o.audit().Bookings); n != 9 {
			t.Errorf("%d bookings", n)
		}
	})
}

var errFull = errors.New("full")

// An erasure leaves nothing that counts, and an erased user may book again.
func TestHoldsAfterAnErasure(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store, mayHold(2, 0))
		trip := o.tripIn(3, 'F', 'G', "S 3")
		for range 2 {
			o.book(anna, trip)
		}
		if done, err := o.EraseSubject(t.Context(), anna.Subject); err != nil || done.Bookings != 0 {
			t.Fatalf("%+v, %v", done, err)
		}
		o.holdsFull(anna, trip, false, o.clock.now().Add(time.Hour)) // what is held is kept
		o.clock.add(time.Hour)
		if done, err := o.EraseSubject(t.Context(), anna.Subject); err != nil || done.Bookings != 2 {
			t.Fatalf("%+v, %v", done, err)
		}
		for range 2 {
			o.book(anna, trip)
		}
		o.holdsFull(anna, trip, false, o.clock.now().Add(time.Hour))
	})
}

// A booking that cannot be read counts for as long as it may be held.
func TestHoldsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	o := newOffice(t, store, mayHold(1, 0), func(opts *traintravel.Options) { opts.PendingFor = 2 * time.Hour })
	trip := o.tripIn(3, 'F', 'G', "S 3")
	b := o.book(anna, trip)
	key := traintravel.Key{Table: traintravel.TableBookings, ID: string(b.ID[:])}
	restore := spoil(t, store, key, true)
	o.holdsFull(anna, trip, false, opens.Add(3*time.Hour))
	o.clock.set(opens.Add(3 * time.Hour))
	o.book(anna, trip)
	restore()
	o.do()
}

// Of a user who buys a lot the latest bookings are looked at, and no more: it stays quick.
func TestHoldsBehindManyThatArePaid(t *testing.T) {
	t.Parallel()
	o := newOffice(t, memstore.New(), mayHold(1, -1))
	trip := o.trip('F', 'G', "S 3")
	b := o.book(anna, trip)
	shop := o.another(mayHold(1000, -1))
	for n := range 201 {
		if n == 200 {
			o.holdsFull(anna, trip, false, b.Expires, b)
		}
		shop.mustPay(shop.book(anna, trip), traintravel.Succeeded)
	}
	o.book(anna, trip)
}

func TestHoldLimitsAreChecked(t *testing.T) {
	t.Parallel()
	for field, h := range map[string]traintravel.HoldLimits{"User": {User: 1001}, "Train": {Train: 1001}} {
		if _, err := traintravel.New(memstore.New(), traintravel.Options{Holds: h}); !isInvalid(err, "Options.Holds."+field) {
			t.Errorf("%+v: %v", h, err)
		}
	}
	o := newOffice(t, memstore.New(), mayHold(-1, -1))
	trip := o.trip('F', 'G', "S 3")
	for range 20 {
		o.book(anna, trip)
	}
	o = newOffice(t, memstore.New(), mayHold(-1, 2))
	for day := range 5 {
		trip := o.tripIn(day, 'F', 'G', "S 3")
		b := o.book(anna, trip)
		o.book(anna, trip)
		o.holdsFull(anna, trip, true, b.Expires)
	}
}
