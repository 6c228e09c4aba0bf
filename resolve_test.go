package traintravel

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// web is a network with a bit of everything: loops, sleepers, trains of
// weekdays and of single dates, twins, variants, several zones.
func web() *Timetable {
	weekdays := *allYear
	weekdays.Weekdays[time.Saturday], weekdays.Weekdays[time.Sunday] = false, false
	const berlin, london, istanbul = "Europe/Berlin", "Europe/London", "Europe/Istanbul"
	return networkOf(
		trainOf("1", berlin, allYear, "Köln 8:00", "Hamm 9:00-9:05", "Kiel 12:00"),
		trainOf("1", berlin, allYear, "Köln 8:00", "Hamm 9:00-9:10", "Ulm 13:00"),
		trainOf("2", berlin, &weekdays, "Hamm 9:20", "Kiel 12:30", "Oslo 20:00"),
		trainOf("3", berlin, allYear, "Köln 22:00", "Hamm 23:30-23:40", "Ulm 28:00-28:30", "Wien 32:00"),
		trainOf("4", berlin, allYear, "Wien 8:30", "Graz 11:00 no-boarding", "Rom 22:00"),
		trainOf("5", berlin, allYear, "Hamm 6:00", "Ulm 7:00-7:30", "Wien 8:00-8:30", "Hamm 9:00-9:30", "Ulm 10:00"),
		trainOf("6", london, allYear, "London 7:00", "Paris 9:20", "Köln 12:00"),
		trainOf("7", istanbul, allYear, "Wien 20:00", "Sofia 40:00-41:00", "Ankara 58:53"),
		trainOf("8", berlin, on(NewDate(2021, 3, 28), NewDate(2021, 10, 31)), "Ulm 1:30", "Wien 3:30", "Graz 6:30"),
		trainOf("9", berlin, Daily(NewDate(2021, 1, 1), NewDate(2021, 6, 30)), "Kiel 14:00", "Oslo 22:00 no-alighting", "Hamm 30:00"),
		trainOf("9", berlin, Daily(NewDate(2021, 7, 1), NewDate(2021, 12, 31)), "Kiel 14:00", "Oslo 23:00", "Hamm 31:00"),
		trainOf("", berlin, allYear, "Ulm 12:00", "Ulm 12:30", "Hamm 14:00", "Köln 15:00"),
	)
}

// checkRides checks that rides are a trip that can be made.
func checkRides(t tester, sn *snapshot, tt *Timetable, rides []ride) {
	t.Helper()
	if len(rides) < 1 || len(rides) > maxLegs {
		t.Fatalf("a trip of %d legs", len(rides))
	}
	runs := map[RunID]bool{}
	for i, r := range rides {
		src := &tt.Trains[r.train.index]
		switch {
		case !src.Days.Runs(r.date):
			t.Errorf("leg %d: %s: it does not run", i, sn.describe(r))
		case r.board < 0 || r.board >= r.alight || r.alight >= len(src.Calls):
			t.Fatalf("leg %d: from call %d to %d of %d", i, r.board, r.alight, len(src.Calls))
		case src.Calls[r.board].NoBoarding || src.Calls[r.alight].NoAlighting:
			t.Errorf("leg %d: %s: no boarding or no alighting there", i, sn.describe(r))
		case r.date < r.train.since:
			t.Errorf("leg %d: %s: the number meant another train then", i, sn.describe(r))
		case runs[r.run()]:
			t.Errorf("leg %d: %s: on the same run as another", i, sn.describe(r))
		}
		runs[r.run()] = true
		if i == 0 {
			continue
		}
		before := rides[i-1]
		if before.train.station(before.alight) != r.train.station(r.board) {
			t.Errorf("change %d: from %s to %s: not at one station", i, sn.describe(before), sn.describe(r))
		}
		if wait := r.departs().Sub(before.arrives()); wait < changeTime || r.departs().After(rides[0].departs().Add(longestTrip)) {
			t.Errorf("change %d: from %s to %s: takes %v", i, sn.describe(before), sn.describe(r), wait)
		}
	}
}

// checkResolve checks whatever an ID may mean, and says whether it is a trip.
func checkResolve(t tester, sn *snapshot, tt *Timetable, id uuid.UUID) bool {
	t.Helper()
	rides, err := sn.resolve(id)
	if err != nil {
		if !errors.Is(err, ErrNotFound) || rides != nil {
			t.Fatalf("%v: %v, %v", id, rides, err)
		}
		return false
	}
	checkRides(t, sn, tt, rides)
	if trip := sn.trip(rides); trip.Origin().Station == trip.Destination().Station {
		t.Errorf("%v means a trip to where it begins: %s", id, sn.describeAll(rides))
	}
	if tripID(rides) != id {
		t.Errorf("%v means a trip whose ID is %v", id, tripID(rides))
	}
	if trip := sn.trip(rides); trip.ID != id || len(trip.Legs) != len(rides) {
		t.Errorf("%v is shown as %+v", id, trip)
	}
	return true
}

// numbers are those that trains have.
func (sn *snapshot) numbers() (numbers []uint32) {
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
	trips := [maxLegs + 1]int{}
	var try func(c tripCode)
	try = func(c tripCode) {
		for c.board = range 2 {
			for c.alight = 1; c.alight < 4; c.alight++ {
				rides, _ := sn.resolve(c.id())
				if want := slowResolve(sn, c); !slices.Equal(rides, want) {
					t.Fatalf("%+v: %q, want %q", c, sn.describeAll(rides), sn.describeAll(want))
				}
				if checkResolve(t, sn, tt, c.id()) {
					trips[c.legs]++
				}
			}
		}
		if c.legs == 3 {
			return
		}
		for _, n := range numbers {
			next := c
			next.numbers[c.legs] = n
			next.legs++
			try(next)
		}
	}
	for _, d := range []Date{NewDate(2021, 3, 27), NewDate(2021, 6, 30)} {
		for _, n := range numbers {
			try(tripCode{date: d, legs: 1, numbers: [maxLegs]uint32{n}})
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
		tt, first := drawTimetable(t, 6)
		sn := compiled(t, tt)
		for range 50 {
			c := tripCode{
				date:  first + Date(rapid.IntRange(-1, 9).Draw(t, "date")),
				board: rapid.IntRange(0, 6).Draw(t, "board"), alight: rapid.IntRange(0, 6).Draw(t, "alight"),
				legs: rapid.IntRange(1, maxLegs).Draw(t, "legs"),
			}
			for i := range c.legs {
				c.numbers[i] = uint32(rapid.IntRange(1, len(sn.numbers())).Draw(t, "number"))
			}
			checkResolve(t, sn, tt, c.id())
			rides, _ := sn.resolve(c.id())
			if want := slowResolve(sn, c); !slices.Equal(rides, want) {
				t.Fatalf("%+v: %q, want %q", c, sn.describeAll(rides), sn.describeAll(want))
			}
		}
	})
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	day := NewDate(2021, 6, 14) // a Monday
	tt := networkOf(
		trainOf("1", "Europe/Berlin", &Calendar{Weekdays: [7]bool{1: true}, From: day, To: day + 30},
			"A 8:00", "B 9:00 no-boarding", "C 10:00 no-alighting", "D 11:00"),
		trainOf("2", "Europe/Berlin", allYear, "D 12:00", "E 13:00"),
	)
	sn := compiled(t, tt)
	one, two := sn.trains[0].number, sn.trains[1].number
	good := tripCode{date: day, board: 0, alight: 3, legs: 1, numbers: [maxLegs]uint32{one}}
	through := tripCode{date: day, board: 0, alight: 1, legs: 2, numbers: [maxLegs]uint32{one, two}}
	with := func(c tripCode, change func(*tripCode)) tripCode {
		change(&c)
		return c
	}
	for _, c := range []struct {
		name string
		code tripCode
		ok   bool
	}{
		{"a ride", good, true},
		{"to where one may get off", with(good, func(c *tripCode) { c.alight = 1 }), true},
		{"from where one may get on", with(good, func(c *tripCode) { c.board = 2 }), true},
		{"another day of the train", with(good, func(c *tripCode) { c.date += 7 }), true},
		{"a day without the train", with(good, func(c *tripCode) { c.date++ }), false},
		{"after its last day", with(good, func(c *tripCode) { c.date += 35 }), false},
		{"the first day there is", with(good, func(c *tripCode) { c.date = FirstDate }), false},
		{"the last day there is", with(good, func(c *tripCode) { c.date = LastDate }), false},
		{"an unknown number", with(good, func(c *tripCode) { c.numbers[0] = 99 }), false},
		{"the highest number", with(good, func(c *tripCode) { c.numbers[0] = maxNumber }), false},
		{"no boarding", with(good, func(c *tripCode) { c.board = 1 }), false},
		{"no alighting", with(good, func(c *tripCode) { c.alight = 2 }), false},
		{"boarding at the terminus", with(good, func(c *tripCode) { c.board = 3 }), false},
		{"no ride at all", with(good, func(c *tripCode) { c.alight = 0 }), false},
		{"backwards", with(good, func(c *tripCode) { c.board, c.alight = 2, 1 }), false},
		{"a call too far", with(good, func(c *tripCode) { c.alight = 4 }), false},
		{"the last call there can be", with(good, func(c *tripCode) { c.board, c.alight = 254, 255 }), false},
		{"a change", through, true},
		{"a change, from no boarding", with(through, func(c *tripCode) { c.board = 1 }), false},
		{"a change, from the terminus", with(through, func(c *tripCode) { c.board = 3 }), false},
		{"a change, from too far", with(through, func(c *tripCode) { c.board = 255 }), false},
		{"a change, to too far", with(through, func(c *tripCode) { c.alight = 255 }), false},
		{"a change, to where it boards", with(through, func(c *tripCode) { c.alight = 0 }), false},
		{"a change into nothing", with(through, func(c *tripCode) { c.numbers[1] = 99 }), false},
		{"the wrong way round", with(through, func(c *tripCode) { c.numbers[0], c.numbers[1] = two, one }), false},
		{"a third leg to nowhere", with(through, func(c *tripCode) { c.legs, c.numbers[2] = 3, one }), false},
	} {
		if got := checkResolve(t, sn, tt, c.code.id()); got != c.ok {
			t.Errorf("%s: a trip: %t, want %t", c.name, got, c.ok)
		}
	}
	for _, id := range []uuid.UUID{uuid.Nil, uuid.Max, uuid.MustParse("a4c7e7f5-5a65-4f1b-9e0c-2f3a6a2b7d10")} {
		if _, err := sn.resolve(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%v: %v", id, err)
		}
	}
	if _, err := (&snapshot{}).resolve(good.id()); !errors.Is(err, ErrNotFound) {
		t.Errorf("in an empty timetable: %v", err)
	}
}

// A ring train comes back to where it began, and two trains may, too. Nobody
// travels from a station to itself.
func TestResolveRing(t *testing.T) {
	t.Parallel()
	tt := networkOf(
		trainOf("1", "Europe/Berlin", allYear, "A 8:00", "B 9:00", "C 10:00", "A 11:00", "B 12:00"),
		trainOf("2", "Europe/Berlin", allYear, "B 9:30", "A 10:30", "D 11:30"),
	)
	sn := compiled(t, tt)
	one, two := sn.trains[0].number, sn.trains[1].number
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
		code := tripCode{date: NewDate(2021, 6, 14), board: c.board, alight: c.alight, legs: c.legs, numbers: [maxLegs]uint32{one}}
		if c.legs == 2 {
			code.numbers[1] = two
		}
		if got := checkResolve(t, sn, tt, code.id()); got != c.ok {
			t.Errorf("%s: a trip: %t, want %t", c.name, got, c.ok)
		}
	}
}

func FuzzResolve(f *testing.F) {
	tt := web()
	sn := compiled(f, tt)
	number := map[string]uint32{}
	for i := range sn.trains {
		number[sn.trains[i].name] = sn.trains[i].number
	}
	monday := NewDate(2021, 6, 14)
	for _, c := range []tripCode{
		{date: monday, board: 0, alight: 2, legs: 1, numbers: [maxLegs]uint32{number["1"]}},
		{date: monday, board: 0, alight: 2, legs: 2, numbers: [maxLegs]uint32{number["1"], number["2"]}},
		{date: monday, board: 0, alight: 2, legs: 3, numbers: [maxLegs]uint32{number["6"], number["3"], number["4"]}},
		{date: monday, board: 0, alight: 2, legs: 4, numbers: [maxLegs]uint32{number["6"], number["3"], number["4"], number["7"]}},
		{date: NewDate(2021, 3, 27), board: 0, alight: 2, legs: 2, numbers: [maxLegs]uint32{number["3"], number["8"]}},
	} {
		id := c.id()
		f.Add(id[:], c.legs, int32(c.date), c.board, c.alight, c.numbers[0], c.numbers[1], c.numbers[2], c.numbers[3])
	}
	f.Fuzz(func(t *testing.T, b []byte, legs int, date int32, board, alight int, n0, n1, n2, n3 uint32) {
		if id, err := uuid.FromBytes(b); err == nil {
			checkResolve(t, sn, tt, id)
		}
		// The same from what a code is made of, brought near to what there is.
		c := tripCode{
			legs: legs&3 + 1, date: allYear.From - 2 + Date(uint32(date)%370), board: board & 7, alight: alight & 7,
			numbers: [maxLegs]uint32{n0, n1, n2, n3},
		}
		for i := range c.numbers {
			if c.numbers[i] = c.numbers[i]%uint32(len(sn.numbers())) + 1; i >= c.legs {
				c.numbers[i] = 0
			}
		}
		checkResolve(t, sn, tt, c.id())
	})
}
