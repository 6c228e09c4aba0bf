package loading_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// TestBadTimetableChangesNothing.
func TestBadTimetableChangesNothing(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		for name, spoil := range map[string]func(*traintravel.Timetable){
			"trains[1].calls[1]":          func(t *traintravel.Timetable) { t.Trains[1].Calls[1].Arrive = 0 },
			"trains[0].zone":              func(t *traintravel.Timetable) { t.Trains[0].Zone = "Europe/Atlantis" },
			"trains[0].calls[0].station":  func(t *traintravel.Timetable) { t.Trains[0].Calls[0].Station = uuid.New() },
			"trains[0].coaches[1].number": func(t *traintravel.Timetable) { t.Trains[0].Coaches[1].Number = "1" },
			"stations[1].id":              func(t *traintravel.Timetable) { t.Stations[1].ID = t.Stations[0].ID },
		} {
			bad := officetest.Network()
			spoil(bad)
			_, err := o.LoadTimetable(t.Context(), bad)
			var wrong *traintravel.InvalidError
			if !errors.As(err, &wrong) || wrong.Field != name {
				t.Errorf("%s: %v", name, err)
			}
		}
		if books := o.Audit(); books.Generations != 1 {
			t.Errorf("%d generations", books.Generations)
		}
		o.Book(officetest.Anna, o.Joined(4))

		empty, err := traintravel.New(memstore.New(), traintravel.Options{Now: o.Clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		_, err = empty.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: o.Joined(4), PassengerName: "Anna"})
		o.Expect("without a timetable", err, traintravel.ErrNoTimetable)
		_, err = empty.Stations(t.Context(), traintravel.StationQuery{})
		o.Expect("without a timetable", err, traintravel.ErrNoTimetable)
	})
}

// TestInterruptedLoad leaves the old timetable in force, at whichever step it
// dies, and the next load removes what it has left.
func TestInterruptedLoad(t *testing.T) {
	t.Parallel()
	big, store := officetest.Large(), memstore.New()
	o := officetest.New(t, store)
	b := o.Book(officetest.Anna, o.Joined(4))
	steps, inForce := 0, 0
	for step, done := 1, false; !done; step++ {
		p := &officetest.Process{Store: store, DieAt: step}
		dying, err := traintravel.New(p, traintravel.Options{Now: o.Clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		_, err = dying.LoadTimetable(t.Context(), big)
		done = !p.Dead()
		fresh := o.Another()
		_, missing := fresh.Direct(t.Context(), "L", traintravel.DateOf(officetest.Opens), officetest.Station('C'), officetest.Station('E'))
		if err == nil && missing != nil {
			t.Fatalf("killed at step %d: loaded, and not in force: %v", step, missing)
		}
		if missing == nil {
			inForce++
		}
		fresh.TripID('A', 'D', "R 1")
		fresh.Stands(b.ID, traintravel.Held)
		o.Load(officetest.Network())
		if books := o.Audit(); books.Generations != 1 {
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
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		trip := o.TripID('A', 'D', "R 1")
		var wg sync.WaitGroup
		for i := range 6 {
			tt := officetest.Network()
			tt.Trains = append(tt.Trains, officetest.Train(fmt.Sprint("N ", i), 9, "CDE", officetest.Seats(i+1)))
			p := o.Another()
			wg.Go(func() { p.Load(tt) })
			wg.Go(func() {
				if b, err := p.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: trip, PassengerName: "Anna"}); err == nil {
					p.CancelBooking(t.Context(), officetest.Anna, b.ID)
				} else if !errors.Is(err, traintravel.ErrSoldOut) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		o = o.Another()
		n := 0
		for i := range 6 {
			if _, err := o.Direct(t.Context(), fmt.Sprint("N ", i), traintravel.DateOf(officetest.Opens), officetest.Station('C'), officetest.Station('E')); err == nil {
				n++
			}
		}
		if again := o.TripID('A', 'D', "R 1"); n != 1 || again != trip {
			t.Errorf("%d timetables are in force; the trip is %v and was %v", n, again, trip)
		}
		o.Load(officetest.Network())
		if books := o.Audit(); books.Generations != 1 {
			t.Errorf("%d generations are left", books.Generations)
		}
	})
}

// TestDamagedTimetable is told, by reading and by loading.
func TestDamagedTimetable(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := &officetest.Office{T: t, Store: store, Bank: &officetest.Bank{}, Post: &officetest.Post{}}
		o = o.Another()
		o.Clock.Set(officetest.Opens)
		o.Load(officetest.Network())
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
		fresh := o.Another()
		if _, err := fresh.Stations(t.Context(), traintravel.StationQuery{}); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("reading: %v", err)
		}
		if _, err := fresh.LoadTimetable(t.Context(), officetest.Network()); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("loading: %v", err)
		}
	})
}
