// Package codec writes fields into records and reads them again, each record with the version
// of its format. It must not know which records there are.
package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Records are bytes that an Encoder writes and a Decoder reads. The first byte is the
// version of the record's form; fields follow in a fixed order, numbers as
// varints, text with its length before it. A later version adds fields at the
// end or raises the byte, and reads all earlier ones.

// An Encoder writes a record, field by field, to the end of B.
type Encoder struct{ B []byte }

// NewEncoder begins a record with its version. Size is about how many bytes it will have.
func NewEncoder(version byte, size int) *Encoder {
	return &Encoder{B: append(make([]byte, 0, size), version)}
}

func (e *Encoder) Byte(v byte)      { e.B = append(e.B, v) }
func (e *Encoder) Uint(v uint64)    { e.B = binary.AppendUvarint(e.B, v) }
func (e *Encoder) Int(v int64)      { e.B = binary.AppendVarint(e.B, v) }
func (e *Encoder) Fixed64(v uint64) { e.B = binary.BigEndian.AppendUint64(e.B, v) }
func (e *Encoder) ID(v uuid.UUID)   { e.B = append(e.B, v[:]...) }

// Str writes a text with its length before it.
func (e *Encoder) Str(s string) {
	e.Uint(uint64(len(s)))
	e.B = append(e.B, s...)
}

// Flags writes up to eight flags as the bits of a byte.
func (e *Encoder) Flags(flags ...bool) {
	var v byte
	for i, f := range flags {
		if f {
			v |= 1 << i
		}
	}
	e.Byte(v)
}

// Time keeps the instant to the nanosecond; the zone is the reader's business.
func (e *Encoder) Time(t time.Time) { e.Fixed64(uint64(Nanos(t))) }

// Nanos is an instant as a number that orders like it; the zero time comes first.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return t.UnixNano()
}

// FromNanos is the inverse of Nanos.
func FromNanos(n int64) time.Time {
	if n == math.MinInt64 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// A Decoder reads what an Encoder wrote. It copies the record once, and the
// texts it returns share the copy. After a failure it returns zeros, and Done
// tells.
type Decoder struct {
	What   string
	Rest   string
	Cloned bool // texts do not keep the record in memory
	Failed bool
	newer  bool
}

// NewDecoder begins to read a record and returns its version. What names the record in errors.
// The decoder fails if the version is later than maxVersion.
func NewDecoder(what string, maxVersion byte, b []byte) (d Decoder, version byte) {
	d = Decoder{What: what, Rest: string(b)}
	version = d.Byte()
	if version == 0 || version > maxVersion {
		d.Fail()
		d.newer = version != 0
	}
	return d, version
}

// ErrDamaged is what Done says of a record that is not what an encoder wrote.
var ErrDamaged = errors.New("is damaged")

// Fail makes the record a damaged one.
func (d *Decoder) Fail() { d.Rest, d.Failed = "", true }

// Done returns the error of a record that is damaged, of a later version, or not read to its
// end.
func (d *Decoder) Done() error {
	switch {
	case d.newer:
		return fmt.Errorf("a %s record: %w", d.What, ErrNewerData)
	case d.Failed || d.Rest != "":
		return fmt.Errorf("a %s record %w", d.What, ErrDamaged)
	}
	return nil
}

// Take returns the next n bytes, or none.
func (d *Decoder) Take(n int) string {
	if n > len(d.Rest) {
		d.Fail()
		return ""
	}
	p := d.Rest[:n]
	d.Rest = d.Rest[n:]
	return p
}

// Byte reads what Encoder.Byte wrote.
func (d *Decoder) Byte() byte {
	if d.Rest == "" {
		d.Fail()
		return 0
	}
	v := d.Rest[0]
	d.Rest = d.Rest[1:]
	return v
}

// Uint reads what Encoder.Uint wrote.
func (d *Decoder) Uint() uint64 {
	var v uint64
	for i := range min(len(d.Rest), binary.MaxVarintLen64) {
		c := d.Rest[i]
		if c < 0x80 {
			if i == binary.MaxVarintLen64-1 && c > 1 {
				break // more than 64 bits
			}
			d.Rest = d.Rest[i+1:]
			return v | uint64(c)<<(7*i)
		}
		v |= uint64(c&0x7f) << (7 * i)
	}
	d.Fail()
	return 0
}

// Int reads what Encoder.Int wrote.
func (d *Decoder) Int() int64 {
	v := d.Uint()
	return int64(v>>1) ^ -int64(v&1) // zigzag, as binary.AppendVarint writes
}

// Fixed64 reads what Encoder.Fixed64 wrote.
func (d *Decoder) Fixed64() uint64 {
	p := d.Take(8)
	if p == "" {
		return 0
	}
	return BigEndian64(p)
}

// BigEndian64 reads the first eight bytes of a string.
func BigEndian64(p string) uint64 { return uint64(BigEndian32(p))<<32 | uint64(BigEndian32(p[4:])) }

// BigEndian32 reads the first four bytes of a string.
func BigEndian32(p string) uint32 {
	_ = p[3]
	return uint32(p[0])<<24 | uint32(p[1])<<16 | uint32(p[2])<<8 | uint32(p[3])
}

// ID reads what Encoder.ID wrote.
func (d *Decoder) ID() (v uuid.UUID) {
	copy(v[:], d.Take(16))
	return v
}

// Str reads what Encoder.Str wrote.
func (d *Decoder) Str() string {
	s := d.Take(d.Len(1))
	if d.Cloned {
		return strings.Clone(s)
	}
	return s
}

// Len reads a count of things of at least size bytes each, so that a damaged
// record cannot ask for more memory than it has bytes.
func (d *Decoder) Len(size int) int {
	n := d.Uint()
	if n > uint64(len(d.Rest)/size) {
		d.Fail()
		return 0
	}
	return int(n)
}

// Flags reads what Encoder.Flags wrote.
func (d *Decoder) Flags() (f [8]bool) {
	v := d.Byte()
	for i := range f {
		f[i] = v&(1<<i) != 0
	}
	return f
}

// Time reads what Encoder.Time wrote, as an instant in UTC.
func (d *Decoder) Time() time.Time { return FromNanos(int64(d.Fixed64())) }
