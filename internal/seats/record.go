package seats

import (
	"encoding/binary"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
	"github.com/traintravel/traintravel/store"
)

// Version 2 knows on which list of calls each was sold, and stranded; version 3
// whether the run is cancelled.
const inventoryVersion = 3

// Encode returns the record.
func (v *Inventory) Encode() []byte {
	e := codec.NewEncoder(inventoryVersion, 32+8*len(v.Calls)+16*len(v.Coaches)+32*len(v.Taken)+64*len(v.Stranded))
	e.Uint(v.Revision)
	lists := append([]uint64{v.List}, v.Foreign()...)
	lists = lists[:min(len(lists), unknownList)]
	e.Uint(uint64(len(lists)))
	for _, l := range lists {
		e.Fixed64(l)
	}
	e.Uint(uint64(len(v.Calls)))
	for _, c := range v.Calls {
		e.Fixed64(c)
	}
	schedule.AddCoaches(e, v.Coaches)
	e.Uint(uint64(len(v.Taken)))
	for _, t := range v.Taken {
		addTaken(e, t, lists)
	}
	e.Uint(uint64(len(v.Stranded)))
	for _, s := range v.Stranded {
		addTaken(e, s.Taken, lists)
		e.Fixed64(s.On)
		e.Fixed64(s.Board)
		e.Fixed64(s.Alight)
		e.Flags(s.Twice)
		e.Str(s.Coach)
		e.Uint(uint64(s.Seat))
	}
	e.Flags(v.Cancelled)
	return e.B
}

const (
	// takenSize is fixed so that a full run is quick to read.
	takenSize = 16 + 4 + 1 + 1 + 1 + 8

	// The hook is the lowest bit of a byte, the rest says on which of the
	// lists of calls it was sold.
	unknownList = 127
)

func addTaken(e *codec.Encoder, t Taken, lists []uint64) {
	e.B = append(e.B, t.Booking[:]...)
	e.B = binary.BigEndian.AppendUint32(e.B, uint32(t.Place))
	sold := byte(unknownList)
	if i := slices.Index(lists, t.Sold); i >= 0 {
		sold = byte(i)
	}
	sold <<= 1
	if t.Hook {
		sold |= 1
	}
	e.B = append(e.B, t.From, t.To, sold)
	e.Fixed64(uint64(t.Until))
}

func takeTaken(d *codec.Decoder, lists []uint64) (t Taken) {
	p := d.Take(takenSize)
	if p == "" {
		return t
	}
	copy(t.Booking[:], p)
	t.Place = int32(codec.BigEndian32(p[16:]))
	t.From, t.To, t.Hook = p[20], p[21], p[22]&1 != 0
	if sold := int(p[22] >> 1); sold < len(lists) {
		t.Sold = lists[sold]
	} else if sold != unknownList {
		d.Fail()
	}
	t.Until = int64(codec.BigEndian64(p[23:]))
	return t
}

// DecodeInventory reads what Inventory.Encode wrote.
func DecodeInventory(b []byte) (*Inventory, error) {
	d, version := codec.NewDecoder("run", inventoryVersion, b)
	v := &Inventory{Revision: d.Uint()}
	n := 1
	if version >= 2 {
		n = d.Len(8)
	}
	lists := make([]uint64, n)
	for i := range lists {
		lists[i] = d.Fixed64()
	}
	if n == 0 {
		d.Fail()
		return v, d.Done()
	}
	v.List = lists[0]
	v.Calls = make([]uint64, d.Len(8))
	for i := range v.Calls {
		v.Calls[i] = d.Fixed64()
	}
	v.Coaches = schedule.TakeCoaches(&d)
	v.Taken = make([]Taken, d.Len(takenSize), len(d.Rest)/takenSize+1)
	for i := range v.Taken {
		v.Taken[i] = takeTaken(&d, lists)
	}
	v.Stranded = make([]StrandedPlace, d.Len(takenSize+19))
	for i := range v.Stranded {
		s := &v.Stranded[i]
		if s.Taken = takeTaken(&d, lists); version >= 2 {
			s.On = d.Fixed64()
		}
		s.Board, s.Alight, s.Twice, s.Coach, s.Seat = d.Fixed64(), d.Fixed64(), d.Flags()[0], d.Str(), int(d.Uint())
	}
	if version >= 3 {
		v.Cancelled = d.Flags()[0]
	}
	if f := v.Foreign(); !slices.Equal(lists[1:], f[:min(len(f), unknownList-1)]) {
		d.Fail()
	}
	for _, t := range v.Taken {
		if int(t.To) >= len(v.Calls) || t.From >= t.To {
			d.Fail()
		}
	}
	for _, s := range v.Stranded {
		if s.From >= s.To || s.On != 0 && s.On == v.List && int(s.To) >= len(v.Calls) {
			d.Fail()
		}
	}
	return v, d.Done()
}

// RunKeySize is how many bytes the keys of inventories have.
const RunKeySize = 4 + 16

// RunKey orders inventories by date.
func RunKey(id rail.RunID) store.Key {
	k := binary.BigEndian.AppendUint32(make([]byte, 0, RunKeySize), uint32(id.Date))
	return store.Key{Table: store.TableRuns, ID: string(append(k, id.Train[:]...))}
}

// ParseRunKey is the inverse of RunKey, for keys of RunKeySize bytes.
func ParseRunKey(s string) rail.RunID {
	return rail.RunID{Date: rail.Date(binary.BigEndian.Uint32([]byte(s[:4]))), Train: uuid.UUID([]byte(s[4:20]))}
}
