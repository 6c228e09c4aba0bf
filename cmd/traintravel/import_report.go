package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/feeds"
	"github.com/traintravel/traintravel/gtfs"
)

// A report says what an import did.
type report struct {
	Changes                 []string // to the timetable in force; first a heading
	Feeds                   []feedReport
	Stations, Trains, Calls int
	First, Last             string
	Joined, Alike           []string // stations of several feeds
	Twins                   []string // trains of several feeds
	Notes                   []string // about all feeds together
	Stranded                []string
	Warning                 string // that the timetable has expired or ends soon; or ""
}

// A feedReport says what was read of one feed.
type feedReport struct {
	Name                    string
	Stations, Trains, Calls int
	First, Last             string
	From                    string // who published it
	Notes                   []string
	Sales                   []string // prices and seats
	LeftOut                 []string // trips
	Twins                   []string
	Joined, Renamed         []string // stations of this feed
	Countries, Zones        int      // found by coordinates
	ByZone                  int      // countries found by time zones
}

func newFeedReport(name string, r gtfs.Report) feedReport {
	out := feedReport{
		Name: name, Stations: r.Stations, Trains: r.Trains, Calls: r.Calls,
		First: r.First.String(), Last: r.Last.String(), From: r.Publisher,
	}
	if r.Version != "" {
		out.From += ", version " + r.Version
	}
	for _, n := range r.Notes {
		line := n.String()
		if n.Wrong {
			line = "wrong: " + line
		}
		out.Notes = append(out.Notes, line)
	}
	if r.Translated > 0 {
		line := fmt.Sprintf("stations have %s from translations.txt", howMany(r.Translated, "further name", "further names"))
		if len(r.Languages) > 0 {
			line += ", in " + strings.Join(r.Languages, ", ")
		}
		out.Notes = append(out.Notes, line)
	}
	return out
}

// hintFlags adds to the mistakes of a feed that it would be read without --strict, or
// that --lenient would read it, and without how many trips.
func hintFlags(err error, r gtfs.Report) error {
	mistakes, ok := errors.AsType[*gtfs.Errors](err)
	switch {
	case !ok:
		return err
	case mistakes.Strict:
		return fmt.Errorf("%w\nrefused by --strict, nothing changed: without it the feed is imported, and these are listed", err)
	case !mistakes.Lenient:
		return err
	}
	return fmt.Errorf("%w\nnothing changed: give --lenient to leave out %s of %d and import the rest", err, howMany(mistakes.Trips, "trip", "trips"), r.Trains+mistakes.Trips)
}

// twins lists the trains that a feed has twice.
func twins(r gtfs.Report, flags feedOptions) []string {
	what := "sold once: "
	if flags.KeepTwins {
		what = "sold twice: "
	}
	return lines(r.Twins, what, flags.Verbose, gtfs.Twin.String)
}

// stations lists the stations that a feed has in several parts, or without a name.
func (f *feedReport) stations(r gtfs.Report, all bool) {
	f.Joined = lines(r.Joined, "joined: ", all, gtfs.Joined.String)
	f.Renamed = lines(r.Renamed, "named: ", all, gtfs.Renamed.String)
}

// add counts a feed in.
func (r *report) add(f feedReport) {
	r.Feeds = append(r.Feeds, f)
	r.Calls += f.Calls
	if r.First == "" || f.First < r.First {
		r.First = f.First
	}
	r.Last = max(r.Last, f.Last)
}

// join reports on all feeds together.
func (r *report) join(t *traintravel.Timetable, joined feeds.Report, all bool) {
	r.Stations, r.Trains = len(t.Stations), len(t.Trains)
	r.Joined, r.Alike = lines(joined.Joined, "joined: ", all, feeds.Pair.String), lines(joined.Alike, "not joined: ", all, feeds.Pair.String)
	if joined.Rules > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("the feeds have different rules for %s; the strictest is used", howMany(joined.Rules, "change", "changes")))
	}
	if joined.Twice > 0 {
		r.Notes = append(r.Notes, howMany(joined.Twice, "train is in two feeds and is", "trains are in two feeds and are")+" sold twice, because calls or coaches differ or --keep-twins is given: remove such trains from one of the feeds, for example by agency")
	}
}

// listed is how many of a kind are listed without --verbose.
const listed = 20

// lines lists all of a kind, or the first.
func lines[T any](list []T, what string, all bool, text func(T) string) (out []string) {
	for i, x := range list {
		if i == listed && !all {
			return append(out, fmt.Sprintf("%s%d more; --verbose lists all", what, len(list)-listed))
		}
		out = append(out, what+text(x))
	}
	return out
}

// print prints a report.
func (p *program) print(r *report, opts feedOptions) {
	if len(r.Changes) > 0 {
		fmt.Fprintln(p.stdout, r.Changes[0])
		each(p.stdout, r.Changes[1:])
	}
	for _, f := range r.Feeds {
		if f.Name != "" {
			fmt.Fprintf(p.stdout, "%s: ", f.Name)
		}
		fmt.Fprintln(p.stdout, sizes(f.Stations, f.Trains, f.Calls, f.First, f.Last))
		if f.From != "" {
			fmt.Fprintf(p.stdout, "  by %s\n", f.From)
		}
		each(p.stdout, f.Sales, f.Notes, f.LeftOut, f.Twins, f.Joined, f.Renamed)
		if f.ByZone > 0 {
			fmt.Fprintf(p.stdout, "  countries of %s found by time zones\n", howMany(f.ByZone, "station", "stations"))
		}
		if f.Countries+f.Zones > 0 {
			fmt.Fprintf(p.stdout, "  countries of %s and time zones of %d found by coordinates (borders © OpenStreetMap contributors)\n",
				howMany(f.Countries, "station", "stations"), f.Zones)
		}
	}
	if len(r.Feeds) > 1 {
		fmt.Fprintln(p.stdout, "total:", sizes(r.Stations, r.Trains, r.Calls, r.First, r.Last))
	}
	each(p.stdout, r.Notes, r.Twins, r.Joined, r.Alike, r.Stranded)
	if opts.DryRun {
		fmt.Fprintln(p.stdout, "dry run: nothing changed")
	}
	if r.Warning != "" {
		fmt.Fprintf(p.stderr, "warning: %s\n", r.Warning)
	}
}

// sizes say how much a timetable has.
func sizes(stations, trains, calls int, first, last string) string {
	return fmt.Sprintf("%s, %s, %s, from %s to %s", howMany(stations, "station", "stations"), howMany(trains, "train", "trains"),
		howMany(calls, "call", "calls"), first, last)
}

func each(w io.Writer, lists ...[]string) {
	for _, l := range slices.Concat(lists...) {
		fmt.Fprintf(w, "  %s\n", l)
	}
}

// reportJSON is a report as JSON. What it prints in lines is lists of texts.
func reportJSON(r *report, opts feedOptions) object {
	feeds := listOf(r.Feeds, func(f feedReport) any {
		return object{
			"name": f.Name, "publisher": f.From, "stations": f.Stations, "trains": f.Trains, "calls": f.Calls, "first_day": f.First, "last_day": f.Last,
			"sales": texts(f.Sales), "notes": texts(f.Notes), "left_out": texts(f.LeftOut), "twins": texts(f.Twins), "joined": texts(f.Joined), "renamed": texts(f.Renamed),
			"countries_by_time_zone": f.ByZone, "countries_by_coordinates": f.Countries, "time_zones_by_coordinates": f.Zones,
		}
	})
	return object{
		"changes": texts(r.Changes), "feeds": feeds, "stations": r.Stations, "trains": r.Trains, "calls": r.Calls, "first_day": r.First, "last_day": r.Last,
		"notes": texts(r.Notes), "twins": texts(r.Twins), "joined": texts(r.Joined), "alike": texts(r.Alike), "stranded": texts(r.Stranded), "dry_run": opts.DryRun, "warning": r.Warning,
	}
}

// texts is a JSON list of texts, [] if there are none.
func texts(list []string) []any { return listOf(list, func(text string) any { return text }) }
