package seats

import (
	"bytes"
	"testing"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/schedule"
)

// An inventory that decodes must work, whatever it contains.
func FuzzInventoryRecord(f *testing.F) {
	sample := inventoryOf("ABCD", 2, 1)
	sample.Take(paid(1, 1, 1, 3))
	b := sample.Encode()
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := DecodeInventory(b)
		if err != nil || v.Places() > 1<<20 {
			return
		}
		last := len(v.Calls) - 1
		for _, leg := range [][2]int{{0, last}, {0, 1}, {last - 1, last}} {
			if from, to := leg[0], leg[1]; 0 <= from && from < to && to <= last && to < schedule.MaxCalls {
				v.HookFree(1, from, to, railtest.Noon())
				if p := v.Choose(from, to, railtest.Noon()); (p == NoPlace) != (v.Free(from, to, railtest.Noon()) == 0) || p != NoPlace && !v.IsFree(p, from, to, railtest.Noon()) {
					t.Errorf("place %d is chosen, %d are free", p, v.Free(from, to, railtest.Noon()))
				}
				v.InTheWay(Taken{Place: 0, From: uint8(from), To: uint8(to), Hook: true}, railtest.Noon())
			}
		}
		if last < 1 || last >= schedule.MaxCalls {
			return
		}
		w := refit(v, "ABC", 2)
		if len(w.Taken)+len(w.Stranded) != len(v.Taken)+len(v.Stranded) {
			t.Errorf("of %d bookings %d are left", len(v.Taken)+len(v.Stranded), len(w.Taken)+len(w.Stranded))
		}
		w.Fit(v.List, v.Calls, v.Coaches)
		again, err := DecodeInventory(w.Encode())
		if err != nil || !bytes.Equal(again.Encode(), w.Encode()) {
			t.Errorf("fitted, %x is read as %+v, %v", w.Encode(), again, err)
		}
	})
}
