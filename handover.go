package traintravel

import (
	"context"
	"hash/fnv"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
)

// A handover says that the timetable before had a train twice, as two trains that no
// traveller could tell apart, and this one has it once: what was sold of the run of the
// one that is gone is the other's, whose places must not be sold again.
type handover struct {
	train    int // index of the one that stays
	from, to RunID
	// named is by what the calls of the one that stays name the stations, where those
	// of the other did otherwise. It is nil if that cannot be told.
	named map[uuid.UUID]uuid.UUID
}

// handovers finds the runs from a date on of which something is sold and that no train
// has any more, but for another one that is the same. It is for those whose identities
// slots does not know: they begin at another platform, or are another feed's. It changes
// nothing.
func (d *draft) handovers(ctx context.Context, r Reader, moves []move, from Date) ([]handover, error) {
	if d.before == nil {
		return nil, nil
	}
	runs := d.runsAfter(moves)
	var found []handover
	for next := runKey(RunID{Date: from}).ID; ; {
		records, err := r.List(ctx, Range{Table: TableRuns, From: next, Limit: batch})
		if err != nil {
			return nil, err
		}
		for _, rec := range records {
			next = rec.ID + "\x00"
			run := parseRunKey(rec.ID)
			if runs.taken(run) {
				continue
			}
			if was, ok := d.before.run(run); ok {
				if h, ok := d.same(was, run, runs); ok {
					found = append(found, h)
				}
			}
		}
		if len(records) < batch {
			return found, nil
		}
	}
}

// runsTo are the runs of the trains of a draft, after some moves.
type runsTo struct {
	next  *snapshot
	trips *Timetable
	slots map[trainDate]int
	moved map[RunID]bool // that a train has by a move
}

type trainDate struct {
	train int
	date  Date
}

func (d *draft) runsAfter(moves []move) *runsTo {
	runs := &runsTo{d.next, d.timetable, map[trainDate]int{}, map[RunID]bool{}}
	for _, m := range moves {
		runs.slots[trainDate{m.train, m.date}] = m.slot
		runs.moved[runs.of(m.train, m.date)] = true
	}
	return runs
}

// of is the run of a train on a date.
func (r *runsTo) of(train int, date Date) RunID {
	if slot, ok := r.slots[trainDate{train, date}]; ok {
		return RunID{twin(baseOf(&r.trips.Trains[train]), slot), date}
	}
	return RunID{r.next.trains[train].id, date}
}

// taken says whether a train has a run.
func (r *runsTo) taken(run RunID) bool {
	if r.moved[run] {
		return true
	}
	for _, v := range r.next.byTrain.of(identityMark(run.Train)) {
		if t := &r.next.trains[v.train]; t.id == run.Train && t.days.runs(run.Date) && r.of(int(v.train), run.Date) == run {
			return true
		}
	}
	return false
}

// same finds the train that a train of the timetable before was on a date, too.
func (d *draft) same(was *train, run RunID, runs *runsTo) (handover, bool) {
	stations, ok := d.stationsOf(was)
	if !ok {
		return handover{}, false
	}
	if d.looks == nil { // nearly never asked for
		d.looks = map[uint64][]int32{}
		for i := range d.next.trains {
			t := &d.next.trains[i]
			mark := t.lookMark(t.station)
			d.looks[mark] = append(d.looks[mark], int32(i))
		}
	}
	at := func(call int) int32 { return stations[call] }
	for _, i := range d.looks[was.lookMark(at)] {
		t := &d.next.trains[i]
		if !t.days.runs(run.Date) || !t.looksLike(was, at) {
			continue
		}
		to := runs.of(int(i), run.Date)
		if beside, ok := d.before.run(to); ok && beside != was {
			return handover{int(i), run, to, d.renamed(was, t)}, true
		}
	}
	return handover{}, false
}

// stationsOf are the stations in the next timetable at which a train of the one before
// calls. It is false if one is gone.
func (d *draft) stationsOf(was *train) ([]int32, bool) {
	stations := make([]int32, len(was.stops))
	for i := range was.stops {
		at, ok := d.next.stationAt[d.before.called(was, i)]
		if !ok {
			return nil, false
		}
		stations[i] = at
	}
	return stations, true
}

// renamed says what a train's calls are named by the train that it is.
func (d *draft) renamed(was, is *train) map[uuid.UUID]uuid.UUID {
	named := map[uuid.UUID]uuid.UUID{}
	for i := range was.stops {
		from, to := d.before.called(was, i), d.next.called(is, i)
		if known, ok := named[from]; ok && known != to {
			return nil // it calls there twice, at two platforms
		}
		named[from] = to
	}
	return named
}

// lookMark shortens what travellers know of a train that calls at stations.
func (t *train) lookMark(at func(call int) int32) uint64 {
	h := fnv.New64a()
	h.Write([]byte(fold.Label(t.operator) + "\x00" + fold.Label(t.name) + "\x00"))
	for i := range t.stops {
		v := uint32(at(i))
		h.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
		v = uint32(t.times[i].Depart)
		h.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
	}
	return h.Sum64()
}

// looksLike says whether travellers cannot tell a train from another one that calls at
// stations.
func (t *train) looksLike(was *train, at func(call int) int32) bool {
	if fold.Label(t.operator) != fold.Label(was.operator) || fold.Label(t.name) != fold.Label(was.name) ||
		t.location.String() != was.location.String() || !slices.Equal(t.times, was.times) {
		return false
	}
	for i := range t.stops {
		if t.station(i) != at(i) {
			return false
		}
	}
	return true
}

// handOver gives a train what was sold of the run of another one that was the same.
// Nobody is put on a train that is cancelled.
func (l *ledger) handOver(sn *snapshot, h handover) error {
	if err := l.loadRuns(h.from, h.to); err != nil {
		return err
	}
	from, to := l.runEntry(h.from), l.runEntry(h.to)
	if from.inv == nil || to.inv != nil && to.inv.cancelled {
		return nil
	}
	var bookings []*Booking
	for _, id := range from.inv.holders() {
		if id == blocked {
			continue
		}
		b, err := l.booking(id)
		if err != nil {
			return damaged(err)
		}
		bookings = append(bookings, b)
	}
	to.inv = sn.inventoryOf(to.inv, &sn.trains[h.train])
	from.inv.handOver(h.named, to.inv)
	rename := func(s *Stop) {
		if id, ok := h.named[s.Station]; ok {
			s.Station = id
		}
	}
	for _, b := range bookings {
		b.Legs = slices.Clone(b.Legs)
		for i := range b.Legs {
			if g := &b.Legs[i]; g.Run == h.from {
				g.Run = h.to
				rename(&g.Origin)
				rename(&g.Destination)
			}
		}
	}
	from.changed, to.changed = true, true
	return nil
}

// inventoryOf is an inventory as a train counts, or a new one if there is none.
func (sn *snapshot) inventoryOf(inv *inventory, t *train) *inventory {
	if inv == nil {
		return sn.newInventory(t)
	}
	return sn.fitted(inv, t)
}

// handOver moves all that is sold to the inventory of a train that is the same, whose
// calls name their stations otherwise. What finds no place there stays stranded.
func (v *inventory) handOver(named map[uuid.UUID]uuid.UUID, to *inventory) {
	marks := map[uint64]uint64{}
	for from, to := range named {
		marks[stationMark(from)] = stationMark(to)
	}
	rename := func(mark *uint64) {
		if m, ok := marks[*mark]; ok {
			*mark = m
		}
	}
	var all []stranded
	for _, t := range v.taken {
		all = append(all, v.strand(t))
	}
	for _, s := range append(all, v.stranded...) {
		rename(&s.board)
		rename(&s.alight)
		s.sold = to.list
		if t, ok := to.reseat(s); ok {
			to.taken = append(to.taken, t)
		} else {
			to.stranded = append(to.stranded, s)
		}
	}
	v.taken, v.stranded = nil, nil
}
