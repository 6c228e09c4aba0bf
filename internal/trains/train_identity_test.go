package trains

import (
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// Tests which changes keep the identity of a train.
func TestTrainIdentity(t *testing.T) {
	t.Parallel()
	original := railtest.TrainOf("ICE 1", "Europe/Berlin", railtest.AllYear(), "Köln 8:00", "Bonn 8:20-8:22", "Unna 9:00")
	for _, c := range []struct {
		name   string
		change func(*schedule.Train)
		same   bool
	}{
		{"another ID", func(t *schedule.Train) { t.ID = "renumbered" }, true},
		{"other days", func(t *schedule.Train) { t.Days = railtest.On(1) }, true},
		{"other coaches, rules and fare", func(t *schedule.Train) {
			t.Coaches, t.Bicycles, t.Hooks, t.Fare = []rail.Coach{{Number: "1", Seats: 9}}, rail.Allowed, 3, schedule.Fare{}
		}, true},
		{"another destination", func(t *schedule.Train) { t.Calls[2].Station = railtest.StationNamed("Hamm") }, true},
		{"the first call's arrival, which means nothing", func(t *schedule.Train) { t.Calls[0].Arrive = 0 }, true},
		{"later on the way", func(t *schedule.Train) { t.Calls[1].Depart += 60 }, true},
		{"another feed", func(t *schedule.Train) { t.Feed = "x" }, false},
		{"another operator", func(t *schedule.Train) { t.Operator = "Other Rail" }, false},
		{"another number", func(t *schedule.Train) { t.Number = "ICE 2" }, false},
		{"another first station", func(t *schedule.Train) { t.Calls[0].Station = railtest.StationNamed("Hamm") }, false},
		{"another first departure", func(t *schedule.Train) { t.Calls[0].Depart++ }, false},
		{"a letter moved from one text to the next", func(t *schedule.Train) { t.Operator, t.Number = "RailI", "CE 1" }, false},
	} {
		train := railtest.TrainOf("ICE 1", "Europe/Berlin", railtest.AllYear(), "Köln 8:00", "Bonn 8:20-8:22", "Unna 9:00")
		c.change(&train)
		if got := BaseOf(&train) == BaseOf(&original); got != c.same {
			t.Errorf("%s: the same train: %t, want %t", c.name, got, c.same)
		}
	}
}

// Identities are in people's bookings: they never change.
func TestTrainIdentityIsForEver(t *testing.T) {
	t.Parallel()
	train := railtest.TrainOf("ICE 1", "Europe/Berlin", railtest.AllYear(), "Köln 8:00", "Bonn 8:20")
	base := BaseOf(&train)
	for n, want := range map[int]string{
		0: "9ce0dc94-3efa-8a32-ac5f-656d3d799ba4", 1: "11594bcc-75e1-8e15-bc71-5251ee2b1922",
	} {
		id := Twin(base, n)
		if id.String() != want || id.Version() != 8 || id.Variant() != uuid.RFC4122 {
			t.Errorf("twin %d is %v, want %s", n, id, want)
		}
	}
}

func TestMarksDistinguishLists(t *testing.T) {
	t.Parallel()
	list := func(stations ...string) []schedule.Call {
		var calls []schedule.Call
		for _, s := range stations {
			calls = append(calls, schedule.Call{Station: railtest.StationNamed(s)})
		}
		return calls
	}
	seen := map[uint64]int{}
	for i, l := range [][]schedule.Call{list("A", "B"), list("B", "A"), list("A", "B", "A"), list("A"), list("A", "A"), list("AB")} {
		if j, ok := seen[ListMark(l)]; ok {
			t.Errorf("lists %d and %d have one mark", i, j)
		}
		seen[ListMark(l)] = i
	}
	timed := list("A", "B")
	timed[1].Arrive, timed[1].NoBoarding = 5, true
	if ListMark(timed) != ListMark(list("A", "B")) {
		t.Error("times count in the mark of a list of stations")
	}
}
