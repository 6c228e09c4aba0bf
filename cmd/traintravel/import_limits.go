package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// feedLimits are the flags that bound what a feed may ask for. Zero is the default.
type feedLimits gtfs.Limits

// limitFlags are the flags of limits, by the names that errors have for these.
var limitFlags = map[string]string{
	"Memory": "--max-memory", "Calls": "--max-calls", "Bytes": "--max-unpacked", "Ratio": "--max-ratio", "Rows": "--max-rows",
}

func (l *feedLimits) flags(f *pflag.FlagSet) {
	f.Var((*byteSize)(&l.Memory), "max-memory", "maximum `bytes` of memory, such as 500MiB, for reading a feed (default 2GiB); the process takes about a quarter more")
	f.Var((*byteSize)(&l.Bytes), "max-unpacked", "maximum `bytes` of the unpacked tables of a feed (default 8GiB)")
	f.IntVar(&l.Calls, "max-calls", 0, fmt.Sprintf("maximum `number` of calls of all trains of a feed, not above %d (default %[1]d)", traintravel.MaxTotalCalls))
	f.IntVar(&l.Ratio, "max-ratio", 0, "maximum `number` of times that an unpacked table is larger than in the zip file (default 200)")
	f.IntVar(&l.Rows, "max-rows", 0, "maximum `number` of rows of a table (default 100000000)")
}

// check returns an error for an invalid limit.
func (l *feedLimits) check() error {
	err := refused(gtfs.Options{Limits: gtfs.Limits(*l)})
	if e, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		return usagef("invalid %s: it %s", limitFlags[strings.TrimPrefix(e.Field, "Options.Limits.")], e.Reason)
	}
	return err
}

// named names the flag of a limit that a feed is beyond.
func (l *feedLimits) named(err error) error {
	beyond, ok := errors.AsType[*gtfs.LimitError](err)
	switch {
	case !ok:
		return err
	case beyond.Limit == "Calls" && beyond.Max >= traintravel.MaxTotalCalls:
		return fmt.Errorf("%w: this is the maximum of a timetable; remove some agencies from the feed", err)
	}
	return fmt.Errorf("%w: set the limit with %s", err, limitFlags[beyond.Limit])
}

// A byteSize is a flag's number of bytes: 500000000, or with a unit, 500MB, 500MiB, 2GiB.
type byteSize int64

var byteUnits = []struct {
	name string
	size float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

// Set implements [pflag.Value].
func (b *byteSize) Set(text string) error {
	for _, unit := range byteUnits {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(n*unit.size >= 1 && n*unit.size <= 1<<50) {
			break
		}
		*b = byteSize(n * unit.size)
		return nil
	}
	return fmt.Errorf("%.40q is not a number of bytes such as 500MiB or 2GiB", text)
}

// String implements [pflag.Value].
func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type implements [pflag.Value].
func (b *byteSize) Type() string { return "bytes" }
