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
	Clock     string
	Given     map[string]string // where the flags of prices and seats are from, if set
	Limits    feedLimits
}

func (o *feedOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.Currency, "currency", "eur", "`code` of the currency of trains whose feed has no fares")
	f.StringVar(&o.FareBase, "fare-base", "3.00", "`amount` that their trips begin with")
	f.StringVar(&o.FarePerKm, "fare-per-km", "0.12", "`amount` added for each kilometre")
	f.StringVar(&o.Coaches, "coaches", "", "`list` such as \"21:80 22:76\", coach number and seats, of trains whose feed has none; without it they are unreserved")
	f.BoolVar(&o.Locate, "locate", true, "find the time zones that a feed lacks by the stations' coordinates, and the countries by the time zones; --locate=false leaves the countries unknown (ZZ) and takes the railway's time zone")
	f.BoolVar(&o.Strict, "strict", false, "refuse feeds in which anything is wrong, even if it could be left out, and several feeds with stations that look alike but cannot be joined")
	f.BoolVar(&o.Lenient, "lenient", false, "leave out the trips in which there are mistakes, list them, and import the others; without it, one mistake refuses the feed")
	f.BoolVar(&o.KeepTwins, "keep-twins", false, "sell a train twice that is listed twice, in one feed or in two: trips of one operator, number and list of calls that run on the same days; without it, they are one train")
	o.Limits.flags(f)
	f.BoolVar(&o.DryRun, "dry-run", false, "read and check the feeds and say what they would change, but change nothing")
	f.BoolVar(&o.Force, "force", false, "import a timetable even if it looks like a mistake: it has expired, ends by tomorrow, or has a twentieth of the trains of the one in force")
	f.StringVar(&o.Clock, "clock", "", "`instant` such as 2024-02-01T08:00:00Z that it is now, for timetables of another time; a server that has the data file goes by its own clock")
	f.BoolVar(&o.Verbose, "verbose", false, "list all trips that are left out, all trains that a feed has twice, all stations that are joined or look alike, and all bookings that the timetable does not fit, not only the first")
}

// now is the instant of --clock, or the real one.
func (o feedOptions) now() time.Time {
	if at, err := (&settings{clock: o.Clock}).start(); err == nil && o.Clock != "" {
		return at
	}
	return time.Now()
}

// gtfs makes the reader's options of the flags. What the reader would refuse is
// the mistake of a flag.
func (o feedOptions) gtfs() (gtfs.Options, error) {
	if _, err := (&settings{clock: o.Clock}).start(); err != nil {
		return gtfs.Options{}, err
	}
	if o.Strict && o.Lenient {
		return gtfs.Options{}, usagef("--strict refuses what --lenient leaves out: give one of them")
	}
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
	if err := o.Limits.check(); err != nil {
		return gtfs.Options{}, err
	}
	opts := gtfs.Options{Fare: fare, Strict: o.Strict, Lenient: o.Lenient, KeepTwins: o.KeepTwins, Limits: gtfs.Limits(o.Limits)}
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
