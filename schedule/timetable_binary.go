package schedule

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
)

// MarshalBinary implements [encoding.BinaryMarshaler]: it encodes a timetable as it is
// stored, so that another process can read it with [Timetable.UnmarshalBinary], such as a
// server that has feeds read in a separate process. A call takes about seven bytes. The
// error is that of [Timetable.Check].
func (t *Timetable) MarshalBinary() ([]byte, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	return EncodeTimetable(t, func(e *codec.Encoder, _ int) {
		e.ID(uuid.Nil)
		e.Uint(0)
	}), nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. It reads the encodings of this
// and earlier releases, and uses memory in proportion to len(b), whatever b contains. It
// returns traintravel.ErrNewerData for the encoding of a later release. It does not check
// the timetable: see [Timetable.Check], which Service.LoadTimetable calls.
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
