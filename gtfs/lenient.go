package gtfs

import (
	"cmp"
	"maps"
	"slices"
)

// A mistake is a trip's if the feed without the trip is right. It does not matter here
// whether Options.Lenient is set: a feed that is refused can say what would be left out.

// blame assigns the mistakes found since there were so many. leave gets the
// first of them, and returns whether they disappear if the trips that it marks are left
// out. It may be nil.
func (f *feed) blame(before int, leave func(*Error) bool) {
	if n := f.errs.Total - before; n > 0 && leave != nil {
		f.hold(sizeFlaw) // leave keeps it
		if leave(f.first) {
			f.blamed += n
		}
	}
	f.first = nil
}

// during does work, and assigns the mistakes that it finds; see blame.
func (f *feed) during(work func(), leave func(*Error) bool) {
	before := f.errs.Total
	f.first = nil
	work()
	f.blame(before, leave)
}

// flawTrip marks the trip of a row of trips.txt.
func (f *feed) flawTrip(id string, line int, flaw *Error) {
	if i := f.tripByID[id]; i != skipped {
		f.trips[i].flaw = cmp.Or(f.trips[i].flaw, flaw)
		return
	}
	f.flawedRows = append(f.flawedRows, FlawedTrip{id, flaw, line})
}

// breakBlock notes that a trip of a block is left out.
func (f *feed) breakBlock(id string) {
	if id == "" {
		return
	}
	if f.broken == nil {
		f.broken = map[string]bool{}
	}
	f.hold(sizeKey, id)
	f.broken[id] = true
}

// flawedTrips lists the trips with mistakes, each once.
func (f *feed) flawedTrips() []FlawedTrip {
	all := slices.Clone(f.flawedRows)
	for _, t := range f.trips {
		if t.flaw != nil && !t.repeated {
			all = append(all, FlawedTrip{t.ID, t.flaw, t.line})
		}
	}
	slices.SortStableFunc(all, func(a, b FlawedTrip) int { return cmp.Compare(a.line, b.line) })
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(t FlawedTrip) bool {
		again := seen[t.Trip]
		seen[t.Trip] = true
		return again
	})
}

// leaveOut reports the trips that are left out, and the mistakes besides the first of each.
func (f *feed) leaveOut(trips []FlawedTrip) {
	f.report.LeftOut = trips
	told := map[Error]bool{}
	for _, t := range trips {
		told[*t.Mistake] = true
	}
	for _, e := range f.errs.List {
		if !told[*e] {
			f.note(e.File, e.Line, e.Reason).Wrong = true
		}
	}
}

// An orphan is a row of stop_times.txt whose trip is not in trips.txt, or several of one
// trip_id. A single one is likely to be a row of a trip beside it, with a typing error in
// trip_id: that trip lacks a call.
type orphan struct {
	rows         int
	before, next int32 // trips whose rows are beside it; skipped if none is
	flaw         *Error
}

// orphans are all of a feed, by trip_id. That its rows are not in the order of trips is
// known only when all are read.
type orphans struct {
	byID      map[string]*orphan
	unordered bool
}

// maxOrphans bounds what is remembered of a file that has nothing to do with trips.txt.
const maxOrphans = 10_000

// of is the orphan of an ID, nil if there are too many.
func (o *orphans) of(id []byte, before int32) *orphan {
	p := o.byID[string(id)]
	if p == nil && len(o.byID) < maxOrphans {
		if o.byID == nil {
			o.byID = map[string]*orphan{}
		}
		p = &orphan{before: before, next: skipped}
		o.byID[string(id)] = p
	}
	return p
}

// settleOrphans leaves out the trips that may lack a call. If the rows of trips are not
// together, these trips are unknown.
func (f *feed) settleOrphans(o *orphans) {
	ids := slices.SortedFunc(maps.Keys(o.byID), func(a, b string) int { return cmp.Compare(o.byID[a].flaw.Line, o.byID[b].flaw.Line) })
	for _, id := range ids {
		p := o.byID[id]
		if p.rows > 1 && id != "" { // a trip of its own
			continue
		}
		if o.unordered {
			f.blamed-- // no trip has it
			continue
		}
		for _, i := range [2]int32{p.before, p.next} {
			if i != skipped {
				f.trips[i].flaw = cmp.Or(f.trips[i].flaw, p.flaw)
			}
		}
	}
}
