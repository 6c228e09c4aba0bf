package gtfs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// A railway that says of each train for which others it waits, at a station with
// thousands of them, can be imported: those rules are left out that make it too much, and
// none that forbids a change or makes it longer.
func TestRulesForTooManyTrains(t *testing.T) {
	t.Parallel()
	const n = 2100 // 2101 times 2101 are more than four million
	var trips, times, rows strings.Builder
	for i := range n {
		fmt.Fprintf(&trips, "a%d,ICE,daily,a%[1]d\nb%[1]d,ICE,daily,b%[1]d\n", i)
		fmt.Fprintf(&times, "a%d,B,1,08:00:00,08:00:00\na%[1]d,H1,2,09:30:00,09:30:00\nb%[1]d,H2,1,10:00:00,10:00:00\nb%[1]d,K,2,12:00:00,12:00:00\n", i)
		fmt.Fprintf(&rows, "H,H,,,a%d,b%[1]d,1,\n", i)
	}
	const others = "K,K,,,b1,a1,1,\nH,H,,,a1,b2,3,\nH,H,,,a1,b3,2,900\n"
	feed := []string{
		junction, "-- trips.txt --\ntrip_id,route_id,service_id,trip_short_name\n" + trips.String(),
		"-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n" + times.String(),
	}
	timetable, report := read(t, gtfs.Options{}, append(feed, transfers+rows.String()+others)...)
	diff(t, "rules", changes(t, timetable), []string{"K>K *>* b1>a1 takes 0s", "H>H *>* a1>b2 impossible", "H>H *>* a1>b3 takes 15m0s"})
	if last := report.Notes[len(report.Notes)-1].String(); !strings.HasPrefix(last, "transfers.txt:1: 2100 rules by which one trip waits for another are left out, at 1 stations") {
		t.Error(last)
	}
	// All of them forbid: then there is nothing to be left out, and the timetable is refused.
	timetable, _ = read(t, gtfs.Options{}, append(feed, transfers+strings.ReplaceAll(rows.String(), ",1,\n", ",3,\n"))...)
	if err := timetable.Check(); err == nil || len(timetable.Changes) != n {
		t.Errorf("%d rules, %v", len(timetable.Changes), err)
	}
	if traintravel.ChangePairs(timetable.Changes) <= traintravel.MaxPairs {
		t.Error("the rules are not too many")
	}
}
