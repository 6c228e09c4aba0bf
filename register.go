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
	candidates, err := candidatesOf(ctx, trains, calendars)
	if err != nil {
		return nil, registry{}, err
	}
	r := newRegistration(old, len(trains), today)
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
		if err := r.add(group); err != nil {
			return nil, registry{}, err
		}
	}
	return r.numbers, r.registry(since), nil
}

// candidatesOf are the trains by base, and in their order there.
func candidatesOf(ctx context.Context, trains []Train, calendars func(*Calendar) *days) ([]candidate, error) {
	all := make([]candidate, len(trains))
	for i := range trains {
		if err := interrupted(ctx, i); err != nil {
			return nil, err
		}
		t := &trains[i]
		all[i] = candidate{
			base: baseOf(t), index: i, days: calendars(t.Days), list: listMark(t.Calls), id: t.ID,
			terminus: stationMark(t.Calls[len(t.Calls)-1].Station), source: textMark(t.ID),
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		if c := bytes.Compare(a.base[:], b.base[:]); c != 0 {
			return c
		}
		return a.compare(b)
	})
	return all, nil
}

// A registration is a registry that gets the trains of a timetable, base by base.
type registration struct {
	kept    []registered // those that were there, and then new ones
	running []bool       // of kept: a train of the timetable has it
	known   []int        // indexes of kept, by base, from the next base on
	free    freeNumbers
	numbers []numbering // of each train
}

func newRegistration(old registry, trains int, today Date) *registration {
	r := &registration{
		kept: slices.Grow(slices.Clone(old.entries), trains), known: make([]int, len(old.entries)),
		free: freeNumbers{high: old.high, today: today}, numbers: make([]numbering, trains),
	}
	r.running = make([]bool, len(r.kept), cap(r.kept))
	for i := range r.known {
		r.known[i] = i
	}
	slices.SortStableFunc(r.known, func(a, b int) int { return bytes.Compare(r.kept[a].base[:], r.kept[b].base[:]) })
	if int64(old.high)+int64(trains) > maxNumber {
		r.free.taken = make(map[uint32]bool, len(r.kept))
		for _, e := range r.kept {
			r.free.taken[e.number] = true
		}
	}
	return r
}

// knownOf are the indexes of the entries of a base that comes after all before.
func (r *registration) knownOf(base uuid.UUID) []int {
	for len(r.known) > 0 && bytes.Compare(r.kept[r.known[0]].base[:], base[:]) < 0 {
		r.known = r.known[1:]
	}
	n := 0
	for n < len(r.known) && r.kept[r.known[n]].base == base {
		n++
	}
	return r.known[:n:n]
}

// add registers the trains of one base.
func (r *registration) add(group []candidate) error {
	known := r.knownOf(group[0].base)
	twins := twins(group, r.kept, known)
	alone := onlyOne(twins, r.kept, known)
	for i, c := range group {
		at, like := entryOf(c, twins[i], group, r.kept, known, alone)
		if at < 0 {
			e := registered{base: c.base, twin: twins[i], list: c.list, last: FirstDate}
			if like >= 0 {
				e = r.kept[like]
			} else {
				var err error
				if e.number, e.since, err = r.free.take(); err != nil {
					return err
				}
			}
			at = len(r.kept)
			known = append(known, at)
			r.kept, r.running = append(r.kept, e), append(r.running, false)
		}
		e := &r.kept[at]
		e.terminus, e.source, e.last = c.terminus, c.source, max(e.last, c.days.last)
		r.numbers[c.index] = numbering{train: e.train(), number: e.number, list: c.list}
		r.running[at] = true
	}
	return nil
}

// registry leaves out the trains that have not run since a day, and longer.
func (r *registration) registry(since Date) registry {
	n := 0
	for i, e := range r.kept {
		if r.running[i] || e.last+keepNumbers >= since {
			r.kept[n] = e
			n++
		}
	}
	return registry{entries: r.kept[:n], high: r.free.high}
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
	takeFree(group, at)
	return at
}

// takeFree gives each train of a group that has no place the first that is free on all its
// dates.
func takeFree(group []candidate, at []int) {
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
}

// interrupted looks now and then, as i counts up, whether ctx has ended.
func interrupted(ctx context.Context, i int) error {
	if i%1024 != 0 {
		return nil
	}
	return ctx.Err()
}
