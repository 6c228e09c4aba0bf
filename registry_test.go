package traintravel

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A book is what the registry found for the trains of a timetable, by a name
// that the test gives them: see named.
type book map[string]numbering

// newYear is the day on which most tests import their timetables.
var newYear = NewDate(2021, 1, 1)

// enter registers trains and says what each got, by the text of describeTrain.
func enter(t tester, old registry, today Date, trains ...Train) (book, registry) {
	t.Helper()
	ids, reg, err := register(context.Background(), old, trains, calendarCache{}.get, today, today)
	if err != nil {
		t.Fatal(err)
	}
	b := book{}
	for i := range trains {
		b[describeTrain(&trains[i])] = ids[i]
	}
	checkRegistry(t, trains, ids, reg)
	return b, reg
}

// describeTrain tells trains apart by everything but their ID.
func describeTrain(t *Train) string {
	c := *t
	c.ID = ""
	s := ""
	for _, k := range c.Calls {
		s += nameOf(k.Station) + " "
	}
	return s + fmt.Sprint(c.Number, c.Calls[0].Depart, c.Calls[len(c.Calls)-1].Arrive, compileCalendar(c.Days).first)
}

// checkRegistry checks what holds of all timetables: on no date do two trains
// have one identity or one number, and a number means one train with one list.
func checkRegistry(t tester, trains []Train, ids []numbering, reg registry) {
	t.Helper()
	for i := range trains {
		if n := ids[i].number; n < 1 || n > maxNumber || n > reg.high {
			t.Errorf("train %d has the number %d; the highest is %d", i, n, reg.high)
		}
		for j := range i {
			if (ids[i].train == ids[j].train || ids[i].number == ids[j].number) && compileCalendar(trains[i].Days).meets(compileCalendar(trains[j].Days)) {
				t.Errorf("trains %d and %d run on one date: %v and %v", i, j, ids[i], ids[j])
			}
			sameTrain := ids[i].train == ids[j].train && listMark(trains[i].Calls) == listMark(trains[j].Calls)
			if (ids[i].number == ids[j].number) != sameTrain {
				t.Errorf("trains %d and %d: %v and %v", i, j, ids[i], ids[j])
			}
		}
	}
	seen := map[uint32][]registered{}
	for _, e := range reg.entries {
		for _, o := range seen[e.number] {
			if o.source == e.source || o.train() != e.train() || o.list != e.list || o.terminus != e.terminus || o.since != e.since {
				t.Errorf("the number %d stands for two trains: %+v and %+v", e.number, o, e)
			}
		}
		seen[e.number] = append(seen[e.number], e)
	}
}

func line(number string, days *Calendar, stations ...string) Train {
	calls := make([]string, len(stations))
	for i, s := range stations {
		calls[i] = fmt.Sprintf("%s %d:00", s, 8+i)
	}
	t := trainOf(number, "Europe/Berlin", days, calls...)
	t.ID = "trip-" + number + stations[len(stations)-1]
	return t
}

func sameBook(t tester, what string, want, got book) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(numbering{})); diff != "" {
		t.Errorf("%s: -want +got\n%s", what, diff)
	}
}

// Whatever the order and the IDs in which a feed has its trains, they are the
// same trains.
func TestRegistryIgnoresOrderAndIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tt, _ := drawTimetable(t, 8)
		seen := map[string]bool{}
		var trains []Train
		for i, tr := range tt.Trains {
			tr.ID = fmt.Sprint("trip", i)
			// Trains that agree in all but their IDs can only be told apart by these.
			key := fmt.Sprint(baseOf(&tr), listMark(tr.Calls))
			if !seen[key] {
				seen[key] = true
				trains = append(trains, tr)
			}
		}
		want, reg := enter(t, registry{}, newYear, trains...)
		shuffled := rapid.Permutation(trains).Draw(t, "order")
		for i := range shuffled {
			shuffled[i].ID = fmt.Sprint("renumbered", i)
		}
		got, _ := enter(t, registry{}, newYear, shuffled...)
		sameBook(t, "imported anew", want, got)
		got, _ = enter(t, reg, newYear+1, shuffled...)
		sameBook(t, "imported again", want, got)
	})
}

// A feed's IDs tell twins apart that agree in all else, as long as they last.
func TestRegistryTellsIdenticalTrainsApartByID(t *testing.T) {
	t.Parallel()
	a, b := line("1", allYear, "Köln", "Bonn"), line("1", allYear, "Köln", "Bonn")
	a.ID, b.ID = "a", "b"
	ids, reg, _ := register(context.Background(), registry{}, []Train{a, b}, calendarCache{}.get, newYear, newYear)
	again, _, _ := register(context.Background(), reg, []Train{b, a}, calendarCache{}.get, newYear, newYear)
	if ids[0] == ids[1] || again[0] != ids[1] || again[1] != ids[0] {
		t.Errorf("%v in one order, %v in the other", ids, again)
	}
}

func TestRegistryKeepsNumbers(t *testing.T) {
	t.Parallel()
	first := line("1", allYear, "Köln", "Bonn", "Ulm")
	other := line("2", allYear, "Köln", "Bonn")
	inserted := line("1", allYear, "Köln", "Unna", "Bonn", "Ulm")
	before, reg := enter(t, registry{}, newYear, first, other)
	was := before[describeTrain(&first)]

	after, reg := enter(t, reg, newYear+1, inserted, other)
	is := after[describeTrain(&inserted)]
	if is.train != was.train || is.number == was.number {
		t.Errorf("with a call inserted %v has become %v: want another number of the same train", was, is)
	}
	if after[describeTrain(&other)] != before[describeTrain(&other)] {
		t.Error("another train has changed with it")
	}
	back, reg := enter(t, reg, newYear+2, first, other)
	sameBook(t, "the call dropped again", before, back)

	_, reg = enter(t, reg, newYear+3, other) // withdrawn
	back, reg = enter(t, reg, newYear+4, first, other)
	sameBook(t, "withdrawn and brought back", before, back)

	// A train that runs shorter is remembered by the longest time it had.
	short := line("1", on(newYear), "Köln", "Bonn", "Ulm")
	_, reg = enter(t, reg, newYear+5, short, other)
	_, reg = enter(t, reg, allYear.To+keepNumbers, other)
	back, reg = enter(t, reg, allYear.To+keepNumbers, first, other)
	sameBook(t, "brought back long after", before, back)
	for _, e := range reg.entries {
		if e.since != FirstDate {
			t.Errorf("the number %d was given away meanwhile", e.number)
		}
	}
}

// A number goes to another train only when no ID with it can be in use.
func TestRegistryReusesNumbers(t *testing.T) {
	t.Parallel()
	day := NewDate(2021, 6, 14)
	old := line("1", on(day), "Köln", "Bonn")
	former, reg := enter(t, registry{high: maxNumber}, newYear, old)
	number := former[describeTrain(&old)].number
	new := line("2", Daily(newYear, day+100), "Köln", "Bonn")
	soon, _ := enter(t, reg, day+keepNumbers, new)
	if got := soon[describeTrain(&new)].number; got == number {
		t.Fatalf("on the last day the number is kept %d is given away", got)
	}
	_, kept := enter(t, reg, day+keepNumbers)
	if soon, _ = enter(t, kept, day+keepNumbers, new); soon[describeTrain(&new)].number == number {
		t.Fatalf("on the last day the number is kept %d is forgotten", number)
	}
	_, reg = enter(t, reg, day+keepNumbers+1) // the former train is forgotten
	// Later imports do not forget since when.
	for _, today := range []Date{day + keepNumbers + 1, day + keepNumbers + 5, day + keepNumbers + 6} {
		var after book
		if after, reg = enter(t, reg, today, new); after[describeTrain(&new)].number != number {
			t.Fatalf("after the day after, the new train has the number %v, want %d", after, number)
		}
		if got := numbered(reg.entries, number).since; got != day+keepNumbers+1 {
			t.Errorf("the number means the train from %s on", got)
		}
	}
}

// A train that is still in the timetable is known by its number however long
// ago it last ran.
func TestRegistryKeepsTrainsOfTheTimetable(t *testing.T) {
	t.Parallel()
	old, new := line("1", on(newYear), "Köln", "Bonn"), line("2", allYear, "Köln", "Bonn")
	never := line("3", nil, "Köln", "Bonn")
	want, reg := enter(t, registry{}, newYear, old, new, never)
	for day := newYear + 1; day < newYear+200; day += 30 {
		got, next := enter(t, reg, day, never, new, old)
		sameBook(t, day.String(), want, got)
		if len(next.entries) != 3 {
			t.Errorf("on %s %d trains are known", day, len(next.entries))
		}
		reg = next
	}
}

// A number is not given to another train before all have been given, and then
// those of trains long gone serve again.
func TestRegistryNumbersServeAgain(t *testing.T) {
	t.Parallel()
	const first = maxNumber - 9
	reg := registry{high: first - 1}
	for day := newYear; day < newYear+400; day += 10 {
		trains := []Train{line("1", Daily(day, day+9), "Köln", "Bonn"), line(fmt.Sprint(day), Daily(day, day+9), "Köln", "Bonn")}
		_, reg = enter(t, reg, day, trains...)
	}
	if reg.high != maxNumber || len(reg.entries) > 6 {
		t.Errorf("the highest number is %d, and %d entries are kept", reg.high, len(reg.entries))
	}
	for _, e := range reg.entries {
		if e.number > 40 && e.number < first {
			t.Errorf("there is a number %d", e.number)
		}
		if again := e.number < first; again != (e.since != FirstDate) {
			t.Errorf("the number %d counts since %s", e.number, e.since)
		}
	}
}

func TestRegistryIsFull(t *testing.T) {
	t.Parallel()
	f := freeNumbers{taken: map[uint32]bool{}, high: maxNumber - 1, today: newYear}
	for n := range uint32(maxNumber - 1) {
		f.taken[n+1] = n+1 != 7
	}
	for _, want := range []struct {
		number uint32
		since  Date
		high   uint32
	}{
		{maxNumber, FirstDate, maxNumber},
		{7, newYear, maxNumber}, // it may have meant another train
	} {
		if n, since, err := f.take(); n != want.number || since != want.since || err != nil || f.high != want.high {
			t.Fatalf("%d since %s, %v; want %d since %s", n, since, err, want.number, want.since)
		}
	}
	for range 2 {
		if n, _, err := f.take(); !errors.Is(err, errNumbersExhausted) {
			t.Errorf("one train more has the number %d, %v", n, err)
		}
	}
}
