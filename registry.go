package traintravel

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/google/uuid"
)

// The registry gives trains the short numbers that trip IDs hold. A number
// stands for a train and its list of calls. It lives in the generation of the
// timetable it belongs to, together with the numbers of earlier timetables'
// trains that may still be in somebody's hands. Where a base has twins, a number has
// one entry for each of the feed's IDs, by which its variants are known again.
type registry struct {
	entries []registered
	high    uint32 // the highest number ever given
}

type registered struct {
	number   uint32
	base     uuid.UUID // see Train.base
	twin     int
	list     uint64 // see listMark
	terminus uint64 // stationMark of the last call
	source   uint64 // mark of the feed's own ID
	since    Date   // the number means this train from this date on
	last     Date   // the last date the train runs in any timetable so far
}

func (r registered) train() uuid.UUID { return twin(r.base, r.twin) }

// byNumber is the entries in the order of their numbers.
func (r registry) byNumber() []registered {
	byNumber := func(a, b registered) int { return cmp.Compare(a.number, b.number) }
	if slices.IsSortedFunc(r.entries, byNumber) {
		return r.entries
	}
	return slices.SortedFunc(slices.Values(r.entries), byNumber)
}

// numbered finds a number among entries in the order of their numbers. If it is
// unknown, it means nothing.
func numbered(entries []registered, number uint32) registered {
	i, ok := slices.BinarySearchFunc(entries, number, func(e registered, number uint32) int { return cmp.Compare(e.number, number) })
	if !ok {
		return registered{}
	}
	return entries[i]
}

// candidate is a train that looks for its identity and number.
type candidate struct {
	base     uuid.UUID
	index    int
	days     *days
	list     uint64
	terminus uint64
	source   uint64
	id       string
}

// numbering is what register found for each train, by its index.
type numbering struct {
	train  uuid.UUID
	number uint32
	list   uint64 // listMark of its calls; zero if it was read from a record
}

// maxNumber is the highest that the ID of a trip can hold.
const maxNumber = 1<<21 - 1

// keepNumbers is how long after its last date a train keeps its number: longer
// than any train travels.
const keepNumbers = 16 // days

// maxAlike bounds the trains of one base, each of which is compared with each. Those that
// a railway has, one for each day at the most, are some hundred.
const maxAlike = 2000

var errNumbersExhausted = errors.New("the timetable has more trains than there are trip numbers")

// register identifies the trains of a timetable and returns the registry that
// goes with it. It depends on nothing but its arguments: the same trains get
// the same identities and numbers, in whatever order and under whatever IDs
// they come. Numbers are kept of trains that may run since a day, which is today
// unless clocks have erred.
func register(ctx context.Context, old registry, trains []Train, calendars func(*Calendar) *days, today, since Date) ([]numbering, registry, error) {
	kept := slices.Grow(slices.Clone(old.entries), len(trains))
	running := make([]bool, len(kept), cap(kept))
	known := make([]int, len(kept)) // indexes of kept, by base
	for i := range known {
		known[i] = i
	}
	slices.SortStableFunc(known, func(a, b int) int { return bytes.Compare(kept[a].base[:], kept[b].base[:]) })

	candidates := make([]candidate, len(trains))
	for i := range trains {
		if err := interrupted(ctx, i); err != nil {
			return nil, registry{}, err
		}
		t := &trains[i]
		candidates[i] = candidate{
			base: baseOf(t), index: i, days: calendars(t.Days), list: listMark(t.Calls), id: t.ID,
			terminus: stationMark(t.Calls[len(t.Calls)-1].Station), source: textMark(t.ID),
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		if c := bytes.Compare(a.base[:], b.base[:]); c != 0 {
			return c
		}
		return a.compare(b)
	})

	out := make([]numbering, len(trains))
	free := freeNumbers{high: old.high, today: today}
	if int64(old.high)+int64(len(trains)) > maxNumber {
		free.taken = make(map[uint32]bool, len(kept))
		for _, e := range kept {
			free.taken[e.number] = true
		}
	}
	groups := 0
	for group := range alike(candidates) {
		if err := interrupted(ctx, groups); err != nil {
			return nil, registry{}, err
		}
		groups++
		if len(group) > maxAlike {
			t := &trains[group[0].index]
			return nil, registry{}, invalid("trains", "%d of %.60q with the number %.60q leave the same station at %v: of trains that are alike there are at most %d, so give them numbers",
				len(group), t.Operator, t.Number, t.Calls[0].Depart, maxAlike)
		}
		b := group[0].base
		for len(known) > 0 && bytes.Compare(kept[known[0]].base[:], b[:]) < 0 {
			known = known[1:]
		}
		n := 0
		for n < len(known) && kept[known[n]].base == b {
			n++
		}
		mine := known[:n:n]
		twins := twins(group, kept, mine)
		alone := onlyOne(twins, kept, mine)
		for i, c := range group {
			at, like := entryOf(c, twins[i], group, kept, mine, alone)
			if at < 0 {
				e := registered{base: b, twin: twins[i], list: c.list, last: FirstDate}
				if like >= 0 {
					e = kept[like]
				} else {
					var err error
					if e.number, e.since, err = free.take(); err != nil {
						return nil, registry{}, err
					}
				}
				at = len(kept)
				mine = append(mine, at)
				kept = append(kept, e)
				running = append(running, false)
			}
			e := &kept[at]
			e.terminus, e.source, e.last = c.terminus, c.source, max(e.last, c.days.last)
			out[c.index] = numbering{train: e.train(), number: e.number, list: c.list}
			running[at] = true
		}
	}
	n := 0
	for i, e := range kept {
		if running[i] || e.last+keepNumbers >= since {
			kept[n] = e
			n++
		}
	}
	return out, registry{entries: kept[:n], high: free.high}, nil
}

// onlyOne says whether no train of a base is a twin of another, nor was.
func onlyOne(twins []int, kept []registered, known []int) bool {
	return !slices.ContainsFunc(twins, func(n int) bool { return n > 0 }) &&
		!slices.ContainsFunc(known, func(k int) bool { return kept[k].twin > 0 })
}

// entryOf finds the entry of a candidate that is a twin: its own, or else one whose ID no
// train of the group has any more. If all are others', it returns -1, and in like one of
// the same number, or -1. Where there is only one twin, all variants share an entry.
func entryOf(c candidate, twin int, group []candidate, kept []registered, known []int, alone bool) (at, like int) {
	at, like = -1, -1
	for _, k := range known {
		e := &kept[k]
		switch {
		case e.twin != twin || e.list != c.list:
		case alone || e.source == c.source:
			return k, k
		case at < 0 && !slices.ContainsFunc(group, func(o candidate) bool { return o.list == c.list && o.source == e.source }):
			at, like = k, k
		default:
			like = k
		}
	}
	return at, like
}

// compare orders the candidates of one base.
func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(c.list, d.list), cmp.Compare(c.days.first, d.days.first), cmp.Compare(c.id, d.id), cmp.Compare(c.index, d.index))
}

// alike goes through the groups of one base of candidates sorted by it.
func alike(candidates []candidate) iter.Seq[[]candidate] {
	return func(yield func([]candidate) bool) {
		for first, i := 0, 1; i <= len(candidates); i++ {
			if i == len(candidates) || candidates[i].base != candidates[first].base {
				if !yield(candidates[first:i]) {
					return
				}
				first = i
			}
		}
	}
}

// freeNumbers gives out numbers that no registered train has: those that no
// train has had yet, as long as there are any, and then the lowest.
type freeNumbers struct {
	taken map[uint32]bool // nil if there are numbers enough that no train has had
	next  uint32          // all below are taken, if numbers are used again
	high  uint32          // the highest ever given
	today Date
}

// take returns a number and since when it means its train.
func (f *freeNumbers) take() (number uint32, since Date, err error) {
	if f.high < maxNumber {
		f.high++
		if f.taken != nil {
			f.taken[f.high] = true
		}
		return f.high, FirstDate, nil
	}
	for f.next = max(f.next, 1); f.taken[f.next]; f.next++ {
	}
	if f.next > maxNumber {
		return 0, 0, errNumbersExhausted
	}
	number, f.next = f.next, f.next+1
	return number, f.today, nil
}

// twins tells apart the trains of one base: no two that run on one date get
// the same number. Who was registered with the same list of calls keeps its
// place; who changed its calls takes the place that its terminus or its own ID
// had; who is new takes the first that is free. The group is sorted.
func twins(group []candidate, kept []registered, known []int) []int {
	at := make([]int, len(group))
	for i := range at {
		at[i] = -1
	}
	if len(group) == 1 && len(known) == 0 {
		return []int{0}
	}
	free := func(i, n int) bool {
		for j := range group {
			if at[j] == n && group[j].days.meets(group[i].days) {
				return false
			}
		}
		return true
	}
	claim := func(likes func(candidate, registered) bool) {
		for i, c := range group {
			for _, k := range known {
				if at[i] < 0 && likes(c, kept[k]) && free(i, kept[k].twin) {
					at[i] = kept[k].twin
				}
			}
		}
	}
	claim(func(c candidate, r registered) bool { return c.list == r.list && c.source == r.source })
	claim(func(c candidate, r registered) bool { return c.list == r.list })
	claim(func(c candidate, r registered) bool { return c.terminus == r.terminus && c.source == r.source })
	claim(func(c candidate, r registered) bool { return c.terminus == r.terminus })
	claim(func(c candidate, r registered) bool { return c.source == r.source })
	taken := make([]bool, len(group)+1) // by those that run on a date of one
	for i := range group {
		if at[i] >= 0 {
			continue
		}
		clear(taken)
		for j, n := range at {
			if n >= 0 && n < len(taken) && !taken[n] && group[j].days.meets(group[i].days) {
				taken[n] = true
			}
		}
		at[i] = slices.Index(taken, false) // there are more than trains
	}
	return at
}

// interrupted looks now and then, as i counts up, whether ctx has ended.
func interrupted(ctx context.Context, i int) error {
	if i%1024 != 0 {
		return nil
	}
	return ctx.Err()
}
