package traintravel

import (
	"encoding/binary"
	"slices"

	"github.com/google/uuid"
)

// Version 2 knows on which list of calls each was sold, and stranded; version 3
// whether the run is cancelled.
const inventoryVersion = 3

func (v *inventory) encode() []byte {
	e := newEncoder(inventoryVersion, 32+8*len(v.calls)+16*len(v.coaches)+32*len(v.taken)+64*len(v.stranded))
	e.uint(v.revision)
	lists := append([]uint64{v.list}, v.foreign()...)
	lists = lists[:min(len(lists), unknownList)]
	e.uint(uint64(len(lists)))
	for _, l := range lists {
		e.fixed64(l)
	}
	e.uint(uint64(len(v.calls)))
	for _, c := range v.calls {
		e.fixed64(c)
	}
	addCoaches(e, v.coaches)
	e.uint(uint64(len(v.taken)))
	for _, t := range v.taken {
		addTaken(e, t, lists)
	}
	e.uint(uint64(len(v.stranded)))
	for _, s := range v.stranded {
		addTaken(e, s.taken, lists)
		e.fixed64(s.on)
		e.fixed64(s.board)
		e.fixed64(s.alight)
		e.flags(s.twice)
		e.str(s.coach)
		e.uint(uint64(s.seat))
	}
	e.flags(v.cancelled)
	return e.b
}

const (
	// takenSize is fixed so that a full run is quick to read.
	takenSize = 16 + 4 + 1 + 1 + 1 + 8

	// The hook is the lowest bit of a byte, the rest says on which of the
	// lists of calls it was sold.
	unknownList = 127
)

func addTaken(e *encoder, t taken, lists []uint64) {
	e.b = append(e.b, t.booking[:]...)
	e.b = binary.BigEndian.AppendUint32(e.b, uint32(t.place))
	sold := byte(unknownList)
	if i := slices.Index(lists, t.sold); i >= 0 {
		sold = byte(i)
	}
	sold <<= 1
	if t.hook {
		sold |= 1
	}
	e.b = append(e.b, t.from, t.to, sold)
	e.fixed64(uint64(t.until))
}

func takeTaken(d *decoder, lists []uint64) (t taken) {
	p := d.take(takenSize)
	if p == "" {
		return t
	}
	copy(t.booking[:], p)
	t.place = int32(bigEndian32(p[16:]))
	t.from, t.to, t.hook = p[20], p[21], p[22]&1 != 0
	if sold := int(p[22] >> 1); sold < len(lists) {
		t.sold = lists[sold]
	} else if sold != unknownList {
		d.fail()
	}
	t.until = int64(bigEndian64(p[23:]))
	return t
}

func decodeInventory(b []byte) (*inventory, error) {
	d, version := newDecoder("run", inventoryVersion, b)
	v := &inventory{revision: d.uint()}
	n := 1
	if version >= 2 {
		n = d.len(8)
	}
	lists := make([]uint64, n)
	for i := range lists {
		lists[i] = d.fixed64()
	}
	if n == 0 {
		d.fail()
		return v, d.done()
	}
	v.list = lists[0]
	v.calls = make([]uint64, d.len(8))
	for i := range v.calls {
		v.calls[i] = d.fixed64()
	}
	v.coaches = takeCoaches(&d)
	v.taken = make([]taken, d.len(takenSize), len(d.rest)/takenSize+1)
	for i := range v.taken {
		v.taken[i] = takeTaken(&d, lists)
	}
	v.stranded = make([]strandedPlace, d.len(takenSize+19))
	for i := range v.stranded {
		s := &v.stranded[i]
		if s.taken = takeTaken(&d, lists); version >= 2 {
			s.on = d.fixed64()
		}
		s.board, s.alight, s.twice, s.coach, s.seat = d.fixed64(), d.fixed64(), d.flags()[0], d.str(), int(d.uint())
	}
	if version >= 3 {
		v.cancelled = d.flags()[0]
	}
	if f := v.foreign(); !slices.Equal(lists[1:], f[:min(len(f), unknownList-1)]) {
		d.fail()
	}
	for _, t := range v.taken {
		if int(t.to) >= len(v.calls) || t.from >= t.to {
			d.fail()
		}
	}
	for _, s := range v.stranded {
		if s.from >= s.to || s.on != 0 && s.on == v.list && int(s.to) >= len(v.calls) {
			d.fail()
		}
	}
	return v, d.done()
}

const runKeySize = 4 + 16

// runKey orders inventories by date.
func runKey(id RunID) Key {
	k := binary.BigEndian.AppendUint32(make([]byte, 0, runKeySize), uint32(id.Date))
	return Key{TableRuns, string(append(k, id.Train[:]...))}
}

func parseRunKey(s string) RunID {
	return RunID{Date: Date(binary.BigEndian.Uint32([]byte(s[:4]))), Train: uuid.UUID([]byte(s[4:20]))}
}
