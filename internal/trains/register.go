// Package trains says which train of a new timetable is which of an old one, and gives every
// train a number that never means another. It also keeps apart twins, which are trains that a
// timetable does not tell apart. It must not know of bookings or seats.
package trains

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// candidate is a train that looks for its identity and number.
type candidate struct {
	base     uuid.UUID
	index    int
	days     *Days
	list     uint64
	terminus uint64
	source   uint64
	id       string
}

// MaxAlike bounds the trains of one base, each of which is compared with each. Those that
// a railway has, one for each day at the most, are some hundred.
const MaxAlike = 2000

// ErrNumbersExhausted is the error of a timetable with more trains than free numbers.
var ErrNumbersExhausted = errors.New("the timetable has more trains than free trip numbers")

// Register identifies the trains of a timetable, by what was registered before, and returns
// the registry that goes with it. It depends on nothing but its arguments: the same trains get
// the same identities and numbers, in whatever order and under whatever IDs
// they come. Numbers are kept of trains that may run since a day, which is today
// unless clocks have erred.
func (old Registry) Register(ctx context.Context, trains []schedule.Train, calendars func(*schedule.Calendar) *Days, today, since rail.Date) ([]Numbering, Registry, error) {
	candidates, err := candidatesOf(ctx, trains, calendars)
	if err != nil {
		return nil, Registry{}, err
	}
	r := newRegistration(old, len(trains), today)
	groups := 0
	for group := range alike(candidates) {
		if err := Interrupted(ctx, groups); err != nil {
			return nil, Registry{}, err
		}
		groups++
		if len(group) > MaxAlike {
			t := &trains[group[0].index]
			return nil, Registry{}, rail.Invalid("trains", "%d trains of %.60q with the number %.60q leave the same station at %v, and at most %d trains may be alike: give them different numbers",
				len(group), t.Operator, t.Number, t.Calls[0].Depart, MaxAlike)
		}
		if err := r.add(group); err != nil {
			return nil, Registry{}, err
		}
	}
	return r.numbers, r.registry(since), nil
}

// candidatesOf are the trains by base, and in their order there.
func candidatesOf(ctx context.Context, trains []schedule.Train, calendars func(*schedule.Calendar) *Days) ([]candidate, error) {
	all := make([]candidate, len(trains))
	for i := range trains {
		if err := Interrupted(ctx, i); err != nil {
			return nil, err
		}
		t := &trains[i]
		all[i] = candidate{
			base: BaseOf(t), index: i, days: calendars(t.Days), list: ListMark(t.Calls), id: t.ID,
			terminus: StationMark(t.Calls[len(t.Calls)-1].Station), source: TextMark(t.ID),
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
	kept    []Registered // those that were there, and then new ones
	running []bool       // of kept: a train of the timetable has it
	known   []int        // indexes of kept, by base, from the next base on
	free    FreeNumbers
	numbers []Numbering // of each train
}

func newRegistration(old Registry, trains int, today rail.Date) *registration {
	r := &registration{
		kept: slices.Grow(slices.Clone(old.Entries), trains), known: make([]int, len(old.Entries)),
		free: FreeNumbers{High: old.High, Today: today}, numbers: make([]Numbering, trains),
	}
	r.running = make([]bool, len(r.kept), cap(r.kept))
	for i := range r.known {
		r.known[i] = i
	}
	slices.SortStableFunc(r.known, func(a, b int) int { return bytes.Compare(r.kept[a].Base[:], r.kept[b].Base[:]) })
	if int64(old.High)+int64(trains) > MaxNumber {
		r.free.Taken = make(map[uint32]bool, len(r.kept))
		for _, e := range r.kept {
			r.free.Taken[e.Number] = true
		}
	}
	return r
}

// knownOf are the indexes of the entries of a base that comes after all before.
func (r *registration) knownOf(base uuid.UUID) []int {
	for len(r.known) > 0 && bytes.Compare(r.kept[r.known[0]].Base[:], base[:]) < 0 {
		r.known = r.known[1:]
	}
	n := 0
	for n < len(r.known) && r.kept[r.known[n]].Base == base {
		n++
	}
	return r.known[:n:n]
}

// A family is the trains of one base and what was registered of it.
type family struct {
	group []candidate
	known []int // indexes of kept
	twins []int // the number of each of group among those that are alike
	alone bool  // no train is a twin of another, nor was
}

func (r *registration) familyOf(group []candidate) family {
	known := r.knownOf(group[0].base)
	twins := twins(group, r.kept, known)
	return family{group, known, twins, onlyOne(twins, r.kept, known)}
}

// add registers the trains of one base.
func (r *registration) add(group []candidate) error {
	f := r.familyOf(group)
	for i, c := range group {
		at, like := r.entryOf(&f, i)
		if at < 0 {
			e := Registered{Base: c.base, Twin: f.twins[i], List: c.list, Last: rail.FirstDate}
			if like >= 0 {
				e = r.kept[like]
			} else {
				var err error
				if e.Number, e.Since, err = r.free.Take(); err != nil {
					return err
				}
			}
			at = len(r.kept)
			f.known = append(f.known, at)
			r.kept, r.running = append(r.kept, e), append(r.running, false)
		}
		e := &r.kept[at]
		e.Terminus, e.Source, e.Last = c.terminus, c.source, max(e.Last, c.days.Last)
		r.numbers[c.index] = Numbering{Train: e.Train(), Number: e.Number, List: c.list}
		r.running[at] = true
	}
	return nil
}

// registry leaves out the trains that have not run since a day, and longer.
func (r *registration) registry(since rail.Date) Registry {
	n := 0
	for i, e := range r.kept {
		if r.running[i] || e.Last+KeepNumbers >= since {
			r.kept[n] = e
			n++
		}
	}
	return Registry{Entries: r.kept[:n], High: r.free.High}
}

// onlyOne says whether no train of a base is a twin of another, nor was.
func onlyOne(twins []int, kept []Registered, known []int) bool {
	return !slices.ContainsFunc(twins, func(n int) bool { return n > 0 }) &&
		!slices.ContainsFunc(known, func(k int) bool { return kept[k].Twin > 0 })
}

// entryOf finds the entry of a candidate of a family, which is a twin: its own, or else one
// whose ID no train of the family has any more. If all are others', it returns -1, and in like
// one of the same number, or -1. Where there is only one twin, all variants share an entry.
func (r *registration) entryOf(f *family, i int) (at, like int) {
	c := f.group[i]
	at, like = -1, -1
	for _, k := range f.known {
		e := &r.kept[k]
		switch {
		case e.Twin != f.twins[i] || e.List != c.list:
		case f.alone || e.Source == c.source:
			return k, k
		case at < 0 && !slices.ContainsFunc(f.group, func(o candidate) bool { return o.list == c.list && o.source == e.Source }):
			at, like = k, k
		default:
			like = k
		}
	}
	return at, like
}

// compare orders the candidates of one base.
func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(c.list, d.list), cmp.Compare(c.days.First, d.days.First), cmp.Compare(c.id, d.id), cmp.Compare(c.index, d.index))
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

// FreeNumbers gives out numbers that no registered train has: those that no
// train has had yet, as long as there are any, and then the lowest.
type FreeNumbers struct {
	Taken map[uint32]bool // nil if there are numbers enough that no train has had
	next  uint32          // all below are taken, if numbers are used again
	High  uint32          // the highest ever given
	Today rail.Date
}

// Take returns a number and since when it means its train.
func (f *FreeNumbers) Take() (number uint32, since rail.Date, err error) {
	if f.High < MaxNumber {
		f.High++
		if f.Taken != nil {
			f.Taken[f.High] = true
		}
		return f.High, rail.FirstDate, nil
	}
	for f.next = max(f.next, 1); f.Taken[f.next]; f.next++ {
	}
	if f.next > MaxNumber {
		return 0, 0, ErrNumbersExhausted
	}
	number, f.next = f.next, f.next+1
	return number, f.Today, nil
}

// twins tells apart the trains of one base: no two that run on one date get
// the same number. Who was registered with the same list of calls keeps its
// place; who changed its calls takes the place that its terminus or its own ID
// had; who is new takes the first that is free. The group is sorted.
func twins(group []candidate, kept []Registered, known []int) []int {
	at := make([]int, len(group))
	for i := range at {
		at[i] = -1
	}
	if len(group) == 1 && len(known) == 0 {
		return []int{0}
	}
	free := func(i, n int) bool {
		for j := range group {
			if at[j] == n && group[j].days.Meets(group[i].days) {
				return false
			}
		}
		return true
	}
	claim := func(likes func(candidate, Registered) bool) {
		for i, c := range group {
			for _, k := range known {
				if at[i] < 0 && likes(c, kept[k]) && free(i, kept[k].Twin) {
					at[i] = kept[k].Twin
				}
			}
		}
	}
	claim(func(c candidate, r Registered) bool { return c.list == r.List && c.source == r.Source })
	claim(func(c candidate, r Registered) bool { return c.list == r.List })
	claim(func(c candidate, r Registered) bool { return c.terminus == r.Terminus && c.source == r.Source })
	claim(func(c candidate, r Registered) bool { return c.terminus == r.Terminus })
	claim(func(c candidate, r Registered) bool { return c.source == r.Source })
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
			if n >= 0 && n < len(taken) && !taken[n] && group[j].days.Meets(group[i].days) {
				taken[n] = true
			}
		}
		at[i] = slices.Index(taken, false) // there are more than trains
	}
}

// Interrupted looks now and then, as i counts up, whether ctx has ended.
func Interrupted(ctx context.Context, i int) error {
	if i%1024 != 0 {
		return nil
	}
	return ctx.Err()
}
