package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
)

func (p *program) importFeeds() *cobra.Command {
	var where storage
	var opts feedOptions
	c := &cobra.Command{
		Use:   "import [NAME=]FEED…",
		Short: "Load timetables from GTFS feeds",
		Long: `Load timetables from GTFS feeds, zip files or folders, in place of the one that
is in force. Bookings stay valid; those that it does not fit are listed. A feed
with mistakes changes nothing. With --dry-run the feeds are read and checked, and
no data file or database is looked at.

Several feeds become one timetable, in which their stations are joined: those of
one UIC code within 1000 metres, or of one name within 300. The first feed's
station stays. Each feed has a name, by which its trains are told from the
others': NAME, or else that of its file, or none for one feed alone. Give the same
feeds in the same order, with the same names, from import to import, and new
ones last: trains and stations that change their feed's name are other ones for
the bookings there are.

While a server has the data file, it does the work, and sells on. All servers that
share a database sell from the new timetable within seconds.`,
		Example: `  traintravel import feed.zip
  traintravel import ch=swiss.zip de=german.zip fr=french.zip --coaches "1:60 2:80"`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, feeds []string) error {
			if err := where.check(c.Flags()); err != nil {
				return err
			}
			if _, err := opts.gtfs(); err != nil {
				return err
			}
			feeds, err := nameFeeds(feeds)
			if err != nil {
				return err
			}
			bar := newProgress(p.stderr, "reading")
			bar.then = "storing"
			rep, err := p.importInto(c.Context(), where, feeds, opts, bar.show)
			bar.end()
			if rep != nil {
				p.print(rep, opts)
			}
			return where.explain(err)
		},
	}
	where.flags(c.Flags())
	opts.flags(c.Flags())
	return c
}

// importInto imports feeds into a store, by itself or by the server that has the
// data file. When all is read, progress is told so before it is stored.
func (p *program) importInto(ctx context.Context, where storage, feeds []string, opts feedOptions, progress func(done, total int64)) (*report, error) {
	if opts.DryRun {
		_, rep, err := readParts(ctx, feeds, opts, progress)
		return rep, err
	}
	if !where.shared() {
		rep, err := askServer[importRequest, report](ctx, p.asker(where.data), "/import", importRequest{Feeds: feeds, Options: opts}, teller{progress: progress})
		if !errors.Is(err, errNoServer) {
			return rep, err
		}
		if err := dataFolder(where.data); err != nil { // before all is read
			return nil, err
		}
	}
	t, rep, err := readParts(ctx, feeds, opts, progress) // what is refused makes no data file
	if err != nil {
		return rep, err
	}
	store, err := where.open(ctx, p.log, nil)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	service, err := traintravel.New(store, traintravel.Options{Logger: p.log})
	if err != nil {
		return nil, err
	}
	progress(1, 1)
	return loadTimetable(ctx, service, t, rep, opts.Verbose)
}

// loadFeeds reads feeds, tells progress when that is done, and puts them in force.
func loadFeeds(ctx context.Context, service *traintravel.Service, feeds []string, opts feedOptions, progress func(done, total int64)) (*report, error) {
	t, rep, err := readParts(ctx, feeds, opts, progress)
	if err != nil {
		return rep, err
	}
	progress(1, 1)
	return loadTimetable(ctx, service, t, rep, opts.Verbose)
}

// loadTimetable puts a timetable in force, and completes the report with all that it
// does not fit, or the first of them.
func loadTimetable(ctx context.Context, service *traintravel.Service, t *traintravel.Timetable, rep *report, all bool) (*report, error) {
	loaded, err := service.LoadTimetable(ctx, t)
	if err != nil {
		return nil, err
	}
	rep.Stranded = lines(loaded.Stranded, "does not fit the new timetable: ", all, func(s traintravel.Stranded) string {
		return fmt.Sprintf("booking %v on %s, %s %s to %s, run %v",
			s.Booking, s.Leg.Number, s.Leg.Origin.Time.Format("2006-01-02 15:04"), s.Leg.Origin.Name, s.Leg.Destination.Name, s.Run)
	})
	if left := unreadable(loaded.Unreadable, ", so that there may be more bookings that do not fit the new timetable"); left != "" {
		rep.Stranded = append(rep.Stranded, left)
	}
	return rep, nil
}
