package traintravel

import (
	"testing"

	"github.com/google/uuid"
)

// Inventories count on the calls and coaches of a train.
func TestFitted(t *testing.T) {
	t.Parallel()
	tr := trainOf("1", "Europe/Berlin", allYear, "A 8:00", "B 9:00", "C 10:00")
	tr.Coaches = []Coach{{"1", 2}}
	longer, more := tr, trainOf("1", "Europe/Berlin", allYear, "A 8:00", "B 9:00", "X 9:30", "C 10:00")
	longer.Coaches = []Coach{{"1", 3}}
	more.Coaches = tr.Coaches
	sn := compiled(t, networkOf(tr, longer, more))
	v := sn.newInventory(&sn.trains[0])
	v.take(taken{booking: uuid.UUID{1}, place: 1, from: 1, to: 2, until: forGood})
	if w := sn.fitted(v, &sn.trains[0]); w != v {
		t.Error("an inventory that fits is made anew")
	}
	if w := sn.fitted(v, &sn.trains[1]); w.places() != 3 || len(w.taken) != 1 || w.taken[0] != v.taken[0] || !w.fits(sn.trains[1].list, sn.trains[1].coaches) || w.fits(sn.trains[0].list, sn.trains[0].coaches) {
		t.Errorf("with a longer coach: %+v", w)
	}
	later := v.taken[0]
	later.to = 3
	if w := sn.fitted(v, &sn.trains[2]); len(w.taken) != 1 || w.taken[0] != later || !w.fits(sn.trains[2].list, sn.trains[2].coaches) || w.fits(sn.trains[0].list, sn.trains[0].coaches) {
		t.Errorf("with a call inserted: %+v", w)
	}
}
