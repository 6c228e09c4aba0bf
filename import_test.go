package traintravel_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
)

// TestTripIDsLast: they are the same in every store, after a restart, and when
// a feed comes again with other IDs, in another order, with more trains.
func TestTripIDsLast(t *testing.T) {
	t.Parallel()
	var all []map[string]uuid.UUID
	note := func(o *officetest.Office) {
		ids := map[string]uuid.UUID{"connection": o.Joined(4)}
		for _, trip := range []string{"AD R 1", "BC R 1", "DE R 2", "FG S 3", "GH R 4", "AB R 5"} {
			ids[trip] = o.TripID(rune(trip[0]), rune(trip[1]), trip[3:])
		}
		all = append(all, ids)
	}
	mem := officetest.New(t, memstore.New())
	note(mem)
	path := filepath.Join(t.TempDir(), "trains.db")
	store, err := boltstore.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := &officetest.Office{T: t, Store: store, Bank: mem.Bank, Post: mem.Post}
	o = o.Another()
	o.Clock.Set(officetest.Opens)
	o.Load(officetest.Network())
	b := o.Book(officetest.Anna, o.Joined(4))
	note(o)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	o.Store = officetest.OpenBolt(t, path)
	o = o.Another()
	note(o)
	if got, err := o.Booking(t.Context(), officetest.Anna, b.ID); err != nil || !cmp.Equal(got, b) {
		t.Errorf("after a restart: %v %s", err, cmp.Diff(b, got))
	}
	next := officetest.Network()
	for i := range next.Trains {
		next.Trains[i].ID = fmt.Sprint("new ", i)
	}
	next.Trains = append(next.Trains, officetest.Train("R 0", 7, "ABCDEFGH", officetest.Seats(9)), officetest.Train("R 1", 9, "ABCD", officetest.Seats(1)))
	slices.Reverse(next.Trains)
	slices.Reverse(next.Stations)
	o.Load(next)
	o.Load(next)
	o.Clock.Add(24 * time.Hour)
	o.Load(next)
	o.Clock.Set(officetest.Opens)
	// Now there are two trains named R 1: the new one leaves an hour later.
	ids := map[string]uuid.UUID{}
	for name, id := range all[0] {
		trip, err := o.Trip(t.Context(), id)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if was, err := mem.Trip(t.Context(), id); err != nil || !was.Origin().Time.Equal(trip.Origin().Time) || was.Origin().Station != trip.Origin().Station || was.Destination().Station != trip.Destination().Station {
			t.Errorf("%s was %+v and is %+v, %v", name, was, trip, err)
		}
		ids[name] = trip.ID
	}
	for _, other := range append(all[1:], ids) {
		if d := cmp.Diff(all[0], other); d != "" {
			t.Errorf("IDs have changed:\n%s", d)
		}
	}
}

// TestCallIsInserted: an ID of before is refused, or still means the same ride.
func TestCallIsInserted(t *testing.T) {
	for name, after := range map[string]string{"in the middle": "ACBD", "behind": "ABDE", "away": "AD", "another": "ACD"} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store)
			o.Load(officetest.Timetable(officetest.Train("R 1", 8, "ABD", officetest.Seats(3)), officetest.Train("R 2", 13, "DEF", officetest.Seats(3))))
			old := map[string]uuid.UUID{}
			for _, ride := range []string{"AB", "BD", "AD"} {
				old[ride] = o.TripID(rune(ride[0]), rune(ride[1]), "R 1")
			}
			old["AF"] = officetest.JoinTrips(old["AD"], o.TripID('D', 'F', "R 2"))
			was := map[string]traintravel.Trip{}
			for ride, id := range old {
				was[ride], _ = o.Trip(t.Context(), id)
			}
			second := o.Another()
			second.Trip(t.Context(), old["AB"]) // knows the old timetable

			changed := officetest.Train("R 1", 8, "ABD", officetest.Seats(3))
			changed.Calls = nil
			for i, c := range after {
				at := traintravel.Clock(8, 0) + traintravel.ServiceTime(i*1200)
				changed.Calls = append(changed.Calls, traintravel.Call{Station: officetest.Station(c), Arrive: at, Depart: at})
			}
			o.Load(officetest.Timetable(changed, officetest.Train("R 2", 13, "DEF", officetest.Seats(3))))
			for ride, id := range old {
				for _, office := range []*officetest.Office{o, second} {
					b, err := office.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: id, PassengerName: "Anna"})
					if errors.Is(err, traintravel.ErrNotFound) {
						continue
					}
					ends := was[ride]
					if err != nil || b.Legs[0].Origin.Station != ends.Origin().Station || b.Legs[len(b.Legs)-1].Destination.Station != ends.Destination().Station {
						t.Errorf("%s: %+v, %v", ride, b.Legs, err)
					}
				}
			}
			for _, ride := range []string{"AD"} { // what the new ID is
				if id := o.TripID(rune(ride[0]), rune(ride[1]), "R 1"); id == old[ride] {
					t.Errorf("the ID from %s is the old one", ride)
				}
				o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
			}
			// The old list comes back, and so do its IDs.
			o.Load(officetest.Timetable(officetest.Train("R 1", 8, "ABD", officetest.Seats(3)), officetest.Train("R 2", 13, "DEF", officetest.Seats(3))))
			o.TryBook(officetest.Berta, old["AF"], nil)
		})
	}
}

// TestImportBetweenSearchAndBooking at another service, which notices when it
// books and not before.
func TestImportBetweenSearchAndBooking(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		second := o.Another()
		r1, r2 := second.TripID('A', 'D', "R 1"), second.TripID('D', 'E', "R 2")
		kept := second.TripID('A', 'B', "R 5")
		// R 1 has one place fewer and another price, R 2 is withdrawn, and all
		// have other IDs in the feed.
		next := officetest.Timetable(officetest.Train("R 5", 20, "AB", officetest.Seats(3)), officetest.Train("R 1", 8, "ABCD", officetest.Seats(1)))
		next.Trains[0].ID, next.Trains[1].ID, next.Trains[1].Fare.Base = "x", "y", 5000
		o.Load(next)
		second.TryBook(officetest.Anna, r2, traintravel.ErrNotFound)
		b := second.Book(officetest.Anna, r1)
		if b.Price.Amount != 6500 {
			t.Errorf("sold at %v", b.Price)
		}
		second.TryBook(officetest.Berta, r1, traintravel.ErrSoldOut)
		second.Book(officetest.Berta, kept)
	})
}

// TestBookedRunIsFitted: who has booked keeps their place and their section
// when calls come and go, and the rest is sold.
func TestBookedRunIsFitted(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		o.Load(officetest.Timetable(officetest.Train("R 1", 8, "ABD", officetest.Seats(1))))
		b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
		o.Load(officetest.Timetable(officetest.Train("R 1", 8, "ABCDE", officetest.Seats(1))))
		o.TryBook(officetest.Berta, o.TripID('A', 'C', "R 1"), traintravel.ErrSoldOut)
		c := o.Book(officetest.Berta, o.TripID('B', 'D', "R 1"))
		o.TryBook(officetest.Berta, o.TripID('C', 'E', "R 1"), traintravel.ErrSoldOut)
		o.Book(officetest.Berta, o.TripID('D', 'E', "R 1"))
		if report := o.Load(officetest.Timetable(officetest.Train("R 1", 8, "ABDE", officetest.Seats(1)))); len(report.Stranded) != 0 {
			t.Errorf("stranded %+v", report.Stranded)
		}
		o.MustPay(b, traintravel.Succeeded)
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Berta, c.ID), nil)
		o.TryBook(officetest.Anna, o.TripID('A', 'D', "R 1"), traintravel.ErrSoldOut)
		o.Book(officetest.Anna, o.TripID('B', 'D', "R 1"))
		if got := o.Stored(b.ID); !cmp.Equal(got.Legs, b.Legs) {
			t.Errorf("the trip as sold has changed: %s", cmp.Diff(b.Legs, got.Legs))
		}
	})
}

// TestStranded bookings are reported, stay valid, and keep their place; when
// the call comes back they have it as before.
func TestStranded(t *testing.T) {
	for name, next := range map[string]*traintravel.Timetable{
		"a call is gone":  officetest.Timetable(officetest.Train("R 1", 8, "ACD", officetest.Seats(1, 1))),
		"a coach is gone": officetest.Timetable(officetest.Train("R 1", 8, "ABCD", officetest.Seats(1))),
		"the train is":    officetest.Timetable(officetest.Train("R 5", 20, "AB", officetest.Seats(3))),
	} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			ctx, o := t.Context(), officetest.New(t, store)
			before := officetest.Timetable(officetest.Train("R 1", 8, "ABCD", officetest.Seats(1, 1)))
			o.Load(before)
			fill := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
			paid, held, gone := o.Book(officetest.Anna, o.TripID('B', 'C', "R 1")), o.Book(officetest.Anna, o.TripID('A', 'B', "R 1")), o.Book(officetest.Anna, o.TripID('B', 'D', "R 1"))
			o.MustPay(paid, traintravel.Succeeded)
			report := o.Load(next)
			var want []uuid.UUID
			for _, b := range []traintravel.Booking{fill, paid, held, gone} {
				if name != "a coach is gone" || b.Legs[0].Coach == "2" {
					want = append(want, b.ID)
				}
			}
			var got []uuid.UUID
			for _, s := range report.Stranded {
				got = append(got, s.Booking)
				if s.Run != paid.Legs[0].Run {
					t.Errorf("stranded on %v", s.Run)
				}
			}
			byID := func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }
			slices.SortFunc(got, byID)
			slices.SortFunc(want, byID)
			if !slices.Equal(got, want) {
				t.Fatalf("stranded %v, want %v", got, want)
			}
			if name == "a call is gone" {
				o.TryBook(officetest.Berta, o.TripID('A', 'C', "R 1"), traintravel.ErrSoldOut)
				o.TryBook(officetest.Berta, o.TripID('C', 'D', "R 1"), traintravel.ErrSoldOut)
			}
			// They are paid, cancelled and expire as ever.
			if b, err := o.Booking(ctx, officetest.Anna, paid.ID); err != nil || !cmp.Equal(b.Legs, paid.Legs) {
				t.Errorf("%+v, %v", b, err)
			}
			o.MustPay(held, traintravel.Succeeded)
			o.Expect("cancelling", o.CancelBooking(ctx, officetest.Anna, gone.ID), nil)
			o.Clock.Set(fill.Expires)
			o.Do()
			o.Stands(fill.ID, traintravel.Expired)
			o.Clock.Set(officetest.Opens)
			if report := o.Load(before); len(report.Stranded) != 0 {
				t.Errorf("stranded for good: %+v", report.Stranded)
			}
			o.Book(officetest.Berta, o.TripID('A', 'B', "R 1"))
			o.TryBook(officetest.Berta, o.TripID('A', 'B', "R 1"), traintravel.ErrSoldOut)
			o.Book(officetest.Berta, o.TripID('B', 'D', "R 1"))
			o.TryBook(officetest.Berta, o.TripID('B', 'C', "R 1"), traintravel.ErrSoldOut)
			o.Expect("cancelling", o.CancelBooking(ctx, officetest.Anna, paid.ID), nil)
			o.Book(officetest.Berta, o.TripID('B', 'C', "R 1"))
			o.Do()
			o.Stands(held.ID, traintravel.Confirmed)
		})
	}
}
