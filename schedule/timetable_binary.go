package schedule

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
)

// MarshalBinary implements [encoding.BinaryMarshaler]: it writes a timetable in the
// form in which it is stored, to be read by [Timetable.UnmarshalBinary] in another
// process, such as a server that leaves the reading of feeds to a process of its own.
// A call takes about seven bytes. The error is that of [Timetable.Check].
func (t *Timetable) MarshalBinary() ([]byte, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	return EncodeTimetable(t, func(e *codec.Encoder, _ int) {
		e.ID(uuid.Nil)
		e.Uint(0)
	}), nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. It reads what this release
// or an earlier one has written, and takes memory in proportion to len(b), whatever b
// says. traintravel.ErrNewerData tells that a later release wrote it. What it read is not
// checked: see [Timetable.Check], which Service.LoadTimetable calls.
func (t *Timetable) UnmarshalBinary(b []byte) error {
	read, err := DecodeTimetable(b, func(d *codec.Decoder) {
		d.ID()
		d.Uint()
	})
	if err != nil {
		return err
	}
	*t = *read
	return nil
}
