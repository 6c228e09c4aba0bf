package agenda

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/store"
)

// ListDue lists the due items of a kind, from a key on or from the beginning. rest is the key
// at which more items are due, empty if these are all; then next is the time of the next item
// that is not due yet, zero if none is known.
func ListDue(ctx context.Context, s store.Reader, k records.Kind, from string, now time.Time, limit int) (due []records.Item, rest string, next time.Time, err error) {
	r := records.AgendaOf(k)
	r.From, r.Limit = cmp.Or(from, r.From), limit
	found, err := s.List(ctx, r)
	if err != nil {
		return nil, "", time.Time{}, err
	}
	for _, r := range found {
		if len(r.ID) != records.AgendaKeySize {
			continue // Check reports this
		}
		at := time.Unix(0, int64(min(math.MaxInt64, binary.BigEndian.Uint64([]byte(r.ID[1:9])))))
		if at.After(now) {
			return due, "", at, nil
		}
		due = append(due, records.Item{Key: store.Key{Table: store.TableAgenda, ID: r.ID}, Due: at, ID: uuid.UUID([]byte(r.ID[9:])), Value: r.Value})
	}
	if len(found) == limit {
		rest = found[limit-1].ID + "\x00"
	}
	return due, rest, time.Time{}, nil
}
