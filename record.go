package traintravel

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Records are bytes that only this package reads. The first byte is the
// version of the record's form; fields follow in a fixed order, numbers as
// varints, text with its length before it. A later version adds fields at the
// end or raises the byte, and reads all earlier ones.

type encoder struct{ b []byte }

func newEncoder(version byte, size int) *encoder {
	return &encoder{b: append(make([]byte, 0, size), version)}
}

func (e *encoder) byte(v byte)      { e.b = append(e.b, v) }
func (e *encoder) uint(v uint64)    { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)      { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) fixed64(v uint64) { e.b = binary.BigEndian.AppendUint64(e.b, v) }
func (e *encoder) id(v uuid.UUID)   { e.b = append(e.b, v[:]...) }

func (e *encoder) str(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

func (e *encoder) flags(flags ...bool) {
	var v byte
	for i, f := range flags {
		if f {
			v |= 1 << i
		}
	}
	e.byte(v)
}

// time keeps the instant to the nanosecond; the zone is the reader's business.
func (e *encoder) time(t time.Time) { e.fixed64(uint64(nanos(t))) }

func (e *encoder) money(m Money) {
	e.int(m.Amount)
	e.str(m.Currency)
}

// nanos is an instant as a number that orders like it; the zero time comes first.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == math.MinInt64 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// A decoder reads what an encoder wrote. After a failure it returns zeros, and
// done tells.
type decoder struct {
	what   string
	b      []byte
	failed bool
	newer  bool
}

func newDecoder(what string, maxVersion byte, b []byte) (d decoder, version byte) {
	d = decoder{what: what, b: b}
	version = d.byte()
	if version > maxVersion {
		d.b, d.failed, d.newer = nil, true, true
	}
	return d, version
}

func (d *decoder) done() error {
	switch {
	case d.newer:
		return fmt.Errorf("a %s record: %w", d.what, ErrNewerData)
	case d.failed || len(d.b) != 0:
		return fmt.Errorf("a %s record is damaged", d.what)
	}
	return nil
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.b, d.failed = nil, true
		return nil
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) byte() byte {
	if p := d.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.b, d.failed = nil, true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.b, d.failed = nil, true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) fixed64() uint64 {
	if p := d.take(8); p != nil {
		return binary.BigEndian.Uint64(p)
	}
	return 0
}

func (d *decoder) id() (v uuid.UUID) {
	copy(v[:], d.take(16))
	return v
}

func (d *decoder) str() string { return string(d.take(d.len(1))) }

// len reads a count of things of at least size bytes each, so that a damaged
// record cannot ask for more memory than it has bytes.
func (d *decoder) len(size int) int {
	n := d.uint()
	if n > uint64(len(d.b)/size) {
		d.b, d.failed = nil, true
		return 0
	}
	return int(n)
}

func (d *decoder) flags() (f [8]bool) {
	v := d.byte()
	for i := range f {
		f[i] = v&(1<<i) != 0
	}
	return f
}

func (d *decoder) time() time.Time { return fromNanos(int64(d.fixed64())) }

func (d *decoder) money() Money { return Money{Amount: d.int(), Currency: d.str()} }

// zones caches time zones by name: loading one reads a file.
type zones struct{ m sync.Map }

func (z *zones) load(name string) (*time.Location, error) {
	if v, ok := z.m.Load(name); ok {
		return v.(*time.Location), nil
	}
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is no time zone", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	z.m.Store(name, loc)
	return loc, nil
}

// get is load for names that were loaded before they were recorded. On a
// machine that has lost the zone, times show as UTC.
func (z *zones) get(name string) *time.Location {
	loc, err := z.load(name)
	if err != nil {
		return time.UTC
	}
	return loc
}
