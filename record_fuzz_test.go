package traintravel

import (
	"bytes"
	"errors"
	"testing"
)

// fuzzRecord reads any bytes as a record of a kind: they are refused, or read
// as a record that is written and read again without change.
func fuzzRecord(f *testing.F, kind string) {
	for _, k := range recordKinds {
		if k.name != kind {
			continue
		}
		f.Add(k.sample)
		f.Add(k.sample[:len(k.sample)/2])
		f.Add([]byte{})
		f.Fuzz(func(t *testing.T, b []byte) {
			before := bytes.Clone(b)
			once, err := k.rewrite(b)
			if !bytes.Equal(b, before) {
				t.Fatal("reading has changed the bytes")
			}
			if err != nil {
				if errors.Is(err, ErrNewerData) && b[0] <= k.sample[0] {
					t.Fatalf("version %d: %v", b[0], err)
				}
				return
			}
			if twice, err := k.rewrite(once); err != nil || !bytes.Equal(once, twice) {
				t.Fatalf("%v\n%x is written as\n%x, and that as\n%x", err, b, once, twice)
			}
		})
		return
	}
	f.Fatal("no such kind of record")
}

func FuzzBookingRecord(f *testing.F)     { fuzzRecord(f, "booking") }
func FuzzPaymentRecord(f *testing.F)     { fuzzRecord(f, "payment") }
func FuzzTimetableRecord(f *testing.F)   { fuzzRecord(f, "timetable") }
func FuzzRegistryRecord(f *testing.F)    { fuzzRecord(f, "registry") }
func FuzzEventRecord(f *testing.F)       { fuzzRecord(f, "event") }
func FuzzIdempotencyRecord(f *testing.F) { fuzzRecord(f, "idempotency") }
func FuzzDeclinesRecord(f *testing.F)    { fuzzRecord(f, "declines") }
func FuzzCurrentRecord(f *testing.F)     { fuzzRecord(f, "current") }
func FuzzClosedRecord(f *testing.F)      { fuzzRecord(f, "closed") }

// What is read of an inventory must do, whatever it is.
func FuzzInventoryRecord(f *testing.F) {
	b := sampleInventory().encode()
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decodeInventory(b)
		if err != nil || v.places() > 1<<20 {
			return
		}
		last := len(v.calls) - 1
		for _, leg := range [][2]int{{0, last}, {0, 1}, {last - 1, last}} {
			if from, to := leg[0], leg[1]; 0 <= from && from < to && to <= last && to < MaxCalls {
				v.hookFree(1, from, to, noon)
				if p := v.choose(from, to, noon); (p == noPlace) != (v.free(from, to, noon) == 0) || p != noPlace && !v.isFree(p, from, to, noon) {
					t.Errorf("place %d is chosen, %d are free", p, v.free(from, to, noon))
				}
				v.inTheWay(taken{place: 0, from: uint8(from), to: uint8(to), hook: true}, noon)
			}
		}
		if last < 1 || last >= MaxCalls {
			return
		}
		w := refit(v, "ABC", 2)
		if len(w.taken)+len(w.stranded) != len(v.taken)+len(v.stranded) {
			t.Errorf("of %d bookings %d are left", len(v.taken)+len(v.stranded), len(w.taken)+len(w.stranded))
		}
		w.fit(v.list, v.calls, v.coaches)
		again, err := decodeInventory(w.encode())
		if err != nil || !bytes.Equal(again.encode(), w.encode()) {
			t.Errorf("fitted, %x is read as %+v, %v", w.encode(), again, err)
		}
	})
}
