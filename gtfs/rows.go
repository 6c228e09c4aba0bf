package gtfs

import "github.com/traintravel/traintravel"

// The data that is kept from the rows of a feed's tables. The file of each table reads it.

// An agency operates trains, which use its time zone.
type agency struct {
	id, name, zone string
}

// A service is a set of days. Its trips share one Calendar.
type service struct {
	traintravel.Calendar
	first, last traintravel.Date
	runs        bool // on any day; first and last are only valid if so
	flaw        *Error
}

// A flatFare is a row of fare_attributes.txt.
type flatFare struct {
	traintravel.Fare
	agency string // of the routes it is for, if not of all
	line   int
	flaw   string // a mistake that is reported only if a train has the fare
	ruled  bool   // fare_rules.txt says what it is for
	onward bool   // it covers changes
	used   bool
}

// A fareRule contains the rows of fare_rules.txt about a fare on one route, or on all.
type fareRule struct {
	fare     *flatFare
	route    string
	flat     bool // any ride
	ways     []way
	contains []zone
}

// An offer is the set of fares that apply to some routes.
type offer struct {
	flat []*flatFare // for any ride, that differ: two tell as much as a hundred

	// Where the feed has fares by zones, there are also
	zones      bool        // whether some of these do depend on zones
	contains   bool        // and on those that a ride passes
	fares      []*flatFare // all
	currencies []string    // of these; two tell as much as a hundred
	used       bool        // all of these are
	prices     zonePrices
}

// An offerKey names the routes of an offer: one or all, of one agency or of any.
type offerKey struct{ agency, route string }

// A pattern is a trip that frequencies.txt repeats at other times. It
// does not run itself.
type pattern struct {
	windows []window
	from    int32 // its trains are feed.trips[from:to], once its calls are known
	to      int32
}

// A window is a row of frequencies.txt.
type window struct {
	start, end traintravel.ServiceTime // of departures from the first call; end is none
	headway    int32                   // seconds
	nominal    bool                    // exact_times 0
	line       int32
}

// A barrier is a pair of stations, or the same one twice, between whose platforms a change is
// forbidden.
type barrier struct{ from, to int32 }

// A route is a line of trips.
type route struct {
	id     string // as trains have it
	agency *agency
	number string // route_short_name
	fare   traintravel.Fare
	tariff *tariff // in place of fare, if it depends on zones
	// fareFile is the table that either is from; empty if fare is that of the options.
	fareFile string
	line     int
	// skip is the reason why trips of the route are not read; empty if they are.
	skip string
	flaw *Error // the mistake if skip is faulty
}

// A stop is a row of stops.txt. After all are read, it has its station.
type stop struct {
	traintravel.Station
	kind                int
	parent              string
	platform, platforms uint16 // its number at its station, and how many of the station have one
	station             int32  // index of the station it is part of, or its own
	zone                zone   // of fares; its parent's if it has none
	line                int
	// flaw is a mistake that is reported only if a train calls here.
	flaw   string
	told   *Error // a mistake that has been reported
	looked bool   // a trip calls here, so a flaw has been reported
	served bool   // a train calls at this station
	joined bool   // with others; see joinStops
}

// A mark is the data of a call that is needed until its trip is complete.
type mark struct {
	sequence int32
	line     int32
	stop     int32   // index into feed.stops
	distance float32 // shape_dist_traveled; NaN if not given
}

// A leftTrip is the later one of twins. The earlier ones get the days that it shares
// with them.
type leftTrip struct {
	keepers []int32 // the first maxKeepers of them
	days    daySet  // of the trip as the feed has it
	rest    daySet  // those that it keeps
}

// A naming is the mention of a zone in a row of fare_rules.txt.
type naming struct {
	zone zone
	line int32
}

// A tariff has the prices of rides on a route by their zones.
type tariff struct {
	offers   []*offer
	contains bool // some of them depend on the zones passed
	currency string
	line     int                            // of the route
	known    map[string]*traintravel.Prices // by the zones of all calls

	rides, unsold int // between the calls of known
}

// A zone is the number of a zone_id of the fares, counted from 1.
type zone int32

// noZone means that a stop has no zone and, in a rule, any zone.
const noZone zone = 0

// A way is from one zone to another.
type way struct{ from, to zone }

// zonePrices are the lowest prices of rides: by the zones that a ride passes, as
// passed has them, or by none if these do not matter; and then by where it begins
// and ends.
type zonePrices map[string]map[way]int64

// A trip is a train that is not complete yet.
type trip struct {
	traintravel.Train
	service *service
	line    int
	marks   []mark // beside Calls
	flaw    *Error // the first mistake, for which it is left out

	repeated, headway bool // see Report
	origin            origin
}

// skipped is the index of trips that are not read.
const skipped int32 = -1

// An origin names the sources of a trip's price and seats.
type origin struct {
	prices, coaches string // the table, empty for options
	currency        bool   // the table names the currency
}
