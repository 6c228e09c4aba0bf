package trains

import (
	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

const registryVersion = 1

// Encode returns the record.
func (r Registry) Encode() []byte {
	e := codec.NewEncoder(registryVersion, 56*len(r.Entries))
	e.Uint(uint64(r.High))
	e.Uint(uint64(len(r.Entries)))
	for _, x := range r.Entries {
		e.Uint(uint64(x.Number))
		e.ID(x.Base)
		e.Uint(uint64(x.Twin))
		e.Fixed64(x.List)
		e.Fixed64(x.Terminus)
		e.Fixed64(x.Source)
		e.Int(int64(x.Since))
		e.Int(int64(x.Last))
	}
	return e.B
}

// DecodeRegistry reads what Registry.Encode wrote.
func DecodeRegistry(b []byte) (Registry, error) {
	d, _ := codec.NewDecoder("registry", registryVersion, b)
	r := Registry{High: uint32(d.Uint())}
	r.Entries = make([]Registered, d.Len(44))
	for i := range r.Entries {
		r.Entries[i] = Registered{
			Number: uint32(d.Uint()), Base: d.ID(), Twin: int(d.Uint()), List: d.Fixed64(), Terminus: d.Fixed64(),
			Source: d.Fixed64(), Since: rail.Date(d.Int()), Last: rail.Date(d.Int()),
		}
	}
	return r, d.Done()
}

// EncodeNumbered writes a checked timetable and what Register found for it.
func EncodeNumbered(t *schedule.Timetable, ids []Numbering) []byte {
	return schedule.EncodeTimetable(t, func(e *codec.Encoder, train int) {
		e.ID(ids[train].Train)
		e.Uint(uint64(ids[train].Number))
	})
}

// DecodeNumbered reads what EncodeNumbered wrote.
func DecodeNumbered(b []byte) (t *schedule.Timetable, ids []Numbering, err error) {
	t, err = schedule.DecodeTimetable(b, func(d *codec.Decoder) {
		ids = append(ids, Numbering{Train: d.ID(), Number: uint32(d.Uint())})
	})
	return t, ids, err
}

const movesVersion = 1

// EncodeMoves writes moves, for DecodeMoves.
func EncodeMoves(moves []Move) []byte {
	e := codec.NewEncoder(movesVersion, 8+8*len(moves))
	e.Uint(uint64(len(moves)))
	for _, m := range moves {
		e.Uint(uint64(m.Train))
		e.Int(int64(m.Date))
		e.Uint(uint64(m.Slot))
	}
	return e.B
}

// DecodeMoves reads the moves of a timetable of so many trains.
func DecodeMoves(b []byte, trains int) ([]Move, error) {
	d, _ := codec.NewDecoder("moves", movesVersion, b)
	moves := make([]Move, d.Len(3))
	for i := range moves {
		moves[i] = Move{Train: int(d.Uint()), Date: rail.Date(d.Int()), Slot: int(d.Uint())}
		if moves[i].Train < 0 || moves[i].Train >= trains {
			d.Fail()
			moves[i].Train = 0
		}
	}
	return moves, d.Done()
}
