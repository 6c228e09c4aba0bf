package gtfs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// zoned is a feed of a train in three zones: B in 1, a platform of H in 2 by its
// station, K in 3 and again B.
const zoned = `
-- stops.txt --
stop_id,stop_name,stop_lat,stop_lon,zone_id,location_type,parent_station
h,,,,,0,H
B,Berlin Hbf,52.525,13.369,1,,
H,Hannover Hbf,52.377,9.741,2,1,
K,Köln Hbf,50.943,6.959,3,,
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,08:00:00,08:00:00
t1,h,2,09:30:00,09:33:00
t1,K,3,12:05:00,12:05:00
t1,B,4,16:05:00,16:05:00
`

// priceList is a train's prices, or its fare: BH, HK and so on, and the price.
func priceList(train traintravel.Train, names string) string {
	p := train.Prices
	if p == nil {
		return fmt.Sprintf("%s %d+%d", train.Fare.Currency, train.Fare.Base, train.Fare.PerKm)
	}
	text := p.Currency
	for i, row := range p.Amounts {
		for j, amount := range row {
			if amount > 0 {
				text += fmt.Sprintf(" %c%c %d", names[i], names[j], amount)
			}
		}
	}
	return text
}

func TestFaresByZones(t *testing.T) {
	t.Parallel()
	const (
		two     = "f,5,EUR,0,0,,\ng,7,EUR,0,0,,\n"
		unknown = "fare_rules.txt:2: origin_id, destination_id or contains_id is not the zone_id of any stop"
		free    = "fare_attributes.txt:2: the price is 0, but nothing can be sold for 0: the trains have no fare"
		mixed   = "routes.txt:2: the route has fares by zones in several currencies: none is used"
	)
	unsold := func(n int) string {
		return fmt.Sprintf("routes.txt:2: no fare above 0 fits %d of 6 rides between the calls of the route's trains: they are not for sale", n)
	}
	tests := []struct {
		name, fares, rules string
		want               string // the last call is b
		notes              []string
	}{
		{"origin and destination", two, "f,ICE,1,3,\n", "eur BK 500", []string{unsold(5)}},
		{"several ways", two, "f,ICE,1,2,\nf,ICE,2,3,\ng,ICE,1,3,\n", "eur BH 500 BK 700 HK 500", []string{unsold(3)}},
		{"no destination", two, "f,,1,,\n", "eur BH 500 BK 500 Bb 500", []string{unsold(3)}},
		{"no origin", two, "f,,,3,\n", "eur BK 500 HK 500", []string{unsold(4)}},
		{"zones passed", two, "f,ICE,,,1\nf,ICE,,,2\nf,ICE,,,3\n", "eur BK 500 Bb 500 Hb 500", []string{unsold(3)}},
		{"zones passed, one twice", two, "f,ICE,,,3\nf,ICE,,,1\nf,ICE,,,3\n", "eur Kb 500", []string{unsold(5)}},
		{"zones passed and an origin", two, "f,ICE,1,,1\nf,ICE,,,2\nf,ICE,,,3\n", "eur BK 500 Bb 500", []string{unsold(4)}},
		{"zones of other routes", two, "f,ICE,,,1\nf,ICE,,,2\nf,BUS,,,3\n", "eur BH 500", []string{unsold(5)}},
		{"one zone", two, "f,ICE,,,2\n", "eur", []string{unsold(6)}},
		{"the cheapest", two, "g,ICE,1,,\nf,ICE,,3,\n", "eur BH 700 BK 500 Bb 700 HK 500", []string{unsold(2)}},
		{"the cheapest, by zones passed", two, "g,,,3,\nf,ICE,,,2\nf,ICE,,,3\n", "eur BK 700 HK 500", []string{unsold(4)}},
		{"beside one for any ride", two, "g,ICE,,,\nf,ICE,1,2,\n", "eur BH 500 BK 700 Bb 700 HK 700 Hb 700 Kb 700", nil},
		{"beside a cheaper one for any ride", two, "f,,,,\ng,ICE,1,2,\n", "eur BH 500 BK 500 Bb 500 HK 500 Hb 500 Kb 500", nil},
		{"beside one without rules", two, "f,,1,2,\n", "eur BH 500 BK 700 Bb 700 HK 700 Hb 700 Kb 700", nil},
		{"beside several", "f,5,EUR,0,0,,\ng,7,EUR,0,0,,\nh,6,EUR,0,0,,\ni,4,EUR,0,0,,\n", "f,,1,2,\ng,,,,\nh,,,,\ni,,,,\n", "eur BH 400 BK 400 Bb 400 HK 400 Hb 400 Kb 400", nil},
		{"of the agency", "f,5,EUR,0,0,db,\ng,7,EUR,0,0,,\n", "f,,1,2,\ng,,1,3,\n", "eur BH 500 BK 700", []string{unsold(4)}},
		{"of a bus", two, "f,BUS,1,x,\ng,,,,\n", "eur 700+0", nil},
		{"several currencies", "f,5,EUR,0,0,,\ng,7,CHF,0,0,,\n", "f,,1,2,\ng,ICE,1,3,\n", "usd 100+20", []string{mixed}},
		{"several currencies, one for any ride", "f,5,EUR,0,0,,\ng,7,CHF,0,0,,\n", "f,,1,2,\n", "usd 100+20", []string{mixed}},
		{"free", "f,0,EUR,0,0,,\ng,7,EUR,0,0,,\n", "f,,1,2,\ng,ICE,1,,\n", "eur BK 700 Bb 700", []string{free, unsold(4)}},
		{"all free", "f,0,EUR,0,0,,\n", "f,,1,2,\n", " 0+0", []string{free}},
		{"a zone that is nowhere", two, "f,ICE,1,9,8\ng,,1,3,\n", "eur BK 700", []string{unknown, unsold(5)}},
		{"no zone in the rules", two, "f,ICE,,,\n", "eur 500+0", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rules := test.rules
			if test.fares == two && !strings.Contains(rules, "g,") { // or it is for any ride
				rules += "g,BUS,,,\n"
			}
			if test.name == "beside one without rules" {
				rules = test.rules
			}
			timetable, report := read(t, gtfs.Options{Fare: traintravel.Fare{Currency: "usd", Base: 100, PerKm: 20}}, zoned,
				"-- routes.txt --\nroute_id,agency_id,route_short_name,route_type\nICE,db,ICE,2\nBUS,db,1,3\n", fareAttributes+test.fares, fareRules+rules)
			diff(t, "prices", priceList(timetable.Trains[0], "BHKb"), test.want)
			diff(t, "notes", notes(report), test.notes)
			if err := timetable.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A stop without a zone is in none, nor is a ride by it within any.
func TestStopsWithoutZone(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string]string{
		"f,,1,,\n":              "eur BH 500 BK 500 Bb 500",
		"f,,,,1\nf,,,,3\n":      "eur Kb 500",
		"f,,1,2,\nf,,1,3,\n":    "eur BK 500",
		"f,,,,1\nf,,1,1,\n":     "eur",
		"f,,1,1,\nf,,,,1,,\n":   "eur",
		"f,,,,\nf,,1,1,\n":      "eur BH 500 BK 500 Bb 500 HK 500 Hb 500 Kb 500",
		"f,,1,1,\n":             "eur Bb 500",
		"f,,3,1,\nf,ICE,,,1,\n": "eur Kb 500",
	} {
		timetable, _ := read(t, gtfs.Options{}, zoned, strings.Replace(zoned[:strings.Index(zoned, "-- stop_times")], ",2,1,", ",,1,", 1),
			fareAttributes+"f,5,EUR,0,0,,\n", fareRules+rules)
		diff(t, rules, priceList(timetable.Trains[0], "BHKb"), want)
	}
}

// Trains of one route that call in the same zones share their prices, repeated ones
// too, and a fare of a trip's own comes before them.
func TestPricesAreShared(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{KeepTwins: true}, zoned, fareAttributes+"f,5,EUR,0,0,,\n", fareRules+"f,,1,3,\n", frequencies+"t2,10:00:00,11:00:00,1200,1\n", `
-- trips.txt --
trip_id,route_id,service_id,fare_base
t1,ICE,daily,
t2,ICE,daily,
t3,ICE,daily,7
t4,ICE,daily,
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,08:00:00,08:00:00
t1,K,2,12:05:00,12:05:00
t2,B,1,09:00:00,09:00:00
t2,K,2,13:05:00,13:05:00
t3,B,1,08:00:00,08:00:00
t3,K,2,12:05:00,12:05:00
t4,K,2,12:05:00,12:05:00
t4,B,1,08:00:00,08:00:00
`)
	byID := map[string]traintravel.Train{}
	for _, train := range timetable.Trains {
		byID[train.ID] = train
	}
	shared := byID["t1"].Prices
	for _, id := range []string{"t4", "t2@10:00:00", "t2@10:40:00"} {
		if byID[id].Prices == nil || byID[id].Prices != shared {
			t.Errorf("%s has prices of its own: %+v", id, byID[id])
		}
	}
	diff(t, "prices", priceList(byID["t4"], "BK"), "eur BK 500")
	diff(t, "its own", priceList(byID["t3"], "BK"), "eur 700+0")
}

func TestStrictFaresByZones(t *testing.T) {
	t.Parallel()
	feed := files(base, zoned, fareAttributes+"f,5,EUR,0,0,,\n", fareRules+"f,,1,3,\nf,,9,8,\nf,,,,7\n")
	_, _, err := gtfs.Read(t.Context(), feed, gtfs.Options{Strict: true})
	var mistakes *gtfs.Errors
	if !errors.As(err, &mistakes) {
		t.Fatal(err)
	}
	const want = "origin_id, destination_id or contains_id is not the zone_id of any stop"
	diff(t, "mistakes", err.Error(), "fare_rules.txt:3: "+want+"\nfare_rules.txt:4: "+want)
	diff(t, "a fare with a mistake", refuse(t, zoned, fareAttributes+"f,x,EUR,0,0,,\n", fareRules+"f,,1,3,\n"),
		`fare_attributes.txt:2: price "x" "EUR": amount: is not an amount of eur: a number with at most 2 decimals, not above 100000000000000`)
}

// There is a bound to the prices that a feed can ask for.
func TestTooManyPrices(t *testing.T) {
	t.Parallel()
	var stops, trips, times strings.Builder
	for i := range 300 {
		fmt.Fprintf(&stops, "s%d,S,50,%d.5,%d\n", i, i%100, i)
	}
	for i := range 130 {
		fmt.Fprintf(&trips, "t%d,ICE,daily\n", i)
		for j := range 256 {
			stop := j
			if j == 255 {
				stop += i % 45
			}
			if j == 0 {
				stop = 299 - i/45
			}
			fmt.Fprintf(&times, "t%d,s%d,%d,08:00:00,08:00:00\n", i, stop, j)
		}
	}
	got := refuse(t, "-- stops.txt --\nstop_id,stop_name,stop_lat,stop_lon,zone_id\n"+stops.String(), "-- trips.txt --\ntrip_id,route_id,service_id\n"+trips.String(),
		"-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n"+times.String(), fareAttributes+"f,5,EUR,0,0,,\n", fareRules+"f,,1,3,\n")
	const want = "trips.txt:124: the trips up to here have more than 4000000 rides with fares by zones"
	if first, _, _ := strings.Cut(got, "\n"); first != want {
		t.Errorf("%q, want %q", first, want)
	}
}
