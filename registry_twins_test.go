package traintravel

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Twins share number, first station and departure, and run on the same days: a
// train that is divided on its way.
func TestTwinsKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	north, south := line("1", allYear, "Köln", "Hamm", "Kiel"), line("1", allYear, "Köln", "Hamm", "Ulm")
	extended := line("1", allYear, "Köln", "Hamm", "Ulm", "Bern")
	moreCalls := line("1", allYear, "Köln", "Hamm", "Jena", "Ulm")
	renumbered := func(t Train) Train {
		t.ID = "x" + t.ID
		return t
	}
	for _, c := range []struct {
		name   string
		then   []Train
		same   []bool // for each of then: the identity of north or south, as its position says
		number []bool // the number too
	}{
		{"again", []Train{north, south}, []bool{true, true}, []bool{true, true}},
		{"in the other order, renumbered", []Train{renumbered(north), renumbered(south)}, []bool{true, true}, []bool{true, true}},
		{"a call inserted", []Train{north, moreCalls}, []bool{true, true}, []bool{true, false}},
		{"a call inserted, renumbered", []Train{renumbered(north), renumbered(moreCalls)}, []bool{true, true}, []bool{true, false}},
		{"another terminus", []Train{north, extended}, []bool{true, true}, []bool{true, false}},
	} {
		for _, order := range [][2]int{{0, 1}, {1, 0}} {
			ids, reg, err := register(context.Background(), registry{}, []Train{north, south}, calendarCache{}.get, newYear, newYear)
			if err != nil {
				t.Fatal(err)
			}
			checkRegistry(t, []Train{north, south}, ids, reg)
			then := []Train{c.then[order[0]], c.then[order[1]]}
			again, reg, err := register(context.Background(), reg, then, calendarCache{}.get, newYear+1, newYear+1)
			if err != nil {
				t.Fatal(err)
			}
			checkRegistry(t, then, again, reg)
			for i, o := range order {
				was, is := ids[o], again[i]
				if (was.train == is.train) != c.same[o] || (was.number == is.number) != c.number[o] {
					t.Errorf("%s: train %d was %v and is %v", c.name, o, was, is)
				}
			}
		}
	}
}

// Alone, a twin is known by what is left to know it by.
func TestTwinAlone(t *testing.T) {
	t.Parallel()
	twins := func(ids [2]string, a, b []string) []Train {
		trains := []Train{line("1", allYear, a...), line("1", allYear, b...)}
		trains[0].ID, trains[1].ID = ids[0], ids[1]
		return trains
	}
	for _, c := range []struct {
		name         string
		before, then []Train
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
		was, reg, err := register(context.Background(), registry{}, c.before, calendarCache{}.get, newYear, newYear)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.then {
			is, _, err := register(context.Background(), reg, c.then[i:i+1], calendarCache{}.get, newYear+1, newYear+1)
			if err != nil || is[0].train != was[i].train {
				t.Errorf("%s: train %d was %v and is %v, %v", c.name, i, was[i], is[0], err)
			}
		}
		for _, order := range [][2]int{{0, 1}, {1, 0}} {
			is, _, err := register(context.Background(), reg, []Train{c.then[order[0]], c.then[order[1]]}, calendarCache{}.get, newYear+1, newYear+1)
			if err != nil || is[0].train != was[order[0]].train || is[1].train != was[order[1]].train {
				t.Errorf("%s, both: %v were %v, %v", c.name, is, was, err)
			}
		}
	}
}

// When one twin is withdrawn for a while, the other remains itself, and so does
// the first when it comes back.
func TestTwinWithdrawnAndBack(t *testing.T) {
	t.Parallel()
	north, south := line("1", allYear, "Köln", "Hamm", "Kiel"), line("1", allYear, "Köln", "Hamm", "Ulm")
	both, full := enter(t, registry{}, newYear, north, south)
	for _, alone := range []Train{north, south} {
		one, reg := enter(t, full, newYear+1, alone)
		if key := describeTrain(&alone); one[key] != both[key] {
			t.Errorf("alone %s is %v, want %v", key, one[key], both[key])
		}
		again, _ := enter(t, reg, newYear+2, south, north)
		sameBook(t, "both again", both, again)
	}
}

// Variants of a train that never run on one date are one train: they share the
// identity, and with the same calls the number.
func TestVariantsShareANumber(t *testing.T) {
	t.Parallel()
	spring := Daily(newYear, newYear+89)
	summer := Daily(newYear+90, newYear+200)
	a, b := line("1", spring, "Köln", "Bonn", "Ulm"), line("1", summer, "Köln", "Bonn", "Ulm")
	b.Calls[1].Depart += 60
	c := line("1", on(newYear+300), "Köln", "Jena", "Ulm")
	got, reg := enter(t, registry{}, newYear, a, b, c)
	x, y, z := got[describeTrain(&a)], got[describeTrain(&b)], got[describeTrain(&c)]
	if x != y {
		t.Errorf("the same calls on other days: %v and %v", x, y)
	}
	if z.train != x.train || z.number == x.number {
		t.Errorf("other calls on other days: %v and %v", x, z)
	}
	// Should they come to run on one date, they are twins; one keeps the number.
	b.Days = Daily(newYear+80, newYear+200)
	got, _ = enter(t, reg, newYear+1, a, b, c)
	x, y = got[describeTrain(&a)], got[describeTrain(&b)]
	if x.train == y.train || x.number == y.number {
		t.Errorf("both on %s: %v and %v", newYear+80, x, y)
	}
}

// Over any sequence of timetables: nothing is sold twice under one identity, a
// number never comes to mean another train, and who is there again with the
// same calls, days and companions is who it was.
func TestRegistryOverManyTimetables(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tt, _ := drawTimetable(t, 6)
		var pool []Train
		for i, tr := range tt.Trains {
			if tr.Days.Added = append(tr.Days.Added, tr.Days.From+9); !tr.Days.Runs(tr.Days.From + 9) {
				t.Fatal("a train that never runs")
			}
			// All of one base, with calls and days of their own.
			tr.Number, tr.ID, tr.Calls[0].Station, tr.Calls[0].Depart = "1", fmt.Sprint(i), stationNamed("Alt"), 0
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
		var pool []Train
		for i := range rapid.IntRange(5, 9).Draw(t, "trains") {
			days := []Date{newYear + 10 + Date(i)}
			for d := range Date(3) {
				if rapid.IntRange(0, 2).Draw(t, "runs") == 0 {
					days = append(days, newYear+d)
				}
			}
			tr := line("1", &Calendar{Added: days}, "Köln", rapid.SampledFrom([]string{"Bonn", "Bonn", "Bonn", "Ulm"}).Draw(t, "terminus"))
			tr.ID = fmt.Sprint(i)
			pool = append(pool, tr)
		}
		registerOften(t, pool)
	})
}

// A variant that shares a twin's number does not take the place of the other in memory.
func TestVariantsOfOneNumberAreRemembered(t *testing.T) {
	t.Parallel()
	train := func(id string, day Date) Train {
		tr := line("1", on(day), "Köln", "Bonn")
		tr.ID = id
		return tr
	}
	first, twin := train("first", newYear), train("twin", newYear)
	before, reg := enterAll(t, registry{}, first, twin)
	// The one has the place of the first, which is withdrawn; so the other, which runs on the
	// same day, shares that of the twin.
	one, other := train("one", newYear+1), train("other", newYear+1)
	ids, reg := enterAll(t, reg, one, twin, other)
	if ids[0] != before[0] || ids[1] != before[1] || ids[2] != before[1] {
		t.Fatalf("%v were %v", ids, before)
	}
	again, _ := enterAll(t, reg, one, twin, other)
	if !slices.Equal(again, ids) {
		t.Errorf("again they are %v, and were %v", again, ids)
	}
	var a auditor
	if a.registry(Key{}, networkOf(one, twin, other), ids, reg); a.report.Found != 0 {
		t.Errorf("a check finds %v", a.report.Faults)
	}
	for i := range reg.entries {
		if reg.entries[i].number == ids[2].number {
			reg.entries[i].list++
			break
		}
	}
	if a.registry(Key{}, networkOf(one, twin, other), ids, reg); a.report.Found == 0 {
		t.Error("a check finds nothing where a number stands for two lists of calls")
	}
}

func enterAll(t *testing.T, old registry, trains ...Train) ([]numbering, registry) {
	t.Helper()
	ids, reg, err := register(context.Background(), old, trains, calendarCache{}.get, newYear, newYear)
	if err != nil {
		t.Fatal(err)
	}
	checkRegistry(t, trains, ids, reg)
	return ids, reg
}

// registerOften registers timetables of some trains of a pool, one after another.
func registerOften(t *rapid.T, pool []Train) {
	reg := registry{}
	meaning := map[uint32]string{}
	for day := newYear; day < newYear+5; day++ {
		var trains []Train
		for _, tr := range rapid.Permutation(pool).Draw(t, "order") {
			if rapid.IntRange(0, 3).Draw(t, "withdrawn") < 3 {
				trains = append(trains, tr)
			}
		}
		ids, next, err := register(context.Background(), reg, trains, calendarCache{}.get, day, day)
		if err != nil {
			t.Fatal(err)
		}
		checkRegistry(t, trains, ids, next)
		for i, id := range ids {
			what := fmt.Sprint(id.train, listMark(trains[i].Calls))
			if was := meaning[id.number]; was != "" && was != what {
				t.Fatalf("number %d was %s and is %s", id.number, was, what)
			}
			if compileCalendar(trains[i].Days).last+keepNumbers >= day+5 { // else it may be given away
				meaning[id.number] = what
			}
		}
		again, same, err := register(context.Background(), next, trains, calendarCache{}.get, day, day)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ids {
			if again[i] != ids[i] {
				t.Fatalf("the same timetable again: train %d was %v and is %v", i, ids[i], again[i])
			}
		}
		if len(same.entries) != len(next.entries) {
			t.Fatalf("the same timetable again: %d entries have become %d", len(next.entries), len(same.entries))
		}
		reg = next
	}
}
