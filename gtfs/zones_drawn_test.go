package gtfs_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/gtfs"
)

// slowFare is the cheapest fare of a ride on route ICE by the zones of its calls,
// from the first to the last; rows are fare, route, origin, destination, contains.
func slowFare(cents map[string]int64, rows [][5]string, zones []string) (least int64) {
	for fare, amount := range cents {
		for _, route := range []string{"", "ICE"} {
			var contains []string
			named, flat, way, anyWay := false, false, false, true
			for _, r := range rows {
				if r[0] != fare || r[1] != route {
					continue
				}
				named = true
				flat = flat || r[2]+r[3]+r[4] == ""
				if r[2]+r[3] != "" {
					anyWay = false
					way = way || (r[2] == "" || r[2] == zones[0]) && (r[3] == "" || r[3] == zones[len(zones)-1])
				}
				if r[4] != "" {
					contains = append(contains, r[4])
				}
			}
			all := true
			for _, z := range zones {
				all = all && slices.Contains(contains, z)
			}
			for _, z := range contains {
				all = all && slices.Contains(zones, z)
			}
			fits := named && (flat || (way || anyWay) && (all || len(contains) == 0))
			if fits && (least == 0 || amount < least) {
				least = amount
			}
		}
	}
	return least
}

// Whatever the rules, each ride costs what the cheapest fare does that fits it.
func TestFaresByZonesAgainstOracle(t *testing.T) {
	t.Parallel()
	sold := 0
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom([]string{"", "1", "2", "3"})
		cents := map[string]int64{"f": 500, "g": 700, "h": 600}
		rows := [][5]string{{"f", "ICE", "1", "2", ""}} // or the fares would depend on no zone
		text := "f,ICE,1,2,\ng,BUS,,,\nh,BUS,,,\n"      // or a fare without rows would be for any ride
		for range rapid.IntRange(0, 9).Draw(t, "rows") {
			row := [5]string{
				rapid.SampledFrom([]string{"f", "g", "h"}).Draw(t, "fare"), rapid.SampledFrom([]string{"", "ICE"}).Draw(t, "route"),
				zone.Draw(t, "origin"), zone.Draw(t, "destination"), zone.Draw(t, "contains"),
			}
			rows = append(rows, row)
			text += fmt.Sprintf("%s,%s,%s,%s,%s\n", row[0], row[1], row[2], row[3], row[4])
		}
		zones := rapid.SliceOfN(zone, 2, 6).Draw(t, "zones")
		stops, calls := "-- stops.txt --\nstop_id,stop_name,stop_lat,stop_lon,zone_id\n", "-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n"
		for i, z := range zones {
			stops += fmt.Sprintf("s%d,S,50,%d,%s\n", i, i, z)
			calls += fmt.Sprintf("t1,s%d,%d,%02d:00:00,%02d:00:00\n", i, i, i, i)
		}
		timetable, _, err := gtfs.Read(t.Context(), files(base, stops, calls,
			"-- routes.txt --\nroute_id,agency_id,route_short_name,route_type\nICE,db,ICE,2\nBUS,db,1,3\n",
			fareAttributes+"f,5,EUR,0,0,,\ng,7,EUR,0,0,,\nh,6,EUR,0,0,,\n", fareRules+text), gtfs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range timetable.Trains[0].Prices.Amounts {
			for j := i + 1; j < len(zones); j++ {
				want := slowFare(cents, rows, zones[i:j+1])
				if row[j] != want {
					t.Fatalf("%sfrom call %d to %d in zones %q: %d, want %d", text, i, j, zones, row[j], want)
				}
				if want > 0 {
					sold++
				}
			}
		}
	})
	if sold == 0 {
		t.Error("no ride was sold")
	}
}
