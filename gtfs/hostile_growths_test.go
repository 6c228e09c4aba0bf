package gtfs_test

import (
	"fmt"
	"strings"
)

// hostileGrowths are feeds of a few rows that make many things.
func hostileGrowths() []hostile {
	const (
		every  = "frequencies.txt\ntrip_id,start_time,end_time,headway_secs,exact_times"
		change = "transfers.txt\nfrom_stop_id,to_stop_id,from_trip_id,to_trip_id,transfer_type,min_transfer_time"
		fare   = "-- fare_attributes.txt --\nfare_id,price,currency_type\nf,1,EUR\n"
	)
	return []hostile{
		text("a train every second for 100 hours", "frequencies.txt:2: the rows up to here make 360000 trains, more than 100000", manyRows(every, 1, "t1,%d:00:00,100:00:00,1,1")),
		text("10,000 trips, each every second for an hour", "frequencies.txt:29: the rows up to here make 100800 trains, more than 100000", manyTrips(10_000, plainTrip), manyRows(every, 10_000, "t%d,8:00:00,9:00:00,1,1")),
		text("a train of 256 calls, every four seconds", "frequencies.txt:2: the trains up to here have more than 4000000 calls", manyRows(callTable, 256, "t1,B,%d,8:00:00,8:00:00"), manyRows(every, 1, "t1,%d:00:00,100:00:00,4,1")),
		text("a headway in 100,000 equal rows", "1 trains; frequencies.txt:3: the row overlaps another one of its trip: the departures of both are sold, equal ones once (99999 times)", manyRows(every, 100_000, "t1,8:00:00,8:00:01,1,1")),
		text("a change from each of 3,600 trains to each", "transfers.txt:2: the rows up to here make more than 500000 rules for changes", manyRows(every, 1, "t1,%d:00:00,10:00:00,10,1"), manyRows(change, 1, "B,B,t1,t1,2,60")),
		text("a block of 20,000 trips", "20000 trains; stops.txt:3: no train that is read calls at the station", manyTrips(20_000, "t%[1]d,ICE,daily,%[1]d,b")),
		text("20 blocks of trips, each with 180 years of its own", "2000 trains; stops.txt:3: no train that is read calls at the station", manyTrips(2000, "t%[1]d,ICE,s%[1]d,%[1]d,b%[2]d"), centuries(2000)),
		text("2,000 trips that are one train, each on half of 180 years", "25 trains; stops.txt:3: no train that is read calls at the station; notes: 2", manyTrips(2000, "t%[1]d,ICE,s%[1]d,1"), centuries(2000), manyRows(callTable, 2000, "t%d,B,1,8:00:00,8:00:00\nt%[1]d,K,2,9:00:00,9:00:00")),
		text("fares by zones for 16 million rides", "trips.txt:124: the trips up to here have more than 4000000 rides with fares by zones", fare, manyRows(ruleTable, 256, "f,z%d,"), manyRows("stops.txt\nstop_id,stop_name,stop_lat,stop_lon,zone_id", 256, "s%d,S,1,1,z%[1]d"), manyTrips(500, plainTrip), turned(500, 256)),
		text("10,000 fares for each of 10,000 routes", "1 trains; fare_attributes.txt:2: the fare covers changes, but each train is sold at its own price (10000 times); notes: 3", manyRows(fareTable, 10_000, "f%d,1,EUR"), manyRows(ruleTable, 10_000, "f%d,z,z"), baseAnd(routeTable, baseRoute, 10_000, "r%d,db,R,2")),
		text("the calls of 2,000 trips in no order", "2000 trains", manyTrips(2000, plainTrip), calls(2000, 60, true)),
	}
}

// plainTrip is a trip that runs daily, in no block.
const plainTrip = "t%[1]d,ICE,daily,%[1]d,"

// manyTrips are t0 and so on, written as row says of their number and its hundreds. They
// go from Berlin to Köln, those of one hundred one after the other.
func manyTrips(n int, row string) string {
	var trips, calls strings.Builder
	for i := range n {
		fmt.Fprintf(&trips, row+"%.0[2]d\n", i, i/100)
		fmt.Fprintf(&calls, "t%d,B,1,%d:00:00,%[2]d:00:00\nt%[1]d,K,2,%[3]d:00:00,%[3]d:00:00\n", i, i%100*2, i%100*2+1)
	}
	return manyRows(tripTable, 0, "") + trips.String() + manyRows(callTable, 0, "") + calls.String()
}

// centuries are services s0 and so on, on some days of each week of 180 years.
func centuries(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "s%d", i)
		for day := range 7 {
			fmt.Fprintf(&b, ",%d", (i%127+1)>>day&1)
		}
		b.WriteString(",20000101,21790101\n")
	}
	return "-- calendar.txt --\nservice_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\n" + b.String()
}

// turned are the calls of trips that go round s0 and so on, each from a stop of its own.
func turned(trips, each int) string {
	var b strings.Builder
	b.WriteString(manyRows(callTable, 0, ""))
	for i := range trips * each {
		fmt.Fprintf(&b, "t%d,s%d,%d,8:00:00,8:00:00\n", i/each, (i/each+i%each*(i/each/256+1))%256, i%each)
	}
	return b.String()
}
