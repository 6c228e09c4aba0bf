package loading_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
	"pgregory.net/rapid"
)

func withSeats(t traintravel.Train, n int) traintravel.Train {
	officetest.Seats(n)(&t)
	return t
}

func TestBookedTwins(t *testing.T) {
	week, sunday, thursday := []int{0, 1, 2, 3, 4}, []int{6}, []int{3, 6}
	for name, test := range map[string]func(o *officetest.Office, fits func(...traintravel.Train)){
		"meet": func(o *officetest.Office, fits func(...traintravel.Train)) {
			fits(officetest.R1("ABH", week...), officetest.R1("ACG", sunday...))
			a, b, c := o.Book(officetest.Anna, o.Ride(3, 'B')), o.Book(officetest.Anna, o.Ride(6, 'C')), o.Book(officetest.Anna, o.Ride(1, 'B'))
			if a.Legs[0].Run.Train != b.Legs[0].Run.Train {
				o.T.Error("on days of their own they are one train")
			}
			fits(officetest.R1("ACG", thursday...), officetest.R1("ABH", week...))
			d := o.Book(officetest.Anna, o.Ride(3, 'C'))
			check := func() {
				o.Full(a, 3, 'B')
				o.Full(b, 6, 'C')
				o.Full(c, 1, 'B')
			}
			check()
			o.Full(d, 3, 'C')
			again := [2]uuid.UUID{o.Ride(3, 'B'), o.Ride(3, 'C')}
			fits(officetest.R1("ABH", week...), officetest.R1("ACG", thursday...))
			check()
			if now := [2]uuid.UUID{o.Ride(3, 'B'), o.Ride(3, 'C')}; now != again {
				o.T.Errorf("the same trains again: %v were %v", now, again)
			}
			// One of them alone keeps to its own.
			stranded := o.LoadAll(officetest.R1("ACG", thursday...))
			if !isStranded(stranded, a.ID, a.Legs[0].Run) || len(stranded) != 2 {
				o.T.Errorf("withdrawn, %+v are stranded", stranded)
			}
			o.Full(d, 3, 'C')
			fits(officetest.R1("ACG", thursday...), officetest.R1("ABH", week...))
			check()
			o.Full(d, 3, 'C')
			stranded = o.LoadAll(officetest.R1("ABH", week...), officetest.R1("ACG", sunday...)) // they separate again
			if len(stranded) != 1 || stranded[0].Booking != d.ID {
				o.T.Errorf("separated, %+v are stranded", stranded)
			}
			check()
		},
		"a call is inserted as they meet": func(o *officetest.Office, fits func(...traintravel.Train)) {
			for _, lines := range [][2]string{{"ABDH", "ACG"}, {"ABH", "ACDG"}} {
				fits(officetest.R1("ABH", week...), officetest.R1("ACG", sunday...))
				a, b := o.Book(officetest.Anna, o.Ride(3, 'B')), o.Book(officetest.Anna, o.Ride(6, 'C'))
				fits(officetest.R1(lines[1], thursday...), officetest.R1(lines[0], week...))
				o.Full(a, 3, 'B')
				o.Full(b, 6, 'C')
				o.Expect("cancelling", o.CancelBooking(o.T.Context(), officetest.Anna, a.ID), nil)
				o.Expect("cancelling", o.CancelBooking(o.T.Context(), officetest.Anna, b.ID), nil)
			}
		},
		"a call is inserted in one of two": func(o *officetest.Office, fits func(...traintravel.Train)) {
			fits(officetest.R1("ABH", week...), officetest.R1("ACG", week...))
			a, b := o.Book(officetest.Anna, o.Ride(3, 'B')), o.Book(officetest.Anna, o.Ride(3, 'C'))
			c := o.Book(officetest.Anna, o.Ride(2, 'C'))
			fits(officetest.R1("ABH", week...), officetest.R1("ACDG", week...))
			o.Full(a, 3, 'B')
			o.Full(b, 3, 'C')
			o.Full(c, 2, 'C')
			fits(officetest.R1("ABDH", week...), officetest.R1("ACG", week...))
			o.Full(a, 3, 'B')
			o.Full(b, 3, 'C')
			o.Full(c, 2, 'C')
		},
		"one is replaced and comes back": func(o *officetest.Office, fits func(...traintravel.Train)) {
			fits(officetest.R1("ABH", week...))
			o.Book(officetest.Anna, o.Ride(3, 'B'))
			o.LoadAll(officetest.R1("ACG", week...))
			d := o.Book(officetest.Anna, o.Ride(2, 'C'))
			fits(officetest.R1("ABH", week...), officetest.R1("ACG", week...))
			o.Full(d, 2, 'C')
			e := o.Book(officetest.Anna, o.Ride(2, 'B'))
			fits(officetest.R1("ACG", week...), officetest.R1("ABH", week...))
			o.Full(d, 2, 'C')
			o.Full(e, 2, 'B')
		},
		"one is replaced, booked, and comes back": func(o *officetest.Office, fits func(...traintravel.Train)) {
			fits(officetest.R1("ABH", week...))
			a := o.Book(officetest.Anna, o.Ride(3, 'B'))
			if stranded := o.LoadAll(officetest.R1("ACG", week...)); len(stranded) != 1 {
				o.T.Errorf("replaced, %+v are stranded", stranded)
			}
			o.TryBook(officetest.Berta, o.Ride(3, 'C'), traintravel.ErrSoldOut) // what is stranded keeps its place
			o.LoadAll(withSeats(officetest.R1("ACG", week...), 2))
			b := o.Book(officetest.Anna, o.Ride(3, 'C'))
			fits(officetest.R1("ABH", week...), withSeats(officetest.R1("ACG", week...), 2))
			home, err := o.Booking(o.T.Context(), officetest.Anna, a.ID)
			if err != nil || home.Legs[0].Run == b.Legs[0].Run {
				o.T.Errorf("the booking of the train that is back is %+v, %v", home, err)
			}
			o.Full(home, 3, 'B')
			o.Book(officetest.Berta, o.Ride(3, 'C')) // the place that it had there is free again
			o.Expect("cancelling", o.CancelBooking(o.T.Context(), officetest.Anna, a.ID), nil)
			o.Book(officetest.Berta, o.Ride(3, 'B'))
		},
		"three": func(o *officetest.Office, fits func(...traintravel.Train)) {
			fits(officetest.R1("ABH", 0, 1), officetest.R1("ACG", 2, 3), officetest.R1("ADF", 4, 5))
			a, b, c := o.Book(officetest.Anna, o.Ride(1, 'B')), o.Book(officetest.Anna, o.Ride(2, 'C')), o.Book(officetest.Anna, o.Ride(4, 'D'))
			for _, order := range [][3]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
				all := []traintravel.Train{officetest.R1("ABH", week...), officetest.R1("ACG", week...), officetest.R1("ADF", week...)}
				fits(all[order[0]], all[order[1]], all[order[2]])
				o.Full(a, 1, 'B')
				o.Full(b, 2, 'C')
				o.Full(c, 4, 'D')
			}
		},
	} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store)
			test(o, func(trains ...traintravel.Train) {
				t.Helper()
				if stranded := o.LoadAll(trains...); len(stranded) > 0 {
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
		o := officetest.New(t, memstore.New())
		o.LoadAll(officetest.R1("ABH", 0, 1, 2, 3), officetest.R1("ACG", 6))
		var b traintravel.Booking
		updates := 0
		p := &officetest.Office{T: t, Store: &interrupted{o.Store, func() {
			if updates++; updates == last {
				b = o.Book(officetest.Anna, o.Ride(3, 'B'))
			}
		}}, Clock: o.Clock, Bank: o.Bank, Post: o.Post}
		p = p.Another()
		if stranded := p.LoadAll(officetest.R1("ABH", 0, 1, 2, 3), officetest.R1("ACG", 3, 6)); len(stranded) > 0 {
			t.Errorf("booked before update %d, %+v are stranded", last, stranded)
		}
		if updates < last {
			break
		}
		o.Forget()
		o.Full(b, 3, 'B')
	}
}

// Over any sequence of timetables: who has booked a train that runs with the
// same calls has its place, and nobody else gets it. The one exception is a run
// that another train took over, and sold, while the first did not run.
func TestNoTwinIsSoldTwice(t *testing.T) {
	t.Parallel()
	lines := []string{"ABH", "ACH", "ADG", "AEFG"}
	rapid.Check(t, func(t *rapid.T) {
		o := officetest.New(t, memstore.New())
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
				tr := officetest.R1(line, days...)
				if ownCoaches { // or one that takes over a booked run has no place to sell
					tr.Coaches[0].Number = line
				}
				tr.ID = fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "id"), len(trains))
				trains = append(trains, tr)
				for _, d := range days {
					runs[fmt.Sprint(line, d)] = true
				}
			}
			trains = append(trains, officetest.Train("S 9", 9, "AB")) // a timetable needs one
			stranded := o.LoadAll(trains...)
			office := o
			if rapid.Bool().Draw(t, "another office") {
				office = o.Another()
			}
			office.Forget() // what another may have sold since
			for _, b := range bookings {
				if !runs[fmt.Sprint(b.line, b.day)] {
					continue
				}
				now, err := office.Booking(t.Context(), officetest.Anna, b.ID)
				if err != nil {
					t.Fatal(err)
				}
				run := now.Legs[0].Run
				trip, err := office.Trip(t.Context(), office.Ride(b.day, rune(b.line[1])))
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
					id := office.Ride(day, rune(line[1]))
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
					b, err := office.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: id, PassengerName: "Anna"})
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
