package timetable

import (
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/rail"
)

// Inventories count on the calls and coaches of a train.
func TestFitted(t *testing.T) {
	t.Parallel()
	tr := railtest.TrainOf("1", "Europe/Berlin", railtest.AllYear(), "A 8:00", "B 9:00", "C 10:00")
	tr.Coaches = []rail.Coach{{Number: "1", Seats: 2}}
	longer, more := tr, railtest.TrainOf("1", "Europe/Berlin", railtest.AllYear(), "A 8:00", "B 9:00", "X 9:30", "C 10:00")
	longer.Coaches = []rail.Coach{{Number: "1", Seats: 3}}
	more.Coaches = tr.Coaches
	sn := compiled(t, railtest.NetworkOf(tr, longer, more))
	v := sn.NewInventory(&sn.Trains[0])
	v.Take(seats.Taken{Booking: uuid.UUID{1}, Place: 1, From: 1, To: 2, Until: seats.ForGood})
	if w := sn.Fitted(v, &sn.Trains[0]); w != v {
		t.Error("an inventory that fits is made anew")
	}
	if w := sn.Fitted(v, &sn.Trains[1]); w.Places() != 3 || len(w.Taken) != 1 || w.Taken[0] != v.Taken[0] || !w.Fits(sn.Trains[1].list, sn.Trains[1].Coaches) || w.Fits(sn.Trains[0].list, sn.Trains[0].Coaches) {
		t.Errorf("with a longer coach: %+v", w)
	}
	later := v.Taken[0]
	later.To = 3
	if w := sn.Fitted(v, &sn.Trains[2]); len(w.Taken) != 1 || w.Taken[0] != later || !w.Fits(sn.Trains[2].list, sn.Trains[2].Coaches) || w.Fits(sn.Trains[0].list, sn.Trains[0].Coaches) {
		t.Errorf("with a call inserted: %+v", w)
	}
}
