package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// feedOptions are the flags that say how feeds are read.
type feedOptions struct {
	Currency  string
	FareBase  string
	FarePerKm string
	Coaches   string
	Locate    bool
	Strict    bool
	Lenient   bool
	KeepTwins bool
	DryRun    bool
	Force     bool
	Verbose   bool
	JSON      bool
	Clock     string
	Given     map[string]string // where the flags of prices and seats are from, if set
	Limits    feedLimits
}

func (o *feedOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.Currency, "currency", "eur", "`code` of the currency of trains without fares in their feed")
	f.StringVar(&o.FareBase, "fare-base", "3.00", "base `amount` of the price of such trains")
	f.StringVar(&o.FarePerKm, "fare-per-km", "0.12", "`amount` that is added for each kilometre")
	f.StringVar(&o.Coaches, "coaches", "", "`list` of coaches and their seats, such as \"21:80 22:76\", of trains without coaches in their feed (default: trains without numbered places)")
	f.BoolVar(&o.Locate, "locate", true, "find missing time zones of stations by their coordinates, and missing countries by the time zones; --locate=false leaves countries unknown (ZZ) and uses the time zone of the railway")
	f.BoolVar(&o.Strict, "strict", false, "refuse feeds with any mistake, even one that could be left out, and feeds with stations that look alike but cannot be joined")
	f.BoolVar(&o.Lenient, "lenient", false, "leave out and list trips with mistakes, and import the others (default: refuse the feed)")
	exclude(f, "strict", "lenient")
	f.BoolVar(&o.KeepTwins, "keep-twins", false, "sell a train twice that is listed twice, in one feed or in two, with the same operator, number, calls and days (default: sell it once)")
	o.Limits.flags(f)
	f.BoolVar(&o.DryRun, "dry-run", false, "read and check the feeds and report what would change, but change nothing")
	f.BoolVar(&o.Force, "force", false, "import a timetable even if it has expired, ends by tomorrow, or has at most a twentieth of the trains of the current one")
	jsonFlag(f, &o.JSON)
	f.StringVar(&o.Clock, "clock", "", "`time` such as 2024-02-01T08:00:00Z to use as the current time, for timetables of another time; a server that has the data file open uses its own clock")
	f.BoolVar(&o.Verbose, "verbose", false, "list all trips left out, trains listed twice, stations joined or alike, and bookings that no longer fit, not only the first 20 of each")
}

// now is the instant of --clock, or the real one.
func (o feedOptions) now() time.Time {
	if at, err := (&settings{clock: o.Clock}).start(); err == nil && o.Clock != "" {
		return at
	}
	return time.Now()
}

// gtfs makes the options of the reader from the flags. It returns an error that names the flag
// if the reader would refuse them.
func (o feedOptions) gtfs() (gtfs.Options, error) {
	if _, err := (&settings{clock: o.Clock}).start(); err != nil {
		return gtfs.Options{}, err
	}
	if o.Strict && o.Lenient {
		return gtfs.Options{}, usagef("--strict and --lenient exclude each other: give one of them")
	}
	zero, err := traintravel.ParseMoney("0", o.Currency)
	if err != nil {
		return gtfs.Options{}, usagef("invalid --currency %.40q: want a currency code of three lower-case letters, such as eur", o.Currency)
	}
	fare := traintravel.Fare{Currency: zero.Currency}
	base, err := traintravel.ParseMoney(o.FareBase, o.Currency)
	if err == nil {
		fare.Base = base.Amount
		err = refused(gtfs.Options{Fare: fare})
	}
	if err != nil {
		return gtfs.Options{}, flagFault("--fare-base", o.FareBase, err)
	}
	perKm, err := traintravel.ParseMoney(o.FarePerKm, o.Currency)
	if err == nil {
		fare.PerKm = perKm.Amount
		err = refused(gtfs.Options{Fare: fare})
	}
	if err != nil {
		return gtfs.Options{}, flagFault("--fare-per-km", o.FarePerKm, err)
	}
	if err := o.Limits.check(); err != nil {
		return gtfs.Options{}, err
	}
	opts := gtfs.Options{Fare: fare, Strict: o.Strict, Lenient: o.Lenient, KeepTwins: o.KeepTwins, Limits: gtfs.Limits(o.Limits)}
	for _, text := range strings.Fields(o.Coaches) {
		number, seats, _ := strings.Cut(text, ":")
		c := traintravel.Coach{Number: number}
		if n, err := fmt.Sscanf(seats, "%d", &c.Seats); n != 1 || err != nil || c.Seats < 1 || number == "" || fmt.Sprint(c.Seats) != seats {
			return gtfs.Options{}, usagef("invalid --coaches %.40q: want COACH:SEATS such as 21:80", text)
		}
		opts.Coaches = append(opts.Coaches, c)
		if err := refused(opts); err != nil {
			return gtfs.Options{}, flagFault("--coaches", text, err)
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
	return nil // there was nothing to read
}

// flagFault is the error of a flag whose value the library refuses.
func flagFault(flag, value string, err error) error {
	if e, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		err = errors.New(e.Reason)
	}
	if want, ok := strings.CutPrefix(err.Error(), "is not "); ok {
		return usagef("invalid %s %.40q: want %s", flag, value, want)
	}
	return usagef("invalid %s %.40q: %w", flag, value, err)
}
