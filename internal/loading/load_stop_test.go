package loading_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// endingContext ends when it is asked for the n-th time whether it has.
type endingContext struct {
	context.Context
	looks, n int
}

func (c *endingContext) Err() error {
	if c.looks++; c.looks >= c.n {
		return context.Canceled
	}
	return nil
}

// deafStore does not tell the service that a context has ended.
type deafStore struct{ traintravel.Store }

func (s deafStore) View(_ context.Context, fn func(traintravel.Reader) error) error {
	return s.Store.View(context.Background(), fn)
}

func (s deafStore) Update(_ context.Context, fn func(traintravel.Tx) error) error {
	return s.Store.Update(context.Background(), fn)
}

// A load that is interrupted, whenever that is, leaves the old timetable in force.
// While trains are registered and compiled it looks often whether it is.
func TestLoadIsInterrupted(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	b := o.Book(officetest.Anna, o.Joined(4))
	big := officetest.Network()
	for i := range 2100 {
		big.Trains = append(big.Trains, officetest.Train(fmt.Sprint("L", i), 6, "CE"))
	}
	service, err := traintravel.New(deafStore{o.Store}, traintravel.Options{Now: o.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	const least = 4 * 3 // registering goes through the trains twice, and so does compiling
	for n := 1; ; n++ {
		_, err := service.LoadTimetable(&endingContext{Context: t.Context(), n: n}, big)
		fresh := o.Another()
		fresh.Stands(b.ID, traintravel.Held)
		if _, missing := fresh.Direct(t.Context(), "L0", traintravel.DateOf(officetest.Opens), officetest.Station('C'), officetest.Station('E')); missing == nil {
			if n <= least {
				t.Errorf("it looked only %d times whether it was interrupted, not more than %d", n-1, least)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted at look %d: %v", n, err)
		}
		fresh.TripID('A', 'D', "R 1")
	}
	o.Load(officetest.Network())
	if books := o.Audit(); books.Generations != 1 {
		t.Errorf("%d generations are left", books.Generations)
	}
}
