package gtfs

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// tables are the files to read, in this order: each refers only to
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

// timetable returns the timetable after all tables were read without mistakes.
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

// Read reads the feed in a file system, from its root or from the only folder there
// that contains a feed.
//
// If the feed has mistakes, the error is an [*Errors]. If no train is left, the error
// wraps [ErrNoTrains]; if the feed exceeds one of the [Limits], it is a [*LimitError].
// Other errors are about opts or come from the file system or ctx. With any error the
// timetable is nil, and the Report describes what was read until then. Trains share
// Calendars, Coaches and Prices.
func Read(ctx context.Context, fsys fs.FS, opts Options) (*traintravel.Timetable, Report, error) {
	if u := opts.DistanceUnit; !(u >= 0) || math.IsInf(u, 0) {
		return nil, Report{}, fmt.Errorf("gtfs: Options.DistanceUnit: %v is not a number of metres", u)
	}
	if err := errors.Join(opts.Limits.check(), opts.check()); err != nil {
		return nil, Report{}, fmt.Errorf("gtfs: %w", err)
	}
	if fsys == nil {
		return nil, Report{}, errors.New("gtfs: the file system is nil")
	}
	dir, err := folder(fsys)
	if err != nil {
		return nil, Report{}, fmt.Errorf("gtfs: %w", err)
	}
	opts.Limits = opts.Limits.withDefaults()
	f := newFeed(ctx, dir, opts)
	err = f.read()
	switch {
	case err == nil:
		err = f.mistakes()
	case errors.Is(err, errMistakes): // the rest of the table cannot be read
		err = &f.errs
	}
	if err == nil {
		err = f.trainless()
	}
	if err != nil {
		return nil, f.report, err
	}
	f.countSales()
	return f.timetable(), f.report, nil
}

// ReadFile reads the feed in a zip file or folder; see [Read] and [OpenFile].
func ReadFile(ctx context.Context, path string, opts Options) (*traintravel.Timetable, Report, error) {
	files, end, err := OpenFile(path)
	if err != nil {
		return nil, Report{}, err
	}
	t, report, err := Read(ctx, files, opts)
	return t, report, errors.Join(err, end())
}

// folder returns the folder of fsys that contains the tables.
func folder(fsys fs.FS) (fs.FS, error) {
	const table = "stop_times.txt"
	switch z := fsys.(type) {
	case *zip.Reader:
		only, err := tablesOf(z)
		if err != nil {
			return nil, err
		}
		fsys = only
	case *zip.ReadCloser:
		return folder(&z.Reader)
	}
	if _, err := fs.Stat(fsys, table); !errors.Is(err, fs.ErrNotExist) {
		return fsys, nil // reading finds the error again
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	found := ""
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if _, err := fs.Stat(fsys, e.Name()+"/"+table); err != nil {
			continue
		}
		if found != "" {
			return nil, fmt.Errorf("both %s and %s contain a feed: read them one by one", found, e.Name())
		}
		found = e.Name()
	}
	if found == "" {
		return fsys, nil // reading reports the missing tables
	}
	return fs.Sub(fsys, found)
}

// mistakes returns the mistakes that fail recorded, or nil if there are none, or only some that
// Options.Lenient leaves out.
func (f *feed) mistakes() error {
	if f.errs.Total == 0 {
		return nil
	}
	f.errs.Strict = f.errs.Total == f.doubts
	left := f.flawedTrips()
	if f.errs.Total == f.blamed {
		if f.opts.Lenient {
			f.leaveOut(left)
			return nil
		}
		f.errs.Lenient, f.errs.Trips = f.report.Trains > 0, len(left)
	}
	return &f.errs
}

// trainless returns an error that says why the feed has no trains, or nil if it
// has one.
func (f *feed) trainless() error {
	if f.report.Trains > 0 {
		return nil
	}
	const most = 5
	var why []string
	unread := ""
	for _, n := range f.report.Notes {
		if n.File == "trips.txt" {
			why = append(why, n.String())
			if strings.HasPrefix(n.Reason, "route_type ") {
				unread = "; only rail is read, unless a program sets Options.RouteType"
			}
		}
	}
	switch left := f.report.LeftOut; {
	case len(left) == 1:
		why = append(why, left[0].String())
	case len(left) > 1:
		why = append(why, fmt.Sprintf("%d trips have mistakes, first %v", len(left), left[0]))
	case len(why) == 0:
		why = []string{"trips.txt has no trips"}
	}
	if more := len(why) - most; more > 0 {
		why = append(why[:most], fmt.Sprintf("and %d more reasons", more))
	}
	return fmt.Errorf("gtfs: %w: %s%s", ErrNoTrains, strings.Join(why, ", "), unread)
}

// ErrNoTrains is returned for a feed without mistakes that has no train to read. Loading its
// timetable would remove all trains.
var ErrNoTrains = errors.New("the feed has no train to import")
