package desk_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

func TestManifest(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		paid := o.Book(officetest.Anna, o.TripID('A', 'C', "R 1"))
		o.MustPay(paid, traintravel.Succeeded)
		held, err := o.CreateBooking(t.Context(), officetest.Berta, traintravel.NewBooking{TripID: o.TripID('B', 'D', "R 1"), PassengerName: "Berta", HasBicycle: true, HasDog: true})
		if err != nil {
			t.Fatal(err)
		}
		run := o.RunOf(" r1 ")
		block := traintravel.Block{Coach: paid.Legs[0].Coach, Seat: paid.Legs[0].Seat, Board: 2, Alight: 3}
		if err := o.Block(t.Context(), run.ID, block); err != nil {
			t.Fatal(err)
		}
		leg := func(b traintravel.Booking, status traintravel.BookingStatus) traintravel.Rider {
			l := b.Legs[0]
			return traintravel.Rider{
				Booking: b.ID, PassengerName: b.PassengerName, Status: status, Coach: l.Coach, Seat: l.Seat, Board: l.Board, Alight: l.Alight,
				From: l.Origin.Name, To: l.Destination.Name, HasBicycle: b.HasBicycle, HasDog: b.HasDog,
			}
		}
		names := []string{run.Calls[0].Name, run.Calls[1].Name, run.Calls[2].Name, run.Calls[3].Name}
		want := traintravel.Manifest{
			Run:    run,
			Riders: []traintravel.Rider{leg(paid, traintravel.Confirmed), leg(held, traintravel.Held)},
			Blocks: []traintravel.Block{block},
			Sections: []traintravel.Section{
				{From: names[0], To: names[1], Confirmed: 1, Free: 1},
				{From: names[1], To: names[2], Confirmed: 1, Held: 1, Bicycles: 1},
				{From: names[2], To: names[3], Held: 1, Blocked: 1, Bicycles: 1},
			},
		}
		if d := cmp.Diff(want, o.ManifestOf(run)); d != "" {
			t.Error("-want +got:\n", d)
		}

		o.Clock.Add(2 * time.Hour) // the hold has lapsed, swept or not
		m := o.ManifestOf(run)
		if len(m.Riders) != 1 || m.Sections[2].Free != 1 || m.Sections[2].Held != 0 {
			t.Errorf("%+v", m)
		}

		if _, err := o.Manifest(t.Context(), traintravel.RunID{Train: uuid.New(), Date: run.ID.Date}); !errors.Is(err, traintravel.ErrNotFound) {
			t.Error(err)
		}
		if runs, err := o.Runs(t.Context(), "R 9", run.ID.Date); err != nil || len(runs) != 0 {
			t.Error(runs, err)
		}
		if _, err := o.Runs(t.Context(), " ", run.ID.Date); !officetest.IsInvalid(err, "train") {
			t.Error(err)
		}
	})
}

// On an unreserved train nobody has a place, and the manifest has them all the same.
func TestManifestWithoutPlaces(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		o.Book(officetest.Berta, o.TripID('G', 'H', "R 4"))
		m := o.ManifestOf(o.RunOf("S 3"))
		if len(m.Riders) != 1 || m.Riders[0].Booking != b.ID || m.Riders[0].Seat != 0 || m.Riders[0].Stranded || m.Sections[0].Held != 1 || m.Sections[0].Free != 0 {
			t.Errorf("%+v", m)
		}
	})
}

// The manifest has the passengers of stranded bookings.
func TestManifestOfTheStranded(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'C', "R 1"))
		before := o.RunOf("R 1")
		if err := o.Block(t.Context(), before.ID, traintravel.Block{Coach: before.Coaches[1].Number, Seat: 1, Board: 1, Alight: 2}); err != nil {
			t.Fatal(err)
		}
		rep, err := o.LoadTimetable(t.Context(), officetest.Timetable(officetest.Train("R 1", 8, "AD", officetest.Seats(1, 1), officetest.Hooks(1))))
		if err != nil || len(rep.Stranded) != 1 || rep.Stranded[0].Booking != b.ID {
			t.Fatalf("%+v, %v: a block is not a booking", rep, err)
		}
		m := o.ManifestOf(o.RunOf("R 1"))
		if len(m.Riders) != 1 || !m.Riders[0].Stranded || m.Riders[0].To != b.Legs[0].Destination.Name || m.Sections[0].Free != 0 && m.Sections[0].Held != 1 {
			t.Errorf("%+v", m)
		}
		if _, err := o.LoadTimetable(t.Context(), officetest.Network()); err != nil { // and back
			t.Fatal(err)
		}
		m = o.ManifestOf(o.RunOf("R 1"))
		if len(m.Riders) != 1 || m.Riders[0].Stranded || len(m.Blocks) != 1 {
			t.Errorf("%+v", m)
		}
	})
}

func TestBlocks(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		run := o.RunOf("R 1")
		all := func(coach, seat int) traintravel.Block {
			return traintravel.Block{Coach: run.Coaches[coach].Number, Seat: seat, Board: 0, Alight: 3}
		}
		block := func(want error, blocks ...traintravel.Block) {
			t.Helper()
			o.Expect("blocking", o.Block(t.Context(), run.ID, blocks...), want)
		}
		b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
		has, other := all(0, 1), all(1, 1)
		if b.Legs[0].Coach != has.Coach {
			has, other = other, has
		}
		block(traintravel.ErrPlaceTaken, other, has)                  // none of them then
		block(traintravel.ErrPlaceTaken, other, all(1, 1), all(0, 1)) // nor one twice
		block(nil, other)
		if err := o.Block(t.Context(), run.ID, other); !errors.Is(err, traintravel.ErrPlaceTaken) || !strings.Contains(err.Error(), " is already blocked") {
			t.Errorf("blocking a blocked place: %v", err)
		}
		if err := o.Block(t.Context(), run.ID, has); err == nil || strings.Contains(err.Error(), "blocked") {
			t.Errorf("blocking a sold place: %v", err)
		}
		o.TryBook(officetest.Berta, o.TripID('A', 'B', "R 1"), traintravel.ErrSoldOut)
		o.TryBook(officetest.Berta, o.TripID('B', 'C', "R 1"), nil)
		for _, bad := range []traintravel.Block{
			{Coach: "99", Seat: 1, Alight: 3}, {Coach: has.Coach, Seat: 2, Alight: 3}, {Coach: has.Coach, Alight: 3}, {Coach: has.Coach, Seat: 1, Alight: 4},
			{Coach: has.Coach, Seat: 1, Board: 3, Alight: 3}, {Coach: has.Coach, Seat: 1, Board: -1, Alight: 3},
		} {
			for _, do := range []func(context.Context, traintravel.RunID, ...traintravel.Block) error{o.Block, o.Unblock} {
				if err := do(t.Context(), run.ID, bad); !officetest.IsInvalid(err, "blocks[0]") {
					t.Errorf("%+v: %v", bad, err)
				}
			}
		}
		o.Expect("unblocking what is not", o.Unblock(t.Context(), run.ID, other, has), traintravel.ErrNotFound)
		o.TryBook(officetest.Berta, o.TripID('A', 'B', "R 1"), traintravel.ErrSoldOut)
		o.Expect("unblocking", o.Unblock(t.Context(), run.ID, other), nil)
		o.TryBook(officetest.Berta, o.TripID('A', 'B', "R 1"), nil)

		// A hold that has lapsed is in nobody's way, and ends.
		o.Clock.Add(2 * time.Hour)
		block(nil, has, other)
		o.Stands(b.ID, traintravel.Expired)
		o.Expect("no such train", o.Block(t.Context(), traintravel.RunID{Train: run.ID.Train, Date: 1}, has), traintravel.ErrNotFound)
	})
}

func TestCancelRun(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, func(opts *traintravel.Options) {
			opts.Cancel = func(traintravel.Booking, time.Time) (traintravel.Money, error) {
				return traintravel.Money{}, errors.New("no refunds here")
			}
		})
		second := o.Another()
		paid := o.Book(officetest.Anna, officetest.JoinTrips(o.TripID('C', 'D', "R 1"), o.TripID('D', 'F', "R 2")))
		o.MustPay(paid, traintravel.Succeeded)
		held := o.Book(officetest.Berta, o.TripID('A', 'C', "R 1"))
		other := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
		o.MustPay(other, traintravel.Succeeded)
		query := traintravel.TripQuery{Origin: officetest.Station('A'), Destination: officetest.Station('B'), Depart: officetest.Opens}
		if l, err := second.SearchTrips(t.Context(), query); err != nil || len(l.Items) != 2 {
			t.Fatal(l, err)
		}
		run := o.RunOf("R 1")

		done, err := o.CancelRun(t.Context(), run.ID, traintravel.CancelRunOptions{})
		want := traintravel.RunCancellation{Bookings: 2, Refunds: map[string]int64{"eur": paid.Price.Amount}}
		if d := cmp.Diff(want, done); err != nil || d != "" {
			t.Fatal(err, d)
		}
		o.Do()
		o.Stands(paid.ID, traintravel.Cancelled)
		o.Stands(held.ID, traintravel.Cancelled)
		o.Stands(other.ID, traintravel.Confirmed)
		o.BankHolds(other.Price.Amount)
		if got := o.Stored(paid.ID); !got.Changed.Equal(o.Clock.Now()) || !got.ByOperator {
			t.Errorf("cancelled at %v, by the operator: %t", got.Changed, got.ByOperator)
		}

		// It is gone like a train that is withdrawn, for every service.
		second.Forget()
		for _, p := range []*officetest.Office{o, second} {
			p.TryBook(officetest.Anna, p.TripID('A', 'B', "R 1"), traintravel.ErrNotFound)
			if l, err := p.SearchTrips(t.Context(), query); err != nil || len(l.Items) != 1 || l.Items[0].Legs[0].Number != "R 5" {
				t.Error(l, err)
			}
			if l, err := p.SearchTrips(t.Context(), traintravel.TripQuery{Origin: officetest.Station('A'), Destination: officetest.Station('F'), Depart: officetest.Opens}); err != nil || slices.ContainsFunc(l.Items, func(trip traintravel.Trip) bool {
				return slices.ContainsFunc(trip.Legs, func(leg traintravel.Leg) bool { return leg.Run == run.ID })
			}) {
				t.Error(l, err)
			}
			if _, err := p.Trip(t.Context(), p.TripID('A', 'B', "R 1")); !errors.Is(err, traintravel.ErrNotFound) {
				t.Error(err)
			}
		}
		if !o.RunOf("R 1").Cancelled || !o.ManifestOf(run).Run.Cancelled || len(o.ManifestOf(run).Riders) != 0 {
			t.Error(o.ManifestOf(run))
		}

		// Again it finds nothing to do, and a new timetable does not put it back.
		if _, err := o.LoadTimetable(t.Context(), officetest.Network()); err != nil {
			t.Fatal(err)
		}
		if done, err := o.CancelRun(t.Context(), run.ID, traintravel.CancelRunOptions{}); err != nil || done.Bookings != 0 {
			t.Error(done, err)
		}
		o.TryBook(officetest.Anna, o.TripID('A', 'B', "R 1"), traintravel.ErrNotFound)
		o.Expect("restoring", o.RestoreRun(t.Context(), run.ID), nil)
		o.TryBook(officetest.Anna, o.TripID('A', 'B', "R 1"), nil)
		o.Expect("restoring again", o.RestoreRun(t.Context(), run.ID), traintravel.ErrNotFound)
		none := traintravel.RunID{Train: uuid.New(), Date: run.ID.Date}
		o.Expect("restoring none", o.RestoreRun(t.Context(), none), traintravel.ErrNotFound)
		_, err = o.CancelRun(t.Context(), none, traintravel.CancelRunOptions{})
		o.Expect("cancelling none", err, traintravel.ErrNotFound)
	})
}

// Bookings on unreserved trains are found too, and a booking whose payment is
// under way gets its money back when that succeeds.
func TestCancelRunWhilePaying(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		free, ok := o.Book(officetest.Anna, o.TripID('F', 'G', "S 3")), o.Book(officetest.Berta, o.TripID('F', 'G', "S 3"))
		failing := o.Book(officetest.Berta, o.TripID('F', 'G', "S 3"))
		o.MustPay(ok, traintravel.Succeeded)
		run := o.RunOf("S 3")
		var done traintravel.RunCancellation
		o.Bank.After = func(string, uuid.UUID, *traintravel.Outcome) error { return errors.New("the line is dead") }
		o.MustPay(failing, traintravel.Pending, officetest.Declined)
		o.Bank.After = func(op string, _ uuid.UUID, _ *traintravel.Outcome) error {
			o.Bank.After = nil
			var err error
			done, err = o.CancelRun(t.Context(), run.ID, traintravel.CancelRunOptions{})
			return err
		}
		p, err := o.Pay(free)
		o.Expect("paying for a run that is cancelled meanwhile", err, traintravel.ErrPaidTooLate)
		if p.Status != traintravel.Succeeded || done.Bookings != 3 || done.Paying != 2 || done.Refunds["eur"] != ok.Price.Amount {
			t.Errorf("%+v, %+v", p, done)
		}
		o.Clock.Add(time.Hour)
		o.Do()
		o.Clock.Add(time.Hour)
		o.Do()
		o.BankHolds(0)
		for _, b := range []traintravel.Booking{free, ok, failing} {
			o.Stands(b.ID, traintravel.Cancelled)
		}
	})
}

// A cancellation that is broken off is finished by calling it again.
func TestCancelRunIsInterrupted(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		for range 3 {
			o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		}
		run := o.RunOf("S 3")
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if done, err := o.CancelRun(ctx, run.ID, traintravel.CancelRunOptions{}); err == nil {
			t.Fatal("with a context that has ended:", done)
		}
		if done, err := o.CancelRun(t.Context(), run.ID, traintravel.CancelRunOptions{Progress: func(looked int) {
			if looked != 3 {
				t.Error("looked at", looked)
			}
		}}); err != nil || done.Bookings != 3 {
			t.Error(done, err)
		}
	})
}

// While the run is cancelled people book and pay it: nobody who was told of a
// booking keeps one, and nobody pays for nothing.
func TestCancelRunUnderLoad(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		if _, err := o.LoadTimetable(t.Context(), officetest.Timetable(officetest.Train("R 1", 8, "AB", officetest.Seats(40)), officetest.Train("S 3", 15, "FG"))); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i, trip := range []uuid.UUID{o.TripID('A', 'B', "R 1"), o.TripID('F', 'G', "S 3")} {
			for n := range 4 {
				wg.Go(func() {
					for range 8 {
						b, err := o.CreateBooking(context.Background(), officetest.Anna, traintravel.NewBooking{TripID: trip, PassengerName: "Anna"})
						if err != nil && !errors.Is(err, traintravel.ErrNotFound) {
							t.Error(err)
						}
						if err == nil && n%2 == 0 {
							_, err := o.Pay(b)
							if err != nil && !errors.Is(err, traintravel.ErrPaidTooLate) && !errors.Is(err, traintravel.ErrNotFound) {
								t.Error(err)
							}
						}
					}
				})
			}
			wg.Go(func() {
				if _, err := o.CancelRun(context.Background(), o.RunOf([]string{"R 1", "S 3"}[i]).ID, traintravel.CancelRunOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		o.Do()
		o.BankHolds(0)
		for _, b := range o.Audit().Bookings {
			if b.Status != traintravel.Cancelled {
				t.Errorf("%+v", b)
			}
		}
	})
}

// A train that has arrived is history, unless it did not run: then its passengers have
// their money back.
func TestRunsOfThePast(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
		o.MustPay(b, traintravel.Succeeded)
		run := o.RunOf("R 1")
		block := traintravel.Block{Coach: run.Coaches[1].Number, Seat: 1, Board: 0, Alight: 3}
		past := traintravel.CancelRunOptions{Past: true}
		arrives := run.Calls[len(run.Calls)-1].Arrive

		o.Clock.Add(arrives.Sub(o.Clock.Now()) - time.Second)
		if o.RunOf("R 1").Arrived {
			t.Error("it has arrived a second before it does")
		}
		o.Expect("blocking what is under way", o.Block(t.Context(), run.ID, block), nil)
		o.Clock.Add(time.Second)
		if !o.RunOf("R 1").Arrived || !o.ManifestOf(run).Run.Arrived {
			t.Error("it has not arrived")
		}
		o.Expect("blocking", o.Block(t.Context(), run.ID, block), traintravel.ErrArrived)
		o.Expect("unblocking", o.Unblock(t.Context(), run.ID, block), traintravel.ErrArrived)
		_, err := o.CancelRun(t.Context(), run.ID, traintravel.CancelRunOptions{})
		o.Expect("cancelling", err, traintravel.ErrArrived)
		o.Stands(b.ID, traintravel.Confirmed)

		// Called again, it goes on without being told again.
		done, err := o.CancelRun(t.Context(), run.ID, past)
		if err != nil || done.Bookings != 1 || done.Refunds["eur"] != b.Price.Amount {
			t.Error(done, err)
		}
		done, err = o.CancelRun(t.Context(), run.ID, traintravel.CancelRunOptions{})
		if err != nil || done.Bookings != 0 {
			t.Error(done, err)
		}
		o.Do()
		o.BankHolds(0)
		o.Expect("restoring", o.RestoreRun(t.Context(), run.ID), nil)
	})
}

func TestFindBookings(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		named := func(name string) uuid.UUID {
			o.Clock.Add(time.Second)
			b, err := o.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: o.TripID('F', 'G', "S 3"), PassengerName: name})
			if err != nil {
				t.Fatal(err)
			}
			return b.ID
		}
		jose, josef, li := named("José Ängström"), named("Josef K."), named("Li")
		find := func(text string, limit int, want ...uuid.UUID) {
			t.Helper()
			found, more, err := o.FindBookings(t.Context(), text, limit)
			var ids []uuid.UUID
			for _, b := range found {
				ids = append(ids, b.ID)
			}
			if err != nil || !slices.Equal(ids, want) || more != (limit == 1 && text == "jose") {
				t.Errorf("%q: %v, %t, %v, want %v", text, ids, more, err, want)
			}
		}
		find("jose", 10, josef, jose)
		find("jose", 1, josef)
		find("ANGSTROM jose", 10, jose)
		find("li", 10, li)
		find(jose.String(), 10, jose)
		find(strings.ToUpper(jose.String()), 10, jose)
		find(uuid.New().String(), 10)
		find("nobody", 10)
		if err := o.CancelBooking(t.Context(), officetest.Anna, jose); err != nil {
			t.Fatal(err)
		}
		find("Angstrom", 10, jose)
		for _, bad := range []string{"", " - "} {
			if _, _, err := o.FindBookings(t.Context(), bad, 10); !officetest.IsInvalid(err, "name") {
				t.Errorf("%q: %v", bad, err)
			}
		}
	})
}

func TestBookingHistory(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'C', "R 1"))
		o.Clock.Add(time.Minute)
		o.MustPay(b, traintravel.Failed, officetest.Declined)
		o.Clock.Add(time.Minute)
		o.MustPay(b, traintravel.Succeeded)
		o.Clock.Add(time.Minute)
		if err := o.CancelBooking(t.Context(), officetest.Anna, b.ID); err != nil {
			t.Fatal(err)
		}
		o.Clock.Add(time.Minute)
		o.Do() // the refund
		h, err := o.BookingHistory(t.Context(), b.ID)
		if err != nil || h.Booking.Status != traintravel.Cancelled || h.Booking.ByOperator ||
			!h.Booking.Confirmed.Equal(officetest.Opens.Add(2*time.Minute)) || !h.Booking.Changed.Equal(officetest.Opens.Add(3*time.Minute)) {
			t.Fatalf("%+v, %v", h, err)
		}
		type step struct {
			Status traintravel.PaymentStatus
			Amount int64
			At     time.Time
			Then   time.Time
		}
		var steps []step
		for _, p := range h.Payments {
			steps = append(steps, step{p.Status, p.Amount.Amount, p.Created, p.Settled})
		}
		want := []step{
			{traintravel.Failed, b.Price.Amount, officetest.Opens.Add(time.Minute), officetest.Opens.Add(time.Minute)},
			{traintravel.Succeeded, b.Price.Amount, officetest.Opens.Add(2 * time.Minute), officetest.Opens.Add(2 * time.Minute)},
			{traintravel.Succeeded, -b.Price.Amount, officetest.Opens.Add(3 * time.Minute), officetest.Opens.Add(4 * time.Minute)},
		}
		if d := cmp.Diff(want, steps, cmpopts.EquateApproxTime(time.Second)); d != "" {
			t.Error(d)
		}
		if _, err := o.BookingHistory(t.Context(), uuid.New()); !errors.Is(err, traintravel.ErrNotFound) {
			t.Error(err)
		}
	})
}
