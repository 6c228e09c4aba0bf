package timetable

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// web is a network with a bit of everything: loops, sleepers, trains of
// weekdays and of single dates, twins, variants, several zones.
func web() *schedule.Timetable {
	weekdays := *railtest.AllYear()
	weekdays.Weekdays[time.Saturday], weekdays.Weekdays[time.Sunday] = false, false
	const berlin, london, istanbul = "Europe/Berlin", "Europe/London", "Europe/Istanbul"
	return railtest.NetworkOf(
		railtest.TrainOf("1", berlin, railtest.AllYear(), "Köln 8:00", "Hamm 9:00-9:05", "Kiel 12:00"),
		railtest.TrainOf("1", berlin, railtest.AllYear(), "Köln 8:00", "Hamm 9:00-9:10", "Ulm 13:00"),
		railtest.TrainOf("2", berlin, &weekdays, "Hamm 9:20", "Kiel 12:30", "Oslo 20:00"),
		railtest.TrainOf("3", berlin, railtest.AllYear(), "Köln 22:00", "Hamm 23:30-23:40", "Ulm 28:00-28:30", "Wien 32:00"),
		railtest.TrainOf("4", berlin, railtest.AllYear(), "Wien 8:30", "Graz 11:00 no-boarding", "Rom 22:00"),
		railtest.TrainOf("5", berlin, railtest.AllYear(), "Hamm 6:00", "Ulm 7:00-7:30", "Wien 8:00-8:30", "Hamm 9:00-9:30", "Ulm 10:00"),
		railtest.TrainOf("6", london, railtest.AllYear(), "London 7:00", "Paris 9:20", "Köln 12:00"),
		railtest.TrainOf("7", istanbul, railtest.AllYear(), "Wien 20:00", "Sofia 40:00-41:00", "Ankara 58:53"),
		railtest.TrainOf("8", berlin, railtest.On(rail.NewDate(2021, 3, 28), rail.NewDate(2021, 10, 31)), "Ulm 1:30", "Wien 3:30", "Graz 6:30"),
		railtest.TrainOf("9", berlin, schedule.Daily(rail.NewDate(2021, 1, 1), rail.NewDate(2021, 6, 30)), "Kiel 14:00", "Oslo 22:00 no-alighting", "Hamm 30:00"),
		railtest.TrainOf("9", berlin, schedule.Daily(rail.NewDate(2021, 7, 1), rail.NewDate(2021, 12, 31)), "Kiel 14:00", "Oslo 23:00", "Hamm 31:00"),
		railtest.TrainOf("", berlin, railtest.AllYear(), "Ulm 12:00", "Ulm 12:30", "Hamm 14:00", "Köln 15:00"),
	)
}

// checkRides checks that rides are a trip that can be made.
func checkRides(t railtest.Tester, sn *Snapshot, tt *schedule.Timetable, rides []Ride) {
	t.Helper()
	if len(rides) < 1 || len(rides) > rail.MaxLegs {
		t.Fatalf("a trip of %d legs", len(rides))
	}
	runs := map[rail.RunID]bool{}
	for i, r := range rides {
		src := &tt.Trains[r.Train.Index]
		switch {
		case !src.Days.Runs(r.Date):
			t.Errorf("leg %d: %s: it does not run", i, sn.describe(r))
		case r.Board < 0 || r.Board >= r.Alight || r.Alight >= len(src.Calls):
			t.Fatalf("leg %d: from call %d to %d of %d", i, r.Board, r.Alight, len(src.Calls))
		case src.Calls[r.Board].NoBoarding || src.Calls[r.Alight].NoAlighting:
			t.Errorf("leg %d: %s: no boarding or no alighting there", i, sn.describe(r))
		case r.Date < r.Train.since:
			t.Errorf("leg %d: %s: the number meant another train then", i, sn.describe(r))
		case runs[r.Run()]:
			t.Errorf("leg %d: %s: on the same run as another", i, sn.describe(r))
		}
		runs[r.Run()] = true
		if i == 0 {
			continue
		}
		before := rides[i-1]
		if before.Train.Station(before.Alight) != r.Train.Station(r.Board) {
			t.Errorf("change %d: from %s to %s: not at one station", i, sn.describe(before), sn.describe(r))
		}
		if wait := r.departs().Sub(before.arrives()); wait < changeTime || r.departs().After(rides[0].departs().Add(longestTrip)) {
			t.Errorf("change %d: from %s to %s: takes %v", i, sn.describe(before), sn.describe(r), wait)
		}
	}
}

// checkResolve checks whatever an ID may mean, and says whether it is a trip.
func checkResolve(t railtest.Tester, sn *Snapshot, tt *schedule.Timetable, id uuid.UUID) bool {
	t.Helper()
	rides, err := sn.Resolve(id)
	if err != nil {
		if !errors.Is(err, rail.ErrNotFound) || rides != nil {
			t.Fatalf("%v: %v, %v", id, rides, err)
		}
		return false
	}
	checkRides(t, sn, tt, rides)
	if trip := sn.Trip(rides); trip.Origin().Station == trip.Destination().Station {
		t.Errorf("%v means a trip to where it begins: %s", id, sn.describeAll(rides))
	}
	if TripID(rides) != id {
		t.Errorf("%v means a trip whose ID is %v", id, TripID(rides))
	}
	if trip := sn.Trip(rides); trip.ID != id || len(trip.Legs) != len(rides) {
		t.Errorf("%v is shown as %+v", id, trip)
	}
	return true
}

// numbers are those that trains have.
func (sn *Snapshot) numbers() (numbers []uint32) {
	for _, e := range sn.byNumber {
		numbers = append(numbers, uint32(e.key))
	}
	return slices.Compact(numbers)
}

// IDs may be made by hand, from numbers that exist: every combination of them.
func TestResolveEverything(t *testing.T) {
	t.Parallel()
	tt := web()
	sn := compiled(t, tt)
	numbers := sn.numbers()
	trips := [rail.MaxLegs + 1]int{}
	var try func(c TripCode)
	try = func(c TripCode) {
		for c.board = range 2 {
			for c.Alight = 1; c.Alight < 4; c.Alight++ {
				rides, _ := sn.Resolve(c.ID())
				if want := slowResolve(sn, c); !slices.Equal(rides, want) {
					t.Fatalf("%+v: %q, want %q", c, sn.describeAll(rides), sn.describeAll(want))
				}
				if checkResolve(t, sn, tt, c.ID()) {
					trips[c.Legs]++
				}
			}
		}
		if c.Legs == 3 {
			return
		}
		for _, n := range numbers {
			next := c
			next.Numbers[c.Legs] = n
			next.Legs++
			try(next)
		}
	}
	for _, d := range []rail.Date{rail.NewDate(2021, 3, 27), rail.NewDate(2021, 6, 30)} {
		for _, n := range numbers {
			try(TripCode{date: d, Legs: 1, Numbers: [rail.MaxLegs]uint32{n}})
		}
	}
	t.Logf("trips by number of legs: %v", trips[1:])
	for legs := 1; legs <= 3; legs++ {
		if trips[legs] < 20 {
			t.Errorf("only %d trips of %d legs", trips[legs], legs)
		}
	}
}

func TestResolveDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tt, first := railtest.DrawTrains(t, 6)
		sn := compiled(t, tt)
		for range 50 {
			c := TripCode{
				date:  first + rail.Date(rapid.IntRange(-1, 9).Draw(t, "date")),
				board: rapid.IntRange(0, 6).Draw(t, "board"), Alight: rapid.IntRange(0, 6).Draw(t, "alight"),
				Legs: rapid.IntRange(1, rail.MaxLegs).Draw(t, "legs"),
			}
			for i := range c.Legs {
				c.Numbers[i] = uint32(rapid.IntRange(1, len(sn.numbers())).Draw(t, "number"))
			}
			checkResolve(t, sn, tt, c.ID())
			rides, _ := sn.Resolve(c.ID())
			if want := slowResolve(sn, c); !slices.Equal(rides, want) {
				t.Fatalf("%+v: %q, want %q", c, sn.describeAll(rides), sn.describeAll(want))
			}
		}
	})
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	day := rail.NewDate(2021, 6, 14) // a Monday
	tt := railtest.NetworkOf(
		railtest.TrainOf("1", "Europe/Berlin", &schedule.Calendar{Weekdays: [7]bool{1: true}, From: day, To: day + 30},
			"A 8:00", "B 9:00 no-boarding", "C 10:00 no-alighting", "D 11:00"),
		railtest.TrainOf("2", "Europe/Berlin", railtest.AllYear(), "D 12:00", "E 13:00"),
	)
	sn := compiled(t, tt)
	one, two := sn.Trains[0].number, sn.Trains[1].number
	good := TripCode{date: day, board: 0, Alight: 3, Legs: 1, Numbers: [rail.MaxLegs]uint32{one}}
	through := TripCode{date: day, board: 0, Alight: 1, Legs: 2, Numbers: [rail.MaxLegs]uint32{one, two}}
	with := func(c TripCode, change func(*TripCode)) TripCode {
		change(&c)
		return c
	}
	for _, c := range []struct {
		name string
		code TripCode
		ok   bool
	}{
		{"a ride", good, true},
		{"to where one may get off", with(good, func(c *TripCode) { c.Alight = 1 }), true},
		{"from where one may get on", with(good, func(c *TripCode) { c.board = 2 }), true},
		{"another day of the train", with(good, func(c *TripCode) { c.date += 7 }), true},
		{"a day without the train", with(good, func(c *TripCode) { c.date++ }), false},
		{"after its last day", with(good, func(c *TripCode) { c.date += 35 }), false},
		{"the first day there is", with(good, func(c *TripCode) { c.date = rail.FirstDate }), false},
		{"the last day there is", with(good, func(c *TripCode) { c.date = rail.LastDate }), false},
		{"an unknown number", with(good, func(c *TripCode) { c.Numbers[0] = 99 }), false},
		{"the highest number", with(good, func(c *TripCode) { c.Numbers[0] = trains.MaxNumber }), false},
		{"no boarding", with(good, func(c *TripCode) { c.board = 1 }), false},
		{"no alighting", with(good, func(c *TripCode) { c.Alight = 2 }), false},
		{"boarding at the terminus", with(good, func(c *TripCode) { c.board = 3 }), false},
		{"no ride at all", with(good, func(c *TripCode) { c.Alight = 0 }), false},
		{"backwards", with(good, func(c *TripCode) { c.board, c.Alight = 2, 1 }), false},
		{"a call too far", with(good, func(c *TripCode) { c.Alight = 4 }), false},
		{"the last call there can be", with(good, func(c *TripCode) { c.board, c.Alight = 254, 255 }), false},
		{"a change", through, true},
		{"a change, from no boarding", with(through, func(c *TripCode) { c.board = 1 }), false},
		{"a change, from the terminus", with(through, func(c *TripCode) { c.board = 3 }), false},
		{"a change, from too far", with(through, func(c *TripCode) { c.board = 255 }), false},
		{"a change, to too far", with(through, func(c *TripCode) { c.Alight = 255 }), false},
		{"a change, to where it boards", with(through, func(c *TripCode) { c.Alight = 0 }), false},
		{"a change into nothing", with(through, func(c *TripCode) { c.Numbers[1] = 99 }), false},
		{"the wrong way round", with(through, func(c *TripCode) { c.Numbers[0], c.Numbers[1] = two, one }), false},
		{"a third leg to nowhere", with(through, func(c *TripCode) { c.Legs, c.Numbers[2] = 3, one }), false},
	} {
		if got := checkResolve(t, sn, tt, c.code.ID()); got != c.ok {
			t.Errorf("%s: a trip: %t, want %t", c.name, got, c.ok)
		}
	}
	for _, id := range []uuid.UUID{uuid.Nil, uuid.Max, uuid.MustParse("a4c7e7f5-5a65-4f1b-9e0c-2f3a6a2b7d10")} {
		if _, err := sn.Resolve(id); !errors.Is(err, rail.ErrNotFound) {
			t.Errorf("%v: %v", id, err)
		}
	}
	if _, err := (&Snapshot{}).Resolve(good.ID()); !errors.Is(err, rail.ErrNotFound) {
		t.Errorf("in an empty timetable: %v", err)
	}
}

// A ring train comes back to where it began, and two trains may, too. Nobody
// travels from a station to itself.
func TestResolveRing(t *testing.T) {
	t.Parallel()
	tt := railtest.NetworkOf(
		railtest.TrainOf("1", "Europe/Berlin", railtest.AllYear(), "A 8:00", "B 9:00", "C 10:00", "A 11:00", "B 12:00"),
		railtest.TrainOf("2", "Europe/Berlin", railtest.AllYear(), "B 9:30", "A 10:30", "D 11:30"),
	)
	sn := compiled(t, tt)
	one, two := sn.Trains[0].number, sn.Trains[1].number
	for _, c := range []struct {
		name          string
		board, alight int
		legs          int
		ok            bool
	}{
		{"half round", 0, 2, 1, true},
		{"all round", 0, 3, 1, false},
		{"all round from the second call", 1, 4, 1, false},
		{"past the end of the ring", 0, 4, 1, true},
		{"there and back", 0, 1, 2, false},
		{"there, back and on", 0, 2, 2, true},
	} {
		code := TripCode{date: rail.NewDate(2021, 6, 14), board: c.board, Alight: c.alight, Legs: c.legs, Numbers: [rail.MaxLegs]uint32{one}}
		if c.legs == 2 {
			code.Numbers[1] = two
		}
		if got := checkResolve(t, sn, tt, code.ID()); got != c.ok {
			t.Errorf("%s: a trip: %t, want %t", c.name, got, c.ok)
		}
	}
}

func FuzzResolve(f *testing.F) {
	tt := web()
	sn := compiled(f, tt)
	number := map[string]uint32{}
	for i := range sn.Trains {
		number[sn.Trains[i].Name] = sn.Trains[i].number
	}
	monday := rail.NewDate(2021, 6, 14)
	for _, c := range []TripCode{
		{date: monday, board: 0, Alight: 2, Legs: 1, Numbers: [rail.MaxLegs]uint32{number["1"]}},
		{date: monday, board: 0, Alight: 2, Legs: 2, Numbers: [rail.MaxLegs]uint32{number["1"], number["2"]}},
		{date: monday, board: 0, Alight: 2, Legs: 3, Numbers: [rail.MaxLegs]uint32{number["6"], number["3"], number["4"]}},
		{date: monday, board: 0, Alight: 2, Legs: 4, Numbers: [rail.MaxLegs]uint32{number["6"], number["3"], number["4"], number["7"]}},
		{date: rail.NewDate(2021, 3, 27), board: 0, Alight: 2, Legs: 2, Numbers: [rail.MaxLegs]uint32{number["3"], number["8"]}},
	} {
		id := c.ID()
		f.Add(id[:], c.Legs, int32(c.date), c.board, c.Alight, c.Numbers[0], c.Numbers[1], c.Numbers[2], c.Numbers[3])
	}
	f.Fuzz(func(t *testing.T, b []byte, legs int, date int32, board, alight int, n0, n1, n2, n3 uint32) {
		if id, err := uuid.FromBytes(b); err == nil {
			checkResolve(t, sn, tt, id)
		}
		// The same from what a code is made of, brought near to what there is.
		c := TripCode{
			Legs: legs&3 + 1, date: railtest.AllYear().From - 2 + rail.Date(uint32(date)%370), board: board & 7, Alight: alight & 7,
			Numbers: [rail.MaxLegs]uint32{n0, n1, n2, n3},
		}
		for i := range c.Numbers {
			if c.Numbers[i] = c.Numbers[i]%uint32(len(sn.numbers())) + 1; i >= c.Legs {
				c.Numbers[i] = 0
			}
		}
		checkResolve(t, sn, tt, c.ID())
	})
}
