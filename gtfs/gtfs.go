// Package gtfs reads a timetable from a GTFS feed: a zip file or a folder of
// comma-separated tables (https://gtfs.org/documentation/schedule/reference/).
//
// It reads agency.txt, routes.txt, calendar.txt, calendar_dates.txt, stops.txt,
// trips.txt and stop_times.txt as the reference says, and, if present,
// frequencies.txt, transfers.txt, fare_attributes.txt, fare_rules.txt,
// translations.txt and feed_info.txt; each in one pass, row by row. Other files are not opened.
//
//   - Platforms and boarding areas are merged into their parent station; a stop
//     without a parent is a station. Stations without trains are omitted. The IDs
//     and names of platforms become further ones of their station.
//   - Stops without a parent, and stations, of one name are one station if they are
//     no farther than [JoinRadius] from one of them, and [Report].Joined lists it.
//     Letter case, accents, usual abbreviations and words such as Bahnhof make no
//     difference in a name, nor does a platform at its end: Gleis 5, Platform 2. Calls keep the ID that
//     their stop has by itself, which is one of [traintravel.Station].OtherIDs.
//   - A station named by a common noun alone, such as Hauptbahnhof or Gare centrale,
//     is named by its platforms, and [Report].Renamed lists it.
//   - The names of stops in translations.txt, in any language, are further names of
//     their stations, unless they differ only in letter case and accents. The table
//     may also have its former form: trans_id, lang, translation. Translations of
//     anything else are ignored.
//   - Only rail is read (see [Rail]) unless [Options].RouteType says otherwise.
//   - A train's number is route_short_name and trip_short_name, but nothing
//     twice: ICE and 575 make "ICE 575", RE 1 and RE 4711 make "RE 4711". Where
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
// A trip in frequencies.txt does not run at the times it is written with. It
// makes a train for each departure from start_time on, every headway_secs, and
// before end_time: from 06:00 to 06:30 every seven minutes the last leaves at
// 06:28. Calls after end_time are lawful. The train that leaves at 06:28 has the
// ID of the trip and "@06:28:00", the same in every import.
//
// If exact_times is 0, the railway only promises a headway. Such trains are sold with
// their nominal departures, at even intervals; a note says so, and Report.Headway
// counts them. If rows for one trip overlap, all departures are sold, equal ones
// once. A feed may have at most 100,000 such trains, with four million calls.
//
// # Changes
//
// The rules of transfers.txt become [traintravel.Timetable].Changes, by stop, by
// route (the trains' Line) and by trip (their ID), with [Options].Feed. By
// transfer_type:
//
//	0  no rule at one station; between two, five minutes and a second for each
//	   metre as the crow flies
//	1  takes no time
//	2  takes min_transfer_time; more than a day is impossible
//	3  impossible
//	4  the one train goes on as the other, and passengers stay seated, if it ends
//	   where the other begins, within a day before that one leaves
//	5  they do not, whatever block_id says
//
// Stops stand for their stations. Of several rules about the same stations and
// trains, as there are between platforms, the strictest counts: impossible, then
// seated, then the longest; type 5 forbids type 4 for the same trips. A change that is
// impossible between single platforms is so between these alone: there the calls have
// their Platform, and rules that name trips or routes hold for their own platforms. That
// one is timed between platforms is left out, unless it names trips or routes. A rule about stops,
// routes or trips that are not read is left out with a note. A rule about a
// repeated trip is one for each of its trains, but types 4 and 5 are left out.
// There are at most 500,000 rules.
//
// Trips of one block_id are runs of one vehicle. Where one ends at the station
// at which the next of them begins within the hour, passengers stay seated. The
// next is the next on each day on which both run; where another trip lies between
// them on some of these days, there is no rule for the two. A block whose trips
// overlap in time on any day makes no rules but a note, and so does one with a
// trip that Lenient leaves out, with a repeated trip, with trips in several time zones, or with more than 500.
// transfers.txt comes first: what it says of two trips, other than types 0 and
// 1, counts and not their block.
//
// # Fares
//
// A train's fare is that of its row in trips.txt (see below), else that of its
// route in fare_attributes.txt, else [Options].Fare. A route has a fare if there
// is one price alone for it: by its own rows in fare_rules.txt, by a row without
// route_id, or by a fare without rows, for its agency or for all. The price is
// the same for any ride: it becomes the Base of the Fare, exactly, and PerKm is
// zero. A price of 0 becomes the zero Fare, for what is free cannot be sold.
// Nothing says which of several such prices a passenger pays: the route uses
// Options.Fare, and a note says so.
//
// A route of which a row names zones has Prices, and no Fare: each ride costs what
// the cheapest fare that fits it does. The rows of one fare for one route, or for
// all, are taken together. The fare fits if one of them names no zone. Else it fits
// if the ride begins in the origin_id and ends in the destination_id of one of them,
// blank being any, if some name these, and, if some have a contains_id, if the zones
// passed are exactly all of theirs: those of all calls from the first to the last of
// the ride. A stop has its own zone_id, or its parent's if that is blank. If neither
// has one it is in no zone, and no contains_id fits a ride by it. Rides that no fare
// fits, or that the cheapest makes free, are not for sale, and a note counts them, the
// same calls by zones once. A zone_id of fare_rules.txt that no stop has is doubtful.
// Routes with fares in several currencies use Options.Fare, and a note says so. There
// are at most four million rides with such prices, those of trains that share them
// counted once.
//
// Each train is priced by itself: where a fare covers changes, a note says that
// here it does not. The tables of fares version 2 are not opened.
//
// # Extension columns
//
// GTFS has no columns for some of what a [traintravel.Timetable] holds. These
// are ours, all optional. In trips.txt:
//
//	dogs_allowed    0 or blank unknown, 1 allowed, 2 not allowed, as bikes_allowed
//	bicycle_hooks   bicycles there is space for at a time
//	coaches         "21:80 22:76" is coach 21 with 80 seats and coach 22 with 76
//	fare_currency   ISO 4217; by default the currency of Options.Fare
//	fare_base       amount in that currency, such as 19.00
//	fare_per_km     amount for each kilometre, such as 0.12
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

// Options say how a feed is read. The zero value works.
type Options struct {
	// Feed names the source. It becomes every train's Feed and part of the
	// stations' IDs, so keep it the same from import to import. It may be empty.
	Feed string

	// Fare is the fare of trains without one in the feed. The zero Fare means 3.00 eur
	// and 0.12 for each kilometre. A Fare that [traintravel.Timetable.Check] would
	// refuse is an error.
	Fare traintravel.Fare

	// Coaches are those of trains whose rows name none. By default such
	// trains are unreserved. What [traintravel.Timetable.Check] would refuse
	// is refused at once.
	Coaches []traintravel.Coach

	// RouteType says which routes are read, by their route_type. The default
	// is Rail.
	RouteType func(routeType int) bool

	// DistanceUnit is how many metres one unit of shape_dist_traveled has,
	// which GTFS leaves open. Zero, the default, measures trains as the crow
	// flies. It must not be negative or infinite.
	DistanceUnit float64

	// Locate, if not nil, is called for each station and may fill in Country,
	// Address and Zone, which are empty if the feed lacks them. A Zone still
	// empty after it becomes that of the first agency.
	Locate func(*traintravel.Station)

	// Today, if not zero, is the day against which feed_info.txt is held: a
	// feed that has expired gives a note.
	Today traintravel.Date

	// Strict turns notes that mean that something is wrong with the feed, those
	// with Note.Wrong, into mistakes. Notes about omissions, such as buses, stay
	// notes.
	Strict bool

	// KeepTwins keeps both of two trains that are twins, each with its own places;
	// see Report.Twins.
	KeepTwins bool

	// Lenient skips trips with mistakes, in their own rows or in those of their route,
	// service, stops or frequencies, and reads the others: Report.LeftOut lists them. A
	// mistake that does not belong to a trip, such as one in transfers.txt or the fares,
	// still refuses the feed. Strict and Lenient exclude each other.
	Lenient bool

	// Limits bound what the feed may ask for.
	Limits Limits

	// Progress, if not nil, is called now and then, on Read's goroutine, with
	// the bytes read so far and the bytes in all the files that will be read.
	Progress func(read, total int64)
}

// Rail says whether a route_type is a railway: 2, or 100 to 117 of the
// extended types.
func Rail(routeType int) bool {
	return routeType == 2 || routeType >= 100 && routeType <= 117
}

// check refuses a Fare or Coaches that no timetable may have.
func (o *Options) check() error {
	if o.Strict && o.Lenient {
		return &traintravel.InvalidError{Field: "Options.Lenient", Reason: "is given together with Strict, its opposite"}
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
