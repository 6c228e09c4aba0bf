package gtfs_test

import (
	"fmt"
	"strings"

	"github.com/traintravel/traintravel/gtfs"
)

// manyRows writes so many rows of a table, by a format of their number or all alike.
func manyRows(table string, n int, format string) string {
	name, header, _ := strings.Cut(table, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s --\n%s\n", name, header)
	if !strings.Contains(format, "%") {
		b.WriteString(strings.Repeat(format+"\n", n))
		return b.String()
	}
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

const (
	agencyTable    = "agency.txt\nagency_id,agency_name,agency_timezone"
	routeTable     = "routes.txt\nroute_id,agency_id,route_short_name,route_type"
	stopTable      = "stops.txt\nstop_id,stop_name,stop_lat,stop_lon,parent_station,stop_timezone"
	tripTable      = "trips.txt\ntrip_id,route_id,service_id,trip_short_name,block_id,coaches"
	callTable      = "stop_times.txt\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time"
	dayTable       = "calendar_dates.txt\nservice_id,date,exception_type"
	fareTable      = "fare_attributes.txt\nfare_id,price,currency_type"
	ruleTable      = "fare_rules.txt\nfare_id,origin_id,destination_id,contains_id"
	baseStops      = "B,Berlin Hbf,52.525,13.369\nH,Hannover Hbf,52.377,9.741\nK,Köln Hbf,50.943,6.959\n"
	baseTrip       = "t1,ICE,daily,575\n"
	baseRoute      = "ICE,db,ICE,2\n"
	baseAgency     = "db,Bahn,Europe/Berlin\n"
	sixteenMillion = 16_000_000
)

// hostileSizes have more rows than a reader wants to hold. Without lower limits they
// would be larger; what is held is counted alike.
func hostileSizes() []hostile {
	limited := func(name, want string, l gtfs.Limits, texts ...string) hostile {
		h := text(name, want, texts...)
		h.limits = l
		return h
	}
	memory := gtfs.Limits{Memory: sixteenMillion, Ratio: 5000}
	return []hostile{
		text("a trip of 257 calls", `stop_times.txt:258: trip "t1" has more than 256 calls`, manyRows(callTable, 257, "t1,B,%d,8:00:00,8:00:00")),
		limited("a trip of 300,000 calls", `stop_times.txt:258: trip "t1" has more than 256 calls`, gtfs.Limits{Calls: 1000}, manyRows(callTable, 300_000, "t1,B,%d,8:00:00,8:00:00")),
		limited("more calls than Limits.Calls", "stop_times.txt:10002: up to here the trips that are read have more than 10000 calls (Limits.Calls)", gtfs.Limits{Calls: 10_000}, manyRows(tripTable, 20_000, "t%d,ICE,daily"), manyRows(callTable, 20_000, "t%d,B,1,8:00:00,8:00:00")),
		limited("more rows than Limits.Rows", "stop_times.txt:10000: the table has more than 10000 rows (Limits.Rows)", gtfs.Limits{Rows: 10_000}, manyRows(callTable, 20_000, "x,B,%d,8:00:00,8:00:00")),
		limited("more agencies than memory holds", "agency.txt:59302: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(agencyTable, 100_000, "a%d,A,Europe/Berlin")),
		limited("more routes than memory holds", "routes.txt:41402: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(routeTable, 100_000, "r%d,db,R,3")),
		limited("more calendars than memory holds", "calendar_dates.txt:43507: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(dayTable, 100_000, "s%d,20260101,1")),
		limited("more stations than memory holds", "stops.txt:24370: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(stopTable, 100_000, "s%d,S,1,1")),
		limited("more parents than memory holds", "stops.txt:265: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(stopTable, 1000, "s%d,S,1,1,"+strings.Repeat("p", 60_000))),
		limited("more time zones than memory holds", "stops.txt:19857: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(stopTable, 100_000, "s%d,S,1,1,,Zone/%[1]d")),
		limited("more trips than memory holds", "trips.txt:16101: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(tripTable, 100_000, "t%d,ICE,daily")),
		limited("more trips of buses than memory holds", "trips.txt:185151: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, "-- routes.txt --\nroute_id,agency_id,route_type\nICE,db,3\n", manyRows(tripTable, 300_000, "t%d,ICE,daily")),
		limited("more blocks than memory holds", "trips.txt:14831: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(tripTable, 100_000, "t%d,ICE,daily,,b%[1]d")),
		limited("more coaches than memory holds", "trips.txt:739: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(tripTable, 3000, "t%d,ICE,daily,,,"+coaches(400)+" x%[1]d:1")),
		limited("more calls than memory holds", "stop_times.txt:126482: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(tripTable, 10_000, "t%d,ICE,daily"), calls(10_000, 60, false)),
		limited("more calls than memory holds, each trip's scattered", "stop_times.txt:162186: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(tripTable, 5_000, "t%d,ICE,daily"), calls(5_000, 60, true)),
		limited("more days than memory holds", "calendar_dates.txt:1333245: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(dayTable, 2_000_000, "daily,20260101,1")),
		limited("more fares than memory holds", "fare_attributes.txt:44975: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyRows(fareTable, 100_000, "f%d,1,EUR")),
		limited("more rules of fares than memory holds", "fare_rules.txt:77718: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, "-- fare_attributes.txt --\nfare_id,price,currency_type\nf,1,EUR\n", manyRows(ruleTable, 200_000, "f,z%d,z%[1]d")),
		limited("more rules of changes than memory holds", "transfers.txt:26991: up to here the feed takes more than 16000000 bytes of memory (Limits.Memory)", memory, manyTrips(300, plainTrip), pairs(300)),
		text("100,000 agencies", "1 trains", baseAnd(agencyTable, baseAgency, 100_000, "a%d,A,Europe/Berlin")),
		text("100,000 routes, each of a type of its own", "1 trains; trips.txt:3: route_type 100000 is not read; notes: 501", baseAnd(routeTable, baseRoute, 100_000, "r%d,db,R,1%05[1]d"), baseAnd(tripTable, baseTrip, 100_000, "x%d,r%[1]d,daily")),
		text("100,000 stations, each in a wrong time zone of its own", "1 trains", baseAnd(stopTable, baseStops, 100_000, "s%d,S,1,1,,Zone/%[1]d")),
		text("one day 1,000,000 times", "1 trains", manyRows(dayTable, 1_000_000, "daily,20260102,1")),
		text("one trip 300,000 times", `trips.txt:3: trip_id "t1" occurs twice`, manyRows(tripTable, 300_000, "t1,ICE,daily")),
		text("300,000 calls of trips that are not there", `stop_times.txt:2: trip_id "x0" is not in trips.txt`, manyRows(callTable, 300_000, "x%d,B,1,8:00:00,8:00:00")),
		text("a shapes.txt of 16 MB", "1 trains", manyRows("shapes.txt\nshape_id,shape_pt_lat,shape_pt_lon", 1_000_000, "s,1,%07d")),
	}
}

// baseAnd is manyRows with those of base and so many others.
func baseAnd(table, of string, n int, format string) string {
	text := manyRows(table, n, format)
	at := strings.IndexByte(text[strings.IndexByte(text, '\n')+1:], '\n') + strings.IndexByte(text, '\n') + 2
	return text[:at] + of + text[at:]
}

// pairs are rules for a change from each trip to each.
func pairs(n int) string {
	var b strings.Builder
	for i := range n * n {
		fmt.Fprintf(&b, "K,B,t%d,t%d,2,60\n", i/n, i%n)
	}
	return manyRows("transfers.txt\nfrom_stop_id,to_stop_id,from_trip_id,to_trip_id,transfer_type,min_transfer_time", 0, "") + b.String()
}

// coaches are so many, of a seat each.
func coaches(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d:1 ", i)
	}
	return strings.TrimSpace(b.String())
}

// calls are those of trips t0 and so on, in the order of the trips or of the calls.
func calls(trips, each int, scattered bool) string {
	var b strings.Builder
	b.WriteString("-- stop_times.txt --\n" + strings.SplitN(callTable, "\n", 2)[1] + "\n")
	for i := range trips * each {
		trip, call := i/each, i%each
		if scattered {
			trip, call = i%trips, i/trips
		}
		fmt.Fprintf(&b, "t%d,%c,%d,8:00:00,8:00:00\n", trip, "BHK"[call%3], call)
	}
	return b.String()
}
