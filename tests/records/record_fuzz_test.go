package records_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/traintravel/traintravel"
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
				if errors.Is(err, traintravel.ErrNewerData) && b[0] <= k.sample[0] {
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
