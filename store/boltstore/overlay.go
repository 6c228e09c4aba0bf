package boltstore

import (
	"cmp"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
)

// A write is a record to be put, or with a nil value one to be deleted.
type write struct {
	table traintravel.Table
	id    string
	value []byte
}

func compareWrites(a, b write) int {
	if c := cmp.Compare(a.table, b.table); c != 0 {
		return c
	}
	return strings.Compare(a.id, b.id)
}

// An overlay holds what the closures of a group have written and the file has
// not: by table, in the order of the keys, each key once.
type overlay [][]write

// get returns a record's value, nil if it was deleted, and whether the overlay
// knows the record at all.
func (o overlay) get(k traintravel.Key) (value []byte, known bool) {
	if int(k.Table) >= len(o) {
		return nil, false
	}
	ws := o[k.Table]
	if i, found := search(ws, k.ID); found {
		return ws[i].value, true
	}
	return nil, false
}

// within returns the writes of a range, in ascending order.
func (o overlay) within(r traintravel.Range) []write {
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

// merge adds the writes of one closure; of several to one key the last counts.
func (o *overlay) merge(ws []write) {
	slices.SortStableFunc(ws, compareWrites)
	for len(ws) > 0 {
		t := ws[0].table
		n := 1
		for n < len(ws) && ws[n].table == t {
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
func mergeTable(old, fresh []write) []write {
	added := fresh[:0] // what old does not have, each key once
	for i, w := range fresh {
		if i+1 < len(fresh) && fresh[i+1].id == w.id {
			continue
		}
		if at, found := search(old, w.id); found {
			old[at] = w
		} else {
			added = append(added, w)
		}
	}
	i, j := len(old), len(added)
	old = append(old, added...)
	for at := len(old); j > 0; at-- { // from the end, where there is room
		if i > 0 && old[i-1].id > added[j-1].id {
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
func search(ws []write, id string) (at int, found bool) {
	if n := len(ws); n == 0 || ws[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(ws, id, func(w write, id string) int { return strings.Compare(w.id, id) })
}
