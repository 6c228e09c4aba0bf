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
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
)

// TestTripIDsLast: they are the same in every store, after a restart, and when
// a feed comes again with other IDs, in another order, with more trains.
func TestTripIDsLast(t *testing.T) {
	t.Parallel()
	var all []map[string]uuid.UUID
	note := func(o *office) {
		ids := map[string]uuid.UUID{"connection": o.joined(4)}
		for _, trip := range []string{"AD R 1", "BC R 1", "DE R 2", "FG S 3", "GH R 4", "AB R 5"} {
			ids[trip] = o.trip(rune(trip[0]), rune(trip[1]), trip[3:])
		}
		all = append(all, ids)
	}
	mem := newOffice(t, memstore.New())
	note(mem)
	path := filepath.Join(t.TempDir(), "trains.db")
	store, err := boltstore.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := &office{t: t, store: store, bank: mem.bank, post: mem.post}
	o = o.another()
	o.clock.set(opens)
	o.load(network())
	b := o.book(anna, o.joined(4))
	note(o)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	o.store = openBolt(t, path)
	o = o.another()
	note(o)
	if got, err := o.Booking(t.Context(), anna, b.ID); err != nil || !cmp.Equal(got, b) {
		t.Errorf("after a restart: %v %s", err, cmp.Diff(b, got))
	}
	next := network()
	for i := range next.Trains {
		next.Trains[i].ID = fmt.Sprint("new ", i)
	}
	next.Trains = append(next.Trains, train("R 0", 7, "ABCDEFGH", seats(9)), train("R 1", 9, "ABCD", seats(1)))
	slices.Reverse(next.Trains)
	slices.Reverse(next.Stations)
	o.load(next)
	o.load(next)
	o.clock.add(24 * time.Hour)
	o.load(next)
	o.clock.set(opens)
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
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store)
			o.load(timetable(train("R 1", 8, "ABD", seats(3)), train("R 2", 13, "DEF", seats(3))))
			old := map[string]uuid.UUID{}
			for _, ride := range []string{"AB", "BD", "AD"} {
				old[ride] = o.trip(rune(ride[0]), rune(ride[1]), "R 1")
			}
			old["AF"] = joinTrips(old["AD"], o.trip('D', 'F', "R 2"))
			was := map[string]traintravel.Trip{}
			for ride, id := range old {
				was[ride], _ = o.Trip(t.Context(), id)
			}
			second := o.another()
			second.Trip(t.Context(), old["AB"]) // knows the old timetable

			changed := train("R 1", 8, "ABD", seats(3))
			changed.Calls = nil
			for i, c := range after {
				at := traintravel.Clock(8, 0) + traintravel.ServiceTime(i*1200)
				changed.Calls = append(changed.Calls, traintravel.Call{Station: station(c), Arrive: at, Depart: at})
			}
			o.load(timetable(changed, train("R 2", 13, "DEF", seats(3))))
			for ride, id := range old {
				for _, office := range []*office{o, second} {
					b, err := office.CreateBooking(t.Context(), anna, traintravel.NewBooking{TripID: id, PassengerName: "Anna"})
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
				if id := o.trip(rune(ride[0]), rune(ride[1]), "R 1"); id == old[ride] {
					t.Errorf("the ID from %s is the old one", ride)
				}
				o.book(anna, o.trip('A', 'D', "R 1"))
			}
			// The old list comes back, and so do its IDs.
			o.load(timetable(train("R 1", 8, "ABD", seats(3)), train("R 2", 13, "DEF", seats(3))))
			o.tryBook(berta, old["AF"], nil)
		})
	}
}

// TestImportBetweenSearchAndBooking at another service, which notices when it
// books and not before.
func TestImportBetweenSearchAndBooking(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		second := o.another()
		r1, r2 := second.trip('A', 'D', "R 1"), second.trip('D', 'E', "R 2")
		kept := second.trip('A', 'B', "R 5")
		// R 1 has one place fewer and another price, R 2 is withdrawn, and all
		// have other IDs in the feed.
		next := timetable(train("R 5", 20, "AB", seats(3)), train("R 1", 8, "ABCD", seats(1)))
		next.Trains[0].ID, next.Trains[1].ID, next.Trains[1].Fare.Base = "x", "y", 5000
		o.load(next)
		second.tryBook(anna, r2, traintravel.ErrNotFound)
		b := second.book(anna, r1)
		if b.Price.Amount != 6500 {
			t.Errorf("sold at %v", b.Price)
		}
		second.tryBook(berta, r1, traintravel.ErrSoldOut)
		second.book(berta, kept)
	})
}

// TestBookedRunIsFitted: who has booked keeps their place and their section
// when calls come and go, and the rest is sold.
func TestBookedRunIsFitted(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		o.load(timetable(train("R 1", 8, "ABD", seats(1))))
		b := o.book(anna, o.trip('A', 'B', "R 1"))
		o.load(timetable(train("R 1", 8, "ABCDE", seats(1))))
		o.tryBook(berta, o.trip('A', 'C', "R 1"), traintravel.ErrSoldOut)
		c := o.book(berta, o.trip('B', 'D', "R 1"))
		o.tryBook(berta, o.trip('C', 'E', "R 1"), traintravel.ErrSoldOut)
		o.book(berta, o.trip('D', 'E', "R 1"))
		if report := o.load(timetable(train("R 1", 8, "ABDE", seats(1)))); len(report.Stranded) != 0 {
			t.Errorf("stranded %+v", report.Stranded)
		}
		o.mustPay(b, traintravel.Succeeded)
		o.expect("cancelling", o.CancelBooking(t.Context(), berta, c.ID), nil)
		o.tryBook(anna, o.trip('A', 'D', "R 1"), traintravel.ErrSoldOut)
		o.book(anna, o.trip('B', 'D', "R 1"))
		if got := o.state(b.ID); !cmp.Equal(got.Legs, b.Legs) {
			t.Errorf("the trip as sold has changed: %s", cmp.Diff(b.Legs, got.Legs))
		}
	})
}

// TestStranded bookings are reported, stay valid, and keep their place; when
// the call comes back they have it as before.
func TestStranded(t *testing.T) {
	for name, next := range map[string]*traintravel.Timetable{
		"a call is gone":  timetable(train("R 1", 8, "ACD", seats(1, 1))),
		"a coach is gone": timetable(train("R 1", 8, "ABCD", seats(1))),
		"the train is":    timetable(train("R 5", 20, "AB", seats(3))),
	} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			ctx, o := t.Context(), newOffice(t, store)
			before := timetable(train("R 1", 8, "ABCD", seats(1, 1)))
			o.load(before)
			fill := o.book(anna, o.trip('A', 'B', "R 1"))
			paid, held, gone := o.book(anna, o.trip('B', 'C', "R 1")), o.book(anna, o.trip('A', 'B', "R 1")), o.book(anna, o.trip('B', 'D', "R 1"))
			o.mustPay(paid, traintravel.Succeeded)
			report := o.load(next)
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
				o.tryBook(berta, o.trip('A', 'C', "R 1"), traintravel.ErrSoldOut)
				o.tryBook(berta, o.trip('C', 'D', "R 1"), traintravel.ErrSoldOut)
			}
			// They are paid, cancelled and expire as ever.
			if b, err := o.Booking(ctx, anna, paid.ID); err != nil || !cmp.Equal(b.Legs, paid.Legs) {
				t.Errorf("%+v, %v", b, err)
			}
			o.mustPay(held, traintravel.Succeeded)
			o.expect("cancelling", o.CancelBooking(ctx, anna, gone.ID), nil)
			o.clock.set(fill.Expires)
			o.do()
			o.stands(fill.ID, traintravel.Expired)
			o.clock.set(opens)
			if report := o.load(before); len(report.Stranded) != 0 {
				t.Errorf("stranded for good: %+v", report.Stranded)
			}
			o.book(berta, o.trip('A', 'B', "R 1"))
			o.tryBook(berta, o.trip('A', 'B', "R 1"), traintravel.ErrSoldOut)
			o.book(berta, o.trip('B', 'D', "R 1"))
			o.tryBook(berta, o.trip('B', 'C', "R 1"), traintravel.ErrSoldOut)
			o.expect("cancelling", o.CancelBooking(ctx, anna, paid.ID), nil)
			o.book(berta, o.trip('B', 'C', "R 1"))
			o.do()
			o.stands(held.ID, traintravel.Confirmed)
		})
	}
}
