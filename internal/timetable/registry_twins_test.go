package timetable

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// Twins share number, first station and departure, and run on the same days: a
// train that is divided on its way.
func TestTwinsKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	north, south := railtest.Line("1", railtest.AllYear(), "Köln", "Hamm", "Kiel"), railtest.Line("1", railtest.AllYear(), "Köln", "Hamm", "Ulm")
	extended := railtest.Line("1", railtest.AllYear(), "Köln", "Hamm", "Ulm", "Bern")
	moreCalls := railtest.Line("1", railtest.AllYear(), "Köln", "Hamm", "Jena", "Ulm")
	renumbered := func(t schedule.Train) schedule.Train {
		t.ID = "x" + t.ID
		return t
	}
	for _, c := range []struct {
		name   string
		then   []schedule.Train
		same   []bool // for each of then: the identity of north or south, as its position says
		number []bool // the number too
	}{
		{"again", []schedule.Train{north, south}, []bool{true, true}, []bool{true, true}},
		{"in the other order, renumbered", []schedule.Train{renumbered(north), renumbered(south)}, []bool{true, true}, []bool{true, true}},
		{"a call inserted", []schedule.Train{north, moreCalls}, []bool{true, true}, []bool{true, false}},
		{"a call inserted, renumbered", []schedule.Train{renumbered(north), renumbered(moreCalls)}, []bool{true, true}, []bool{true, false}},
		{"another terminus", []schedule.Train{north, extended}, []bool{true, true}, []bool{true, false}},
	} {
		for _, order := range [][2]int{{0, 1}, {1, 0}} {
			ids, reg, err := trains.Registry{}.Register(context.Background(), []schedule.Train{north, south}, trains.CalendarCache{}.Get, railtest.NewYear(), railtest.NewYear())
			if err != nil {
				t.Fatal(err)
			}
			checkRegistry(t, []schedule.Train{north, south}, ids, reg)
			then := []schedule.Train{c.then[order[0]], c.then[order[1]]}
			again, reg, err := reg.Register(context.Background(), then, trains.CalendarCache{}.Get, railtest.NewYear()+1, railtest.NewYear()+1)
			if err != nil {
				t.Fatal(err)
			}
			checkRegistry(t, then, again, reg)
			for i, o := range order {
				was, is := ids[o], again[i]
				if (was.Train == is.Train) != c.same[o] || (was.Number == is.Number) != c.number[o] {
					t.Errorf("%s: train %d was %v and is %v", c.name, o, was, is)
				}
			}
		}
	}
}

// Alone, a twin is known by what is left to know it by.
func TestTwinAlone(t *testing.T) {
	t.Parallel()
	twins := func(ids [2]string, a, b []string) []schedule.Train {
		trains := []schedule.Train{railtest.Line("1", railtest.AllYear(), a...), railtest.Line("1", railtest.AllYear(), b...)}
		trains[0].ID, trains[1].ID = ids[0], ids[1]
		return trains
	}
	for _, c := range []struct {
		name         string
		before, then []schedule.Train
	}{
		{"by its calls and its ID", twins([2]string{"x", "y"}, []string{"Köln", "Ulm"}, []string{"Köln", "Ulm"}),
			twins([2]string{"x", "y"}, []string{"Köln", "Ulm"}, []string{"Köln", "Ulm"})},
		{"by its calls", twins([2]string{"x", "y"}, []string{"Köln", "Bonn", "Ulm"}, []string{"Köln", "Hamm", "Ulm"}),
			twins([2]string{"p", "q"}, []string{"Köln", "Bonn", "Ulm"}, []string{"Köln", "Hamm", "Ulm"})},
		{"by its calls rather than its ID", twins([2]string{"x", "y"}, []string{"Köln", "Bonn", "Ulm"}, []string{"Köln", "Hamm", "Ulm"}),
			twins([2]string{"y", "x"}, []string{"Köln", "Bonn", "Ulm"}, []string{"Köln", "Hamm", "Ulm"})},
		{"by its terminus and its ID", twins([2]string{"x", "y"}, []string{"Köln", "Bonn", "Ulm"}, []string{"Köln", "Hamm", "Ulm"}),
			twins([2]string{"x", "y"}, []string{"Köln", "Kiel", "Ulm"}, []string{"Köln", "Jena", "Ulm"})},
		{"by its terminus", twins([2]string{"x", "y"}, []string{"Köln", "Ulm"}, []string{"Köln", "Kiel"}),
			twins([2]string{"p", "q"}, []string{"Köln", "Jena", "Ulm"}, []string{"Köln", "Jena", "Kiel"})},
		{"by its ID", twins([2]string{"x", "y"}, []string{"Köln", "Ulm"}, []string{"Köln", "Kiel"}),
			twins([2]string{"x", "y"}, []string{"Köln", "Bern"}, []string{"Köln", "Oslo"})},
	} {
		was, reg, err := trains.Registry{}.Register(context.Background(), c.before, trains.CalendarCache{}.Get, railtest.NewYear(), railtest.NewYear())
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.then {
			is, _, err := reg.Register(context.Background(), c.then[i:i+1], trains.CalendarCache{}.Get, railtest.NewYear()+1, railtest.NewYear()+1)
			if err != nil || is[0].Train != was[i].Train {
				t.Errorf("%s: train %d was %v and is %v, %v", c.name, i, was[i], is[0], err)
			}
		}
		for _, order := range [][2]int{{0, 1}, {1, 0}} {
			is, _, err := reg.Register(context.Background(), []schedule.Train{c.then[order[0]], c.then[order[1]]}, trains.CalendarCache{}.Get, railtest.NewYear()+1, railtest.NewYear()+1)
			if err != nil || is[0].Train != was[order[0]].Train || is[1].Train != was[order[1]].Train {
				t.Errorf("%s, both: %v were %v, %v", c.name, is, was, err)
			}
		}
	}
}

// When one twin is withdrawn for a while, the other remains itself, and so does
// the first when it comes back.
func TestTwinWithdrawnAndBack(t *testing.T) {
	t.Parallel()
	north, south := railtest.Line("1", railtest.AllYear(), "Köln", "Hamm", "Kiel"), railtest.Line("1", railtest.AllYear(), "Köln", "Hamm", "Ulm")
	both, full := enter(t, trains.Registry{}, railtest.NewYear(), north, south)
	for _, alone := range []schedule.Train{north, south} {
		one, reg := enter(t, full, railtest.NewYear()+1, alone)
		if key := describeTrain(&alone); one[key] != both[key] {
			t.Errorf("alone %s is %v, want %v", key, one[key], both[key])
		}
		again, _ := enter(t, reg, railtest.NewYear()+2, south, north)
		sameBook(t, "both again", both, again)
	}
}

// Variants of a train that never run on one date are one train: they share the
// identity, and with the same calls the number.
func TestVariantsShareANumber(t *testing.T) {
	t.Parallel()
	spring := schedule.Daily(railtest.NewYear(), railtest.NewYear()+89)
	summer := schedule.Daily(railtest.NewYear()+90, railtest.NewYear()+200)
	a, b := railtest.Line("1", spring, "Köln", "Bonn", "Ulm"), railtest.Line("1", summer, "Köln", "Bonn", "Ulm")
	b.Calls[1].Depart += 60
	c := railtest.Line("1", railtest.On(railtest.NewYear()+300), "Köln", "Jena", "Ulm")
	got, reg := enter(t, trains.Registry{}, railtest.NewYear(), a, b, c)
	x, y, z := got[describeTrain(&a)], got[describeTrain(&b)], got[describeTrain(&c)]
	if x != y {
		t.Errorf("the same calls on other days: %v and %v", x, y)
	}
	if z.Train != x.Train || z.Number == x.Number {
		t.Errorf("other calls on other days: %v and %v", x, z)
	}
	// Should they come to run on one date, they are twins; one keeps the number.
	b.Days = schedule.Daily(railtest.NewYear()+80, railtest.NewYear()+200)
	got, _ = enter(t, reg, railtest.NewYear()+1, a, b, c)
	x, y = got[describeTrain(&a)], got[describeTrain(&b)]
	if x.Train == y.Train || x.Number == y.Number {
		t.Errorf("both on %s: %v and %v", railtest.NewYear()+80, x, y)
	}
}

// Over any sequence of timetables: nothing is sold twice under one identity, a
// number never comes to mean another train, and who is there again with the
// same calls, days and companions is who it was.
func TestRegistryOverManyTimetables(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tt, _ := railtest.DrawTrains(t, 6)
		var pool []schedule.Train
		for i, tr := range tt.Trains {
			if tr.Days.Added = append(tr.Days.Added, tr.Days.From+9); !tr.Days.Runs(tr.Days.From + 9) {
				t.Fatal("a train that never runs")
			}
			// All of one base, with calls and days of their own.
			tr.Number, tr.ID, tr.Calls[0].Station, tr.Calls[0].Depart = "1", fmt.Sprint(i), railtest.StationNamed("Alt"), 0
			pool = append(pool, tr)
		}
		registerOften(t, pool)
	})
}

// Variants of twins share numbers with whoever does not run on their days. Each is who it
// was as long as the feed's IDs last, however many share.
func TestVariantsOfTwinsKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var pool []schedule.Train
		for i := range rapid.IntRange(5, 9).Draw(t, "trains") {
			days := []rail.Date{railtest.NewYear() + 10 + rail.Date(i)}
			for d := range rail.Date(3) {
				if rapid.IntRange(0, 2).Draw(t, "runs") == 0 {
					days = append(days, railtest.NewYear()+d)
				}
			}
			tr := railtest.Line("1", &schedule.Calendar{Added: days}, "Köln", rapid.SampledFrom([]string{"Bonn", "Bonn", "Bonn", "Ulm"}).Draw(t, "terminus"))
			tr.ID = fmt.Sprint(i)
			pool = append(pool, tr)
		}
		registerOften(t, pool)
	})
}

// A variant that shares a twin's number does not take the place of the other in memory.
func TestVariantsOfOneNumberAreRemembered(t *testing.T) {
	t.Parallel()
	train := func(id string, day rail.Date) schedule.Train {
		tr := railtest.Line("1", railtest.On(day), "Köln", "Bonn")
		tr.ID = id
		return tr
	}
	first, twin := train("first", railtest.NewYear()), train("twin", railtest.NewYear())
	before, reg := enterAll(t, trains.Registry{}, first, twin)
	// The one has the place of the first, which is withdrawn; so the other, which runs on the
	// same day, shares that of the twin.
	one, other := train("one", railtest.NewYear()+1), train("other", railtest.NewYear()+1)
	ids, reg := enterAll(t, reg, one, twin, other)
	if ids[0] != before[0] || ids[1] != before[1] || ids[2] != before[1] {
		t.Fatalf("%v were %v", ids, before)
	}
	again, _ := enterAll(t, reg, one, twin, other)
	if !slices.Equal(again, ids) {
		t.Errorf("again they are %v, and were %v", again, ids)
	}
}

func enterAll(t *testing.T, old trains.Registry, list ...schedule.Train) ([]trains.Numbering, trains.Registry) {
	t.Helper()
	ids, reg, err := old.Register(context.Background(), list, trains.CalendarCache{}.Get, railtest.NewYear(), railtest.NewYear())
	if err != nil {
		t.Fatal(err)
	}
	checkRegistry(t, list, ids, reg)
	return ids, reg
}

// registerOften registers timetables of some trains of a pool, one after another.
func registerOften(t *rapid.T, pool []schedule.Train) {
	reg := trains.Registry{}
	meaning := map[uint32]string{}
	for day := railtest.NewYear(); day < railtest.NewYear()+5; day++ {
		var list []schedule.Train
		for _, tr := range rapid.Permutation(pool).Draw(t, "order") {
			if rapid.IntRange(0, 3).Draw(t, "withdrawn") < 3 {
				list = append(list, tr)
			}
		}
		ids, next, err := reg.Register(context.Background(), list, trains.CalendarCache{}.Get, day, day)
		if err != nil {
			t.Fatal(err)
		}
		checkRegistry(t, list, ids, next)
		for i, id := range ids {
			what := fmt.Sprint(id.Train, trains.ListMark(list[i].Calls))
			if was := meaning[id.Number]; was != "" && was != what {
				t.Fatalf("number %d was %s and is %s", id.Number, was, what)
			}
			if trains.CompileCalendar(list[i].Days).Last+trains.KeepNumbers >= day+5 { // else it may be given away
				meaning[id.Number] = what
			}
		}
		again, same, err := next.Register(context.Background(), list, trains.CalendarCache{}.Get, day, day)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ids {
			if again[i] != ids[i] {
				t.Fatalf("the same timetable again: train %d was %v and is %v", i, ids[i], again[i])
			}
		}
		if len(same.Entries) != len(next.Entries) {
			t.Fatalf("the same timetable again: %d entries have become %d", len(next.Entries), len(same.Entries))
		}
		reg = next
	}
}
