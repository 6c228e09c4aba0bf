// Package synthfeed makes synthetic railway timetables of Europe, as large as
// wanted, to measure with.
//
// They are GTFS feeds of our own making. Real are the names of about 140 hubs,
// their places and their clocks. The stations around and between them, the
// lines, the trains and their times come from a generator of random numbers, and
// nobody can travel by them.
// A feed holds
//
//   - interregional lines on every link between two hubs, intercity and
//     high-speed lines between distant ones, and regional lines across hubs,
//     which start at intervals of 10 minutes to two hours from early morning
//     until late in the evening, in both directions;
//   - night trains that start in the evening and arrive on the next day, at
//     times beyond 24:00:00, and that passengers only board in the first half
//     of their calls and only leave in the second. Late regional trains run past
//     midnight too;
//   - calendars: every day, working days, weekends and others, each in several
//     variants with exceptions for holidays and works on the line;
//   - stations in 35 countries, with the time zone of each (stop_timezone). All
//     times are in the zone Europe/Brussels, since GTFS wants one for all
//     agencies of a feed;
//   - minimum times to change at each hub, and between stations of one city.
//
// At scale 1 a feed has about 3,000 stations, 36,000 trains and 380,000 calls,
// at scale 4 it has 12,000, 120,000 and 1.8 million: how many by a few percent
// depends on the seed. Below scale 1 hubs, too, are fewer, but never fewer than
// fourteen, and since every line has the trains of a day, a feed of scale 0.02
// still has some 10,000 calls.
//
// The same [Options] make the same files, byte for byte, on every machine.
package synthfeed

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/traintravel/traintravel"
)

// Options say which feed is made. The zero value is one of scale 1.
type Options struct {
	// Seed chooses one of many feeds that are alike. Zero is a seed like any.
	Seed uint64

	// Scale is the size, from 0.001 to 100. Zero stands for 1.
	Scale float64

	// From is the first service day. Zero stands for 2026-12-13, when the
	// railways of Europe change their timetables.
	From traintravel.Date

	// Days is the number of service days. Zero stands for 364, until the next
	// change of timetables. If there are few, trains may run on none of them.
	Days int
}

func (o Options) withDefaults() Options {
	if o.Scale == 0 {
		o.Scale = 1
	}
	if o.From == 0 {
		o.From = traintravel.NewDate(2026, 12, 13)
	}
	if o.Days == 0 {
		o.Days = 364
	}
	return o
}

func (o Options) check() error {
	switch {
	case !(o.Scale >= 0.001 && o.Scale <= 100):
		return fmt.Errorf("Options.Scale: %v is not 0.001 to 100", o.Scale)
	case o.From < traintravel.FirstDate || o.From > traintravel.LastDate:
		return fmt.Errorf("Options.From: %v is not between %v and %v", o.From, traintravel.FirstDate, traintravel.LastDate)
	case o.Days < 0 || o.Days > int(traintravel.LastDate-o.From)+1:
		return fmt.Errorf("Options.Days: %d from %v end after %v", o.Days, o.From, traintravel.LastDate)
	}
	return nil
}

// to is the last service day.
func (o Options) to() traintravel.Date { return o.From + traintravel.Date(o.Days-1) }

// Write writes a feed into a folder, which is made if it is missing. Files that
// are there are overwritten.
func Write(dir string, opts Options) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("synthfeed: %w", err)
	}
	return write(opts, func(name string) (io.WriteCloser, error) {
		return os.Create(filepath.Join(dir, name))
	})
}

// WriteZip writes a feed as a zip file. The files in it are those of Write; how
// they are compressed may change with the release of Go.
func WriteZip(w io.Writer, opts Options) error {
	z := zip.NewWriter(w)
	err := write(opts, func(name string) (io.WriteCloser, error) {
		file, err := z.Create(name)
		return noCloser{file}, err
	})
	if err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("synthfeed: %w", err)
	}
	return nil
}

type noCloser struct{ io.Writer }

func (noCloser) Close() error { return nil }

// write makes a plan and writes its tables one after the other.
func write(opts Options, create func(name string) (io.WriteCloser, error)) error {
	opts = opts.withDefaults()
	if err := opts.check(); err != nil {
		return fmt.Errorf("synthfeed: %w", err)
	}
	p := newPlan(opts)
	for _, t := range tables {
		file, err := create(t.name)
		if err != nil {
			return fmt.Errorf("synthfeed: %w", err)
		}
		w := bufio.NewWriterSize(file, 1<<16)
		t.write(p, w) // whose errors Flush returns
		if err := errors.Join(w.Flush(), file.Close()); err != nil {
			return fmt.Errorf("synthfeed: %s: %w", t.name, err)
		}
	}
	return nil
}
