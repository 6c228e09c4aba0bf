// Package gtfs reads a timetable from a GTFS feed: a zip file or a folder of
// comma-separated tables (https://gtfs.org/documentation/schedule/reference/).
//
// It reads agency.txt, routes.txt, calendar.txt, calendar_dates.txt, stops.txt,
// trips.txt and stop_times.txt as the reference says, and, if present,
// frequencies.txt, transfers.txt, fare_attributes.txt, fare_rules.txt,
// translations.txt and feed_info.txt, each in one pass, row by row. Other files are ignored.
//
//   - Platforms and boarding areas are merged into their parent station; a stop
//     without a parent is a station. Stations without trains are omitted. The IDs
//     and names of platforms become further IDs and names of their station.
//   - Stops without a parent, and stations, with the same name become one station if they
//     are at most [JoinRadius] from one of them, and [Report].Joined lists it.
//     Letter case, accents, usual abbreviations and words such as Bahnhof make no
//     difference in a name, nor does a platform at its end: Gleis 5, Platform 2. Calls keep the ID that
//     their stop has by itself, which is one of [traintravel.Station].OtherIDs.
//   - A station whose name is only a common noun, such as Hauptbahnhof or Gare centrale,
//     is named after its platforms, and [Report].Renamed lists it.
//   - The names of stops in translations.txt, in any language, are further names of
//     their stations, unless they differ only in letter case and accents. The table
//     may also have its former form: trans_id, lang, translation. Translations of
//     anything else are ignored.
//   - Only rail is read (see [Rail]) unless [Options].RouteType says otherwise.
//   - A train's number is route_short_name and trip_short_name, without what both
//     have in common: ICE and 575 make "ICE 575", RE 1 and RE 4711 make "RE 4711". Where
//     trip_short_name is missing, a trip_headsign that consists of digits replaces it.
//   - Blank times between two given ones are interpolated by
//     shape_dist_traveled, or else by the straight-line distance.
//   - pickup_type and drop_off_type 1 forbid boarding and alighting; by
//     arrangement (2, 3) counts as allowed.
//
// If a feed has mistakes, reading it returns [Errors], each with file, line and
// reason, and no timetable; with [Options].Lenient, the trips with mistakes are
// skipped. The trips of other modes and the stops without trains are not checked: a
// bus stop without a name is not a mistake in a railway's timetable. The [Report]
// lists what was omitted and why. Some omissions mean that the feed is wrong, such as
// a rule for a trip that does not exist: [Note].Wrong says so, and [Options].Strict
// makes it a mistake.
//
// Blanks around a field, quotes, a byte order mark, either line ending, blank
// lines, hours of one digit, columns in any order, unknown and missing optional
// columns and rows that end early are accepted; text must be UTF-8. [Limits] limit
// the resources that a feed can use, so it is safe to read untrusted feeds.
//
// # Twins
//
// Trips are twins if they have the same operator, number, and calls at the same
// times, and a day on which both run: travellers cannot distinguish them, and both
// would be sold. Without a number they must also have the same route. The trip that
// runs on more days, or else has the smaller ID, keeps the days that they share; the
// other one keeps the days on which only it runs. The rules of transfers.txt and
// block_id for the other trip then apply to the first one, too. Trips whose coaches
// have different numbers (see below) are portions of one train, not twins.
// [Report].Twins lists twins, and Options.Strict makes them a mistake.
//
// # Repeated trips
//
// A trip in frequencies.txt does not run at the times in stop_times.txt. It becomes a
// train for each departure: from start_time, every headway_secs, before end_time. From
// 06:00 to 06:30 every seven minutes, the last train leaves at 06:28; it may call after
// end_time. Its ID is that of the trip and "@06:28:00", the same in every import.
//
// If exact_times is 0, the railway promises only a headway. Such trains are sold at even
// intervals; a note says so, and Report.Headway counts them. If rows for one trip
// overlap, all departures are sold, equal ones once. A feed may have at most 100,000
// such trains, with four million calls.
//
// # Changes
//
// The rules of transfers.txt become [traintravel.Timetable].Changes, by stop, by route
// (the trains' Line) and by trip (their ID), with [Options].Feed. By transfer_type:
//
//	0  at one station: no rule. Between two stations: five minutes, and a second
//	   for each metre of the straight line between them
//	1  no time is needed
//	2  min_transfer_time is needed; more than a day means impossible
//	3  the change is impossible
//	4  the first train continues as the second, and passengers stay seated, if the
//	   first ends where the second begins, and the second leaves within a day
//	5  passengers do not stay seated, whatever block_id says
//
// Stops stand for their stations. If several rules apply to the same stations and trains,
// as between different platforms, the strictest is used: impossible, then seated, then
// the longest time. Type 5 cancels type 4 for the same trips. A change that is impossible
// between two platforms is impossible only there: the calls then have their Platform, and
// rules for routes or trips apply to their own platforms. A rule of type 1 between two
// platforms is left out unless it names routes or trips. A rule about stops, routes or
// trips that are not read is left out with a note. A rule about a repeated trip applies to
// each of its trains, but types 4 and 5 are left out. There are at most 500,000 rules.
//
// Trips with one block_id are runs of one vehicle. If one ends at the station where the
// next one begins within the hour, passengers stay seated. The next trip has to be the next
// on each day on which both run: if another trip lies between them on some of these days,
// there is no rule for the two. A block makes no rules, only a note, if it has more than
// 500 trips, trips that overlap in time on any day, trips in several time zones, a repeated
// trip, or a trip that Lenient leaves out. Rules of transfers.txt for two trips, other than
// types 0 and 1, take precedence over their block.
//
// # Fares
//
// A train's fare is that of its row in trips.txt (see below), or else that of its route in
// fare_attributes.txt, or else [Options].Fare. A route has a fare if exactly one price
// applies to it: by its own rows in fare_rules.txt, by a row without route_id, or by a fare
// without rows, for its agency or for all. The price is the same for any ride: it becomes
// the Base of the Fare, exactly, and PerKm is zero. A price of 0 becomes the zero Fare,
// because trains cannot be sold for 0. If several prices apply, the feed does not say which
// of them a passenger pays: the route uses Options.Fare, and a note says so.
//
// If a row for a route names zones, the route has Prices and no Fare: each ride costs the
// price of the cheapest fare that fits it. The rows of one fare for one route, or for all
// routes, are combined. A fare fits every ride if one of its rows names no zone. Otherwise
// two conditions apply. If rows have origin_id or destination_id, the ride has to begin and
// end in the zones of one of them; a blank means any zone. If rows have contains_id, the
// zones of all calls of the ride, from the first to the last, have to be exactly all of
// these. A stop has its own zone_id, or its parent's if that is blank. A stop without either
// is in no zone, and no contains_id fits a ride that calls there. Rides that no fare fits,
// or whose cheapest fare is 0, are not for sale; a note counts them, equal calls by zones
// once. A zone_id of fare_rules.txt that no stop has is doubtful. Routes with fares in
// several currencies use Options.Fare, and a note says so. There are at most four million
// rides with such prices; trains with the same prices count once.
//
// Each train is priced separately: if a fare covers changes, a note says that it does not
// do so here. The tables of GTFS-Fares v2 are not read.
//
// # Extension columns
//
// GTFS has no columns for some fields of a [traintravel.Timetable]. Package gtfs reads
// these from columns of its own, all optional. In trips.txt:
//
//	dogs_allowed    0 or blank unknown, 1 allowed, 2 not allowed, as bikes_allowed
//	bicycle_hooks   the number of bicycles that the train can carry at a time
//	coaches         "21:80 22:76" means coach 21 with 80 seats and coach 22 with 76
//	fare_currency   ISO 4217; the default is the currency of Options.Fare
//	fare_base       an amount in that currency, such as 19.00
//	fare_per_km     an amount for each kilometre, such as 0.12
//
// A trip with fare_base or fare_per_km uses neither fare_attributes.txt nor
// [Options].Fare; the other of the two is zero if blank. In stops.txt, for stations:
//
//	stop_country    ISO 3166-1 alpha-2, such as DE
//	stop_address    street address
package gtfs

import (
	"errors"
	"strings"

	"github.com/traintravel/traintravel"
)

// Options configures how a feed is read. The zero value works.
type Options struct {
	// Feed names the source. It becomes every train's Feed and part of the
	// stations' IDs, so keep it the same from import to import. It may be empty.
	Feed string

	// Fare is the fare of trains without one in the feed. The zero Fare means 3.00 eur
	// and 0.12 for each kilometre. A Fare that [traintravel.Timetable.Check] would
	// refuse is an error.
	Fare traintravel.Fare

	// Coaches are those of trains whose rows name none. By default such
	// trains are unreserved. Coaches that [traintravel.Timetable.Check] would
	// refuse are an error.
	Coaches []traintravel.Coach

	// RouteType selects the routes to read by their route_type. The default
	// is Rail.
	RouteType func(routeType int) bool

	// DistanceUnit is the number of metres in one unit of shape_dist_traveled,
	// which GTFS leaves open. Zero, the default, measures straight lines between
	// calls. It must not be negative or infinite.
	DistanceUnit float64

	// Locate, if not nil, is called for each station and may fill in Country,
	// Address and Zone, which are empty if the feed lacks them. A Zone still
	// empty after it becomes that of the first agency.
	Locate func(*traintravel.Station)

	// Today, if not zero, is compared with the dates of feed_info.txt: a
	// feed that has expired gets a note.
	Today traintravel.Date

	// Strict turns notes about faults of the feed, those with Note.Wrong, into
	// mistakes. Notes about omissions, such as buses, stay notes.
	Strict bool

	// KeepTwins keeps both of two trains that are twins, each with its own places;
	// see Report.Twins.
	KeepTwins bool

	// Lenient skips trips with mistakes, in their own rows or in those of their route,
	// service, stops or frequencies, and reads the others: Report.LeftOut lists them. A
	// mistake that does not belong to a trip, such as one in transfers.txt or the fares,
	// still refuses the feed. Strict and Lenient exclude each other.
	Lenient bool

	// Limits limits the resources that the feed may use.
	Limits Limits

	// Progress, if not nil, is called from time to time, on Read's goroutine, with
	// the number of bytes read so far and the size of all files to read.
	Progress func(read, total int64)
}

// Rail reports whether a route_type is a railway: 2, or 100 to 117 of the
// extended types.
func Rail(routeType int) bool {
	return routeType == 2 || routeType >= 100 && routeType <= 117
}

// check returns an error if no timetable may have the Fare or Coaches.
func (o *Options) check() error {
	if o.Strict && o.Lenient {
		return &traintravel.InvalidError{Field: "Options.Lenient", Reason: "excludes Options.Strict: set only one of them"}
	}
	s := traintravel.Station{ID: namespace, Name: "any", Zone: "UTC"}
	probe := traintravel.Timetable{Stations: []traintravel.Station{s}, Trains: []traintravel.Train{{
		Operator: "any", Zone: "UTC", Calls: []traintravel.Call{{Station: s.ID}, {Station: s.ID}},
		Fare: o.Fare, Coaches: o.Coaches,
	}}}
	var bad *traintravel.InvalidError
	if !errors.As(probe.Check(), &bad) {
		return nil
	}
	name := strings.NewReplacer("trains[0]", "Options", ".f", ".F", ".c", ".C", ".n", ".N", ".s", ".S").Replace(bad.Field)
	return &traintravel.InvalidError{Field: name, Reason: bad.Reason}
}
