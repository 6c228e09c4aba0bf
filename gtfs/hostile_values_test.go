package gtfs_test

import (
	"fmt"
	"strings"
)

func hostileValues() []hostile {
	const (
		stops     = "-- stops.txt --\nstop_id,stop_name,stop_lat,stop_lon,parent_station,location_type,stop_timezone\nH,Hannover Hbf,52.377,9.741\nK,Köln Hbf,50.943,6.959\n"
		stopTimes = "-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time,shape_dist_traveled\n"
		end       = "t1,K,9,12:00:00,12:00:00\n"
		days      = "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\n"
		every     = "-- frequencies.txt --\ntrip_id,start_time,end_time,headway_secs\n"
		transfers = "-- transfers.txt --\nfrom_stop_id,to_stop_id,transfer_type,min_transfer_time\n"
		fares     = "-- fare_attributes.txt --\nfare_id,price,currency_type\n"
		fareRules = "-- fare_rules.txt --\nfare_id,route_id\nf,ICE\n"
	)
	at := func(times string) string { return stopTimes + "t1,B,1," + times + "\n" + end }
	// A chain of stops, each the parent of the next, ends at B.
	chain := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "P%d,,,,P%d,0\n", i, i+1)
		}
		return stops + b.String() + fmt.Sprintf("P%d,X,1,1,,1\n", n) + "B,Berlin,52.5,13.3,P0,0\n"
	}
	return []hostile{
		text("a latitude of 1e308", `stops.txt:4: stop_lat "1e308", stop_lon "13" is not a place on earth`, stops+"B,Berlin,1e308,13\n"),
		text("a latitude of 1e999", `stops.txt:4: stop_lat "1e999", stop_lon "13" is not a place on earth`, stops+"B,Berlin,1e999,13\n"),
		text("a latitude of NaN", `stops.txt:4: stop_lat "NaN", stop_lon "13" is not a place on earth`, stops+"B,Berlin,NaN,13\n"),
		text("a longitude of Inf", `stops.txt:4: stop_lat "52", stop_lon "Inf" is not a place on earth`, stops+"B,Berlin,52,Inf\n"),
		text("a latitude in hexadecimal", `stops.txt:4: stop_lat "0x34", stop_lon "13" is not a place on earth`, stops+"B,Berlin,0x34,13\n"),
		text("a latitude of 91", `stops.txt:4: stop_lat "91", stop_lon "13" is not a place on earth`, stops+"B,Berlin,91,13\n"),
		text("a decimal comma", `stops.txt:4: stop_lat "52,5", stop_lon "13" is not a place on earth`, stops+"B,Berlin,\"52,5\",13\n"),
		text("latitude and longitude swapped", `stops.txt:4: stop_lat "174.78", stop_lon "-41.28" is not a place on earth`, stops+"B,Wellington,174.78,-41.28\n"),
		text("a station at 0, 0", "stops.txt:4: stop_lat, stop_lon is 0, 0, which is in the sea", stops+"B,Berlin,0,0\n"),
		text("a loop of parent_station", "stops.txt:4: parent_station leads back to the stop", stops+"B,Berlin,52.5,13.3,P,0\nP,,,,B,0\n"),
		text("a stop that is its own parent", "stops.txt:4: parent_station leads back to the stop", stops+"B,Berlin,52.5,13.3,B,0\n"),
		text("a line of 100,000 parents", "stops.txt:100005: parent_station leads back to the stop", chain(100_000)),
		text("a parent that is not there", `stops.txt:4: parent_station "X" is not in stops.txt`, stops+"B,Berlin,52.5,13.3,X,0\n"),
		text("calls at an entrance", "stops.txt:4: location_type 2 is not a place where trains call", stops+"B,Berlin,52.5,13.3,,2\n"),
		text("a time zone that is a path", `stops.txt:4: stop_timezone "../../etc/passwd" is not a known time zone`, stops+"B,Berlin,52.5,13.3,,,../../etc/passwd\n"),
		text("a negative time", `stop_times.txt:2: arrival_time "-8:00:00" is not a time of the form 09:45:00`, at("-8:00:00,8:00:00")),
		text("a time of 9999 hours", `stop_times.txt:2: departure_time "9999:00:00" is beyond 336:00:00, the longest time that a train may run`, at("8:00:00,9999:00:00")),
		text("a time of 99999999999999999999 hours", `stop_times.txt:2: departure_time "99999999999999999999" is not a time of the form 09:45:00`, at("8:00:00,99999999999999999999:00:00")),
		text("a time of 8:99", `stop_times.txt:2: departure_time "8:99:00" is not a time of the form 09:45:00`, at("8:00:00,8:99:00")),
		text("times that fall", "stop_times.txt:3: arrival_time 12:00:00 is before the departure from the call before, 13:00:00", at("13:00:00,13:00:00")),
		text("a stop_sequence of 2^63", `stop_times.txt:2: stop_sequence "9223372036854775808" is not a number from 0`, strings.Replace(at("8:00:00,8:00:00"), "B,1,", "B,9223372036854775808,", 1)),
		text("a stop_sequence below zero", `stop_times.txt:2: stop_sequence "-1" is not a number from 0`, strings.Replace(at("8:00:00,8:00:00"), "B,1,", "B,-1,", 1)),
		text("a stop_sequence twice", `stop_times.txt:3: stop_sequence 9 occurs twice in trip "t1"`, strings.Replace(at("8:00:00,8:00:00"), "B,1,", "B,9,", 1)),
		text("a distance of 1e39", `stop_times.txt:2: shape_dist_traveled "1e39" is not a distance`, at("8:00:00,8:00:00,1e39")),
		text("a distance of NaN", `stop_times.txt:2: shape_dist_traveled "NaN" is not a distance`, at("8:00:00,8:00:00,NaN")),
		text("a trip of one call", "gtfs: the feed has no train to import: trips.txt:2: the trip has fewer than two calls", stopTimes+end),
		text("calls of a trip that is not there", `stop_times.txt:2: trip_id "x" is not in trips.txt`, stopTimes+"x,B,1,8:00:00,8:00:00\n"),
		text("a calendar from the year 1 to 9999", "1 trains; calendar.txt:2: the days before 2000-01-01 and after 2179-06-06 are left out", "-- calendar.txt --\n"+days+"daily,1,1,1,1,1,1,1,00010101,99991231\n"),
		text("a calendar that ends before it begins", "calendar.txt:2: end_date 2026-01-01 is before start_date 2027-01-01", "-- calendar.txt --\n"+days+"daily,1,1,1,1,1,1,1,20270101,20260101\n"),
		text("the 99th of the month 99", `calendar.txt:2: start_date "20269999" is not a date of the form 20261231`, "-- calendar.txt --\n"+days+"daily,1,1,1,1,1,1,1,20269999,20261231\n"),
		text("a calendar of no day", "gtfs: the feed has no train to import: trips.txt:2: the trip runs on no day", "-- calendar.txt --\n"+days+"daily,0,0,0,0,0,0,0,20260101,20261231\n"),
		text("a headway of zero", `frequencies.txt:2: headway_secs "0" is not a number from 1`, every+"t1,8:00:00,9:00:00,0\n"),
		text("a headway below zero", `frequencies.txt:2: headway_secs "-60" is not a number from 1`, every+"t1,8:00:00,9:00:00,-60\n"),
		text("a headway that ends before it begins", "frequencies.txt:2: end_time 08:00:00 is not after start_time 09:00:00", every+"t1,9:00:00,8:00:00,60\n"),
		text("a route_type of 1e99", `routes.txt:2: route_type "1e99" is not a number`, "-- routes.txt --\nroute_id,agency_id,route_type\nICE,db,1e99\n"),
		text("no agency", "agency.txt: the file lists no agency", "-- agency.txt --\nagency_name,agency_timezone\n"),
		text("a time to change of 10^12 seconds", `transfers.txt:2: min_transfer_time "1000000000000" is not a number of seconds`, transfers+"B,B,2,1000000000000\n"),
		text("a change at no station", "1 trains; transfers.txt:2: from_stop_id is not in stops.txt", transfers+"X,Y,2,60\n"),
		text("a price of 1e308", `fare_attributes.txt:2: price "1e308" "EUR": amount: is not an amount of eur: a number with at most 2 decimals, not above 100000000000000`, fares+"f,1e308,EUR\n", fareRules),
		text("a price below zero", "fare_attributes.txt:2: price -1.00 eur is negative or too high", fares+"f,-1,EUR\n", fareRules),
		text("a price of NaN", `fare_attributes.txt:2: price "NaN" "EUR": amount: is not an amount of eur: a number with at most 2 decimals, not above 100000000000000`, fares+"f,NaN,EUR\n", fareRules),
		text("a currency that is none", `fare_attributes.txt:2: price "1" "<b>": currency: is not a currency code of three lower-case letters, such as eur`, fares+"f,1,<b>\n", fareRules),
	}
}
