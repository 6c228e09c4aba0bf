package traintravel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// The twins of these tests are trains named R 1 that leave A at 8:00. Each is
// booked from A to a station at which no other calls.

// monday is the day of opens; the tests look at the week that begins with it.
var monday = traintravel.DateOf(opens)

// r1 is a train with one place on days of that week, 0 for Monday.
func r1(line string, days ...int) traintravel.Train {
	t := train("R 1", 8, line, seats(1))
	t.ID, t.Days = line, &traintravel.Calendar{}
	for _, d := range days {
		t.Days.Added = append(t.Days.Added, monday+traintravel.Date(d))
	}
	return t
}

func withSeats(t traintravel.Train, n int) traintravel.Train {
	seats(n)(&t)
	return t
}

// ride is the ID of a trip from A on a day of the week.
func (o *office) ride(day int, to rune) uuid.UUID {
	o.t.Helper()
	id, err := o.direct(o.t.Context(), "R 1", monday+traintravel.Date(day), station('A'), station(to))
	if err != nil {
		o.t.Fatalf("to %c on day %d: %v", to, day, err)
	}
	return id
}

// full expects that a booking has the place of a ride, today and at an office
// that reads the timetable from the store.
func (o *office) full(b traintravel.Booking, day int, to rune) {
	o.t.Helper()
	for _, office := range []*office{o, o.another()} {
		trip, err := office.Trip(o.t.Context(), o.ride(day, to))
		if err != nil || trip.Legs[0].Run != b.Legs[0].Run || trip.Seats != 0 {
			o.t.Errorf("to %c on day %d: %+v, %v; want none left on %v", to, day, trip, err, b.Legs[0].Run)
		}
		office.tryBook(berta, trip.ID, traintravel.ErrSoldOut)
	}
}

func (o *office) loadAll(trains ...traintravel.Train) []traintravel.Stranded {
	o.t.Helper()
	return o.load(timetable(trains...)).Stranded
}

func TestBookedTwins(t *testing.T) {
	week, sunday, thursday := []int{0, 1, 2, 3, 4}, []int{6}, []int{3, 6}
	for name, test := range map[string]func(o *office, fits func(...traintravel.Train)){
		"meet": func(o *office, fits func(...traintravel.Train)) {
			fits(r1("ABH", week...), r1("ACG", sunday...))
			a, b, c := o.book(anna, o.ride(3, 'B')), o.book(anna, o.ride(6, 'C')), o.book(anna, o.ride(1, 'B'))
			if a.Legs[0].Run.Train != b.Legs[0].Run.Train {
				o.t.Error("on days of their own they are one train")
			}
			fits(r1("ACG", thursday...), r1("ABH", week...))
			d := o.book(anna, o.ride(3, 'C'))
			check := func() {
				o.full(a, 3, 'B')
				o.full(b, 6, 'C')
				o.full(c, 1, 'B')
			}
			check()
			o.full(d, 3, 'C')
			again := [2]uuid.UUID{o.ride(3, 'B'), o.ride(3, 'C')}
			fits(r1("ABH", week...), r1("ACG", thursday...))
			check()
			if now := [2]uuid.UUID{o.ride(3, 'B'), o.ride(3, 'C')}; now != again {
				o.t.Errorf("the same trains again: %v were %v", now, again)
			}
			// One of them alone keeps to its own.
			stranded := o.loadAll(r1("ACG", thursday...))
			if !isStranded(stranded, a.ID, a.Legs[0].Run) || len(stranded) != 2 {
				o.t.Errorf("withdrawn, %+v are stranded", stranded)
			}
			o.full(d, 3, 'C')
			fits(r1("ACG", thursday...), r1("ABH", week...))
			check()
			o.full(d, 3, 'C')
			stranded = o.loadAll(r1("ABH", week...), r1("ACG", sunday...)) // they separate again
			if len(stranded) != 1 || stranded[0].Booking != d.ID {
				o.t.Errorf("separated, %+v are stranded", stranded)
			}
			check()
		},
		"a call is inserted as they meet": func(o *office, fits func(...traintravel.Train)) {
			for _, lines := range [][2]string{{"ABDH", "ACG"}, {"ABH", "ACDG"}} {
				fits(r1("ABH", week...), r1("ACG", sunday...))
				a, b := o.book(anna, o.ride(3, 'B')), o.book(anna, o.ride(6, 'C'))
				fits(r1(lines[1], thursday...), r1(lines[0], week...))
				o.full(a, 3, 'B')
				o.full(b, 6, 'C')
				o.expect("cancelling", o.CancelBooking(o.t.Context(), anna, a.ID), nil)
				o.expect("cancelling", o.CancelBooking(o.t.Context(), anna, b.ID), nil)
			}
		},
		"a call is inserted in one of two": func(o *office, fits func(...traintravel.Train)) {
			fits(r1("ABH", week...), r1("ACG", week...))
			a, b := o.book(anna, o.ride(3, 'B')), o.book(anna, o.ride(3, 'C'))
			c := o.book(anna, o.ride(2, 'C'))
			fits(r1("ABH", week...), r1("ACDG", week...))
			o.full(a, 3, 'B')
			o.full(b, 3, 'C')
			o.full(c, 2, 'C')
			fits(r1("ABDH", week...), r1("ACG", week...))
			o.full(a, 3, 'B')
			o.full(b, 3, 'C')
			o.full(c, 2, 'C')
		},
		"one is replaced and comes back": func(o *office, fits func(...traintravel.Train)) {
			fits(r1("ABH", week...))
			o.book(anna, o.ride(3, 'B'))
			o.loadAll(r1("ACG", week...))
			d := o.book(anna, o.ride(2, 'C'))
			fits(r1("ABH", week...), r1("ACG", week...))
			o.full(d, 2, 'C')
			e := o.book(anna, o.ride(2, 'B'))
			fits(r1("ACG", week...), r1("ABH", week...))
			o.full(d, 2, 'C')
			o.full(e, 2, 'B')
		},
		"one is replaced, booked, and comes back": func(o *office, fits func(...traintravel.Train)) {
			fits(r1("ABH", week...))
			a := o.book(anna, o.ride(3, 'B'))
			if stranded := o.loadAll(r1("ACG", week...)); len(stranded) != 1 {
				o.t.Errorf("replaced, %+v are stranded", stranded)
			}
			o.tryBook(berta, o.ride(3, 'C'), traintravel.ErrSoldOut) // what is stranded keeps its place
			o.loadAll(withSeats(r1("ACG", week...), 2))
			b := o.book(anna, o.ride(3, 'C'))
			fits(r1("ABH", week...), withSeats(r1("ACG", week...), 2))
			home, err := o.Booking(o.t.Context(), anna, a.ID)
			if err != nil || home.Legs[0].Run == b.Legs[0].Run {
				o.t.Errorf("the booking of the train that is back is %+v, %v", home, err)
			}
			o.full(home, 3, 'B')
			o.book(berta, o.ride(3, 'C')) // the place that it had there is free again
			o.expect("cancelling", o.CancelBooking(o.t.Context(), anna, a.ID), nil)
			o.book(berta, o.ride(3, 'B'))
		},
		"three": func(o *office, fits func(...traintravel.Train)) {
			fits(r1("ABH", 0, 1), r1("ACG", 2, 3), r1("ADF", 4, 5))
			a, b, c := o.book(anna, o.ride(1, 'B')), o.book(anna, o.ride(2, 'C')), o.book(anna, o.ride(4, 'D'))
			for _, order := range [][3]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
				all := []traintravel.Train{r1("ABH", week...), r1("ACG", week...), r1("ADF", week...)}
				fits(all[order[0]], all[order[1]], all[order[2]])
				o.full(a, 1, 'B')
				o.full(b, 2, 'C')
				o.full(c, 4, 'D')
			}
		},
	} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store)
			test(o, func(trains ...traintravel.Train) {
				t.Helper()
				if stranded := o.loadAll(trains...); len(stranded) > 0 {
					t.Errorf("%+v are stranded", stranded)
				}
			})
		})
	}
}

// A store that lets somebody in before each update.
type interrupted struct {
	traintravel.Store
	before func()
}

func (s *interrupted) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	s.before()
	return s.Store.Update(ctx, fn)
}

// A booking that is made while a timetable is loaded counts like any other.
func TestTwinBookedWhileLoading(t *testing.T) {
	t.Parallel()
	for last := 1; ; last++ {
		o := newOffice(t, memstore.New())
		o.loadAll(r1("ABH", 0, 1, 2, 3), r1("ACG", 6))
		var b traintravel.Booking
		updates := 0
		p := &office{t: t, store: &interrupted{o.store, func() {
			if updates++; updates == last {
				b = o.book(anna, o.ride(3, 'B'))
			}
		}}, clock: o.clock, bank: o.bank, post: o.post}
		p = p.another()
		if stranded := p.loadAll(r1("ABH", 0, 1, 2, 3), r1("ACG", 3, 6)); len(stranded) > 0 {
			t.Errorf("booked before update %d, %+v are stranded", last, stranded)
		}
		if updates < last {
			break
		}
		o.forget()
		o.full(b, 3, 'B')
	}
}

// Over any sequence of timetables: who has booked a train that runs with the
// same calls has its place, and nobody else gets it. The one exception is a run
// that another train took over, and sold, while the first did not run.
func TestNoTwinIsSoldTwice(t *testing.T) {
	t.Parallel()
	lines := []string{"ABH", "ACH", "ADG", "AEFG"}
	rapid.Check(t, func(t *rapid.T) {
		o := newOffice(t, memstore.New())
		type sold struct {
			traintravel.Booking
			line string
			day  int
		}
		var bookings []sold
		ownCoaches := rapid.Bool().Draw(t, "own coaches")
		for round := range rapid.IntRange(2, 6).Draw(t, "timetables") {
			var trains []traintravel.Train
			runs := map[string]bool{}
			for _, line := range rapid.Permutation(lines).Draw(t, "order") {
				days := rapid.SliceOfNDistinct(rapid.IntRange(0, 3), 0, 4, rapid.ID[int]).Draw(t, line)
				if len(days) == 0 {
					continue
				}
				tr := r1(line, days...)
				if ownCoaches { // or one that takes over a booked run has no place to sell
					tr.Coaches[0].Number = line
				}
				tr.ID = fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "id"), len(trains))
				trains = append(trains, tr)
				for _, d := range days {
					runs[fmt.Sprint(line, d)] = true
				}
			}
			trains = append(trains, train("S 9", 9, "AB")) // a timetable needs one
			stranded := o.loadAll(trains...)
			office := o
			if rapid.Bool().Draw(t, "another office") {
				office = o.another()
			}
			office.forget() // what another may have sold since
			for _, b := range bookings {
				if !runs[fmt.Sprint(b.line, b.day)] {
					continue
				}
				now, err := office.Booking(t.Context(), anna, b.ID)
				if err != nil {
					t.Fatal(err)
				}
				run := now.Legs[0].Run
				trip, err := office.Trip(t.Context(), office.ride(b.day, rune(b.line[1])))
				if err != nil || trip.Legs[0].Run != run || trip.Seats != 0 {
					t.Fatalf("timetable %d: %s on day %d was sold on %v and is %+v, %v", round, b.line, b.day, run, trip, err)
				}
				if isStranded(stranded, b.ID, run) {
					t.Fatalf("timetable %d: %s on day %d is stranded", round, b.line, b.day)
				}
			}
			used := map[traintravel.RunID]string{}
			for _, line := range lines {
				for day := range 4 {
					if !runs[fmt.Sprint(line, day)] {
						continue
					}
					id := office.ride(day, rune(line[1]))
					trip, err := office.Trip(t.Context(), id)
					if err != nil {
						t.Fatal(err)
					}
					if other := used[trip.Legs[0].Run]; other != "" {
						t.Fatalf("timetable %d, day %d: %s and %s are one run", round, day, line, other)
					}
					used[trip.Legs[0].Run] = line
					if !rapid.Bool().Draw(t, "book") {
						continue
					}
					b, err := office.CreateBooking(t.Context(), anna, traintravel.NewBooking{TripID: id, PassengerName: "Anna"})
					if errors.Is(err, traintravel.ErrSoldOut) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					for _, other := range bookings {
						if other.line == line && other.day == day {
							t.Fatalf("timetable %d: the place of %s on day %d is sold again", round, line, day)
						}
					}
					bookings = append(bookings, sold{b, line, day})
				}
			}
		}
	})
}

func isStranded(all []traintravel.Stranded, booking uuid.UUID, run traintravel.RunID) bool {
	return slices.ContainsFunc(all, func(s traintravel.Stranded) bool { return s.Booking == booking && s.Run == run })
}
