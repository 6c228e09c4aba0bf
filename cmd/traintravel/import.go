package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/store/boltstore"
)

// feedOptions are the flags that say how feeds are read.
type feedOptions struct {
	Currency  string
	FareBase  string
	FarePerKm string
	Coaches   string
	Strict    bool
	DryRun    bool
}

func (o *feedOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.Currency, "currency", "eur", "`code` of the currency of trains whose feed has no fares")
	f.StringVar(&o.FareBase, "fare-base", "3.00", "`amount` that their trips begin with")
	f.StringVar(&o.FarePerKm, "fare-per-km", "0.12", "`amount` added for each kilometre")
	f.StringVar(&o.Coaches, "coaches", "", "`list` such as \"21:80 22:76\", coach number and seats, of trains whose feed has none; without it they are unreserved")
	f.BoolVar(&o.Strict, "strict", false, "refuse a feed of which anything would be left out")
	f.BoolVar(&o.DryRun, "dry-run", false, "read and check, but change nothing")
}

// gtfs makes the reader's options of the flags. What the reader would refuse is
// the mistake of a flag.
func (o feedOptions) gtfs() (gtfs.Options, error) {
	zero, err := traintravel.ParseMoney("0", o.Currency)
	if err != nil {
		return gtfs.Options{}, flagFault("--currency", err)
	}
	fare := traintravel.Fare{Currency: zero.Currency}
	base, err := traintravel.ParseMoney(o.FareBase, o.Currency)
	if err == nil {
		fare.Base = base.Amount
		err = refused(gtfs.Options{Fare: fare})
	}
	if err != nil {
		return gtfs.Options{}, flagFault("--fare-base", err)
	}
	perKm, err := traintravel.ParseMoney(o.FarePerKm, o.Currency)
	if err == nil {
		fare.PerKm = perKm.Amount
		err = refused(gtfs.Options{Fare: fare})
	}
	if err != nil {
		return gtfs.Options{}, flagFault("--fare-per-km", err)
	}
	opts := gtfs.Options{Fare: fare}
	for _, text := range strings.Fields(o.Coaches) {
		number, seats, _ := strings.Cut(text, ":")
		c := traintravel.Coach{Number: number}
		if n, err := fmt.Sscanf(seats, "%d", &c.Seats); n != 1 || err != nil || c.Seats < 1 || number == "" || fmt.Sprint(c.Seats) != seats {
			return gtfs.Options{}, usagef("--coaches: %.40q is not of the form 21:80", text)
		}
		opts.Coaches = append(opts.Coaches, c)
		if err := refused(opts); err != nil {
			return gtfs.Options{}, flagFault(fmt.Sprintf("--coaches: %.40q", text), err)
		}
	}
	return opts, nil
}

// refused says what the reader has against options, nil if nothing.
func refused(opts gtfs.Options) error {
	_, _, err := gtfs.Read(context.Background(), nil, opts)
	if e, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		return e
	}
	return nil // that there is nothing to read
}

// flagFault is what is wrong with a flag, by an error of the library's.
func flagFault(flag string, err error) error {
	if e, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		return usagef("%s: %s", flag, e.Reason)
	}
	return usagef("%s: %w", flag, err)
}

// A report says what an import did.
type report struct {
	Stations, Trains, Calls int
	First, Last             string
	Notes                   []string
	Stranded                []string
}

func (p *program) importFeeds() *cobra.Command {
	var data string
	var opts feedOptions
	c := &cobra.Command{
		Use:   "import FEED…",
		Short: "Load timetables from GTFS feeds",
		Long: `Load timetables from GTFS feeds, zip files or folders, in place of the one that
is in force. Bookings stay valid. A feed with mistakes changes nothing.

While a server has the data file, it does the work, and sells on.`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, feeds []string) error {
			if _, err := opts.gtfs(); err != nil {
				return err
			}
			feeds, err := places(feeds)
			if err != nil {
				return err
			}
			bar := progressBar{p: p}
			rep, err := p.importInto(c.Context(), data, feeds, opts, bar.show)
			bar.end()
			if rep != nil {
				p.print(rep, opts)
			}
			return err
		},
	}
	c.Flags().StringVar(&data, "data", "traintravel.db", "`file` of data")
	opts.flags(c.Flags())
	return c
}

// importInto imports feeds into a data file, by itself or by the server that
// has it.
func (p *program) importInto(ctx context.Context, data string, feeds []string, opts feedOptions, progress func(done, total int64)) (*report, error) {
	if opts.DryRun {
		_, rep, err := readFeeds(ctx, feeds, opts, progress)
		return rep, err
	}
	rep, err := askServer(ctx, data, importRequest{Feeds: feeds, Options: opts}, progress)
	if !errors.Is(err, errNoServer) {
		return rep, err
	}
	if err := dataFolder(data); err != nil {
		return nil, err
	}
	t, rep, err := readFeeds(ctx, feeds, opts, progress) // what is refused makes no data file
	if err != nil {
		return rep, err
	}
	store, err := boltstore.Open(data, nil)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	service, err := traintravel.New(store, traintravel.Options{Logger: p.log})
	if err != nil {
		return nil, err
	}
	return loadTimetable(ctx, service, t, rep)
}

// loadFeeds reads feeds and puts them in force.
func loadFeeds(ctx context.Context, service *traintravel.Service, feeds []string, opts feedOptions, progress func(done, total int64)) (*report, error) {
	t, rep, err := readFeeds(ctx, feeds, opts, progress)
	if err != nil {
		return rep, err
	}
	return loadTimetable(ctx, service, t, rep)
}

// loadTimetable puts a timetable in force, and completes the report.
func loadTimetable(ctx context.Context, service *traintravel.Service, t *traintravel.Timetable, rep *report) (*report, error) {
	loaded, err := service.LoadTimetable(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, s := range loaded.Stranded {
		rep.Stranded = append(rep.Stranded, fmt.Sprintf("booking %v on run %v", s.Booking, s.Run))
	}
	return rep, nil
}

// print says what was read and what was wrong.
func (p *program) print(r *report, opts feedOptions) {
	fmt.Fprintf(p.stdout, "%d stations, %d trains, %d calls, from %s to %s\n", r.Stations, r.Trains, r.Calls, r.First, r.Last)
	for _, n := range r.Notes {
		fmt.Fprintln(p.stdout, "  "+n)
	}
	for _, s := range r.Stranded {
		fmt.Fprintln(p.stdout, "  does not fit the new timetable:", s)
	}
	if opts.DryRun {
		fmt.Fprintln(p.stdout, "dry run: nothing was changed")
	}
}

// A progressBar shows on a terminal how far a reading is.
type progressBar struct {
	p     *program
	last  time.Time
	shown bool
}

func (b *progressBar) show(done, total int64) {
	f, ok := b.p.stderr.(*os.File)
	if !ok || total <= 0 || time.Since(b.last) < 100*time.Millisecond {
		return
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return
	}
	b.last = time.Now()
	b.shown = true
	const width = 40
	n := int(min(done, total) * width / total)
	fmt.Fprintf(f, "\rreading [%s%s] %3d %%", strings.Repeat("#", n), strings.Repeat(" ", width-n), min(done, total)*100/total)
}

func (b *progressBar) end() {
	if b.shown {
		fmt.Fprint(b.p.stderr, "\r\x1b[K")
	}
}
