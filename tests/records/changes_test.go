package records_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/trains"
)

// Rules for changing are kept with the timetable.
func TestChangesAreRecorded(t *testing.T) {
	t.Parallel()
	tt, ids := sampleTimetable()
	tt.Trains[0].Line = "line 1"
	a, b := tt.Stations[0].ID, tt.Stations[1].ID
	tt.Changes = []traintravel.Change{
		{From: a, To: a, Time: 3 * time.Minute},
		{From: a, To: b, Feed: "f", FromLine: "line 1", ToLine: "line 2", Kind: traintravel.Impossible},
		{From: b, To: b, Feed: "f", FromTrain: "t1", ToTrain: "t2", Kind: traintravel.StaySeated},
		{From: a, To: a, FromPlatform: 7, ToPlatform: 800, Kind: traintravel.Impossible},
	}
	tt.Trains[0].Calls[0].Platform = 65535
	got, _, err := trains.DecodeNumbered(trains.EncodeNumbered(tt, ids))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tt.Changes, got.Changes); diff != "" || got.Trains[0].Line != "line 1" || got.Trains[0].Calls[0] != tt.Trains[0].Calls[0] {
		t.Errorf("-kept +read:\n%s", diff)
	}
}

func TestChangesThatCannotBe(t *testing.T) {
	t.Parallel()
	tt := &traintravel.Timetable{Stations: []traintravel.Station{{ID: uuid.UUID{1}, Name: "a", Zone: "UTC"}}}
	a := tt.Stations[0].ID
	for field, c := range map[string]traintravel.Change{
		"changes[0].from":     {From: uuid.UUID{2}, To: a},
		"changes[0].to":       {From: a, To: uuid.UUID{2}},
		"changes[0].kind":     {From: a, To: a, Kind: 3},
		"changes[0].time":     {From: a, To: a, Time: 24*time.Hour + time.Second},
		"changes[0].to_train": {From: a, To: a, ToTrain: "\x00"},
		"changes[0]":          {From: a, To: a, Kind: traintravel.StaySeated, FromTrain: "1"},
	} {
		tt.Changes = []traintravel.Change{c}
		var bad *traintravel.InvalidError
		if err := tt.Check(); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%+v: %v", c, err)
		}
	}
	tt.Changes = nil
	for i := range 2_100 { // each train told apart from each other
		name := string(rune('a' + i))
		tt.Changes = append(tt.Changes, traintravel.Change{From: a, To: a, FromTrain: name}, traintravel.Change{From: a, To: a, ToTrain: name})
	}
	var bad *traintravel.InvalidError
	if err := tt.Check(); !errors.As(err, &bad) || bad.Field != "changes" {
		t.Errorf("too many pairs of trains: %v", err)
	}
	tt.Changes = nil
	for i := range 50 { // each of 50 lines at each of 50 platforms told apart
		name := string(rune('a' + i))
		tt.Changes = append(tt.Changes, traintravel.Change{From: a, To: a, FromLine: name, ToLine: name}, traintravel.Change{From: a, To: a, FromPlatform: uint16(i + 1), ToPlatform: uint16(i + 1)})
	}
	if err := tt.Check(); !errors.As(err, &bad) || bad.Field != "changes" {
		t.Errorf("too many pairs of lines at platforms: %v", err)
	}
	for _, c := range []traintravel.Change{
		{From: a, To: a, Kind: traintravel.StaySeated, FromTrain: "1", ToTrain: "2", ToPlatform: 3},
		{From: a, To: a, Time: -time.Second}, {From: a, To: a, Time: time.Millisecond}, {From: a, To: a, Time: time.Second, Kind: traintravel.Impossible},
	} {
		tt.Changes = []traintravel.Change{c}
		if err := tt.Check(); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
