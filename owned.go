package traintravel

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// TableOwned lists the live bookings of each owner: a key is the ID of a
// booking with its owner after the first two bytes. Those count periods of
// about 50 days, so that new bookings are written close together however many
// there are, and an owner's list is read period by period, newest first.

const ownedPeriod = 2 // bytes

// ownerMark is who owns a booking in the keys of TableOwned. Should two
// subjects share one, the bookings themselves tell.
func ownerMark(s Subject) string {
	h := sha256.New()
	hashString(h, s.Issuer)
	hashString(h, s.ID)
	return string(h.Sum(nil)[:8])
}

func ownedKey(b *Booking) Key {
	id := string(b.ID[:])
	return Key{TableOwned, id[:ownedPeriod] + ownerMark(b.Owner) + id[ownedPeriod:]}
}

// ownedList reads an owner's part of TableOwned, newest first.
type ownedList struct {
	ctx           context.Context
	r             Reader
	mark          string
	period, first uint16
	before        string // in the period, the rest of the ID that comes next is less
	over          bool
}

// readOwned begins a list, at the newest or after an ID.
func readOwned(ctx context.Context, r Reader, owner Subject, after string) (*ownedList, error) {
	oldest, err := r.List(ctx, Range{Table: TableOwned, Limit: 1})
	if err != nil {
		return nil, err
	}
	newest, err := r.List(ctx, Range{Table: TableOwned, Limit: 1, Reverse: true})
	if err != nil || len(newest) == 0 {
		return &ownedList{over: true}, err
	}
	l := &ownedList{ctx: ctx, r: r, mark: ownerMark(owner), first: periodOf(oldest[0].ID), period: periodOf(newest[0].ID)}
	if after != "" && periodOf(after) <= l.period {
		l.period, l.before = periodOf(after), after[ownedPeriod:]
	}
	l.over = l.period < l.first
	return l, nil
}

// recentOwned lists the IDs of bookings that the owner with a mark has made since an
// instant, newest first, at most limit. It sees bookings of clocks that are ahead of now, by
// a day at least.
func recentOwned(ctx context.Context, r Reader, mark string, since, now time.Time, limit int) (ids []uuid.UUID, err error) {
	if since.Before(time.Unix(0, 0)) {
		since = time.Unix(0, 0) // before which there is no ID
	}
	from, to := timeID(since, uuid.Nil), timeID(now.Add(24*time.Hour), uuid.Nil)
	begin, period := periodOf(string(from[:])), periodOf(string(to[:]))
	first := begin
	if period-first > 2 { // there may be nothing in most of them
		oldest, err := r.List(ctx, Range{Table: TableOwned, Limit: 1})
		if err != nil || len(oldest) == 0 {
			return nil, err
		}
		first = max(first, min(periodOf(oldest[0].ID), period))
	}
	for ; ; period-- {
		prefix := string(binary.BigEndian.AppendUint16(nil, period)) + mark
		rg := Range{Table: TableOwned, From: prefix, To: prefixEnd(prefix), Reverse: true, Limit: limit - len(ids)}
		if period == begin {
			rg.From += string(from[ownedPeriod:])
		}
		found, err := r.List(ctx, rg)
		if err != nil {
			return nil, err
		}
		for _, rec := range found {
			if len(rec.ID) == len(prefix)+len(from)-ownedPeriod {
				ids = append(ids, uuid.UUID([]byte(rec.ID[:ownedPeriod]+rec.ID[len(prefix):])))
			}
		}
		if period <= first || len(ids) >= limit {
			return ids, nil
		}
	}
}

// newest is the first of IDs that are newest first, nil if there are none.
func newest(ids []uuid.UUID) uuid.UUID {
	if len(ids) == 0 {
		return uuid.Nil
	}
	return ids[0]
}

func periodOf(key string) uint16 { return binary.BigEndian.Uint16([]byte(key[:ownedPeriod])) }

// next returns the keys in TableBookings of the next bookings, at most limit
// and none when the list is over.
func (l *ownedList) next(limit int) (keys []Key, err error) {
	for !l.over && len(keys) == 0 {
		period := string(binary.BigEndian.AppendUint16(nil, l.period))
		from := period + l.mark
		to := from + l.before
		if l.before == "" {
			to = prefixEnd(from)
		}
		index, err := l.r.List(l.ctx, Range{Table: TableOwned, From: from, To: to, Reverse: true, Limit: limit})
		if err != nil {
			return nil, err
		}
		for _, rec := range index {
			l.before = rec.ID[len(from):]
			keys = append(keys, Key{TableBookings, period + l.before})
		}
		if len(index) < limit {
			l.over = l.period <= l.first
			l.period--
			l.before = ""
		}
	}
	return keys, nil
}

// prefixEnd is the first key after all that begin with a prefix, empty if no
// key can be.
func prefixEnd(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] != 0 {
			return string(b[:i+1])
		}
	}
	return ""
}
