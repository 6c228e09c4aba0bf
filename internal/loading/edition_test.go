package loading_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

// An edition that looks like a mistake is refused by its numbers alone.
func TestEditionDoubts(t *testing.T) {
	t.Parallel()
	feed := func(name string, before, after, running, left int) traintravel.FeedEdition {
		return traintravel.FeedEdition{Feed: name, Before: before, After: after, Running: running, Left: left}
	}
	type doubts []string
	for name, c := range map[string]struct {
		edition traintravel.Edition
		want    doubts
	}{
		"the first":               {traintravel.Edition{Feeds: []traintravel.FeedEdition{feed("", 0, 1, 0, -5)}}, nil},
		"a good one":              {traintravel.Edition{Replaces: true, Feeds: []traintravel.FeedEdition{feed("", 100, 90, 80, 2)}}, nil},
		"expired":                 {traintravel.Edition{Replaces: true, Feeds: []traintravel.FeedEdition{feed("", 100, 90, 0, -1)}}, doubts{"expired "}},
		"ends today":              {traintravel.Edition{Replaces: true, Feeds: []traintravel.FeedEdition{feed("", 100, 90, 80, 0)}}, doubts{"ends-soon "}},
		"ends tomorrow":           {traintravel.Edition{Replaces: true, Feeds: []traintravel.FeedEdition{feed("", 100, 90, 80, 1)}}, doubts{"ends-soon "}},
		"a twentieth":             {traintravel.Edition{Replaces: true, Before: traintravel.EditionSize{Trains: 100}, Feeds: []traintravel.FeedEdition{feed("", 100, 5, 5, 9)}}, doubts{"few-trains "}},
		"a twentieth, and ends":   {traintravel.Edition{Replaces: true, Before: traintravel.EditionSize{Trains: 100}, Feeds: []traintravel.FeedEdition{feed("", 100, 5, 5, 1)}}, doubts{"few-trains ", "ends-soon "}},
		"more than a twentieth":   {traintravel.Edition{Replaces: true, Before: traintravel.EditionSize{Trains: 100}, Feeds: []traintravel.FeedEdition{feed("", 100, 6, 6, 9)}}, nil},
		"a twentieth still runs":  {traintravel.Edition{Replaces: true, Feeds: []traintravel.FeedEdition{feed("", 100, 100, 5, 9)}}, doubts{"few-trains "}},
		"one train for one":       {traintravel.Edition{Replaces: true, Before: traintravel.EditionSize{Trains: 1}, Feeds: []traintravel.FeedEdition{feed("", 1, 1, 1, 9)}}, nil},
		"renamed and cut off":     {traintravel.Edition{Replaces: true, Before: traintravel.EditionSize{Trains: 100}, Feeds: []traintravel.FeedEdition{feed("", 100, 0, 0, 0), feed("a", 0, 5, 5, 9)}}, doubts{"few-trains "}},
		"one feed of two expired": {traintravel.Edition{Replaces: true, Before: traintravel.EditionSize{Trains: 200}, Feeds: []traintravel.FeedEdition{feed("a", 100, 90, 90, 9), feed("b", 100, 90, 0, -3)}}, doubts{"expired b"}},
		"one feed of two cut off": {traintravel.Edition{Replaces: true, Before: traintravel.EditionSize{Trains: 200}, Feeds: []traintravel.FeedEdition{feed("a", 100, 90, 90, 9), feed("b", 100, 5, 5, 9)}}, doubts{"few-trains b"}},
		"a feed less":             {traintravel.Edition{Replaces: true, Before: traintravel.EditionSize{Trains: 110}, Feeds: []traintravel.FeedEdition{feed("a", 10, 0, 0, 0), feed("b", 100, 90, 90, 9)}}, nil},
		"nothing that is read":    {traintravel.Edition{Replaces: true, Feeds: []traintravel.FeedEdition{feed("", 0, 90, 0, -1)}}, doubts{"expired "}},
	} {
		var got doubts
		for _, d := range c.edition.Doubts() {
			got = append(got, fmt.Sprint(d.Kind, " ", d.Feed))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		var refused *traintravel.EditionError
		if err := c.edition.Check(); errors.As(err, &refused) != (len(c.want) > 0) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The differences are counted in stations, trains and runs, and in bookings.
func TestCompareTimetable(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Book(officetest.Berta, o.TripID('D', 'F', "R 2"))

		next := officetest.Network()
		today := traintravel.DateOf(officetest.Opens)
		next.Trains = slices.Delete(next.Trains, 1, 2) // R 2
		for i := range next.Trains {
			next.Trains[i].Days = traintravel.Daily(today+1, today+10)
		}
		next.Trains[0].Days = traintravel.Daily(today-5, today+10) // R 1 runs on
		next.Trains = append(next.Trains, officetest.Train("N 9", 9, "CDE", func(t *traintravel.Train) { t.Operator, t.Days = "New Rail", traintravel.Daily(today, today+4) }))

		got, err := o.CompareTimetable(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		all := int(officetest.LastDay-today) + 1
		want := traintravel.Edition{
			Today: today, Replaces: true,
			Before:   traintravel.EditionSize{Stations: 8, Trains: 5, Runs: 5 * all, First: officetest.FirstDay, Last: officetest.LastDay, Operators: []string{"Test Rail"}},
			After:    traintravel.EditionSize{Stations: 8, Trains: 5, Runs: 11 + 3*10 + 5, First: today - 5, Last: today + 10, Operators: []string{"New Rail", "Test Rail"}},
			Stations: traintravel.Difference{Kept: 8},
			Trains:   traintravel.Difference{Added: 1, Removed: 1, Kept: 4},
			Runs:     traintravel.Difference{Added: 5, Removed: 5*all - 41, Kept: 41},
			Feeds:    []traintravel.FeedEdition{{Feed: "test", Before: 5, After: 5, Running: 5, Last: today + 10, Left: 10}},
			Bookings: 1,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		var told traintravel.Edition
		report, err := o.ReplaceTimetable(t.Context(), next, func(e traintravel.Edition) error { told = e; return nil })
		if diff := cmp.Diff(want, told); err != nil || diff != "" || len(report.Stranded) != 1 {
			t.Errorf("%v, %v (-want +got):\n%s", err, report.Stranded, diff)
		}
		// What did not fit before is not lost by the next one.
		if got, err := o.CompareTimetable(t.Context(), next); err != nil || got.Bookings != 0 || got.Trains != (traintravel.Difference{Kept: 5}) || got.Runs.Added+got.Runs.Removed != 0 {
			t.Errorf("the same again: %+v, %v", got, err)
		}
		if books := o.Audit(); books.Generations != 1 {
			t.Errorf("%d generations", books.Generations)
		}
	})
}

// Of stations that were one before, one is kept and the others are added: no fewer
// than none are removed.
func TestComparePartedStation(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		service, err := traintravel.New(store, traintravel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		parted, joined := officetest.Network(), officetest.Network()
		last := len(joined.Stations) - 1
		was := joined.Stations[last].ID
		joined.Stations[0].OtherIDs = []uuid.UUID{was}
		joined.Stations = joined.Stations[:last]
		joined.Trains = slices.DeleteFunc(joined.Trains, func(tr traintravel.Train) bool {
			return slices.ContainsFunc(tr.Calls, func(c traintravel.Call) bool { return c.Station == was })
		})
		if _, err := service.LoadTimetable(t.Context(), joined); err != nil {
			t.Fatal(err)
		}
		e, err := service.CompareTimetable(t.Context(), parted)
		if want := (traintravel.Difference{Added: 1, Kept: 7}); err != nil || e.Stations != want {
			t.Errorf("parted: %+v, want %+v, %v", e.Stations, want, err)
		}
		if _, err := service.LoadTimetable(t.Context(), parted); err != nil {
			t.Fatal(err)
		}
		e, err = service.CompareTimetable(t.Context(), joined)
		if want := (traintravel.Difference{Removed: 1, Kept: 7}); err != nil || e.Stations != want {
			t.Errorf("joined again: %+v, want %+v, %v", e.Stations, want, err)
		}
	})
}

// A timetable that accept refuses changes nothing and leaves no records.
func TestRefusedEdition(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		past := officetest.Network()
		for i := range past.Trains {
			past.Trains[i].Days = traintravel.Daily(officetest.FirstDay-100, officetest.FirstDay-1)
		}
		_, err := o.ReplaceTimetable(t.Context(), past, traintravel.Edition.Check)
		var refused *traintravel.EditionError
		if !errors.As(err, &refused) || len(refused.Doubts) != 1 || refused.Doubts[0].Kind != traintravel.DoubtExpired {
			t.Fatalf("%v", err)
		}
		records, err := store.List(t.Context(), traintravel.Range{Table: traintravel.TableTimetable})
		if err != nil || o.Audit().Generations != 1 {
			t.Errorf("%d records of timetables are left, %v", len(records), err)
		}
		o.Book(officetest.Anna, o.Another().TripID('A', 'D', "R 1"))

		// Nothing is replaced in a store that has no timetable.
		empty, err := traintravel.New(memstore.New(), traintravel.Options{Now: o.Clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := empty.ReplaceTimetable(t.Context(), past, traintravel.Edition.Check); err != nil {
			t.Errorf("the first timetable: %v", err)
		}
	})
}

// How many days are left is counted by the clock where the trains run.
func TestEditionInItsZone(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	today := traintravel.DateOf(officetest.Opens)
	for _, c := range []struct {
		zone string
		at   time.Time
		left int
	}{
		{"Europe/Berlin", time.Date(2026, 3, 2, 22, 59, 0, 0, time.UTC), 2},
		{"Europe/Berlin", time.Date(2026, 3, 2, 23, 0, 0, 0, time.UTC), 1},
		{"Atlantic/Azores", time.Date(2026, 3, 3, 0, 30, 0, 0, time.UTC), 2},
		{"Europe/Istanbul", time.Date(2026, 3, 2, 21, 0, 0, 0, time.UTC), 1},
	} {
		next := officetest.Network()
		for i := range next.Trains {
			next.Trains[i].Zone, next.Trains[i].Days = c.zone, traintravel.Daily(officetest.FirstDay, today+2)
		}
		o.Clock.Set(c.at)
		e, err := o.CompareTimetable(t.Context(), next)
		if err != nil || e.Feeds[0].Left != c.left || len(e.Doubts()) != 2-c.left {
			t.Errorf("%s at %v: %+v, %v, %v", c.zone, c.at, e.Feeds, e.Doubts(), err)
		}
	}
}

// A timetable that comes into force while another one is compared is compared with.
func TestEditionIsOvertaken(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, storetest.Twice(memstore.New()))
	large := officetest.Timetable()
	for i := range 40 {
		large.Trains = append(large.Trains, officetest.Train(fmt.Sprint("L ", i), 6, "AB"))
	}
	asked := 0
	_, err := o.ReplaceTimetable(t.Context(), officetest.Timetable(officetest.Train("R 1", 8, "ABCD")), func(e traintravel.Edition) error {
		if asked++; asked == 1 { // five trains are in force, and one of five will do
			if err := e.Check(); err != nil {
				t.Error(err)
			}
			o.Another().Load(large)
			return nil
		}
		return e.Check()
	})
	var refused *traintravel.EditionError
	if asked != 2 || !errors.As(err, &refused) || refused.Doubts[0].Kind != traintravel.DoubtFewTrains {
		t.Errorf("asked %d times, %v", asked, err)
	}
	if e, err := o.Another().CompareTimetable(t.Context(), large); err != nil || e.Trains != (traintravel.Difference{Kept: 40}) {
		t.Errorf("%+v, %v", e, err)
	}
	if books := o.Audit(); books.Generations > 2 { // the chunks of the overtaken one go with the next load
		t.Errorf("%d generations", books.Generations)
	}
	o.Load(large)
	if books := o.Audit(); books.Generations != 1 {
		t.Errorf("%d generations", books.Generations)
	}
}

// Of two editions at once that each may replace what is in force, the second is held
// against the first.
func TestEditionsAtOnce(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		var asked atomic.Int32
		small, ended := officetest.Timetable(officetest.Train("R 1", 8, "ABCD")), make(chan error, 1)
		_, err := o.ReplaceTimetable(t.Context(), officetest.Network(), func(e traintravel.Edition) error {
			if asked.Add(1) == 1 {
				go func() {
					_, err := o.Another().ReplaceTimetable(t.Context(), small, traintravel.Edition.Check)
					ended <- err
				}()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
			return e.Check()
		})
		if err != nil || asked.Load() != 2 {
			t.Errorf("asked %d times, %v", asked.Load(), err)
		}
	})
}

// A timetable that cannot be read can be replaced.
func TestEditionReplacesWhatIsDamaged(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	o := officetest.New(t, store)
	o.Load(officetest.Network())
	spoilTimetable(t, store)
	fresh := o.Another()
	e, err := fresh.CompareTimetable(t.Context(), officetest.Network())
	if err != nil || !e.Replaces || e.Before.Trains != 0 || e.After.Trains != 5 {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := fresh.ReplaceTimetable(t.Context(), officetest.Network(), traintravel.Edition.Check); err != nil {
		t.Error(err)
	}
	o.Another().TripID('A', 'D', "R 1")
}

// spoilTimetable cuts off the records of the timetable itself.
func spoilTimetable(t *testing.T, store traintravel.Store) {
	t.Helper()
	records, err := store.List(t.Context(), traintravel.Range{Table: traintravel.TableTimetable})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Update(t.Context(), func(tx traintravel.Tx) error {
		for _, r := range records {
			if r.ID[16] == 't' {
				tx.Put(traintravel.Key{Table: traintravel.TableTimetable, ID: r.ID}, r.Value[:len(r.Value)/2])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
