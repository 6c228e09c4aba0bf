package records_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/trains"
)

// namedTimetable is the sample with other names and IDs of a station.
func namedTimetable() (*traintravel.Timetable, []trains.Numbering) {
	tt, ids := sampleTimetable()
	tt.Stations[0].OtherNames = []string{"Cologne", "Кёльн"}
	tt.Stations[0].OtherIDs = []uuid.UUID{sampleID(6), sampleID(7)}
	tt.Trains[1].Calls = slices.Clone(tt.Trains[1].Calls)
	tt.Trains[1].Calls[0].Station = sampleID(7)
	tt.Changes = []traintravel.Change{{From: sampleID(6), To: sampleID(2), Kind: traintravel.Impossible}}
	return tt, ids
}

// The record in testdata/records/named.4.hex was written by version 4 of a
// timetable's.
func TestOtherNamesAndIDsAreReadAndDamageIsTold(t *testing.T) {
	t.Parallel()
	rewrite := func(b []byte) ([]byte, error) {
		tt, ids, err := trains.DecodeNumbered(b)
		if err != nil {
			return nil, err
		}
		return trains.EncodeNumbered(tt, ids), nil
	}
	sample := trains.EncodeNumbered(namedTimetable())
	text, err := os.ReadFile("testdata/records/named.4.hex")
	if err != nil {
		t.Fatalf("%v; it would hold\n%x", err, sample)
	}
	golden, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := rewrite(golden); err != nil || !bytes.Equal(again, sample) {
		t.Errorf("%v: is read as\n%x, want\n%x", err, again, sample)
	}
	for n := range sample {
		if _, err := rewrite(sample[:n]); err == nil {
			t.Errorf("cut short after %d bytes, it is read", n)
		}
	}
}
