package traintravel

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// The records in testdata/records that hold what later versions of their kinds
// have more than the samples: when a booking's status changed, and a run that
// is cancelled and has a place that is blocked.
func TestRecordsOfTheDesk(t *testing.T) {
	t.Parallel()
	b := sampleBooking()
	b.Changed = sampleTime(4)
	v := sampleInventory()
	v.cancelled = true
	v.taken = append(v.taken, taken{booking: blocked, place: 3, from: 0, to: 2, until: forGood, sold: v.list})
	for file, want := range map[string][]byte{"changed.2.hex": b.encode(), "cancelled.3.hex": v.encode()} {
		text, err := os.ReadFile("testdata/records/" + file)
		if err != nil {
			t.Fatalf("%v; it would hold\n%x", err, want)
		}
		golden, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(file, err)
		}
		if !bytes.Equal(golden, want) {
			t.Errorf("%s: the record is now\n%x", file, want)
		}
	}
	if again, err := decodeBooking(b.encode(), &zones{}); err != nil || !again.Changed.Equal(b.Changed) {
		t.Error(again.Changed, err)
	}
	again, err := decodeInventory(v.encode())
	if err != nil || !again.cancelled || len(again.blocks()) != 1 {
		t.Errorf("%+v, %v", again, err)
	}
}
