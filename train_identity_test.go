package traintravel

import (
	"testing"

	"github.com/google/uuid"
)

// What makes a train known again, and what does not.
func TestTrainIdentity(t *testing.T) {
	t.Parallel()
	original := trainOf("ICE 1", "Europe/Berlin", allYear, "Köln 8:00", "Bonn 8:20-8:22", "Unna 9:00")
	for _, c := range []struct {
		name   string
		change func(*Train)
		same   bool
	}{
		{"another ID", func(t *Train) { t.ID = "renumbered" }, true},
		{"other days", func(t *Train) { t.Days = on(1) }, true},
		{"other coaches, rules and fare", func(t *Train) { t.Coaches, t.Bicycles, t.Hooks, t.Fare = []Coach{{"1", 9}}, Allowed, 3, Fare{} }, true},
		{"another destination", func(t *Train) { t.Calls[2].Station = stationNamed("Hamm") }, true},
		{"the first call's arrival, which means nothing", func(t *Train) { t.Calls[0].Arrive = 0 }, true},
		{"later on the way", func(t *Train) { t.Calls[1].Depart += 60 }, true},
		{"another feed", func(t *Train) { t.Feed = "x" }, false},
		{"another operator", func(t *Train) { t.Operator = "Other Rail" }, false},
		{"another number", func(t *Train) { t.Number = "ICE 2" }, false},
		{"another first station", func(t *Train) { t.Calls[0].Station = stationNamed("Hamm") }, false},
		{"another first departure", func(t *Train) { t.Calls[0].Depart++ }, false},
		{"a letter moved from one text to the next", func(t *Train) { t.Operator, t.Number = "RailI", "CE 1" }, false},
	} {
		train := trainOf("ICE 1", "Europe/Berlin", allYear, "Köln 8:00", "Bonn 8:20-8:22", "Unna 9:00")
		c.change(&train)
		if got := baseOf(&train) == baseOf(&original); got != c.same {
			t.Errorf("%s: the same train: %t, want %t", c.name, got, c.same)
		}
	}
}

// Identities are in people's bookings: they never change.
func TestTrainIdentityIsForEver(t *testing.T) {
	t.Parallel()
	train := trainOf("ICE 1", "Europe/Berlin", allYear, "Köln 8:00", "Bonn 8:20")
	base := baseOf(&train)
	for n, want := range map[int]string{
		0: "9ce0dc94-3efa-8a32-ac5f-656d3d799ba4", 1: "11594bcc-75e1-8e15-bc71-5251ee2b1922",
	} {
		id := twin(base, n)
		if id.String() != want || id.Version() != 8 || id.Variant() != uuid.RFC4122 {
			t.Errorf("twin %d is %v, want %s", n, id, want)
		}
	}
}

func TestMarksTellListsApart(t *testing.T) {
	t.Parallel()
	list := func(stations ...string) []Call {
		var calls []Call
		for _, s := range stations {
			calls = append(calls, Call{Station: stationNamed(s)})
		}
		return calls
	}
	seen := map[uint64]int{}
	for i, l := range [][]Call{list("A", "B"), list("B", "A"), list("A", "B", "A"), list("A"), list("A", "A"), list("AB")} {
		if j, ok := seen[listMark(l)]; ok {
			t.Errorf("lists %d and %d have one mark", i, j)
		}
		seen[listMark(l)] = i
	}
	timed := list("A", "B")
	timed[1].Arrive, timed[1].NoBoarding = 5, true
	if listMark(timed) != listMark(list("A", "B")) {
		t.Error("times count in the mark of a list of stations")
	}
}
