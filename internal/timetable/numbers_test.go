package timetable

import (
	"errors"
	"testing"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// Once a number has gone to another train, IDs of the former train do not resolve to the
// new one.
func TestNumbersOfFormerTrains(t *testing.T) {
	t.Parallel()
	newYear, day := rail.NewDate(2021, 1, 1), rail.NewDate(2021, 6, 14)
	since := day + trains.KeepNumbers + 1
	former := railtest.TrainOf("1", "Europe/Berlin", railtest.On(day), "Köln 8:00", "Bonn 9:00")
	sn, reg := loaded(t, railtest.NetworkOf(former), trains.Registry{High: trains.MaxNumber}, newYear)
	number := sn.Trains[0].number
	formerID := TripID([]Ride{{&sn.Trains[0], day, 0, 1}})

	_, reg = loaded(t, railtest.NetworkOf(), reg, since) // the former train is forgotten
	sn, _ = loaded(t, railtest.NetworkOf(railtest.TrainOf("2", "Europe/Berlin", schedule.Daily(newYear, day+100), "Köln 8:00", "Bonn 9:00")), reg, since)
	if got := sn.Trains[0].number; got != number {
		t.Fatalf("the new train has the number %d, want %d", got, number)
	}
	if _, err := sn.Resolve(formerID); !errors.Is(err, rail.ErrNotFound) {
		t.Errorf("an ID of the former train: %v", err)
	}
	for d, want := range map[rail.Date]bool{since - 1: false, since: true, day + 100: true} {
		id := TripCode{date: d, Alight: 1, Legs: 1, Numbers: [rail.MaxLegs]uint32{number}}.ID()
		if _, err := sn.Resolve(id); (err == nil) != want {
			t.Errorf("an ID of %s: %v, want a trip: %t", d, err, want)
		}
		found := sn.directOn("Köln", "Bonn", d)
		if (len(found) == 1) != want {
			t.Errorf("on %s %d trips are found: want one: %t", d, len(found), want)
		}
	}
}

// Variants of a train share its identity, and with the same calls its number: a date tells
// which of them is meant.
func TestVariantsAreFoundByDate(t *testing.T) {
	t.Parallel()
	newYear := rail.NewDate(2021, 1, 1)
	variant := func(days *schedule.Calendar, calls ...string) schedule.Train {
		return railtest.TrainOf("1", "Europe/Berlin", days, calls...)
	}
	sn := compiled(t, railtest.NetworkOf(
		variant(schedule.Daily(newYear, newYear+89), "Köln 8:00", "Bonn 9:00", "Ulm 10:00"),
		variant(schedule.Daily(newYear+90, newYear+200), "Köln 8:00", "Bonn 9:01", "Ulm 10:00"),
		variant(railtest.On(newYear+300), "Köln 8:00", "Jena 9:00", "Ulm 10:00"),
	))
	first := &sn.Trains[0]
	for i, d := range []rail.Date{newYear, newYear + 100, newYear + 300} {
		if train, ok := sn.Run(rail.RunID{Train: first.ID, Date: d}); !ok || train != &sn.Trains[i] {
			t.Errorf("on %s the train is not variant %d", d, i)
		}
	}
	for i, d := range []rail.Date{newYear, newYear + 100} {
		if train, ok := sn.numbered(first.number, d); !ok || train != &sn.Trains[i] {
			t.Errorf("on %s the number is not of variant %d", d, i)
		}
	}
	if _, ok := sn.numbered(first.number, newYear+300); ok {
		t.Error("the number is of a train with other calls")
	}
}
