package traintravel

import (
	"errors"
	"testing"
)

// Once a number has gone to another train, IDs of the former train do not resolve to the
// new one.
func TestNumbersOfFormerTrains(t *testing.T) {
	t.Parallel()
	newYear, day := NewDate(2021, 1, 1), NewDate(2021, 6, 14)
	since := day + keepNumbers + 1
	former := trainOf("1", "Europe/Berlin", on(day), "Köln 8:00", "Bonn 9:00")
	sn, reg := loaded(t, networkOf(former), registry{high: maxNumber}, newYear)
	number := sn.trains[0].number
	formerID := tripID([]ride{{&sn.trains[0], day, 0, 1}})

	_, reg = loaded(t, networkOf(), reg, since) // the former train is forgotten
	sn, _ = loaded(t, networkOf(trainOf("2", "Europe/Berlin", Daily(newYear, day+100), "Köln 8:00", "Bonn 9:00")), reg, since)
	if got := sn.trains[0].number; got != number {
		t.Fatalf("the new train has the number %d, want %d", got, number)
	}
	if _, err := sn.resolve(formerID); !errors.Is(err, ErrNotFound) {
		t.Errorf("an ID of the former train: %v", err)
	}
	for d, want := range map[Date]bool{since - 1: false, since: true, day + 100: true} {
		id := tripCode{date: d, alight: 1, legs: 1, numbers: [maxLegs]uint32{number}}.id()
		if _, err := sn.resolve(id); (err == nil) != want {
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
	newYear := NewDate(2021, 1, 1)
	variant := func(days *Calendar, calls ...string) Train { return trainOf("1", "Europe/Berlin", days, calls...) }
	sn := compiled(t, networkOf(
		variant(Daily(newYear, newYear+89), "Köln 8:00", "Bonn 9:00", "Ulm 10:00"),
		variant(Daily(newYear+90, newYear+200), "Köln 8:00", "Bonn 9:01", "Ulm 10:00"),
		variant(on(newYear+300), "Köln 8:00", "Jena 9:00", "Ulm 10:00"),
	))
	first := &sn.trains[0]
	for i, d := range []Date{newYear, newYear + 100, newYear + 300} {
		if train, ok := sn.run(RunID{first.id, d}); !ok || train != &sn.trains[i] {
			t.Errorf("on %s the train is not variant %d", d, i)
		}
	}
	for i, d := range []Date{newYear, newYear + 100} {
		if train, ok := sn.numbered(first.number, d); !ok || train != &sn.trains[i] {
			t.Errorf("on %s the number is not of variant %d", d, i)
		}
	}
	if _, ok := sn.numbered(first.number, newYear+300); ok {
		t.Error("the number is of a train with other calls")
	}
}
