package memstore

import (
	"slices"
	"sort"
	"strings"

	"github.com/traintravel/traintravel"
)

// maxPage is how many records a page holds before it is split: few enough to
// move cheaply on an insert, enough to keep the list of pages short.
const maxPage = 512

// A table holds records in the order of their IDs, cut into pages, none of
// them empty: a tree of one level.
type table struct {
	pages [][]traintravel.Record
}

// A place is a record's page and its index there.
type place struct{ page, index int }

// find returns where id is or, if it is absent, would be inserted. Then index
// may be the length of the page.
func (t *table) find(id string) (p place, found bool) {
	if len(t.pages) == 0 {
		return place{}, false
	}
	p.page = max(0, sort.Search(len(t.pages), func(i int) bool { return t.pages[i][0].ID > id })-1)
	p.index, found = slices.BinarySearchFunc(t.pages[p.page], id, func(r traintravel.Record, id string) int {
		return strings.Compare(r.ID, id)
	})
	return p, found
}

func (t *table) get(id string) []byte {
	p, found := t.find(id)
	if !found {
		return nil
	}
	return t.pages[p.page][p.index].Value
}

func (t *table) put(id string, value []byte) {
	p, found := t.find(id)
	switch {
	case found:
		t.pages[p.page][p.index].Value = value
		return
	case len(t.pages) == 0:
		t.pages = [][]traintravel.Record{nil}
	}
	page := slices.Insert(t.pages[p.page], p.index, traintravel.Record{ID: id, Value: value})
	t.pages[p.page] = page
	if len(page) > maxPage {
		half := len(page) / 2
		t.pages = slices.Insert(t.pages, p.page+1, slices.Clone(page[half:]))
		t.pages[p.page] = slices.Delete(page, half, len(page))
	}
}

func (t *table) delete(id string) {
	p, found := t.find(id)
	if !found {
		return
	}
	t.pages[p.page] = slices.Delete(t.pages[p.page], p.index, p.index+1)
	if len(t.pages[p.page]) == 0 {
		t.pages = slices.Delete(t.pages, p.page, p.page+1)
	}
}

// list returns the records of a range, whose table is this one.
func (t *table) list(r traintravel.Range) []traintravel.Record {
	var records []traintravel.Record
	add := func(rec traintravel.Record) (more bool) {
		if rec.ID < r.From || r.To != "" && rec.ID >= r.To {
			return false
		}
		records = append(records, rec)
		return len(records) != r.Limit
	}
	if r.Reverse {
		t.descend(r.To, add)
	} else {
		t.ascend(r.From, add)
	}
	return records
}

// ascend calls yield with the records from id on, until it returns false.
func (t *table) ascend(id string, yield func(traintravel.Record) bool) {
	for p, _ := t.find(id); p.page < len(t.pages); p = (place{p.page + 1, 0}) {
		for _, rec := range t.pages[p.page][p.index:] {
			if !yield(rec) {
				return
			}
		}
	}
}

// descend calls yield with the records before id, from the last of all if id
// is empty, the greatest first, until it returns false.
func (t *table) descend(id string, yield func(traintravel.Record) bool) {
	last := len(t.pages) - 1
	p, _ := t.find(id)
	if id == "" && last >= 0 {
		p = place{last, len(t.pages[last])}
	}
	for page := min(p.page, last); page >= 0; page-- {
		records := t.pages[page]
		if page == p.page {
			records = records[:p.index]
		}
		for _, rec := range slices.Backward(records) {
			if !yield(rec) {
				return
			}
		}
	}
}
