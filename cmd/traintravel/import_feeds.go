package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/feeds"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/places"
)

// nameForm is what a feed may be named on the command line.
var nameForm = regexp.MustCompile(`^[\pL\pN][\pL\pN._-]{0,49}$`)

// nameFeeds makes arguments, FEED or NAME=FEED, what they stand for: NAME=FEED with
// the whole path. A FEED is named by its file, and one alone by nothing. Two of
// one name could not be told apart.
func nameFeeds(args []string) ([]string, error) {
	named, paths := make([]string, len(args)), make([]string, len(args))
	byName := map[string]string{}
	for i, arg := range args {
		name, path, ok := strings.Cut(arg, "=")
		switch {
		case !ok || strings.ContainsAny(name, `/\`): // all of it is a path
			name, path = "", arg
		case !nameForm.MatchString(name) || path == "":
			return nil, usagef("invalid feed %.100q: want NAME=FILE with letters, digits and ._- in NAME; write a file with an equals sign in its name as ./FILE", arg)
		}
		if strings.Contains(path, "://") {
			return nil, usagef("invalid feed %.200q: want a file or a folder, not a URL: download the feed first", withoutSecrets(path))
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if name == "" && len(args) > 1 {
			name = strings.ReplaceAll(feedName(abs), "=", "-")
		}
		for j, other := range paths[:i] {
			if sameFile(abs, other) || abs == other {
				return nil, usagef("%s and %s are the same feed: give it once", args[j], arg)
			}
		}
		if other, ok := byName[name]; ok {
			return nil, usagef("the feeds %s and %s have the same name, %s: give them different names as NAME=FILE", other, arg, name)
		}
		byName[name] = arg
		named[i], paths[i] = name+"="+abs, abs
	}
	return named, nil
}

// A feedReader reads one feed after the other.
type feedReader struct {
	opts     gtfs.Options
	flags    feedOptions
	finder   *places.Finder // opened for the first feed that needs it
	progress func(done, total int64)
	sizes    []int64
}

// readParts reads feeds, as nameFeeds has them, into one timetable.
func readParts(ctx context.Context, named []string, flags feedOptions, progress func(done, total int64)) (*traintravel.Timetable, *report, error) {
	opts, err := flags.gtfs()
	if err != nil {
		return nil, nil, err
	}
	opts.Today = traintravel.DateOf(flags.now())
	r := feedReader{opts: opts, flags: flags, progress: progress}
	for _, one := range named {
		_, path, _ := strings.Cut(one, "=")
		r.sizes = append(r.sizes, size(path))
	}
	rep := &report{}
	parts := make([]feeds.Part, len(named))
	for i, one := range named {
		name, path, _ := strings.Cut(one, "=")
		r.opts.Progress = r.overall(i)
		t, read, err := r.read(ctx, name, path)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) && !exists(path) {
				return nil, nil, fmt.Errorf("feed %s not found", path)
			}
			if err = flags.Limits.named(err); !strings.Contains(err.Error(), " "+path+":") {
				err = fmt.Errorf("%s: %w", path, err)
			}
			return nil, nil, err
		}
		parts[i] = feeds.Part{Feed: name, Timetable: t}
		if len(named) > 1 {
			if parts[i].Codes, err = codes(name, path); err != nil {
				read.Notes = append(read.Notes, err.Error())
			}
		}
		rep.add(read)
	}
	all, joined, doubled := parts[0].Timetable, feeds.Report{}, 0
	if len(parts) > 1 {
		all, joined = feeds.Join(parts...)
		if !flags.KeepTwins {
			once := feeds.Once(all)
			joined.Twice -= len(once)
			rep.Twins = lines(once, "sold once: ", flags.Verbose, feeds.Twin.String)
			doubled = len(once)
		}
	}
	rep.join(all, joined, flags.Verbose)
	if flags.Strict && len(joined.Alike) > 0 {
		return nil, rep, fmt.Errorf("refused by --strict: %s alike but could not be joined", howMany(len(joined.Alike), "pair of stations looks", "pairs of stations look"))
	}
	if flags.Strict && doubled > 0 {
		return nil, rep, fmt.Errorf("refused by --strict: %s in two feeds: remove it from one of them, or give --keep-twins to sell it twice", howMany(doubled, "train is", "trains are"))
	}
	if err := all.Check(); err != nil {
		return nil, rep, err
	}
	return all, rep, nil
}

// overall makes the progress of one feed that of all, by the feeds' sizes. It is
// not at its end before all feeds are joined and checked.
func (r *feedReader) overall(i int) func(read, total int64) {
	var before, all int64
	for k, size := range r.sizes {
		if k < i {
			before += size
		}
		all += size
	}
	all++
	return func(read, total int64) {
		if total > 0 {
			r.progress(before+int64(float64(r.sizes[i])*float64(min(read, total))/float64(total)), all)
		}
	}
}

// size is how large a feed is, at least 1. It is to tell how far a reading is, so
// what cannot be seen does not matter.
func size(path string) (sum int64) {
	info, err := os.Stat(path)
	if err != nil {
		return 1
	}
	if !info.IsDir() {
		return max(1, info.Size())
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
	}
	return max(1, sum)
}

// read reads one feed, and finds out what it lacks.
func (r *feedReader) read(ctx context.Context, name, path string) (*traintravel.Timetable, feedReport, error) {
	opts := r.opts
	opts.Feed = name
	zoneless, lacks, byZone := map[uuid.UUID]bool{}, false, 0
	countries := places.Countries()
	opts.Locate = func(s *traintravel.Station) {
		if s.Zone == "" {
			zoneless[s.ID] = true
		}
		if s.Country == "" && s.Zone != "" && r.flags.Locate {
			if s.Country = countries[s.Zone]; s.Country != "" {
				byZone++
			}
		}
		lacks = lacks || s.Zone == "" || s.Country == ""
	}
	t, got, err := gtfs.ReadFile(ctx, path, opts)
	if err != nil {
		return nil, feedReport{}, hintFlags(err, got)
	}
	rep := newFeedReport(name, got)
	rep.Sales = sales(got, r.flags)
	rep.LeftOut = lines(got.LeftOut, "left out: ", r.flags.Verbose, gtfs.FlawedTrip.String)
	rep.Twins = twins(got, r.flags)
	rep.stations(got, r.flags.Verbose)
	rep.ByZone = byZone
	if lacks && r.flags.Locate { // else the borders of the world are not needed
		if err := r.locate(t, zoneless, &rep); err != nil {
			return nil, feedReport{}, err
		}
	}
	return t, rep, nil
}

// locate fills in the countries and zones of stations. Those without a zone have
// got that of their railway by now, which still counts at its border.
func (r *feedReader) locate(t *traintravel.Timetable, zoneless map[uuid.UUID]bool, rep *feedReport) error {
	if r.finder == nil {
		finder, err := places.Open()
		if err != nil {
			return err
		}
		r.finder = finder
	}
	var nowhere []string // at sea, where there are no stations
	for i := range t.Stations {
		s := &t.Stations[i]
		home, countryless := s.Zone, s.Country == ""
		if zoneless[s.ID] {
			s.Zone = ""
		}
		r.finder.LocateFrom(home)(s)
		if s.Zone == "" {
			s.Zone = home
		} else if zoneless[s.ID] {
			rep.Zones++
		}
		switch {
		case countryless && s.Country != "":
			rep.Countries++
		case countryless:
			nowhere = append(nowhere, s.Name)
		}
	}
	if n := len(nowhere); n > 0 {
		rep.Notes = append(rep.Notes, fmt.Sprintf("no country found at the coordinates of %s, so its country code is ZZ (%s)", nowhere[0], howMany(n, "station", "stations")))
	}
	return nil
}

// codes finds the UIC codes of a feed that has been read.
func codes(name, path string) (map[uuid.UUID]string, error) {
	files, end, err := gtfs.OpenFile(path)
	if err != nil {
		return nil, err
	}
	found, err := feeds.Codes(files, name)
	return found, errors.Join(err, end())
}
