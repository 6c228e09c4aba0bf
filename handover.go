package traintravel

import (
	"context"

	"github.com/google/uuid"
)

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
	err := eachPage(ctx, r, Range{Table: TableRuns, From: runKey(RunID{Date: from}).ID}, func(page []Record) error {
		for _, rec := range page {
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
		return nil
	})
	return found, err
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
