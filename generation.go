package traintravel

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// A generation of the timetable is written in chunks, and removed when another is in
// force.

var currentKey = Key{TableMeta, "timetable"}

// current is the record that makes a generation of the timetable the one in
// force. Updates that take places read it.
type current struct {
	generation          uuid.UUID
	timetable, registry int // bytes
	moves               int // bytes; since version 2
	// loads are the days of the latest loads, one or more a day, the latest
	// first; since version 3. A clock that was wrong for one is outvoted.
	loads [keepLoads]Date
}

const (
	currentVersion = 3
	keepLoads      = 8
)

// since is the day until which runs may have passed: the earliest of the
// latest loads, or today.
func (c current) since(today Date) Date {
	for _, d := range c.loads {
		if d != 0 {
			today = min(today, d)
		}
	}
	return today
}

// loaded is c with one load more.
func (c current) loaded(today Date) [keepLoads]Date {
	loads := c.loads
	if !slices.Contains(loads[:], today) {
		copy(loads[1:], c.loads[:])
		loads[0] = today
	}
	return loads
}

func (c current) encode() []byte {
	e := newEncoder(currentVersion, 40)
	e.id(c.generation)
	e.uint(uint64(c.timetable))
	e.uint(uint64(c.registry))
	e.uint(uint64(c.moves))
	for _, d := range c.loads {
		e.int(int64(d))
	}
	return e.b
}

func decodeCurrent(b []byte) (current, error) {
	if b == nil {
		return current{}, nil
	}
	d, version := newDecoder("current timetable", currentVersion, b)
	c := current{generation: d.id(), timetable: int(d.uint()), registry: int(d.uint())}
	if version >= 2 {
		c.moves = int(d.uint())
	}
	for i := range c.loads {
		if version >= 3 {
			c.loads[i] = Date(d.int())
		}
	}
	return c, d.done()
}

func readCurrent(ctx context.Context, r Reader) (current, error) {
	v, err := r.Get(ctx, currentKey)
	if err != nil {
		return current{}, err
	}
	return decodeCurrent(v[0])
}

// chunkSize is what one record holds of a timetable. Several ride in one
// update, few enough that no update is large.
const (
	chunkSize      = 256 << 10
	chunksAnUpdate = 8
)

// chunkKey orders chunks by generation, kind ('t' timetable, 'r' registry, 'v' moves) and position.
func chunkKey(generation uuid.UUID, kind byte, n int) Key {
	id := append(generation[:], kind)
	return Key{TableTimetable, string(binary.BigEndian.AppendUint32(id, uint32(n)))}
}

// writeChunks writes one of the parts of a generation.
func writeChunks(ctx context.Context, to Store, generation uuid.UUID, kind byte, b []byte) error {
	for n := 0; len(b) > 0; {
		part := b[:min(len(b), chunkSize*chunksAnUpdate)]
		b = b[len(part):]
		first := n
		n += chunksAnUpdate
		err := to.Update(ctx, func(tx Tx) error {
			putChunks(tx.Put, generation, kind, first, part)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// putChunks writes a part, from its n-th chunk on.
func putChunks(put func(Key, []byte), generation uuid.UUID, kind byte, n int, part []byte) {
	for ; len(part) > 0; n++ {
		chunk := part[:min(len(part), chunkSize)]
		part = part[len(chunk):]
		put(chunkKey(generation, kind, n), bytes.Clone(chunk))
	}
}

// readChunks reads all of what current tells of a generation. Both are read on
// one snapshot, or else it may have been removed meanwhile.
func readChunks(ctx context.Context, r Reader, generation uuid.UUID, kind byte, size int) ([]byte, error) {
	records, err := r.List(ctx, Range{Table: TableTimetable, From: chunkKey(generation, kind, 0).ID, To: chunkKey(generation, kind+1, 0).ID})
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, size)
	for _, rec := range records {
		b = append(b, rec.Value...)
	}
	if len(b) != size {
		return nil, fmt.Errorf("the stored timetable %w: it has %d bytes, not %d", errDamaged, len(b), size)
	}
	return b, nil
}

// dropGenerations removes the generations before the one in force, and
// whatever a load that was interrupted has left.
func dropGenerations(ctx context.Context, in Store) error {
	c, err := readCurrent(ctx, in)
	if err != nil {
		return err
	}
	return eachPage(ctx, in, Range{Table: TableTimetable, Limit: chunksAnUpdate}, func(page []Record) error {
		return in.Update(ctx, func(tx Tx) error {
			for _, rec := range page {
				g := uuid.UUID([]byte(rec.ID[:16]))
				if bytes.Compare(g[:], c.generation[:]) < 0 {
					tx.Delete(Key{TableTimetable, rec.ID})
				}
			}
			return nil
		})
	})
}
