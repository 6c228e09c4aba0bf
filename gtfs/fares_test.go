package gtfs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

const (
	fareAttributes = "-- fare_attributes.txt --\nfare_id,price,currency_type,payment_method,transfers,agency_id,transfer_duration\n"
	fareRules      = "-- fare_rules.txt --\nfare_id,route_id,origin_id,destination_id,contains_id\n"
)

// network is a feed of two railways' trains, ICE and IC of db and NJ of öbb,
// and of a bus.
const network = `
-- agency.txt --
agency_id,agency_name,agency_timezone
db,Bahn,Europe/Berlin
öbb,ÖBB,Europe/Berlin
-- routes.txt --
route_id,agency_id,route_type
BUS,db,3
ICE,db,2
IC,db,2
NJ,öbb,2
-- trips.txt --
trip_id,route_id,service_id
1,ICE,daily
2,IC,daily
3,NJ,daily
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
1,B,1,08:00:00,08:00:00
1,K,2,12:00:00,12:00:00
2,B,1,08:00:00,08:00:00
2,K,2,12:00:00,12:00:00
3,B,1,08:00:00,08:00:00
3,K,2,12:00:00,12:00:00
`

func TestFares(t *testing.T) {
	t.Parallel()
	const (
		onward  = "fare_attributes.txt:2: the fare covers changes, but each train is sold at its own price"
		free    = "fare_attributes.txt:2: the price is 0, but nothing can be sold for 0: the trains have no fare"
		several = "the route has several fares, and the feed does not say which one applies: none is used"
		usual   = "usd 100+20"
	)
	tests := []struct {
		name, fares, rules string
		want               [3]string
		notes              []string
	}{
		{"none", "", "", [3]string{usual, usual, usual}, nil},
		{"for all", "f,19.99,EUR,0,0,,\n", "", [3]string{"eur 1999+0", "eur 1999+0", "eur 1999+0"}, nil},
		{"for all, by a row that says nothing", "f,19.99,eur,0,0,,\n", "f,,,,\n", [3]string{"eur 1999+0", "eur 1999+0", "eur 1999+0"}, nil},
		{"without decimals", "f,1250,JPY,0,0,,\n", "", [3]string{"jpy 1250+0", "jpy 1250+0", "jpy 1250+0"}, nil},
		{"three decimals", "f,1.255,TND,0,0,,\n", "", [3]string{"tnd 1255+0", "tnd 1255+0", "tnd 1255+0"}, nil},
		{"by route", "f,4.56,EUR,0,0,,\ng,29,CHF,0,0,,\n", "f,ICE,,,\ng,NJ,,,\n", [3]string{"eur 456+0", usual, "chf 2900+0"}, nil},
		{"by agency", "f,5,EUR,0,0,db,\ng,6,EUR,0,0,öbb,\n", "", [3]string{"eur 500+0", "eur 500+0", "eur 600+0"}, nil},
		{"by route of another agency", "f,5,EUR,0,0,db,\n", "f,NJ,,,\nf,ICE,,,\n", [3]string{"eur 500+0", usual, usual}, nil},
		{"same price twice", "f,5,EUR,0,0,,\ng,5.00,EUR,1,0,,\n", "f,ICE,,,\ng,ICE,,,\n", [3]string{"eur 500+0", usual, usual}, nil},
		{"several prices", "f,5,EUR,0,0,,\ng,6,EUR,0,0,,\n", "f,ICE,,,\ng,ICE,,,\ng,IC,,,\nf,BUS,,,\n", [3]string{usual, "eur 600+0", usual}, []string{"routes.txt:3: " + several}},
		{"several for all", "f,5,EUR,0,0,,\ng,6,EUR,0,0,,\nh,7,EUR,0,0,,\n", "", [3]string{usual, usual, usual}, []string{"routes.txt:3: " + several + " (3 times)"}},
		{"one for all and one for one", "f,5,EUR,0,0,,\ng,6,EUR,0,0,,\n", "g,NJ,,,\n", [3]string{"eur 500+0", "eur 500+0", usual}, []string{"routes.txt:5: " + several}},
		{"covers changes", "f,5,EUR,0,,,\n", "f,ICE,,,\n", [3]string{"eur 500+0", usual, usual}, []string{onward}},
		{"covers a change", "f,5,EUR,0,1,,\n", "f,ICE,,,\n", [3]string{"eur 500+0", usual, usual}, []string{onward}},
		{"covers changes of buses", "f,5,EUR,0,1,,\n", "f,BUS,,,\n", [3]string{usual, usual, usual}, nil},
		{"free", "f,0.00,EUR,0,0,,\n", "f,NJ,,,\n", [3]string{usual, usual, " 0+0"}, []string{free}},
		{"no such route", "f,5,EUR,0,0,,\n", "f,X,,,\nf,X,1,,\n", [3]string{usual, usual, usual}, []string{"fare_rules.txt:2: route_id is not in routes.txt (2 times)"}},
		{"of a bus, and wrong", "f,5,Euro,0,0,,\n", "f,BUS,,,\n", [3]string{usual, usual, usual}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			replaced := []string{network}
			if test.fares != "" {
				replaced = append(replaced, fareAttributes+test.fares, fareRules+test.rules)
			}
			timetable, report := read(t, gtfs.Options{Fare: traintravel.Fare{Currency: "usd", Base: 100, PerKm: 20}}, replaced...)
			var got [3]string
			for i, train := range timetable.Trains {
				got[i] = fmt.Sprintf("%s %d+%d", train.Fare.Currency, train.Fare.Base, train.Fare.PerKm)
			}
			diff(t, "fares", got, test.want)
			var told []string
			for _, note := range notes(report) {
				if !strings.HasPrefix(note, "stops.txt") {
					told = append(told, note)
				}
			}
			diff(t, "notes", told, test.notes)
			if err := timetable.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The columns of trips.txt come before fare_attributes.txt, and that before
// Options.Fare.
func TestFarePrecedence(t *testing.T) {
	t.Parallel()
	feed := files(base, fareAttributes+"f,5,CHF,0,0,,\n", `
-- trips.txt --
trip_id,route_id,service_id,fare_currency,fare_base
t1,ICE,daily,,
t2,ICE,daily,,7
t3,ICE,daily,JPY,700
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,08:00:00,08:00:00
t1,K,2,17:05:00,17:05:00
t2,B,1,08:00:00,08:00:00
t2,K,2,17:05:00,17:05:00
t3,B,1,08:00:00,08:00:00
t3,K,2,17:05:00,17:05:00
`)
	timetable, _, err := gtfs.Read(t.Context(), feed, gtfs.Options{KeepTwins: true, Fare: traintravel.Fare{Currency: "usd", PerKm: 20}})
	if err != nil {
		t.Fatal(err)
	}
	var got []traintravel.Fare
	for _, train := range timetable.Trains {
		got = append(got, train.Fare)
	}
	diff(t, "fares", got, []traintravel.Fare{{Currency: "chf", Base: 500}, {Currency: "usd", Base: 700}, {Currency: "jpy", Base: 700}})
}

func TestFareMistakes(t *testing.T) {
	t.Parallel()
	const decimals = ": amount: is not an amount of eur: a number with at most 2 decimals, not above 100000000000000"
	tests := []struct{ replaced, want string }{
		{fareAttributes + "f,19.999,EUR,0,0,,\n", `fare_attributes.txt:2: price "19.999" "EUR"` + decimals},
		{fareAttributes + "f,\"19,99\",EUR,0,0,,\n", `fare_attributes.txt:2: price "19,99" "EUR"` + decimals},
		{fareAttributes + "f,,EUR,0,0,,\n", `fare_attributes.txt:2: price "" "EUR"` + decimals},
		{fareAttributes + "f,1,,0,0,,\n", `fare_attributes.txt:2: price "1" "": currency: is not a currency code of three lower-case letters, such as eur`},
		{fareAttributes + "f,-1,EUR,0,0,,\n", "fare_attributes.txt:2: price -1.00 eur is negative or too high"},
		{fareAttributes + "f,10000000000.01,EUR,0,0,,\n", "fare_attributes.txt:2: price 10000000000.01 eur is negative or too high"},
		{fareAttributes + "f,1,EUR,0,0,,\nf,1,EUR,0,0,,\n", `fare_attributes.txt:3: fare_id "f" occurs twice`},
		{fareAttributes + "f,1,EUR,0,0,x,\n", `fare_attributes.txt:2: agency_id "x" is not in agency.txt`},
		{fareAttributes + "f,1,EUR,0,0,,\n" + fareRules + "g,ICE,,,\n", `fare_rules.txt:2: fare_id "g" is not in fare_attributes.txt`},
		{fareRules + "g,ICE,,,\n", `fare_rules.txt:2: fare_id "g" is not in fare_attributes.txt`},
		{"-- fare_attributes.txt --\nfare_id,price\nf,1\n", "fare_attributes.txt:1: column currency_type is missing"},
		{"-- fare_rules.txt --\nroute_id\n", "fare_rules.txt:1: column fare_id is missing"},
	}
	for _, test := range tests {
		diff(t, test.replaced, refuse(t, test.replaced), test.want)
	}
}
