package timetable

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// A book is what the registry found for the trains of a timetable, by a name
// that the test gives them: see named.
type book map[string]trains.Numbering

// enter registers trains and says what each got, by the text of describeTrain.
func enter(t railtest.Tester, old trains.Registry, today rail.Date, list ...schedule.Train) (book, trains.Registry) {
	t.Helper()
	ids, reg, err := old.Register(context.Background(), list, trains.CalendarCache{}.Get, today, today)
	if err != nil {
		t.Fatal(err)
	}
	b := book{}
	for i := range list {
		b[describeTrain(&list[i])] = ids[i]
	}
	checkRegistry(t, list, ids, reg)
	return b, reg
}

// describeTrain tells trains apart by everything but their ID.
func describeTrain(t *schedule.Train) string {
	c := *t
	c.ID = ""
	s := ""
	for _, k := range c.Calls {
		s += railtest.NameOf(k.Station) + " "
	}
	return s + fmt.Sprint(c.Number, c.Calls[0].Depart, c.Calls[len(c.Calls)-1].Arrive, trains.CompileCalendar(c.Days).First)
}

// checkRegistry checks what holds of all timetables: on no date do two trains
// have one identity or one number, and a number means one train with one list.
func checkRegistry(t railtest.Tester, all []schedule.Train, ids []trains.Numbering, reg trains.Registry) {
	t.Helper()
	for i := range all {
		if n := ids[i].Number; n < 1 || n > trains.MaxNumber || n > reg.High {
			t.Errorf("train %d has the number %d; the highest is %d", i, n, reg.High)
		}
		for j := range i {
			if (ids[i].Train == ids[j].Train || ids[i].Number == ids[j].Number) && trains.CompileCalendar(all[i].Days).Meets(trains.CompileCalendar(all[j].Days)) {
				t.Errorf("trains %d and %d run on one date: %v and %v", i, j, ids[i], ids[j])
			}
			sameTrain := ids[i].Train == ids[j].Train && trains.ListMark(all[i].Calls) == trains.ListMark(all[j].Calls)
			if (ids[i].Number == ids[j].Number) != sameTrain {
				t.Errorf("trains %d and %d: %v and %v", i, j, ids[i], ids[j])
			}
		}
	}
	seen := map[uint32][]trains.Registered{}
	for _, e := range reg.Entries {
		for _, o := range seen[e.Number] {
			if o.Source == e.Source || o.Train() != e.Train() || o.List != e.List || o.Terminus != e.Terminus || o.Since != e.Since {
				t.Errorf("the number %d stands for two trains: %+v and %+v", e.Number, o, e)
			}
		}
		seen[e.Number] = append(seen[e.Number], e)
	}
}

func sameBook(t railtest.Tester, what string, want, got book) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(trains.Numbering{})); diff != "" {
		t.Errorf("%s: -want +got\n%s", what, diff)
	}
}

// Whatever the order and the IDs in which a feed has its trains, they are the
// same trains.
func TestRegistryIgnoresOrderAndIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tt, _ := railtest.DrawTrains(t, 8)
		seen := map[string]bool{}
		var list []schedule.Train
		for i, tr := range tt.Trains {
			tr.ID = fmt.Sprint("trip", i)
			// Trains that agree in all but their IDs can only be told apart by these.
			key := fmt.Sprint(trains.BaseOf(&tr), trains.ListMark(tr.Calls))
			if !seen[key] {
				seen[key] = true
				list = append(list, tr)
			}
		}
		want, reg := enter(t, trains.Registry{}, railtest.NewYear(), list...)
		shuffled := rapid.Permutation(list).Draw(t, "order")
		for i := range shuffled {
			shuffled[i].ID = fmt.Sprint("renumbered", i)
		}
		got, _ := enter(t, trains.Registry{}, railtest.NewYear(), shuffled...)
		sameBook(t, "imported anew", want, got)
		got, _ = enter(t, reg, railtest.NewYear()+1, shuffled...)
		sameBook(t, "imported again", want, got)
	})
}

// A feed's IDs tell twins apart that agree in all else, as long as they last.
func TestRegistryTellsIdenticalTrainsApartByID(t *testing.T) {
	t.Parallel()
	a, b := railtest.Line("1", railtest.AllYear(), "Köln", "Bonn"), railtest.Line("1", railtest.AllYear(), "Köln", "Bonn")
	a.ID, b.ID = "a", "b"
	ids, reg, _ := trains.Registry{}.Register(context.Background(), []schedule.Train{a, b}, trains.CalendarCache{}.Get, railtest.NewYear(), railtest.NewYear())
	again, _, _ := reg.Register(context.Background(), []schedule.Train{b, a}, trains.CalendarCache{}.Get, railtest.NewYear(), railtest.NewYear())
	if ids[0] == ids[1] || again[0] != ids[1] || again[1] != ids[0] {
		t.Errorf("%v in one order, %v in the other", ids, again)
	}
}

func TestRegistryKeepsNumbers(t *testing.T) {
	t.Parallel()
	first := railtest.Line("1", railtest.AllYear(), "Köln", "Bonn", "Ulm")
	other := railtest.Line("2", railtest.AllYear(), "Köln", "Bonn")
	inserted := railtest.Line("1", railtest.AllYear(), "Köln", "Unna", "Bonn", "Ulm")
	before, reg := enter(t, trains.Registry{}, railtest.NewYear(), first, other)
	was := before[describeTrain(&first)]

	after, reg := enter(t, reg, railtest.NewYear()+1, inserted, other)
	is := after[describeTrain(&inserted)]
	if is.Train != was.Train || is.Number == was.Number {
		t.Errorf("with a call inserted %v has become %v: want another number of the same train", was, is)
	}
	if after[describeTrain(&other)] != before[describeTrain(&other)] {
		t.Error("another train has changed with it")
	}
	back, reg := enter(t, reg, railtest.NewYear()+2, first, other)
	sameBook(t, "the call dropped again", before, back)

	_, reg = enter(t, reg, railtest.NewYear()+3, other) // withdrawn
	back, reg = enter(t, reg, railtest.NewYear()+4, first, other)
	sameBook(t, "withdrawn and brought back", before, back)

	// A train that runs shorter is remembered by the longest time it had.
	short := railtest.Line("1", railtest.On(railtest.NewYear()), "Köln", "Bonn", "Ulm")
	_, reg = enter(t, reg, railtest.NewYear()+5, short, other)
	_, reg = enter(t, reg, railtest.AllYear().To+trains.KeepNumbers, other)
	back, reg = enter(t, reg, railtest.AllYear().To+trains.KeepNumbers, first, other)
	sameBook(t, "brought back long after", before, back)
	for _, e := range reg.Entries {
		if e.Since != rail.FirstDate {
			t.Errorf("the number %d was given away meanwhile", e.Number)
		}
	}
}

// A number goes to another train only when no ID with it can be in use.
func TestRegistryReusesNumbers(t *testing.T) {
	t.Parallel()
	day := rail.NewDate(2021, 6, 14)
	old := railtest.Line("1", railtest.On(day), "Köln", "Bonn")
	former, reg := enter(t, trains.Registry{High: trains.MaxNumber}, railtest.NewYear(), old)
	number := former[describeTrain(&old)].Number
	new := railtest.Line("2", schedule.Daily(railtest.NewYear(), day+100), "Köln", "Bonn")
	soon, _ := enter(t, reg, day+trains.KeepNumbers, new)
	if got := soon[describeTrain(&new)].Number; got == number {
		t.Fatalf("on the last day the number is kept %d is given away", got)
	}
	_, kept := enter(t, reg, day+trains.KeepNumbers)
	if soon, _ = enter(t, kept, day+trains.KeepNumbers, new); soon[describeTrain(&new)].Number == number {
		t.Fatalf("on the last day the number is kept %d is forgotten", number)
	}
	_, reg = enter(t, reg, day+trains.KeepNumbers+1) // the former train is forgotten
	// Later imports do not forget since when.
	for _, today := range []rail.Date{day + trains.KeepNumbers + 1, day + trains.KeepNumbers + 5, day + trains.KeepNumbers + 6} {
		var after book
		if after, reg = enter(t, reg, today, new); after[describeTrain(&new)].Number != number {
			t.Fatalf("after the day after, the new train has the number %v, want %d", after, number)
		}
		if got := trains.Numbered(reg.Entries, number).Since; got != day+trains.KeepNumbers+1 {
			t.Errorf("the number means the train from %s on", got)
		}
	}
}

// A train that is still in the timetable is known by its number however long
// ago it last ran.
func TestRegistryKeepsTrainsOfTheTimetable(t *testing.T) {
	t.Parallel()
	old, new := railtest.Line("1", railtest.On(railtest.NewYear()), "Köln", "Bonn"), railtest.Line("2", railtest.AllYear(), "Köln", "Bonn")
	never := railtest.Line("3", nil, "Köln", "Bonn")
	want, reg := enter(t, trains.Registry{}, railtest.NewYear(), old, new, never)
	for day := railtest.NewYear() + 1; day < railtest.NewYear()+200; day += 30 {
		got, next := enter(t, reg, day, never, new, old)
		sameBook(t, day.String(), want, got)
		if len(next.Entries) != 3 {
			t.Errorf("on %s %d trains are known", day, len(next.Entries))
		}
		reg = next
	}
}

// A number is not given to another train before all have been given, and then
// those of trains long gone serve again.
func TestRegistryNumbersServeAgain(t *testing.T) {
	t.Parallel()
	const first = trains.MaxNumber - 9
	reg := trains.Registry{High: first - 1}
	for day := railtest.NewYear(); day < railtest.NewYear()+400; day += 10 {
		trains := []schedule.Train{railtest.Line("1", schedule.Daily(day, day+9), "Köln", "Bonn"), railtest.Line(fmt.Sprint(day), schedule.Daily(day, day+9), "Köln", "Bonn")}
		_, reg = enter(t, reg, day, trains...)
	}
	if reg.High != trains.MaxNumber || len(reg.Entries) > 6 {
		t.Errorf("the highest number is %d, and %d entries are kept", reg.High, len(reg.Entries))
	}
	for _, e := range reg.Entries {
		if e.Number > 40 && e.Number < first {
			t.Errorf("there is a number %d", e.Number)
		}
		if again := e.Number < first; again != (e.Since != rail.FirstDate) {
			t.Errorf("the number %d counts since %s", e.Number, e.Since)
		}
	}
}

func TestRegistryIsFull(t *testing.T) {
	t.Parallel()
	f := trains.FreeNumbers{Taken: map[uint32]bool{}, High: trains.MaxNumber - 1, Today: railtest.NewYear()}
	for n := range uint32(trains.MaxNumber - 1) {
		f.Taken[n+1] = n+1 != 7
	}
	for _, want := range []struct {
		number uint32
		since  rail.Date
		high   uint32
	}{
		{trains.MaxNumber, rail.FirstDate, trains.MaxNumber},
		{7, railtest.NewYear(), trains.MaxNumber}, // it may have meant another train
	} {
		if n, since, err := f.Take(); n != want.number || since != want.since || err != nil || f.High != want.high {
			t.Fatalf("%d since %s, %v; want %d since %s", n, since, err, want.number, want.since)
		}
	}
	for range 2 {
		if n, _, err := f.Take(); !errors.Is(err, trains.ErrNumbersExhausted) {
			t.Errorf("one train more has the number %d, %v", n, err)
		}
	}
}
