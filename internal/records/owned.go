package records

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// TableOwned lists bookings of each owner: a key is the ID of a
// booking with its owner after the first two bytes. Those count periods of
// about 50 days, so that new bookings are written close together however many
// there are, and an owner's list is read period by period, newest first.
//
// An owner has two lists, by two marks: of the bookings that are Listed, and of others that
// are over and that the owner is still told of. How many of the first there are counts for
// what the owner may hold, and cancelling costs nothing: so what they cancel is in the second.

const OwnedPeriod = 2 // bytes

// OwnerMark is who owns a booking in the keys of TableOwned. Should two
// subjects share one, the bookings themselves tell.
func OwnerMark(s rail.Subject) string { return markOf(s, "") }

// overMark is who owns a booking that is over and not Listed.
func overMark(s rail.Subject) string { return markOf(s, "over") }

func markOf(s rail.Subject, list string) string {
	h := sha256.New()
	ids.HashString(h, s.Issuer)
	ids.HashString(h, s.ID)
	h.Write([]byte(list))
	return string(h.Sum(nil)[:8])
}

// OwnedKey names the entry of a booking in the list of its owner: the zero Key if it is in
// neither.
func OwnedKey(b *rail.Booking) store.Key {
	switch {
	case b.Listed():
		return ownedKey(b.ID, OwnerMark(b.Owner))
	case !b.Erased() && (b.Status == rail.Cancelled || b.Status == rail.Expired && b.GivenBack):
		return ownedKey(b.ID, overMark(b.Owner))
	}
	return store.Key{}
}

func ownedKey(id uuid.UUID, mark string) store.Key {
	return store.Key{Table: store.TableOwned, ID: string(id[:OwnedPeriod]) + mark + string(id[OwnedPeriod:])}
}

// ownedList reads an owner's part of TableOwned, newest first.
type ownedList struct {
	ctx           context.Context
	r             store.Reader
	mark          string
	period, first uint16
	before        string // in the period, the rest of the ID that comes next is less
	over          bool
}

// readOwned begins the list of a mark, at the newest or after an ID.
func readOwned(ctx context.Context, r store.Reader, mark, after string) (*ownedList, error) {
	oldest, err := r.List(ctx, store.Range{Table: store.TableOwned, Limit: 1})
	if err != nil {
		return nil, err
	}
	newest, err := r.List(ctx, store.Range{Table: store.TableOwned, Limit: 1, Reverse: true})
	if err != nil || len(newest) == 0 {
		return &ownedList{over: true}, err
	}
	l := &ownedList{ctx: ctx, r: r, mark: mark, first: periodOf(oldest[0].ID), period: periodOf(newest[0].ID)}
	if after != "" && periodOf(after) <= l.period {
		l.period, l.before = periodOf(after), after[OwnedPeriod:]
	}
	l.over = l.period < l.first
	return l, nil
}

// RecentOwned lists the IDs of bookings that the owner with a mark has made since an
// instant, newest first, at most limit. It sees bookings of clocks that are ahead of now, by
// a day at least.
func RecentOwned(ctx context.Context, r store.Reader, mark string, since, now time.Time, limit int) (list []uuid.UUID, err error) {
	if since.Before(time.Unix(0, 0)) {
		since = time.Unix(0, 0) // before which there is no ID
	}
	from, to := ids.TimeID(since, uuid.Nil), ids.TimeID(now.Add(24*time.Hour), uuid.Nil)
	begin, period := periodOf(string(from[:])), periodOf(string(to[:]))
	first := begin
	if period-first > 2 { // there may be nothing in most of them
		oldest, err := r.List(ctx, store.Range{Table: store.TableOwned, Limit: 1})
		if err != nil || len(oldest) == 0 {
			return nil, err
		}
		first = max(first, min(periodOf(oldest[0].ID), period))
	}
	for ; ; period-- {
		prefix := string(binary.BigEndian.AppendUint16(nil, period)) + mark
		rg := store.Range{Table: store.TableOwned, From: prefix, To: codec.PrefixEnd(prefix), Reverse: true, Limit: limit - len(list)}
		if period == begin {
			rg.From += string(from[OwnedPeriod:])
		}
		found, err := r.List(ctx, rg)
		if err != nil {
			return nil, err
		}
		for _, rec := range found {
			if len(rec.ID) == len(prefix)+len(from)-OwnedPeriod {
				list = append(list, uuid.UUID([]byte(rec.ID[:OwnedPeriod]+rec.ID[len(prefix):])))
			}
		}
		if period <= first || len(list) >= limit {
			return list, nil
		}
	}
}

// Newest is the first of IDs that are newest first, nil if there are none.
func Newest(ids []uuid.UUID) uuid.UUID {
	if len(ids) == 0 {
		return uuid.Nil
	}
	return ids[0]
}

func periodOf(key string) uint16 { return binary.BigEndian.Uint16([]byte(key[:OwnedPeriod])) }

// Next returns the keys in TableBookings of the next bookings, at most limit
// and none when the list is over.
func (l *ownedList) Next(limit int) (keys []store.Key, err error) {
	for !l.over && len(keys) == 0 {
		period := string(binary.BigEndian.AppendUint16(nil, l.period))
		from := period + l.mark
		to := from + l.before
		if l.before == "" {
			to = codec.PrefixEnd(from)
		}
		index, err := l.r.List(l.ctx, store.Range{Table: store.TableOwned, From: from, To: to, Reverse: true, Limit: limit})
		if err != nil {
			return nil, err
		}
		for _, rec := range index {
			l.before = rec.ID[len(from):]
			keys = append(keys, store.Key{Table: store.TableBookings, ID: period + l.before})
		}
		if len(index) < limit {
			l.over = l.period <= l.first
			l.period--
			l.before = ""
		}
	}
	return keys, nil
}
