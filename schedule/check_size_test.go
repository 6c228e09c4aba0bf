package schedule_test

import (
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
)

// A timetable that is too large is refused before anything else is looked at, whatever
// trains share.
func TestCheckSize(t *testing.T) {
	t.Parallel()
	calls := make([]traintravel.Call, 256)
	trains := func(n int, one traintravel.Train) []traintravel.Train {
		all := make([]traintravel.Train, n)
		for i := range all {
			all[i] = one
		}
		return all
	}
	days := make([]traintravel.Date, 10_000)
	exceptions := make([]traintravel.Train, 2001)
	for i := range exceptions {
		exceptions[i].Days = &traintravel.Calendar{Removed: days}
	}
	row := make([]int64, 10_000)
	priced := make([]traintravel.Train, 2001)
	for i := range priced {
		priced[i].Prices = &traintravel.Prices{Amounts: [][]int64{row}}
	}
	for _, c := range []struct {
		tt   traintravel.Timetable
		want string
	}{
		{traintravel.Timetable{Stations: make([]traintravel.Station, traintravel.MaxStations+1)}, "stations: has 500001 entries, more than 500000"},
		{traintravel.Timetable{Trains: make([]traintravel.Train, traintravel.MaxTrains+1)}, "trains: has 2000001 entries, more than 2000000"},
		{traintravel.Timetable{Changes: make([]traintravel.Change, traintravel.MaxChanges+1)}, "changes: has 2000001 entries, more than 2000000"},
		{traintravel.Timetable{Trains: trains(58_594, traintravel.Train{Calls: calls})}, "trains: have 15000064 calls, more than 15000000"},
		{traintravel.Timetable{Trains: exceptions}, "trains: have 20010000 days"},
		{traintravel.Timetable{Trains: priced}, "trains: have 20010000 prices"},
	} {
		if err := c.tt.Check(); err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.200v, want %s", err, c.want)
		}
	}
	shared := traintravel.Timetable{Trains: trains(10, traintravel.Train{
		Days: &traintravel.Calendar{Removed: make([]traintravel.Date, 10_000_000)}, Operator: "any", Zone: "UTC",
	})}
	if err := shared.Check(); err == nil || strings.Contains(err.Error(), "days") {
		t.Errorf("days that are shared: %v", err)
	}
}
