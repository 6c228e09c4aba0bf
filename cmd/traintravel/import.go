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
		Long: `Load a timetable from GTFS feeds, zip files or folders, and replace the current one.
Bookings stay valid; those that do not fit the new timetable are listed. A feed with
mistakes changes nothing.

The report begins with the changes: the period, trains, runs and stations, and the
bookings that no longer fit. A timetable that has expired, that ends today or tomorrow,
or that has at most a twentieth of the trains of the current one is refused, unless
--force is given. The first timetable is only warned of if it has expired or ends by
tomorrow, and any number of trains may replace the demo network. --dry-run prints the report, fails where the import would,
and changes nothing.

Several feeds become one timetable, in which stations are joined that have the same UIC
code and are within 1000 metres, or the same name and within 300. The station of the
first feed is kept. The trains of each feed are identified by its name: NAME, or else
that of its file, or none for a single feed. Give the same feeds in the same order and
with the same names each time, and new feeds last: under another name, trains and
stations are new ones, which existing bookings do not fit.

If a server has the data file open, this command reads the feeds in its own process and
sends the timetable to the server, which continues to sell: a feed that takes too much
memory ends this command alone. All servers that share a database sell from the new
timetable within seconds.`,
		Example: `  traintravel import feed.zip
  traintravel import ch=swiss.zip de=german.zip fr=french.zip --coaches "1:60 2:80"`,
		Args: takes("FEED…"), ValidArgsFunction: completeFeeds,
		RunE: func(c *cobra.Command, feeds []string) error {
			if err := where.check(c.Flags()); err != nil {
				return err
			}
			if _, err := opts.gtfs(); err != nil {
				return err
			}
			opts.Given = p.given(c.Flags())
			feeds, err := nameFeeds(feeds)
			if err != nil {
				return err
			}
			defer dieFirst()()
			defer frugal()()
			bar := newProgress(p.stderr, "reading")
			bar.then = "storing"
			rep, err := p.importInto(c.Context(), where, feeds, opts, bar.show)
			bar.end()
			if rep != nil && opts.JSON {
				err = errors.Join(err, p.printJSON(reportJSON(rep, opts)))
			} else if rep != nil {
				p.print(rep, opts)
			}
			return where.explain(err)
		},
	}
	where.flags(c.Flags())
	opts.flags(c.Flags())
	return c
}

// importInto reads feeds and has what they say put in force by the server that has the
// data file, or else by itself. Progress is at its end when all is read, before it is stored.
func (p *program) importInto(ctx context.Context, where storage, feeds []string, opts feedOptions, progress func(done, total int64)) (*report, error) {
	if !opts.DryRun {
		if err := p.mayImport(ctx, where); err != nil { // before all is read
			return nil, err
		}
	}
	t, rep, err := readParts(ctx, feeds, opts, progress) // what is refused makes no data file
	if err != nil {
		return rep, err
	}
	progress(1, 1)
	h := &handover{Report: rep, Options: opts, timetable: t}
	if opts.DryRun {
		return p.dryRun(ctx, where, h)
	}
	if !where.shared() {
		rep, err := p.asker(where.data).handOver(ctx, h)
		if !errors.Is(err, errNoServer) {
			return rep, err
		}
	}
	store, err := where.open(ctx, p.log, nil)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	service, err := p.importService(ctx, store, opts)
	if err != nil {
		return nil, err
	}
	return h.load(ctx, service)
}

// mayImport returns what keeps a timetable from getting into a data file: a server that
// is another user's, or that there is no folder for the file.
func (p *program) mayImport(ctx context.Context, where storage) error {
	if where.shared() {
		return nil
	}
	err := p.asker(where.data).listens(ctx)
	if errors.Is(err, errNoServer) {
		return dataFolder(where.data)
	}
	return err
}

// load puts the timetable in force, and completes the report with all that it does not
// fit, or the first of them. A dry run only compares it.
func (h *handover) load(ctx context.Context, service *traintravel.Service) (*report, error) {
	if h.Options.DryRun {
		return h.compare(ctx, service)
	}
	loaded, err := service.ReplaceTimetable(ctx, h.timetable, h.accept)
	if err != nil {
		return h.Report, err
	}
	h.Report.Stranded = lines(loaded.Stranded, "does not fit the new timetable: ", h.Options.Verbose, func(s traintravel.Stranded) string {
		return fmt.Sprintf("booking %v on %s, %s %s to %s, run %v",
			s.Booking, s.Leg.Number, s.Leg.Origin.Time.Format("2006-01-02 15:04"), s.Leg.Origin.Name, s.Leg.Destination.Name, s.Run)
	})
	if left := unreadable(loaded.Unreadable, ", so more bookings may not fit the new timetable"); left != "" {
		h.Report.Stranded = append(h.Report.Stranded, left)
	}
	return h.Report, nil
}
