package traintravel

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
)

// A generation of the timetable is written in chunks, and removed when another is in
// force.

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

func (s *Service) writeChunks(ctx context.Context, generation uuid.UUID, kind byte, b []byte) error {
	for n := 0; len(b) > 0; {
		part := b[:min(len(b), chunkSize*chunksAnUpdate)]
		b = b[len(part):]
		first := n
		n += chunksAnUpdate
		err := s.store.Update(ctx, func(tx Tx) error {
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
func (s *Service) dropGenerations(ctx context.Context) error {
	c, err := readCurrent(ctx, s.store)
	if err != nil {
		return err
	}
	for from := ""; ; {
		records, err := s.store.List(ctx, Range{Table: TableTimetable, From: from, Limit: chunksAnUpdate})
		if err != nil || len(records) == 0 {
			return err
		}
		from = records[len(records)-1].ID + "\x00"
		err = s.store.Update(ctx, func(tx Tx) error {
			for _, rec := range records {
				g := uuid.UUID([]byte(rec.ID[:16]))
				if bytes.Compare(g[:], c.generation[:]) < 0 {
					tx.Delete(Key{TableTimetable, rec.ID})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}
