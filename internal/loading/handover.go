package loading

import (
	"context"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
	"github.com/traintravel/traintravel/store"
)

// handovers finds runs from a date on that have sales and no longer have a train, but another
// train is the same. It is for trains whose identities slots does not match, because they begin
// at another platform or belong to another feed. It changes nothing.
func (d *draft) handovers(ctx context.Context, r store.Reader, moves []trains.Move, from rail.Date) ([]ledger.Handover, error) {
	if d.before == nil {
		return nil, nil
	}
	runs := d.runsAfter(moves)
	var found []ledger.Handover
	err := store.EachPage(ctx, r, store.Range{Table: store.TableRuns, From: seats.RunKey(rail.RunID{Date: from}).ID}, func(page []store.Record) error {
		for _, rec := range page {
			run := seats.ParseRunKey(rec.ID)
			if runs.taken(run) {
				continue
			}
			if was, ok := d.before.Run(run); ok {
				if h, ok := d.same(was, run, runs); ok {
					found = append(found, h)
				}
			}
		}
		return nil
	})
	return found, err
}

// runsTo has the runs of the trains of a draft, after some moves.
type runsTo struct {
	next  *timetable.Snapshot
	trips *schedule.Timetable
	slots map[trainDate]int
	moved map[rail.RunID]bool // that a train has by a move
}

type trainDate struct {
	train int
	date  rail.Date
}

func (d *draft) runsAfter(moves []trains.Move) *runsTo {
	runs := &runsTo{d.next, d.timetable, map[trainDate]int{}, map[rail.RunID]bool{}}
	for _, m := range moves {
		runs.slots[trainDate{m.Train, m.Date}] = m.Slot
		runs.moved[runs.of(m.Train, m.Date)] = true
	}
	return runs
}

// of returns the run of a train on a date.
func (r *runsTo) of(train int, date rail.Date) rail.RunID {
	if slot, ok := r.slots[trainDate{train, date}]; ok {
		return rail.RunID{Train: trains.Twin(trains.BaseOf(&r.trips.Trains[train]), slot), Date: date}
	}
	return rail.RunID{Train: r.next.Trains[train].ID, Date: date}
}

// taken says whether a train has a run.
func (r *runsTo) taken(run rail.RunID) bool {
	if r.moved[run] {
		return true
	}
	for _, v := range r.next.ByTrain.Of(timetable.IdentityMark(run.Train)) {
		if t := &r.next.Trains[v.Train]; t.ID == run.Train && t.Days.Runs(run.Date) && r.of(int(v.Train), run.Date) == run {
			return true
		}
	}
	return false
}

// same finds the train that a train of the timetable before was on a date, too.
func (d *draft) same(was *timetable.Train, run rail.RunID, runs *runsTo) (ledger.Handover, bool) {
	stations, ok := d.stationsOf(was)
	if !ok {
		return ledger.Handover{}, false
	}
	if d.looks == nil { // nearly never asked for
		d.looks = map[uint64][]int32{}
		for i := range d.next.Trains {
			t := &d.next.Trains[i]
			mark := t.LookMark(t.Station)
			d.looks[mark] = append(d.looks[mark], int32(i))
		}
	}
	at := func(call int) int32 { return stations[call] }
	for _, i := range d.looks[was.LookMark(at)] {
		t := &d.next.Trains[i]
		if !t.Days.Runs(run.Date) || !t.LooksLike(was, at) {
			continue
		}
		to := runs.of(int(i), run.Date)
		if beside, ok := d.before.Run(to); ok && beside != was {
			return ledger.Handover{Train: int(i), From: run, To: to, Named: d.renamed(was, t)}, true
		}
	}
	return ledger.Handover{}, false
}

// stationsOf returns the stations in the new timetable at which a train of the previous one
// calls, and false if one no longer exists.
func (d *draft) stationsOf(was *timetable.Train) ([]int32, bool) {
	stations := make([]int32, len(was.Stops))
	for i := range was.Stops {
		at, ok := d.next.StationAt[d.before.Called(was, i)]
		if !ok {
			return nil, false
		}
		stations[i] = at
	}
	return stations, true
}

// renamed returns the station IDs of the calls of the same train in the new timetable.
func (d *draft) renamed(was, is *timetable.Train) map[uuid.UUID]uuid.UUID {
	named := map[uuid.UUID]uuid.UUID{}
	for i := range was.Stops {
		from, to := d.before.Called(was, i), d.next.Called(is, i)
		if known, ok := named[from]; ok && known != to {
			return nil // it calls there twice, at two platforms
		}
		named[from] = to
	}
	return named
}
