package timetable

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// A generation of the timetable is written in chunks, and removed when another is in
// force.

// CurrentKey names the record that says which generation of the timetable is in force.
func CurrentKey() store.Key { return store.Key{Table: store.TableMeta, ID: "timetable"} }

// Current is the record that makes a generation of the timetable the one in
// force. Updates that take places read it.
type Current struct {
	Generation          uuid.UUID
	Timetable, Registry int // bytes
	Moves               int // bytes; since version 2
	// Loads are the days of the latest loads, one or more a day, the latest
	// first; since version 3. A clock that was wrong for one is outvoted.
	Loads [keepLoads]rail.Date
}

const (
	currentVersion = 3
	keepLoads      = 8
)

// Since is the day until which runs may have passed: the earliest of the
// latest loads, or today.
func (c Current) Since(today rail.Date) rail.Date {
	for _, d := range c.Loads {
		if d != 0 {
			today = min(today, d)
		}
	}
	return today
}

// Loaded is c with one load more.
func (c Current) Loaded(today rail.Date) [keepLoads]rail.Date {
	loads := c.Loads
	if !slices.Contains(loads[:], today) {
		copy(loads[1:], c.Loads[:])
		loads[0] = today
	}
	return loads
}

// Encode returns the record.
func (c Current) Encode() []byte {
	e := codec.NewEncoder(currentVersion, 40)
	e.ID(c.Generation)
	e.Uint(uint64(c.Timetable))
	e.Uint(uint64(c.Registry))
	e.Uint(uint64(c.Moves))
	for _, d := range c.Loads {
		e.Int(int64(d))
	}
	return e.B
}

// DecodeCurrent reads what Current.Encode wrote; of no record it is zero.
func DecodeCurrent(b []byte) (Current, error) {
	if b == nil {
		return Current{}, nil
	}
	d, version := codec.NewDecoder("current timetable", currentVersion, b)
	c := Current{Generation: d.ID(), Timetable: int(d.Uint()), Registry: int(d.Uint())}
	if version >= 2 {
		c.Moves = int(d.Uint())
	}
	for i := range c.Loads {
		if version >= 3 {
			c.Loads[i] = rail.Date(d.Int())
		}
	}
	return c, d.Done()
}

// ReadCurrent reads which generation is in force; zero if there is none.
func ReadCurrent(ctx context.Context, r store.Reader) (Current, error) {
	v, err := r.Get(ctx, CurrentKey())
	if err != nil {
		return Current{}, err
	}
	return DecodeCurrent(v[0])
}

// chunkSize is what one record holds of a timetable. Several ride in one
// update, few enough that no update is large.
const (
	chunkSize      = 256 << 10
	chunksAnUpdate = 8
)

// ChunkKey orders chunks by generation, kind ('t' timetable, 'r' registry, 'v' moves) and position.
func ChunkKey(generation uuid.UUID, kind byte, n int) store.Key {
	id := append(generation[:], kind)
	return store.Key{Table: store.TableTimetable, ID: string(binary.BigEndian.AppendUint32(id, uint32(n)))}
}

// WriteChunks writes one of the parts of a generation.
func WriteChunks(ctx context.Context, to store.Store, generation uuid.UUID, kind byte, b []byte) error {
	for n := 0; len(b) > 0; {
		part := b[:min(len(b), chunkSize*chunksAnUpdate)]
		b = b[len(part):]
		first := n
		n += chunksAnUpdate
		err := to.Update(ctx, func(tx store.Tx) error {
			PutChunks(tx.Put, generation, kind, first, part)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// PutChunks writes a part, from its n-th chunk on.
func PutChunks(put func(store.Key, []byte), generation uuid.UUID, kind byte, n int, part []byte) {
	for ; len(part) > 0; n++ {
		chunk := part[:min(len(part), chunkSize)]
		part = part[len(chunk):]
		put(ChunkKey(generation, kind, n), bytes.Clone(chunk))
	}
}

// ReadChunks reads all of what current tells of a generation. Both are read on
// one snapshot, or else it may have been removed meanwhile.
func ReadChunks(ctx context.Context, r store.Reader, generation uuid.UUID, kind byte, size int) ([]byte, error) {
	records, err := r.List(ctx, store.Range{Table: store.TableTimetable, From: ChunkKey(generation, kind, 0).ID, To: ChunkKey(generation, kind+1, 0).ID})
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, size)
	for _, rec := range records {
		b = append(b, rec.Value...)
	}
	if len(b) != size {
		return nil, fmt.Errorf("the stored timetable %w: it has %d bytes, not %d", codec.ErrDamaged, len(b), size)
	}
	return b, nil
}

// DropGenerations removes the generations before the one in force, and
// whatever a load that was interrupted has left.
func DropGenerations(ctx context.Context, in store.Store) error {
	c, err := ReadCurrent(ctx, in)
	if err != nil {
		return err
	}
	return store.EachPage(ctx, in, store.Range{Table: store.TableTimetable, Limit: chunksAnUpdate}, func(page []store.Record) error {
		return in.Update(ctx, func(tx store.Tx) error {
			for _, rec := range page {
				g := uuid.UUID([]byte(rec.ID[:16]))
				if bytes.Compare(g[:], c.Generation[:]) < 0 {
					tx.Delete(store.Key{Table: store.TableTimetable, ID: rec.ID})
				}
			}
			return nil
		})
	})
}
