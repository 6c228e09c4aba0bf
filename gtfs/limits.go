package gtfs

import (
	"fmt"

	"github.com/traintravel/traintravel"
)

// Limits limit the resources that [Read] uses for a feed. They apply while it is read; a
// feed that exceeds one gets a [LimitError]. Zero means the default. A railway with seven
// million calls needs half of each.
//
// There are fixed limits too: a record has at most 64 KiB, a trip [traintravel.MaxCalls]
// calls, and a zip 10,000 files, with a directory of at most 16 MiB.
type Limits struct {
	// Memory limits the bytes that reading holds, as estimated from rows,
	// calls and texts. The estimate is high, but Go's heap grows beyond what
	// it holds, by default to twice of it (see [runtime/debug.SetMemoryLimit]). The
	// default is 2 GiB.
	Memory int64

	// Calls limits the calls of all trips that are read. The
	// default is [traintravel.MaxTotalCalls], beyond which no timetable is loaded.
	Calls int

	// Bytes limits the total unpacked size of the tables that are read, and so the time
	// that reading takes. The default is 8 GiB.
	Bytes int64

	// Ratio limits the compression ratio of a table in a zip. It does not apply to the first
	// 16 MiB of a table. Feeds of railways have 5 to 15. The default is 200.
	Ratio int

	// Rows limits the rows of a table, including those that are not read. The
	// default is 100 million.
	Rows int
}

const (
	defaultMemory = 2 << 30
	defaultBytes  = 8 << 30
	defaultRatio  = 200
	defaultRows   = 100_000_000

	// freeRatio is the size up to which the ratio of a table does not matter.
	freeRatio = 16 << 20
)

// check returns an error for negative limits.
func (l *Limits) check() error {
	for _, limit := range []struct {
		name  string
		value int64
	}{{"Memory", l.Memory}, {"Calls", int64(l.Calls)}, {"Bytes", l.Bytes}, {"Ratio", int64(l.Ratio)}, {"Rows", int64(l.Rows)}} {
		if limit.value < 0 {
			return &traintravel.InvalidError{Field: "Options.Limits." + limit.name, Reason: fmt.Sprintf("is %d: want 0 or more", limit.value)}
		}
	}
	return nil
}

// withDefaults returns the limits with defaults in place of zeros.
func (l Limits) withDefaults() Limits {
	if l.Memory == 0 {
		l.Memory = defaultMemory
	}
	if l.Calls == 0 {
		l.Calls = traintravel.MaxTotalCalls
	}
	if l.Bytes == 0 {
		l.Bytes = defaultBytes
	}
	if l.Ratio == 0 {
		l.Ratio = defaultRatio
	}
	if l.Rows == 0 {
		l.Rows = defaultRows
	}
	return l
}

// A LimitError says where a feed exceeded one of the [Limits].
type LimitError struct {
	File string
	Line int // the last that was read
	// Limit is the name of the field of Limits, and Max its value.
	Limit string
	Max   int64
}

// Error returns one line: stop_times.txt:17: up to here the feed takes more than
// 2147483648 bytes of memory (Limits.Memory).
func (e *LimitError) Error() string {
	what := map[string]string{
		"Memory": "up to here the feed takes more than %d bytes of memory",
		"Calls":  "up to here the trips that are read have more than %d calls",
		"Bytes":  "up to here the feed has more than %d bytes, unpacked",
		"Ratio":  "up to here the table is more than %d times as long as in the zip",
		"Rows":   "the table has more than %d rows",
	}[e.Limit]
	return fmt.Sprintf("%s:%d: "+what+" (Limits.%s)", e.File, e.Line, e.Max, e.Limit)
}

// The memory that values use, in bytes, with their share of maps and of slices that
// grow. Texts and dates count by themselves.
const (
	sizeKey     = 80 // of a map
	sizeAgency  = 250
	sizeRoute   = 350
	sizeService = 350
	sizeDate    = 12
	sizeStop    = 650
	sizeTrip    = 900 // and once more as a train of the timetable
	sizeCall    = 48  // and its mark
	sizeWindow  = 100
	sizeFare    = 350
	sizeWay     = 120
	sizeChange  = 500
	sizeCoach   = 40
	sizeTwin    = 400
	sizeFlaw    = 700
)

// hold adds to the memory in use. [table.next] checks the limit.
func (f *feed) hold(size int, texts ...string) {
	f.held += int64(size)
	for _, s := range texts {
		f.held += int64(len(s))
	}
}

// full reports whether the memory in use exceeds the limit.
func (f *feed) full() bool { return f.held > f.opts.Limits.Memory }
