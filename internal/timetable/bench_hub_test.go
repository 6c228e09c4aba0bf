package timetable

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// hub is a station where each of so many lines has a rule of its own for changing
// into each other one.
func hub(lines int) *schedule.Timetable {
	id := func(n int) uuid.UUID { return uuid.UUID{0: byte(n), 6: 0x40, 8: 0x80} }
	tt := &schedule.Timetable{}
	for i := range 3 {
		tt.Stations = append(tt.Stations, rail.Station{ID: id(i), Name: fmt.Sprint("S", i), Zone: "Europe/Berlin", Latitude: float64(i)})
	}
	days := schedule.Daily(rail.NewDate(2026, 1, 1), rail.NewDate(2026, 12, 31))
	for i := range lines {
		tr := schedule.Train{Line: fmt.Sprint("L", i), Operator: "x", Number: fmt.Sprint(i), Zone: "Europe/Berlin", Days: days}
		for n := range 3 {
			at := rail.Clock(1+n, 0) + rail.ServiceTime(i*60)
			tr.Calls = append(tr.Calls, schedule.Call{Station: id(n), Arrive: at, Depart: at})
		}
		tt.Trains = append(tt.Trains, tr)
		for k := range lines {
			tt.Changes = append(tt.Changes, schedule.Change{From: id(1), To: id(1), FromLine: tr.Line, ToLine: fmt.Sprint("L", k), Kind: schedule.Impossible})
		}
	}
	return tt
}

// BenchmarkRulesAtHub compiles rules for all pairs of lines at one station, which
// takes a time that grows with the number of rules.
func BenchmarkRulesAtHub(b *testing.B) {
	for _, lines := range []int{300, 600} {
		b.Run(fmt.Sprint("rules=", lines*lines), func(b *testing.B) {
			tt := hub(lines)
			ids, reg, err := trains.Registry{}.Register(b.Context(), tt.Trains, trains.CalendarCache{}.Get, rail.FirstDate, rail.FirstDate)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := Compile(b.Context(), tt, ids, reg, compiling{zones: &tz.Zones{}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines*lines), "ns/rule")
		})
	}
}

// The rules at a hub are looked for a few times each, however many they are.
func TestRulesAtHubTakeLinearWork(t *testing.T) {
	t.Parallel()
	for _, lines := range []int{30, 60, 120} {
		tt := hub(lines)
		sn := compiled(t, tt)
		n := sn.newNodes(tt)
		for i := range tt.Trains {
			sn.appendStops(nil, &tt.Trains[i], n)
		}
		if _, err := n.edges(t.Context()); err != nil {
			t.Fatal(err)
		}
		if most := 5*lines*lines + 50*lines; n.looks > most || n.looks < lines*lines {
			t.Errorf("%d rules were looked for %d times, more than %d", lines*lines, n.looks, most)
		}
	}
}
