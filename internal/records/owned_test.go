package records

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// keyReader is a table of keys, in order.
type keyReader []string

func (r keyReader) Get(context.Context, ...store.Key) ([][]byte, error) { return nil, nil }

func (r keyReader) List(_ context.Context, in store.Range) (found []store.Record, _ error) {
	for _, k := range r {
		if k >= in.From && (in.To == "" || k < in.To) {
			found = append(found, store.Record{ID: k})
		}
	}
	if in.Reverse {
		slices.Reverse(found)
	}
	if in.Limit > 0 {
		found = found[:min(in.Limit, len(found))]
	}
	return found, nil
}

// However many periods an owner's bookings lie in, they are listed newest
// first, from any of them on, in steps of any size.
func TestOwnedList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		owners := []rail.Subject{{Issuer: "a", ID: "1"}, {Issuer: "a", ID: "2"}, {Issuer: "b", ID: "1"}}
		var keys keyReader
		var mine []uuid.UUID
		for n := range rapid.IntRange(0, 20).Draw(t, "bookings") {
			b := rail.Booking{ID: railtest.DrawID(t), Status: rail.Held, Owner: rapid.SampledFrom(owners).Draw(t, "owner")}
			binary.BigEndian.PutUint16(b.ID[:], uint16(rapid.SampledFrom([]int{0, 1, 7, 8, 9, 300, 65535}).Draw(t, "period")))
			binary.BigEndian.PutUint16(b.ID[14:], uint16(n)) // no two are one
			keys = append(keys, OwnedKey(&b).ID)
			if b.Owner == owners[0] {
				mine = append(mine, b.ID)
			}
		}
		slices.Sort(keys)
		slices.SortFunc(mine, func(a, b uuid.UUID) int { return bytes.Compare(b[:], a[:]) })
		after := ""
		if rapid.Bool().Draw(t, "from the middle") {
			id := railtest.DrawID(t)
			if len(mine) > 0 && rapid.Bool().Draw(t, "one of them") {
				id = rapid.SampledFrom(mine).Draw(t, "after")
			}
			after = string(id[:])
			mine = slices.DeleteFunc(mine, func(m uuid.UUID) bool { return bytes.Compare(m[:], id[:]) >= 0 })
		}
		list, err := readOwned(t.Context(), keys, OwnerMark(owners[0]), after)
		if err != nil {
			t.Fatal(err)
		}
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		for {
			got, err := list.Next(limit)
			if err != nil || len(got) > limit {
				t.Fatalf("%d keys, %v", len(got), err)
			}
			if len(got) == 0 {
				break
			}
			for _, k := range got {
				if len(mine) == 0 || k != BookingKey(mine[0]) {
					t.Fatalf("%v is listed, and %v are left", k, mine)
				}
				mine = mine[1:]
			}
		}
		if len(mine) > 0 {
			t.Fatalf("%v are not listed", mine)
		}
	})
}

// Exactly the bookings of an owner since an instant are listed, newest first, over any number of
// periods.
func TestRecentOwned(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const period = 1 << 32 * time.Millisecond
		owners := []rail.Subject{{Issuer: "a", ID: "1"}, {Issuer: "a", ID: "2"}}
		now := time.UnixMilli(400 << 32).Add(time.Duration(rapid.Int64Range(0, int64(period)-1).Draw(t, "now")))
		ago := rapid.SampledFrom([]time.Duration{0, 25 * time.Hour, period - 1, 5 * period, math.MaxInt64}).Draw(t, "ago")
		since := now.Add(-ago)
		var keys keyReader
		var recent []uuid.UUID
		first := ids.TimeID(now.Add(-min(ago, 100*period)), uuid.Nil) // when there are no bookings
		for n := range rapid.IntRange(0, 12).Draw(t, "bookings") {
			made := now.Add(-time.Duration(rapid.Int64Range(-int64(24*time.Hour), int64(6*period)).Draw(t, "made")))
			b := rail.Booking{ID: ids.TimeID(made, railtest.DrawID(t)), Status: rail.Held, Owner: rapid.SampledFrom(owners).Draw(t, "owner")}
			binary.BigEndian.PutUint16(b.ID[14:], uint16(n)) // no two are one
			keys = append(keys, OwnedKey(&b).ID)
			if b.Owner == owners[0] && bytes.Compare(b.ID[:], first[:]) >= 0 {
				recent = append(recent, b.ID)
			}
		}
		slices.Sort(keys)
		slices.SortFunc(recent, func(a, b uuid.UUID) int { return bytes.Compare(b[:], a[:]) })
		limit := rapid.IntRange(1, 13).Draw(t, "limit")
		got, err := RecentOwned(t.Context(), keys, OwnerMark(owners[0]), since, now, limit)
		if want := recent[:min(limit, len(recent))]; err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	})
}
