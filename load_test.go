package traintravel_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// TestBadTimetableChangesNothing.
func TestBadTimetableChangesNothing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		for name, spoil := range map[string]func(*traintravel.Timetable){
			"trains[1].calls[1]":          func(t *traintravel.Timetable) { t.Trains[1].Calls[1].Arrive = 0 },
			"trains[0].zone":              func(t *traintravel.Timetable) { t.Trains[0].Zone = "Europe/Atlantis" },
			"trains[0].calls[0].station":  func(t *traintravel.Timetable) { t.Trains[0].Calls[0].Station = uuid.New() },
			"trains[0].coaches[1].number": func(t *traintravel.Timetable) { t.Trains[0].Coaches[1].Number = "1" },
			"stations[1].id":              func(t *traintravel.Timetable) { t.Stations[1].ID = t.Stations[0].ID },
		} {
			bad := network()
			spoil(bad)
			_, err := o.LoadTimetable(t.Context(), bad)
			var wrong *traintravel.InvalidError
			if !errors.As(err, &wrong) || wrong.Field != name {
				t.Errorf("%s: %v", name, err)
			}
		}
		if books := o.audit(); books.Generations != 1 {
			t.Errorf("%d generations", books.Generations)
		}
		o.book(anna, o.joined(4))

		empty, err := traintravel.New(memstore.New(), traintravel.Options{Now: o.clock.now})
		if err != nil {
			t.Fatal(err)
		}
		_, err = empty.CreateBooking(t.Context(), anna, traintravel.NewBooking{TripID: o.joined(4), PassengerName: "Anna"})
		o.expect("without a timetable", err, traintravel.ErrNoTimetable)
		_, err = empty.Stations(t.Context(), traintravel.StationQuery{})
		o.expect("without a timetable", err, traintravel.ErrNoTimetable)
	})
}

// large is a timetable that takes several updates to write.
func large() *traintravel.Timetable {
	t := network()
	long := strings.Repeat("🚂", 190)
	for i := range 1500 {
		tr := train(fmt.Sprint(i, " ", long), 6, "CE")
		tr.ID = long
		t.Trains = append(t.Trains, tr)
	}
	t.Trains = append(t.Trains, train("L", 6, "CE"))
	return t
}

// TestInterruptedLoad leaves the old timetable in force, at whichever step it
// dies, and the next load removes what it has left.
func TestInterruptedLoad(t *testing.T) {
	t.Parallel()
	big, store := large(), memstore.New()
	o := newOffice(t, store)
	b := o.book(anna, o.joined(4))
	steps, inForce := 0, 0
	for step, done := 1, false; !done; step++ {
		p := &process{Store: store, dieAt: step}
		dying, err := traintravel.New(p, traintravel.Options{Now: o.clock.now})
		if err != nil {
			t.Fatal(err)
		}
		_, err = dying.LoadTimetable(t.Context(), big)
		done = !p.dead()
		fresh := o.another()
		_, missing := fresh.direct(t.Context(), "L", traintravel.DateOf(opens), station('C'), station('E'))
		if err == nil && missing != nil {
			t.Fatalf("killed at step %d: loaded, and not in force: %v", step, missing)
		}
		if missing == nil {
			inForce++
		}
		fresh.trip('A', 'D', "R 1")
		fresh.stands(b.ID, traintravel.Held)
		o.load(network())
		if books := o.audit(); books.Generations != 1 {
			t.Fatalf("killed at step %d: %d generations are left", step, books.Generations)
		}
		if steps = step; step > 100 {
			t.Fatal("it never ends")
		}
	}
	if steps < 8 || inForce < 1 || inForce > steps-5 {
		t.Errorf("of %d steps, %d have brought the timetable into force", steps, inForce)
	}
}

// TestLoadsAtOnce: one after another, in some order, and none is lost halfway.
func TestLoadsAtOnce(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		trip := o.trip('A', 'D', "R 1")
		var wg sync.WaitGroup
		for i := range 6 {
			tt := network()
			tt.Trains = append(tt.Trains, train(fmt.Sprint("N ", i), 9, "CDE", seats(i+1)))
			p := o.another()
			wg.Go(func() { p.load(tt) })
			wg.Go(func() {
				if b, err := p.CreateBooking(t.Context(), anna, traintravel.NewBooking{TripID: trip, PassengerName: "Anna"}); err == nil {
					p.CancelBooking(t.Context(), anna, b.ID)
				} else if !errors.Is(err, traintravel.ErrSoldOut) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		o = o.another()
		n := 0
		for i := range 6 {
			if _, err := o.direct(t.Context(), fmt.Sprint("N ", i), traintravel.DateOf(opens), station('C'), station('E')); err == nil {
				n++
			}
		}
		if again := o.trip('A', 'D', "R 1"); n != 1 || again != trip {
			t.Errorf("%d timetables are in force; the trip is %v and was %v", n, again, trip)
		}
		o.load(network())
		if books := o.audit(); books.Generations != 1 {
			t.Errorf("%d generations are left", books.Generations)
		}
	})
}

// TestDamagedTimetable is told, by reading and by loading.
func TestDamagedTimetable(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := &office{t: t, store: store, bank: &bank{}, post: &post{}}
		o = o.another()
		o.clock.set(opens)
		o.load(network())
		chunks, err := store.List(t.Context(), traintravel.Range{Table: traintravel.TableTimetable})
		if err != nil {
			t.Fatal(err)
		}
		err = store.Update(t.Context(), func(tx traintravel.Tx) error {
			for _, c := range chunks {
				tx.Delete(traintravel.Key{Table: traintravel.TableTimetable, ID: c.ID})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		fresh := o.another()
		if _, err := fresh.Stations(t.Context(), traintravel.StationQuery{}); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("reading: %v", err)
		}
		if _, err := fresh.LoadTimetable(t.Context(), network()); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("loading: %v", err)
		}
	})
}
