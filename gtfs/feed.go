package gtfs

import (
	"context"
	"io/fs"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A feed is the state of reading one feed. Each table has its
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
