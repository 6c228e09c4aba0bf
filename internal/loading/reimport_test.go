package loading_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/synthfeed"
	"github.com/traintravel/traintravel/store/boltstore"
)

// While timetables are replaced under load, every search is answered from one
// of them, whole.
func TestSearchWhileTimetablesAreReplaced(t *testing.T) {
	t.Parallel()
	need.Short(t, "stores on disk")
	dir := filepath.Join(t.TempDir(), "feed")
	if err := synthfeed.Write(dir, synthfeed.Options{Seed: 1, Scale: 0.02}); err != nil {
		t.Fatal(err)
	}
	all, _, err := gtfs.ReadFile(t.Context(), dir, gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	some := *all
	some.Trains = nil
	for i, tr := range all.Trains {
		if i%3 > 0 {
			tr.ID = "renumbered " + tr.ID
			some.Trains = append(some.Trains, tr)
		}
	}
	store, err := boltstore.Open(filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	service, err := traintravel.New(store, traintravel.Options{Now: func() time.Time { return officetest.BenchDay.Start(time.UTC).AddDate(0, 0, -2) }})
	if err != nil {
		t.Fatal(err)
	}
	var queries []traintravel.TripQuery
	for i := range 12 {
		queries = append(queries, traintravel.TripQuery{
			Origin: all.Stations[i].ID, Destination: all.Stations[len(all.Stations)-1-i].ID, Depart: officetest.BenchDay.Start(time.UTC).Add(6 * time.Hour),
			Page: traintravel.Page{Limit: 100},
		})
	}
	ask := func(q traintravel.TripQuery) string {
		found, err := service.SearchTrips(t.Context(), q)
		if err != nil {
			t.Error(err)
		}
		text := fmt.Sprint(len(found.Items))
		for _, trip := range found.Items {
			text += " " + trip.ID.String()
		}
		return text
	}
	load := func(tt *traintravel.Timetable) {
		if _, err := service.LoadTimetable(t.Context(), tt); err != nil {
			t.Error(err)
		}
	}
	want := make([][]string, len(queries))
	for _, tt := range []*traintravel.Timetable{all, &some} {
		load(tt)
		for i, q := range queries {
			want[i] = append(want[i], ask(q))
		}
	}
	if slices.EqualFunc(want, want, func(a, _ []string) bool { return a[0] == a[1] }) {
		t.Fatal("the timetables do not differ")
	}
	var over atomic.Bool
	var wg sync.WaitGroup
	var searches atomic.Int64
	for worker := range 4 {
		wg.Go(func() {
			for i := worker; !over.Load(); i++ {
				q := i % len(queries)
				if got := ask(queries[q]); !slices.Contains(want[q], got) {
					t.Errorf("query %d: %s, want one of %q", q, got, want[q])
					return
				}
				searches.Add(1)
			}
		})
	}
	for range 6 {
		load(all)
		load(&some)
	}
	over.Store(true)
	wg.Wait()
	if searches.Load() < 20 {
		t.Errorf("only %d searches", searches.Load())
	}
}

// One service replaces timetables, and the other, which has opened the store for
// itself, sells from the one in force from the moment on that it is.
func TestSellWhileTimetablesAreReplaced(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := officetest.New(t, stores[0])
		seller := o.At(stores[1])
		plans := []*traintravel.Timetable{officetest.Timetable(officetest.Train("R 1", 8, "ABD", officetest.Seats(9))), officetest.Timetable(officetest.Train("R 1", 8, "ACD", officetest.Seats(9)))}
		var trips [2]uuid.UUID
		for i, to := range []rune{'B', 'C'} {
			o.Load(plans[i])
			trips[i] = o.TripID('A', to, "R 1")
		}
		var loads atomic.Int64 // odd while the timetable is replaced; in force is the second
		var wg sync.WaitGroup
		for worker := range 3 {
			wg.Go(func() {
				by := traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint("seller ", worker)}}
				for n := worker; loads.Load() < 24 && !t.Failed(); n++ {
					before := loads.Load()
					b, err := seller.CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: trips[n%2], PassengerName: "x"})
					if inForce := int(before/2+1) % 2; err == nil && before%2 == 0 && loads.Load() == before && inForce != n%2 {
						t.Errorf("after load %d, %v was sold", before/2, b.Legs[0])
					}
					if err == nil {
						err = seller.CancelBooking(t.Context(), by, b.ID)
					}
					if err != nil && !errors.Is(err, traintravel.ErrNotFound) {
						t.Error(err)
					}
					if _, err := seller.SearchTrips(t.Context(), traintravel.TripQuery{Origin: officetest.Station('A'), Destination: officetest.Station('D'), Depart: officetest.Opens}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for n := range 12 {
			loads.Add(1)
			o.Load(plans[n%2])
			loads.Add(1)
			seller.TryBook(officetest.Anna, trips[1-n%2], traintravel.ErrNotFound)
			b := seller.Book(officetest.Anna, trips[n%2])
			seller.Expect("cancelling", seller.CancelBooking(t.Context(), officetest.Anna, b.ID), nil)
		}
		wg.Wait()
	})
}
