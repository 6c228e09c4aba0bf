package gtfs

import (
	"context"
	"io/fs"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A feed is one reading of a feed: what is known so far. Each table has its
// file, with the method that reads it.
type feed struct {
	ctx  context.Context
	dir  fs.FS
	opts Options

	agencies      []agency
	agencyByID    map[string]int32
	knownZones    map[string]bool // time zones, and whether they are valid
	routes        map[string]route
	services      map[string]*service
	stops         []stop
	stopByID      map[string]int32
	became        map[uuid.UUID]int32 // stations, by the IDs of the stops that have become them
	rawNames      map[int32]string    // of stops that are named otherwise, by index
	aside         map[int32]int32     // stations, by the stops that give them their IDs alone
	stations      map[uuid.UUID]bool  // at which trips call
	fares         map[string]*flatFare
	fareRules     []*fareRule
	offers        map[offerKey]*offer
	zones         map[string]zone   // nil if no fare depends on any
	named         []naming          // of zones, in fare_rules.txt
	priced        []*tariff         // of routes, by their lines
	tariffs       map[int32]*tariff // of trips, by index
	pricedRides   int
	trips         []*trip
	tripByID      map[string]int32 // skipped for those that are not read
	coaches       map[string][]traintravel.Coach
	patterns      map[int32]*pattern // trips that frequencies.txt repeats, by index
	repeatedCalls int
	blocks        map[string][]int32  // trips, by block_id
	days          map[*service]daySet // that are remembered
	dayWords      int                 // in them
	barriers      map[barrier]bool
	walks         int                // changes that take less time than the way
	parted        map[int32]bool     // stations of which calls have platforms
	covered       map[int32][]uint16 // platforms that stops mean, by index
	below         map[int32][]int32  // stops, by their parent_station
	rules         rules
	left          map[int32]*leftTrip // trips, by index, that are trains which others are as well
	calls         slab[traintravel.Call]
	marks         slab[mark]

	bytes, total int64 // read, and to be read
	held         int64 // bytes of memory, by our own account
	called       int   // calls of trips that are read
	report       Report
	notes        map[[2]string]int // file and reason, to the index in report.Notes
	errs         Errors

	first      *Error          // of the mistakes since blame was called
	doubts     int             // mistakes that are none without Options.Strict
	blamed     int             // mistakes that are gone if flawed trips are left out
	flawedRows []FlawedTrip    // of trips.txt, that made no trip
	broken     map[string]bool // blocks of which a trip is left out
}

// tables are the files that are read, in this order: each only refers to
// those before it.
var tables = []struct {
	name string
	read func(*feed) error
}{
	{"feed_info.txt", (*feed).readFeedInfo},
	{"agency.txt", (*feed).readAgencies},
	{"routes.txt", (*feed).readRoutes},
	{"fare_attributes.txt", (*feed).readFareAttributes},
	{"fare_rules.txt", (*feed).readFareRules},
	{"calendar.txt", (*feed).readCalendar},
	{"calendar_dates.txt", (*feed).readCalendarDates},
	{"stops.txt", (*feed).readStops},
	{"trips.txt", (*feed).readTrips},
	{"frequencies.txt", (*feed).readFrequencies},
	{"stop_times.txt", (*feed).readStopTimes},
	{"transfers.txt", (*feed).readTransfers},
	{"translations.txt", (*feed).readTranslations},
}

func newFeed(ctx context.Context, dir fs.FS, opts Options) *feed {
	if opts.Fare == (traintravel.Fare{}) {
		opts.Fare = traintravel.Fare{Currency: "eur", Base: 300, PerKm: 12}
	}
	if opts.RouteType == nil {
		opts.RouteType = Rail
	}
	return &feed{
		ctx: ctx, dir: dir, opts: opts,
		agencyByID: map[string]int32{},
		knownZones: map[string]bool{},
		routes:     map[string]route{},
		services:   map[string]*service{},
		stopByID:   map[string]int32{},
		stations:   map[uuid.UUID]bool{},
		tripByID:   map[string]int32{},
		coaches:    map[string][]traintravel.Coach{"": opts.Coaches},
		notes:      map[[2]string]int{},
		became:     map[uuid.UUID]int32{},
		rawNames:   map[int32]string{},
	}
}

func (f *feed) read() error {
	for _, t := range tables {
		if info, err := fs.Stat(f.dir, t.name); err == nil {
			f.total += info.Size()
		}
	}
	for _, t := range tables {
		if err := t.read(f); err != nil {
			return err
		}
	}
	return f.ctx.Err()
}

// timetable returns what was read, once all is well.
func (f *feed) timetable() *traintravel.Timetable {
	t := &traintravel.Timetable{
		Stations: make([]traintravel.Station, 0, f.report.Stations),
		Trains:   make([]traintravel.Train, 0, f.report.Trains),
	}
	t.Stations = f.appendStations(t.Stations)
	for _, trip := range f.trips {
		if len(trip.Calls) > 0 {
			t.Trains = append(t.Trains, trip.Train)
		}
	}
	t.Changes = f.rules.list
	return t
}

// namespace is that of the version 5 UUIDs of stations.
var namespace = uuid.MustParse("5b0b3c1c-7f2f-4c55-9a3e-3b1f0f6a2d4e")

// StationID returns the ID of the station that a feed calls stopID: stopID
// itself if it is a UUID, else a version 5 UUID of the feed's name, a zero
// byte and stopID.
func StationID(feed, stopID string) uuid.UUID {
	if len(stopID) == 36 {
		if id, err := uuid.Parse(stopID); err == nil && id != uuid.Nil {
			return id
		}
	}
	return uuid.NewSHA1(namespace, []byte(feed+"\x00"+stopID))
}
