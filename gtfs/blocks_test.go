package gtfs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/gtfs"
)

// blocks is a feed of trips on their days, between the stops of base, given as
// "trip service block from at to at".
func blocks(trips ...string) string {
	var rows, calls strings.Builder
	for _, trip := range trips {
		var id, service, block, from, depart, to, arrive string
		if _, err := fmt.Sscan(trip, &id, &service, &block, &from, &depart, &to, &arrive); err != nil {
			panic(err)
		}
		fmt.Fprintf(&rows, "%s,ICE,%s,%s\n", id, service, strings.Trim(block, "-"))
		fmt.Fprintf(&calls, "%s,%s,1,%s:00,%s:00\n%s,%s,2,%s:00,%s:00\n", id, from, depart, depart, id, to, arrive, arrive)
	}
	return `
-- calendar.txt --
service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date
daily,1,1,1,1,1,1,1,20260101,20261231
weekdays,1,1,1,1,1,0,0,20260101,20261231
weekend,0,0,0,0,0,1,1,20260101,20261231
later,1,1,1,1,1,1,1,20270101,20271231
-- trips.txt --
trip_id,route_id,service_id,block_id
` + rows.String() + `
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
` + calls.String()
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	const overlap = "trips.txt:2: the block has trips that overlap in time on one day"
	tests := []struct {
		name  string
		trips []string
		want  string
		note  string
	}{
		{"the train goes on", []string{"a daily 1 B 08:00 H 09:30", "b daily 1 H 09:40 K 12:00"}, "H>H *>* a>b stay-seated", ""},
		{"at once", []string{"a daily 1 B 08:00 H 09:30", "b daily 1 H 09:30 K 12:00"}, "H>H *>* a>b stay-seated", ""},
		{"in any order", []string{"b daily 1 H 09:40 K 12:00", "a daily 1 B 08:00 H 09:30"}, "H>H *>* a>b stay-seated", ""},
		{"three of them", []string{"a daily 1 B 08:00 H 09:30", "b daily 1 H 09:40 K 12:00", "c daily 1 K 12:10 B 16:00"},
			"H>H *>* a>b stay-seated\nK>K *>* b>c stay-seated", ""},
		{"two blocks", []string{"a daily 1 B 08:00 H 09:30", "c daily 2 H 09:35 K 12:00", "b daily 1 H 09:40 K 12:00", "d daily 2 K 12:00 B 16:00"},
			"H>H *>* a>b stay-seated\nK>K *>* c>d stay-seated", ""},
		{"no block", []string{"a daily - B 08:00 H 09:30", "b daily - H 09:40 K 12:00"}, "", ""},
		{"alone", []string{"a daily 1 B 08:00 H 09:30"}, "", ""},
		{"runs empty to elsewhere", []string{"a daily 1 B 08:00 H 09:30", "b daily 1 K 09:40 B 12:00"}, "", ""},
		{"stands for an hour", []string{"a daily 1 B 08:00 H 09:30", "b daily 1 H 10:30 K 12:00"}, "H>H *>* a>b stay-seated", ""},
		{"stands for longer", []string{"a daily 1 B 08:00 H 09:30", "b daily 1 H 10:31 K 12:00"}, "", ""},
		{"after midnight", []string{"a daily 1 B 22:00 H 24:10", "b daily 1 H 24:20 K 27:00"}, "H>H *>* a>b stay-seated", ""},
		{"days overlap", []string{"a daily 1 B 08:00 H 09:30", "b weekend 1 H 09:40 K 12:00"}, "H>H *>* a>b stay-seated", ""},
		{"no day in common", []string{"a weekdays 1 B 08:00 H 09:30", "b weekend 1 H 09:40 K 12:00"}, "", ""},
		{"no year in common", []string{"a weekdays 1 B 08:00 H 09:30", "b later 1 H 09:40 K 12:00"}, "", ""},
		{"one of two, by the day", []string{"a daily 1 B 08:00 H 09:30", "b weekdays 1 H 09:40 K 12:00", "c weekend 1 H 09:50 K 12:00"},
			"H>H *>* a>b stay-seated\nH>H *>* a>c stay-seated", ""},
		// The train is away between the two on weekdays, but not on the weekend.
		{"the next but one", []string{"a daily 1 B 08:00 H 09:30", "x weekdays 1 H 09:35 H 09:45", "b daily 1 H 09:50 K 12:00"},
			"H>H *>* a>x stay-seated\nH>H *>* x>b stay-seated", ""},
		{"no ID to be seen", []string{"a daily 1 B 08:00 H 09:30", "\u200b daily 1 H 09:35 H 09:45", "b daily 1 H 09:50 K 12:00"}, "", ""},
		{"overlapping", []string{"a daily 1 B 08:00 H 09:30", "b daily 1 H 09:29 K 12:00", "c daily 1 K 12:10 B 16:00"}, "", overlap},
		{"overlapping on other days", []string{"a weekdays 1 B 08:00 H 09:30", "b weekend 1 H 09:29 K 12:00", "c daily 1 K 12:10 B 16:00"},
			"K>K *>* b>c stay-seated", ""},
		{"within another", []string{"a daily 1 B 08:00 K 12:00", "b weekend 1 B 09:00 H 10:00", "c daily 1 K 12:10 B 16:00"}, "", overlap},
		{"twice the same", []string{"a daily 1 B 08:00 H 09:30", "b daily 1 B 08:00 H 09:30"}, "",
			"trips.txt:3: the trip is the same train as another one, by operator, number and calls, on days on which both run: it is sold once"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			timetable, report := read(t, gtfs.Options{}, blocks(test.trips...))
			diff(t, "rules", strings.Join(changes(t, timetable), "\n"), test.want)
			got := ""
			for _, n := range report.Notes {
				if n.File == "trips.txt" {
					got = n.String()
				}
			}
			diff(t, "note", got, test.note)
		})
	}
}

// What transfers.txt says of two trips counts, whatever their block says.
func TestTransfersBeforeBlocks(t *testing.T) {
	t.Parallel()
	goesOn := blocks("a daily 1 B 08:00 H 09:30", "b daily 1 H 09:40 K 12:00")
	for _, test := range []struct{ row, want string }{
		{",,,,a,b,5,", ""},
		{",,,,a,b,4,", "H>H *>* a>b stay-seated"},
		{"H,H,,,a,b,3,", "H>H *>* a>b impossible"},
		{"H,H,,,a,b,2,300", "H>H *>* a>b takes 5m0s"},
		{"H,H,,,a,b,1,", "H>H *>* a>b stay-seated"},
		{"H,H,,,a,b,0,", "H>H *>* a>b stay-seated"},
		{"H,H,,,,b,3,", "H>H *>* *>b impossible\nH>H *>* a>b stay-seated"},
		{",,,,b,a,5,", "H>H *>* a>b stay-seated"},
		{",,,,a,b,4,\n,,,,a,b,5,", ""},
	} {
		timetable, _ := read(t, gtfs.Options{}, goesOn, transfers+test.row+"\n")
		diff(t, test.row, strings.Join(changes(t, timetable), "\n"), test.want)
	}
}

func TestBlocksOfIgnoredTrips(t *testing.T) {
	t.Parallel()
	goesOn := blocks("a daily 1 B 08:00 H 09:30", "b daily 1 H 09:40 K 12:00")
	timetable, report := read(t, gtfs.Options{}, goesOn, frequencies+"b,10:00:00,10:20:00,600,1\n")
	diff(t, "rules of repeated trips", changes(t, timetable), []string(nil))
	diff(t, "note", notes(report), []string{"trips.txt:2: the block has a trip that frequencies.txt repeats"})

	var many []string
	for i := range 501 {
		many = append(many, fmt.Sprintf("t%d daily 1 B %d:%02d B %d:%02d", i, 100+i/60, i%60, 100+i/60, i%60))
	}
	timetable, report = read(t, gtfs.Options{}, blocks(many...))
	diff(t, "rules of a big block", changes(t, timetable), []string(nil))
	diff(t, "note", notes(report)[1], "trips.txt:2: the block has too many trips for one vehicle")
	timetable, _ = read(t, gtfs.Options{}, blocks(many[:500]...))
	diff(t, "rules of a block not so big", len(timetable.Changes), 499)

	// One trip has fewer than two calls: the others still go on.
	timetable, _ = read(t, gtfs.Options{}, goesOn, `
-- trips.txt --
trip_id,route_id,service_id,block_id
x,ICE,daily,1
a,ICE,daily,1
b,ICE,daily,1
`)
	diff(t, "rules", changes(t, timetable), []string{"H>H *>* a>b stay-seated"})
}

// Times of two zones cannot be compared.
func TestTrainsDoNotContinueInAnotherZone(t *testing.T) {
	t.Parallel()
	goesOn := blocks("a daily 1 B 08:00 H 09:30", "b daily 1 H 09:40 K 12:00")
	zones := `
-- agency.txt --
agency_id,agency_name,agency_timezone
db,Bahn,Europe/Berlin
ns,NS,Europe/Lisbon
-- routes.txt --
route_id,agency_id,route_type
ICE,db,2
IC,ns,2
-- trips.txt --
trip_id,route_id,service_id,block_id
a,ICE,daily,1
b,IC,daily,1
`
	for what, rows := range map[string]string{
		"trips.txt:2: the block has trips in several time zones":                               "",
		"transfers.txt:2: the first trip continues as the second, but their time zones differ": ",,,,a,b,4,\n",
	} {
		timetable, report := read(t, gtfs.Options{}, goesOn, zones, transfers+rows)
		diff(t, "rules", changes(t, timetable), []string(nil))
		if !strings.Contains(strings.Join(notes(report), "\n"), what) {
			t.Errorf("%v, want %s", notes(report), what)
		}
	}
}
