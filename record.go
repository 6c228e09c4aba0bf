package traintravel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
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

// A decoder reads what an encoder wrote. It copies the record once, and the
// texts it returns share the copy. After a failure it returns zeros, and done
// tells.
type decoder struct {
	what   string
	rest   string
	cloned bool // texts do not keep the record in memory
	failed bool
	newer  bool
}

func newDecoder(what string, maxVersion byte, b []byte) (d decoder, version byte) {
	d = decoder{what: what, rest: string(b)}
	version = d.byte()
	if version == 0 || version > maxVersion {
		d.fail()
		d.newer = version != 0
	}
	return d, version
}

// errDamaged is what done says of a record that is not what an encoder wrote.
var errDamaged = errors.New("is damaged")

func (d *decoder) fail() { d.rest, d.failed = "", true }

func (d *decoder) done() error {
	switch {
	case d.newer:
		return fmt.Errorf("a %s record: %w", d.what, ErrNewerData)
	case d.failed || d.rest != "":
		return fmt.Errorf("a %s record %w", d.what, errDamaged)
	}
	return nil
}

// take returns the next n bytes, or none.
func (d *decoder) take(n int) string {
	if n > len(d.rest) {
		d.fail()
		return ""
	}
	p := d.rest[:n]
	d.rest = d.rest[n:]
	return p
}

func (d *decoder) byte() byte {
	if d.rest == "" {
		d.fail()
		return 0
	}
	v := d.rest[0]
	d.rest = d.rest[1:]
	return v
}

func (d *decoder) uint() uint64 {
	var v uint64
	for i := range min(len(d.rest), binary.MaxVarintLen64) {
		c := d.rest[i]
		if c < 0x80 {
			if i == binary.MaxVarintLen64-1 && c > 1 {
				break // more than 64 bits
			}
			d.rest = d.rest[i+1:]
			return v | uint64(c)<<(7*i)
		}
		v |= uint64(c&0x7f) << (7 * i)
	}
	d.fail()
	return 0
}

func (d *decoder) int() int64 {
	v := d.uint()
	return int64(v>>1) ^ -int64(v&1) // zigzag, as binary.AppendVarint writes
}

func (d *decoder) fixed64() uint64 {
	p := d.take(8)
	if p == "" {
		return 0
	}
	return bigEndian64(p)
}

// bigEndian64 and bigEndian32 read the first bytes of a string.
func bigEndian64(p string) uint64 { return uint64(bigEndian32(p))<<32 | uint64(bigEndian32(p[4:])) }

func bigEndian32(p string) uint32 {
	_ = p[3]
	return uint32(p[0])<<24 | uint32(p[1])<<16 | uint32(p[2])<<8 | uint32(p[3])
}

func (d *decoder) id() (v uuid.UUID) {
	copy(v[:], d.take(16))
	return v
}

func (d *decoder) str() string {
	s := d.take(d.len(1))
	if d.cloned {
		return strings.Clone(s)
	}
	return s
}

// len reads a count of things of at least size bytes each, so that a damaged
// record cannot ask for more memory than it has bytes.
func (d *decoder) len(size int) int {
	n := d.uint()
	if n > uint64(len(d.rest)/size) {
		d.fail()
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
