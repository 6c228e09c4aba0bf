package traintravel

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// keyReader is a table of keys, in order.
type keyReader []string

func (r keyReader) Get(context.Context, ...Key) ([][]byte, error) { return nil, nil }

func (r keyReader) List(_ context.Context, in Range) (found []Record, _ error) {
	for _, k := range r {
		if k >= in.From && (in.To == "" || k < in.To) {
			found = append(found, Record{ID: k})
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
		owners := []Subject{{"a", "1"}, {"a", "2"}, {"b", "1"}}
		var keys keyReader
		var mine []uuid.UUID
		for n := range rapid.IntRange(0, 20).Draw(t, "bookings") {
			b := Booking{ID: drawID(t), Owner: rapid.SampledFrom(owners).Draw(t, "owner")}
			binary.BigEndian.PutUint16(b.ID[:], uint16(rapid.SampledFrom([]int{0, 1, 7, 8, 9, 300, 65535}).Draw(t, "period")))
			binary.BigEndian.PutUint16(b.ID[14:], uint16(n)) // no two are one
			keys = append(keys, ownedKey(&b).ID)
			if b.Owner == owners[0] {
				mine = append(mine, b.ID)
			}
		}
		slices.Sort(keys)
		slices.SortFunc(mine, func(a, b uuid.UUID) int { return bytes.Compare(b[:], a[:]) })
		after := ""
		if rapid.Bool().Draw(t, "from the middle") {
			id := drawID(t)
			if len(mine) > 0 && rapid.Bool().Draw(t, "one of them") {
				id = rapid.SampledFrom(mine).Draw(t, "after")
			}
			after = string(id[:])
			mine = slices.DeleteFunc(mine, func(m uuid.UUID) bool { return bytes.Compare(m[:], id[:]) >= 0 })
		}
		list, err := readOwned(t.Context(), keys, owners[0], after)
		if err != nil {
			t.Fatal(err)
		}
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		for {
			got, err := list.next(limit)
			if err != nil || len(got) > limit {
				t.Fatalf("%d keys, %v", len(got), err)
			}
			if len(got) == 0 {
				break
			}
			for _, k := range got {
				if len(mine) == 0 || k != bookingKey(mine[0]) {
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
