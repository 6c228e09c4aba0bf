package gtfs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// The report says by which prices and with which seats the trains are sold, and from
// where each is.
func TestReportOfSales(t *testing.T) {
	t.Parallel()
	opts := gtfs.Options{Fare: traintravel.Fare{Currency: "chf", Base: 500, PerKm: 7}, Coaches: []traintravel.Coach{{Number: "1", Seats: 60}}}
	_, report := read(t, opts, network, `
-- fare_attributes.txt --
fare_id,price,currency_type,transfers,agency_id
f,19.90,EUR,0,öbb
-- trips.txt --
trip_id,route_id,service_id,trip_short_name,coaches,fare_currency,fare_base,fare_per_km
1,ICE,daily,1,1:40 2:50,eur,19.00,0.10
2,IC,daily,2,1:400,eur,29.00,0.13
3,NJ,daily,3,,,,
4,IC,daily,4,,,8.00,
5,IC,daily,5,,,,
6,IC,daily,6,,,,
`, "-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n"+callsOf("1", "2", "3", "4", "5", "6"))
	diff(t, "prices", report.Prices, []gtfs.Pricing{
		{Currency: "chf", Base: [2]int64{500, 500}, PerKm: [2]int64{7, 7}, Trains: 2},
		{File: "trips.txt", Currency: "eur", OwnCurrency: true, Base: [2]int64{1900, 2900}, PerKm: [2]int64{10, 13}, Trains: 2},
		{File: "fare_attributes.txt", Currency: "eur", OwnCurrency: true, Base: [2]int64{1990, 1990}, Trains: 1},
		{File: "trips.txt", Currency: "chf", Base: [2]int64{800, 800}, Trains: 1},
	})
	diff(t, "seats", report.Seats, []gtfs.Seating{
		{Seats: [2]int{60, 60}, Trains: 4},
		{File: "trips.txt", Seats: [2]int{90, 400}, Trains: 2},
	})
	_, report = read(t, gtfs.Options{}, zoned, fareAttributes+"f,5,EUR,0,0,,\n", fareRules+"f,ICE,1,3,\n")
	diff(t, "prices by zones", report.Prices, []gtfs.Pricing{{File: "fare_attributes.txt", Currency: "eur", OwnCurrency: true, Zones: true, Trains: 1}})
	diff(t, "no seats", report.Seats, []gtfs.Seating{{Trains: 1}})
	_, report = read(t, gtfs.Options{}, fareAttributes+"f,0,EUR,0,0,,\n")
	diff(t, "for nothing", report.Prices, []gtfs.Pricing{{File: "fare_attributes.txt", OwnCurrency: true, Trains: 1}})
}

// callsOf are rows of stop_times.txt for trips from B to K.
func callsOf(trips ...string) string {
	var b strings.Builder
	for _, id := range trips {
		b.WriteString(id + ",B,1,08:00:00,08:00:00\n" + id + ",K,2,12:00:00,12:00:00\n")
	}
	return b.String()
}

// A change that takes less time than the way is named.
func TestTransfersFasterThanWalking(t *testing.T) {
	t.Parallel()
	// From Hannover Hbf to Hannover Süd it is 1112 m, 742 s at 1.5 m/s.
	const told = `transfers.txt:2: the change from "Hannover Hbf" to "Hannover Süd" allows %s s, less than the 742 s that a walk of 1112 m at 1.5 m/s takes`
	for row, want := range map[string]string{
		"H,L,,,,,2,741":    strings.ReplaceAll(told, "%s", "741"),
		"H,L,,,,,2,742":    "",
		"H1,L1,,,,,2,60":   strings.ReplaceAll(told, "%s", "60"),
		"H,L,,,,,1,":       strings.ReplaceAll(told, "%s", "0"),
		"H,L,,,,,0,":       "",
		"H,L,,,,,3,":       "",
		"H,H,,,,,2,0":      "",
		"H1,H2,,,,,2,0":    "",
		"H,L,,,a,c,2,60":   strings.ReplaceAll(told, "%s", "60"),
		"H,L,ICE,RE,,,2,1": strings.ReplaceAll(told, "%s", "1"),
	} {
		_, report := read(t, gtfs.Options{Strict: true}, junction, transfers+row+"\n")
		diff(t, row, strings.Join(walksOf(report), "\n"), want)
	}
	// Between platforms far from each other, too.
	far := strings.Replace(junction, "H2,Hannover Hbf,52.377", "H2,Hannover Hbf,52.387", 1)
	_, report := read(t, gtfs.Options{}, far, transfers+"H1,H2,,,,,2,120\n")
	if n := len(walksOf(report)); n != 1 {
		t.Errorf("%d notes: %v", n, report.Notes)
	}
	// Of many, the first are named and the others counted.
	_, report = read(t, gtfs.Options{}, junction, transfers+manyWalks(30))
	all := walksOf(report)
	if n := len(all); n != 21 || all[20] != "transfers.txt:22: the change allows less time than a walk at 1.5 m/s takes (10 times)" {
		t.Errorf("%d notes, %q", n, all)
	}
}

func walksOf(report gtfs.Report) (all []string) {
	for _, n := range report.Notes {
		if strings.Contains(n.Reason, "m/s") {
			all = append(all, n.String())
		}
	}
	return all
}

func manyWalks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "H,L,,,,,2,%d\n", i)
	}
	return b.String()
}
