package gtfs

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fold"
)

// String returns the twin as one line.
func (t Twin) String() string {
	name := t.Operator
	if t.Number != "" {
		name += " " + t.Number
	}
	days := "1 day"
	if t.Days > 1 {
		days = fmt.Sprintf("%d days", t.Days)
	}
	return fmt.Sprintf("%s from %s at %v to %s is trip %.60q and trip %.60q on %s from %v on", name, t.From, t.Departs, t.To, t.Kept, t.Left, days, t.First)
}

// maxKeepers limits the trips to which the rules of a twin are given.
const maxKeepers = 8

// findTwins finds the trips that are trains which other trips are already. The
// trip of a train that runs on more days is the earlier one, and then the one with
// the smaller ID: the order of the rows decides nothing.
func (f *feed) findTwins() {
	if f.errs.Total > f.blamed {
		return
	}
	var order []int32
	marks := make([]uint64, len(f.trips))
	for i, t := range f.trips {
		if len(t.Calls) > 0 {
			marks[i] = f.lookMark(t)
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(marks[a], marks[b]), f.compareLooks(a, b), f.comparePrecedence(a, b))
	})
	for from, to := 0, 0; from < len(order); from = to {
		for to = from + 1; to < len(order) && marks[order[to]] == marks[order[from]] && f.compareLooks(order[from], order[to]) == 0; to++ {
		}
		if to-from > 1 {
			f.leaveTwins(order[from:to])
		}
		if f.full() {
			return // the caller returns the error
		}
	}
	f.reportTwins()
}

// lookMark is a hash of the fields that twins have in common.
func (f *feed) lookMark(t *trip) uint64 {
	h := fnv.New64a()
	h.Write([]byte(fold.Label(t.Operator)))
	h.Write([]byte{0})
	h.Write([]byte(fold.Label(t.Number)))
	var b [10]byte
	for i, c := range t.Calls {
		at := f.stationID(c.Station)
		h.Write(at[:])
		arrive, depart, bars := looksOf(t, i)
		binary.BigEndian.PutUint32(b[:], uint32(arrive))
		binary.BigEndian.PutUint32(b[4:], uint32(depart))
		b[8] = bars
		h.Write(b[:])
	}
	return h.Sum64()
}

// looksOf are the times of a call, zero where they mean nothing, and what it bars.
func looksOf(t *trip, i int) (arrive, depart traintravel.ServiceTime, bars byte) {
	c := &t.Calls[i]
	if i > 0 {
		arrive = c.Arrive
		if c.NoAlighting {
			bars |= 1
		}
	}
	if i < len(t.Calls)-1 {
		depart = c.Depart
		if c.NoBoarding {
			bars |= 2
		}
	}
	return arrive, depart, bars
}

// compareLooks is zero for trips that travellers cannot distinguish. Without a
// number, they must also have the same route.
func (f *feed) compareLooks(a, b int32) int {
	s, t := f.trips[a], f.trips[b]
	if c := cmp.Or(compareLabels(s.Operator, t.Operator), compareLabels(s.Number, t.Number), cmp.Compare(s.Zone, t.Zone), cmp.Compare(len(s.Calls), len(t.Calls))); c != 0 {
		return c
	}
	if s.Number == "" && s.Line != t.Line {
		return cmp.Compare(s.Line, t.Line)
	}
	for i := range s.Calls {
		arriveS, departS, barsS := looksOf(s, i)
		arriveT, departT, barsT := looksOf(t, i)
		c := cmp.Or(compareIDs(f.stationID(s.Calls[i].Station), f.stationID(t.Calls[i].Station)), cmp.Compare(arriveS, arriveT), cmp.Compare(departS, departT), cmp.Compare(barsS, barsT))
		if c != 0 {
			return c
		}
	}
	return 0
}

// compareLabels compares numbers, or operators, without regard to blanks and letter case.
func compareLabels(a, b string) int {
	if a == b {
		return 0
	}
	return cmp.Compare(fold.Label(a), fold.Label(b))
}

func compareIDs(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }

// comparePrecedence orders twins. One without coaches comes last, because its places are not
// limited.
func (f *feed) comparePrecedence(a, b int32) int {
	s, t := f.trips[a], f.trips[b]
	return cmp.Or(
		cmp.Compare(min(len(t.Coaches), 1), min(len(s.Coaches), 1)),
		cmp.Compare(f.daysOf(t.service).count(), f.daysOf(s.service).count()),
		cmp.Compare(s.ID, t.ID),
	)
}

// A sold is the days of a train that are in the timetable already, by the coaches
// whose places are sold then.
type sold struct {
	any     daySet
	coaches map[string]daySet
	keepers map[traintravel.Date][]int32
}

// days are those on which places of a train with these coaches are sold.
func (s *sold) days(coaches []traintravel.Coach) daySet {
	if len(coaches) == 0 { // the coaches are unknown
		return s.any
	}
	var days daySet
	for _, c := range coaches {
		days = days.or(s.coaches[c.Number])
	}
	return days
}

func (s *sold) add(i int32, coaches []traintravel.Coach, days daySet) {
	s.any = s.any.or(days)
	for _, c := range coaches {
		s.coaches[c.Number] = s.coaches[c.Number].or(days)
	}
	for d := range days.all() {
		s.keepers[d] = append(s.keepers[d], i)
	}
}

// leaveTwins finds of trips that look alike, in their order, those that run on days
// which an earlier one has. Trips whose coaches have different numbers are portions
// of one train that are coupled: both stay.
func (f *feed) leaveTwins(trips []int32) {
	s := &sold{coaches: map[string]daySet{}, keepers: map[traintravel.Date][]int32{}}
	for _, i := range trips { // those with coaches come first
		t := f.trips[i]
		days, taken := f.daysOf(t.service), s.days(t.Coaches)
		rest := days.without(taken)
		if common := days.and(taken); !common.empty() {
			left := &leftTrip{days: days, rest: rest}
			for !common.empty() && len(left.keepers) < maxKeepers {
				k := f.keeper(s, t.Coaches, common.firstDay())
				left.keepers = append(left.keepers, k)
				common = common.without(f.daysOf(f.trips[k].service))
			}
			if f.left == nil {
				f.left = map[int32]*leftTrip{}
			}
			f.hold(sizeTwin + 8*(len(days.words)+len(rest.words)))
			f.left[i] = left
		}
		s.add(i, t.Coaches, rest)
	}
}

// keeper is the trip that sells the places of coaches on a day.
func (f *feed) keeper(s *sold, coaches []traintravel.Coach, d traintravel.Date) int32 {
	all := s.keepers[d]
	at := slices.IndexFunc(all, func(k int32) bool {
		return slices.ContainsFunc(coaches, func(c traintravel.Coach) bool {
			return slices.ContainsFunc(f.trips[k].Coaches, func(o traintravel.Coach) bool { return o.Number == c.Number })
		})
	})
	return all[max(at, 0)]
}

// reportTwins reports twins, in the order of their rows. If they are to be kept,
// that is all.
func (f *feed) reportTwins() {
	if len(f.left) == 0 {
		return
	}
	names := map[uuid.UUID]string{}
	for i := range f.stops {
		if s := &f.stops[i]; s.served {
			names[s.ID] = s.Name
		}
	}
	for _, i := range slices.Sorted(maps.Keys(f.left)) {
		t, left := f.trips[i], f.left[i]
		common := left.days.without(left.rest)
		f.report.Twins = append(f.report.Twins, Twin{
			Operator: t.Operator, Number: t.Number, From: names[f.stationID(t.Calls[0].Station)], To: names[f.stationID(t.last().Station)], Departs: t.departs(),
			Kept: f.trips[left.keepers[0]].ID, Left: t.ID, Days: common.count(), First: common.firstDay(),
		})
		const same = "the trip is the same train as another one, by operator, number and calls, on days on which both run: "
		if f.opts.KeepTwins {
			f.note("trips.txt", t.line, same+"it is sold twice")
		} else {
			f.doubt("trips.txt", t.line, same+"it is sold once")
		}
	}
	if f.opts.KeepTwins {
		f.left = nil
	}
}

// removeTwins removes the days that other twins keep, and gives their rules for
// changes to the twins that keep them.
func (f *feed) removeTwins() error {
	if len(f.left) == 0 {
		return nil
	}
	if err := f.shareRules(); err != nil {
		return err
	}
	for i, left := range f.left {
		t := f.trips[i]
		if !left.rest.empty() {
			t.service = t.service.only(left)
			t.Days = &t.service.Calendar
			f.hold(sizeService + 4*(len(t.Days.Added)+len(t.Days.Removed)))
			if f.full() {
				return &LimitError{File: "trips.txt", Line: t.line, Limit: "Memory", Max: f.opts.Limits.Memory}
			}
			continue
		}
		f.report.Trains--
		f.report.Calls -= len(t.Calls)
		if t.repeated {
			f.report.Repeated--
		}
		if t.headway {
			f.report.Headway--
		}
		t.Calls = nil
	}
	return nil
}

// only returns the service on the remaining days.
func (s *service) only(left *leftTrip) *service {
	rest := &service{}
	if kept, gone := left.rest.count(), left.days.count()-left.rest.count(); kept > gone {
		rest.Calendar = s.Calendar
		rest.Removed = slices.AppendSeq(slices.Clone(s.Removed), left.days.without(left.rest).all())
	} else {
		rest.Added = slices.Collect(left.rest.all())
	}
	rest.span()
	return rest
}

// shareRules gives the rules about twins to their keepers. Where passengers stay
// seated on from or to a twin, they do so with a keeper that runs on none but the
// twin's days: on others the one train may not go on as the other.
func (f *feed) shareRules() error {
	byID := make(map[string]int32, len(f.left))
	for i := range f.left {
		byID[f.trips[i].ID] = i
	}
	delete(byID, "") // it would mean any train
	heirs := func(id string, kind traintravel.ChangeKind) (ids []string, gone bool) {
		i, ok := byID[id]
		if !ok {
			return []string{id}, false
		}
		left := f.left[i]
		if gone = left.rest.empty(); !gone {
			ids = append(ids, id)
		}
		for _, k := range left.keepers {
			t := f.trips[k]
			if t.ID != "" && (kind != traintravel.StaySeated || f.daysOf(t.service).without(left.days).empty()) {
				ids = append(ids, t.ID)
			}
		}
		return ids, gone
	}
	kept := f.rules
	kept.list, kept.at, kept.unseated = nil, nil, nil
	for _, ch := range f.rules.list {
		from, gone := heirs(ch.FromTrain, ch.Kind)
		to, goneTo := heirs(ch.ToTrain, ch.Kind)
		own := ch
		if !gone && !goneTo {
			kept.add(own)
		}
		for _, ch.FromTrain = range from {
			for _, ch.ToTrain = range to {
				if ch != own {
					kept.add(ch)
				}
			}
		}
		if len(kept.list) > maxChanges {
			f.fail("trips.txt", 0, "the trips that are the same train make more than %d rules for changes", maxChanges)
			return errMistakes
		}
	}
	for ch := range f.rules.unseated {
		from, _ := heirs(ch.FromTrain, traintravel.Impossible)
		to, _ := heirs(ch.ToTrain, traintravel.Impossible)
		for _, ch.FromTrain = range from {
			for _, ch.ToTrain = range to {
				kept.unseat(ch)
			}
		}
	}
	f.rules = kept
	return nil
}
