package timetable

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// journeysOn are the best trips of a day, the earliest first, such as
// "1 A 08:00 B 09:00, 2 B 09:10 C 10:00".
func (sn *Snapshot) journeysOn(origin, destination string, d rail.Date) []string {
	at := sn.named(origin)
	loc := sn.Locations[at]
	all := []string{}
	for _, j := range sn.Network.Search(sn.DaysAround(d), &raptor.Query{
		Origin: at, Target: sn.named(destination), From: d.Start(loc).Unix(), To: (d + 1).Start(loc).Unix(), Legs: rail.MaxLegs,
	}) {
		var legs []string
		for _, r := range sn.Canonical(sn.Rides(j)) {
			leg := sn.leg(r)
			legs = append(legs, strings.Join([]string{
				r.Train.Name, leg.Origin.Name, leg.Origin.Time.Format("15:04"), leg.Destination.Name, leg.Destination.Time.Format("15:04"),
			}, " "))
		}
		all = append(all, strings.Join(legs, ", "))
	}
	slices.Reverse(all)
	return all
}

// Faults that others' searches had with changes.
func TestJourneyPitfalls(t *testing.T) {
	t.Parallel()
	const berlin = "Europe/Berlin"
	day := rail.NewDate(2021, 6, 14)
	at := func(name string) rail.Station { return rail.Station{ID: railtest.StationNamed(name)} }
	takes := func(from, to string, time time.Duration) schedule.Change {
		return schedule.Change{From: at(from).ID, To: at(to).ID, Time: time}
	}
	barred := func(station string, from, to uint16) schedule.Change {
		return schedule.Change{From: at(station).ID, To: at(station).ID, FromPlatform: from, ToPlatform: to, Kind: schedule.Impossible}
	}
	train := func(id string, t schedule.Train) schedule.Train {
		t.ID = id
		return t
	}
	for _, c := range []struct {
		name    string
		day     rail.Date
		trains  []schedule.Train
		changes []schedule.Change
		near    string // two stations 300 metres apart
		from    string
		to      string
		want    []string
	}{
		{
			name:    "who arrives at 07:59 and needs a minute gets the train of 08:00",
			trains:  []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B 7:59"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 8:00", "C 9:00")},
			changes: []schedule.Change{takes("B", "B", time.Minute)}, from: "A", to: "C",
			want: []string{"1 A 07:00 B 07:59, 2 B 08:00 C 09:00"},
		},
		{
			name:    "who needs two minutes takes the next one",
			trains:  []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B 7:59"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 8:00", "C 9:00"), railtest.TrainOf("3", berlin, railtest.AllYear(), "B 8:01", "C 10:00")},
			changes: []schedule.Change{takes("B", "B", 2*time.Minute)}, from: "A", to: "C",
			want: []string{"1 A 07:00 B 07:59, 3 B 08:01 C 10:00"},
		},
		{
			name:   "nobody leaves the train a stop early for a needless walk",
			trains: []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B 8:00-8:30", "C 8:40"), railtest.TrainOf("2", berlin, railtest.AllYear(), "C 9:00", "D 10:00")},
			near:   "BC", from: "A", to: "D",
			want: []string{"1 A 07:00 C 08:40, 2 C 09:00 D 10:00"},
		},
		{
			name:   "who can only walk walks",
			trains: []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B 8:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "C 8:10", "D 9:00"), railtest.TrainOf("3", berlin, railtest.AllYear(), "C 8:11", "D 9:30")},
			near:   "BC", from: "A", to: "D", // five minutes, and a second for each of 301 metres
			want: []string{"1 A 07:00 B 08:00, 3 C 08:11 D 09:30"},
		},
		{
			name:    "but not where it is impossible",
			trains:  []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B 8:00"), railtest.TrainOf("3", berlin, railtest.AllYear(), "C 8:11", "D 9:30")},
			changes: []schedule.Change{{From: at("B").ID, To: at("C").ID, Kind: schedule.Impossible}}, near: "BC", from: "A", to: "D",
			want: []string{},
		},
		{
			name:   "no journey runs backwards in time",
			trains: []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 23:00", "B 24:30"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 0:20", "C 1:00"), railtest.TrainOf("3", berlin, railtest.AllYear(), "B 24:40", "C 25:30")},
			from:   "A", to: "C",
			want: []string{"1 A 23:00 B 00:30, 3 B 00:40 C 01:30"},
		},
		{
			name: "Tuesday's 02:35 leaves before Monday's 27:35, both from Monday's 25:00",
			trains: []schedule.Train{
				railtest.TrainOf("1", berlin, schedule.Daily(day, day), "A 25:00", "B 26:00"), railtest.TrainOf("late", berlin, schedule.Daily(day, day), "B 27:35", "C 28:00"),
				railtest.TrainOf("early", berlin, schedule.Daily(day+1, day+1), "B 2:35", "C 3:00"),
			},
			day: day + 1, from: "A", to: "C",
			want: []string{"1 A 01:00 B 02:00, early B 02:35 C 03:00"},
		},
		{
			name:   "a ring's last stop is its first",
			trains: []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B 7:30", "A 8:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "C 6:00", "A 6:50"), railtest.TrainOf("3", berlin, railtest.AllYear(), "A 8:10", "D 9:00")},
			from:   "C", to: "B",
			want: []string{"2 C 06:00 A 06:50, 1 A 07:00 B 07:30"},
		},
		{
			name:   "the faster train that overtakes",
			trains: []schedule.Train{railtest.TrainOf("slow", berlin, railtest.AllYear(), "A 8:00", "B 9:00", "C 10:00"), railtest.TrainOf("fast", berlin, railtest.AllYear(), "A 8:20", "B 8:50", "C 9:10"), railtest.TrainOf("on", berlin, railtest.AllYear(), "C 9:20", "D 9:40")},
			from:   "A", to: "D",
			want: []string{"fast A 08:20 C 09:10, on C 09:20 D 09:40"},
		},
		{
			name: "over the clock change, from a night train", day: rail.NewDate(2021, 3, 27),
			trains: []schedule.Train{railtest.TrainOf("night", berlin, railtest.AllYear(), "A 22:00", "B 31:00"), railtest.TrainOf("day", berlin, railtest.AllYear(), "B 8:05", "C 9:00")},
			from:   "A", to: "C", // 31:00 counts from noon less twelve hours, which is 23:00 in spring
			want: []string{"night A 22:00 B 08:00, day B 08:05 C 09:00"},
		},
		{
			name: "two zones, over UTC's midnight",
			trains: []schedule.Train{
				railtest.TrainOf("1", "Europe/Lisbon", railtest.AllYear(), "A 23:30", "B 24:30"), railtest.TrainOf("2", "Europe/Istanbul", railtest.AllYear(), "B 2:40", "C 3:30"),
			},
			from: "A", to: "C",
			want: []string{"1 A 23:30 B 00:30, 2 B 00:40 C 03:30"},
		},
		{
			name:    "who stays seated needs no time",
			trains:  []schedule.Train{train("x", railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B 8:00")), train("y", railtest.TrainOf("2", berlin, railtest.AllYear(), "B 8:00", "C 9:00"))},
			changes: []schedule.Change{{From: at("B").ID, To: at("B").ID, FromTrain: "x", ToTrain: "y", Kind: schedule.StaySeated}}, from: "A", to: "C",
			want: []string{"1 A 07:00 B 08:00, 2 B 08:00 C 09:00"},
		},
		{
			name: "nobody stays seated in a train that goes on some days only", day: rail.NewDate(2021, 6, 19), // a Saturday
			trains: []schedule.Train{
				train("x", railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B 8:00")),
				train("y", railtest.TrainOf("2", berlin, &schedule.Calendar{Weekdays: [7]bool{1: true, 2: true}, From: railtest.AllYear().From, To: railtest.AllYear().To}, "B 8:00 no-boarding", "C 9:00")),
			},
			changes: []schedule.Change{{From: at("B").ID, To: at("B").ID, FromTrain: "x", ToTrain: "y", Kind: schedule.StaySeated}}, from: "A", to: "C",
			want: []string{},
		},
		{
			name: "what is forbidden between two platforms is possible from and to others",
			trains: []schedule.Train{
				railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B@1 8:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B@2 8:10", "C 9:00"),
				railtest.TrainOf("3", berlin, railtest.AllYear(), "B@3 8:20", "C 9:10"), railtest.TrainOf("4", berlin, railtest.AllYear(), "A 6:55", "B@4 7:55"),
			},
			changes: []schedule.Change{barred("B", 1, 2)}, from: "A", to: "C",
			want: []string{"1 A 07:00 B 08:00, 3 B 08:20 C 09:10", "4 A 06:55 B 07:55, 2 B 08:10 C 09:00"},
		},
		{
			name:    "the way back between two platforms is not forbidden",
			trains:  []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B@2 8:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B@1 8:10", "C 9:00")},
			changes: []schedule.Change{barred("B", 1, 2)}, from: "A", to: "C",
			want: []string{"1 A 07:00 B 08:00, 2 B 08:10 C 09:00"},
		},
		{
			name:    "there is no way between two platforms",
			trains:  []schedule.Train{railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B@1 8:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B@2 8:10", "C 9:00")},
			changes: []schedule.Change{takes("B", "B", time.Minute), barred("B", 1, 2), takes("B", "B", time.Minute)}, from: "A", to: "C",
			want: []string{},
		},
		{
			name: "two trains wait for each other where others may not change",
			trains: []schedule.Train{
				train("x", railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B@1 8:00")), train("y", railtest.TrainOf("2", berlin, railtest.AllYear(), "B@2 8:10", "C 9:00")),
				train("z", railtest.TrainOf("3", berlin, railtest.AllYear(), "A 7:02", "B@1 8:02")),
			},
			changes: []schedule.Change{barred("B", 1, 2), {From: at("B").ID, To: at("B").ID, FromTrain: "x", ToTrain: "y", Time: time.Minute}}, from: "A", to: "C",
			want: []string{"1 A 07:00 B 08:00, 2 B 08:10 C 09:00"},
		},
		{
			name: "who stays seated goes to no platform",
			trains: []schedule.Train{
				train("x", railtest.TrainOf("1", berlin, railtest.AllYear(), "A 7:00", "B@1 8:00")), train("y", railtest.TrainOf("2", berlin, railtest.AllYear(), "B@2 8:00", "C 9:00")),
			},
			changes: []schedule.Change{barred("B", 1, 2), {From: at("B").ID, To: at("B").ID, FromTrain: "x", ToTrain: "y", Kind: schedule.StaySeated}}, from: "A", to: "C",
			want: []string{"1 A 07:00 B 08:00, 2 B 08:00 C 09:00"},
		},
		{
			name: "all that is best, and nothing else",
			trains: []schedule.Train{
				railtest.TrainOf("direct", berlin, railtest.AllYear(), "A 8:00", "C 12:00"), railtest.TrainOf("1", berlin, railtest.AllYear(), "A 8:00", "B 9:00"), railtest.TrainOf("2", berlin, railtest.AllYear(), "B 9:30", "C 11:00"),
				railtest.TrainOf("worse", berlin, railtest.AllYear(), "A 7:00", "C 13:00"), railtest.TrainOf("later", berlin, railtest.AllYear(), "A 9:00", "C 12:30"),
			},
			from: "A", to: "C",
			want: []string{"1 A 08:00 B 09:00, 2 B 09:30 C 11:00", "direct A 08:00 C 12:00", "later A 09:00 C 12:30"},
		},
	} {
		tt := railtest.NetworkOf(c.trains...)
		tt.Changes = c.changes
		if c.near != "" {
			place := func(name string) *rail.Station {
				return &tt.Stations[slices.IndexFunc(tt.Stations, func(s rail.Station) bool { return s.Name == name })]
			}
			place(c.near[1:]).Latitude = place(c.near[:1]).Latitude + 0.0027
		}
		if c.day == 0 {
			c.day = day
		}
		sn := compiled(t, tt)
		got, want := sn.journeysOn(c.from, c.to, c.day), slices.Clone(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}
