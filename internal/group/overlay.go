package group

import (
	"cmp"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
)

// CompareWrites orders writes by table and key.
func CompareWrites(a, b Write) int {
	if c := cmp.Compare(a.Table, b.Table); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

// An Overlay holds what the closures of a group have written and the file has
// not: by table, in the order of the keys, each key once.
type Overlay [][]Write

// Get returns a record's value, nil if it was deleted, and whether the Overlay
// knows the record at all.
func (o Overlay) Get(k traintravel.Key) (value []byte, known bool) {
	if int(k.Table) >= len(o) {
		return nil, false
	}
	ws := o[k.Table]
	if i, found := search(ws, k.ID); found {
		return ws[i].Value, true
	}
	return nil, false
}

// Within returns the writes of a range, in ascending order.
func (o Overlay) Within(r traintravel.Range) []Write {
	if int(r.Table) >= len(o) {
		return nil
	}
	ws := o[r.Table]
	if r.To != "" {
		end, _ := search(ws, r.To)
		ws = ws[:end]
	}
	begin, _ := search(ws, r.From)
	return ws[begin:]
}

// Merge adds the writes of one closure; of several to one key the last counts.
func (o *Overlay) Merge(ws []Write) {
	slices.SortStableFunc(ws, CompareWrites)
	for len(ws) > 0 {
		t := ws[0].Table
		n := 1
		for n < len(ws) && ws[n].Table == t {
			n++
		}
		for len(*o) <= int(t) {
			*o = append(*o, nil)
		}
		(*o)[t] = mergeTable((*o)[t], ws[:n])
		ws = ws[n:]
	}
}

// mergeTable merges fresh into old, both in order. It changes both.
func mergeTable(old, fresh []Write) []Write {
	added := fresh[:0] // what old does not have, each key once
	for i, w := range fresh {
		if i+1 < len(fresh) && fresh[i+1].ID == w.ID {
			continue
		}
		if at, found := search(old, w.ID); found {
			old[at] = w
		} else {
			added = append(added, w)
		}
	}
	i, j := len(old), len(added)
	old = append(old, added...)
	for at := len(old); j > 0; at-- { // from the end, where there is room
		if i > 0 && old[i-1].ID > added[j-1].ID {
			old[at-1] = old[i-1]
			i--
		} else {
			old[at-1] = added[j-1]
			j--
		}
	}
	return old
}

// search returns where id is in ws, or would be. Most keys are newer than all
// others, so it looks at the end first.
func search(ws []Write, id string) (at int, found bool) {
	if n := len(ws); n == 0 || ws[n-1].ID < id {
		return n, false
	}
	return slices.BinarySearchFunc(ws, id, func(w Write, id string) int { return strings.Compare(w.ID, id) })
}

// Records yields the records of a range in its direction, those of the overlay
// instead of those of the store, until yield returns false. next returns what
// the store has of the range, record by record and in that direction; ok is
// false at its end.
func (o Overlay) Records(r traintravel.Range, next func() (id string, value []byte, ok bool), yield func(id string, value []byte) bool) {
	over := o.Within(r)
	id, value, ok := next()
	for i := 0; ; {
		if i == len(over) {
			if !ok || !yield(id, value) {
				return
			}
			id, value, ok = next()
			continue
		}
		w := over[i]
		if r.Reverse {
			w = over[len(over)-1-i]
		}
		switch {
		case ok && id == w.ID:
			id, value, ok = next() // hidden by w, which comes next
		case ok && (id < w.ID) != r.Reverse:
			if !yield(id, value) {
				return
			}
			id, value, ok = next()
		default:
			if w.Value != nil && !yield(w.ID, w.Value) {
				return
			}
			i++
		}
	}
}
