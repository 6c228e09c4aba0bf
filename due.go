package traintravel

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/google/uuid"
)

// listDue lists what is due of a kind, from a place on or from the beginning. rest is the
// place at which more is due, empty if this is all; then next is when the next thing will
// be that is not due yet, the zero time if nothing is known to come.
func listDue(ctx context.Context, store Reader, k kind, from string, now time.Time, limit int) (due []item, rest string, next time.Time, err error) {
	r := agendaOf(k)
	r.From, r.Limit = cmp.Or(from, r.From), limit
	records, err := store.List(ctx, r)
	if err != nil {
		return nil, "", time.Time{}, err
	}
	for _, r := range records {
		if len(r.ID) != agendaKeySize {
			continue // Check reports it
		}
		at := time.Unix(0, int64(min(math.MaxInt64, binary.BigEndian.Uint64([]byte(r.ID[1:9])))))
		if at.After(now) {
			return due, "", at, nil
		}
		due = append(due, item{key: Key{TableAgenda, r.ID}, due: at, id: uuid.UUID([]byte(r.ID[9:])), value: r.Value})
	}
	if len(records) == limit {
		rest = records[limit-1].ID + "\x00"
	}
	return due, rest, time.Time{}, nil
}
