package model

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// stayOf is a place of a run between two of its calls.
func (m *Model) stayOf(run traintravel.Run, b traintravel.Block) stay {
	from, to := m.trains.way(run.Calls[b.Board].Station, run.Calls[b.Alight].Station)
	return stay{coach: b.Coach, seat: b.Seat, from: from, to: to}
}

// trainOn names the train of a run that the operator sees.
func (m *Model) trainOn(run traintravel.Run) runKey {
	leg := traintravel.Leg{Run: run.ID, Number: run.Number, Origin: traintravel.Stop{Station: run.Calls[0].Station, Time: run.Calls[0].Depart}}
	return runKey{m.trains.trainOf(leg), run.ID.Date}
}

// Blocked is the answer to the operator's wish to take a place out of sale.
func (m *Model) Blocked(told Told, run traintravel.Run, b traintravel.Block, err error) {
	train, s := m.trainOn(run), m.stayOf(run, b)
	switch {
	case err == nil:
		m.blocks[train] = append(m.blocks[train], block{s, true})
		m.freeForBlock(told, run, train, s)
	case Unanswered(err):
		m.blocks[train] = append(m.blocks[train], block{s, false})
	case errors.Is(err, traintravel.ErrPlaceTaken):
		if !m.mayBeTaken(run, train, s, told.Begin) {
			m.Fail("A1", "seat %d in coach %s of %s could not be blocked as taken, and is free", b.Seat, b.Coach, run.Number)
		}
	case errors.Is(err, traintravel.ErrArrived):
		if told.last().Before(run.Calls[len(run.Calls)-1].Arrive) {
			m.Fail("A1", "a block of %s was refused as arrived before it arrives", run.Number)
		}
	case m.mayBeChanged(run, b):
	default:
		m.Fail("A1", "a block was answered with %v", err)
	}
}

// mayBeChanged reports whether a run may not have the place and the calls any more that it was
// seen with: a server sees the timetable that another one has loaded only after 2 seconds.
func (m *Model) mayBeChanged(run traintravel.Run, b traintravel.Block) bool {
	if m.trains.unsure {
		return true
	}
	for _, t := range m.trains.current {
		if t.Number == run.Number && len(t.Calls) == len(run.Calls) && t.Calls[0].Depart == m.trains.clock(t.Zone, run) &&
			slices.ContainsFunc(t.Coaches, func(c traintravel.Coach) bool { return c.Number == b.Coach && b.Seat <= c.Seats }) {
			return false
		}
	}
	return true
}

// freeForBlock checks that nobody has for sure what was blocked.
func (m *Model) freeForBlock(told Told, run traintravel.Run, train runKey, s stay) {
	for _, o := range m.byTrain[train] {
		if !m.alive(o, told.End) || o.loose {
			continue
		}
		for _, l := range o.legs {
			if l.train == train && l.same(s) {
				m.Fail("S1", "seat %d in coach %s of %s was blocked, and booking %s has it", s.seat, s.coach, run.Number, world.Short(o.ID))
			}
		}
	}
	n := 0
	for _, o := range m.blocks[train] {
		if o.sure && o.same(s) {
			n++
		}
	}
	if n > 1 {
		m.Fail("S1", "seat %d in coach %s of %s was blocked twice", s.seat, s.coach, run.Number)
	}
}

// mayBeTaken reports whether somebody may have a place. Who has lost a call has it everywhere.
func (m *Model) mayBeTaken(run traintravel.Run, train runKey, s stay, at time.Time) bool {
	takes := func(o stay) bool {
		return o.coach == s.coach && o.seat == s.seat && (o.meets(s) || !m.has(run, o))
	}
	return m.lost > 0 || slices.ContainsFunc(m.blocks[train], func(b block) bool { return takes(b.stay) }) ||
		slices.ContainsFunc(m.byTrain[train], func(b *Booking) bool {
			return m.mayHaveLived(b, at) && slices.ContainsFunc(b.legs, func(l leg) bool { return l.train == train && takes(l.stay) })
		})
}

// Unblocking says that the operator begins to put a place back into sale.
func (m *Model) Unblocking(run traintravel.Run, b traintravel.Block) {
	train, s := m.trainOn(run), m.stayOf(run, b)
	for i := range m.blocks[train] {
		if o := &m.blocks[train][i]; o.stay == s {
			o.sure = false
		}
	}
}

// Unblocked is the answer to that, of a block that the manifest had before.
func (m *Model) Unblocked(told Told, run traintravel.Run, b traintravel.Block, err error) {
	train, s := m.trainOn(run), m.stayOf(run, b)
	switch {
	case err == nil:
		m.blocks[train] = slices.DeleteFunc(m.blocks[train], func(o block) bool { return o.stay == s })
	case Unanswered(err):
	case errors.Is(err, traintravel.ErrArrived):
		if told.last().Before(run.Calls[len(run.Calls)-1].Arrive) {
			m.Fail("A1", "the end of a block of %s was refused as arrived before it arrives", run.Number)
		}
	case m.mayBeChanged(run, b):
	default:
		m.Fail("A1", "the end of a block was answered with %v", err)
	}
}

// Manifested checks who travels on a run, as the operator sees it.
func (m *Model) Manifested(told Told, got traintravel.Manifest) {
	run := runKey{got.Run.ID.Train, got.Run.ID.Date}
	if m.closed[run] && !got.Run.Cancelled || got.Run.Cancelled && !m.closed[run] && !m.unsure[run] {
		m.Fail("A1", "the manifest of %s on %v says cancelled: %v", got.Run.Number, run.date, got.Run.Cancelled)
	}
	seen := map[uuid.UUID]traintravel.Rider{}
	for _, r := range got.Riders {
		b := m.bookings[r.Booking]
		switch {
		case b == nil && m.lost == 0:
			m.Fail("A1", "the manifest of %s on %v has booking %s, which nobody made", got.Run.Number, run.date, world.Short(r.Booking))
		case b != nil && !m.mayHaveLived(b, told.Begin):
			m.Fail("A1", "the manifest of %s on %v has booking %s, which is %v", got.Run.Number, run.date, world.Short(b.ID), b.can)
		case b != nil && stateOf(r.Status)&b.can == 0:
			m.Fail("A1", "the manifest of %s on %v has booking %s as %v, and it is %v", got.Run.Number, run.date, world.Short(b.ID), r.Status, b.can)
		}
		if _, twice := seen[r.Booking]; twice {
			m.Fail("A1", "the manifest of %s on %v has booking %s twice", got.Run.Number, run.date, world.Short(r.Booking))
		}
		seen[r.Booking] = r
	}
	for _, b := range m.byRun[run] {
		if !m.alive(b, told.End) {
			continue
		}
		for _, l := range b.legs {
			r, ok := seen[b.ID]
			switch {
			case l.run != run:
			case !ok:
				m.Fail("A1", "the manifest of %s on %v lacks booking %s, which is %v", got.Run.Number, run.date, world.Short(b.ID), b.can)
			case !m.mayBePaid(b) && !b.loose && (r.Coach != l.coach || r.Seat != l.seat): // paid late, it may have another
				m.Fail("A1", "the manifest of %s on %v has booking %s on seat %d in coach %s, not %d in %s", got.Run.Number, run.date, world.Short(b.ID), r.Seat, r.Coach, l.seat, l.coach)
			}
		}
	}
	m.manifestBlocks(got)
	m.sections(got)
}

// manifestBlocks compares the blocks of a manifest with those that the operator has made.
func (m *Model) manifestBlocks(got traintravel.Manifest) {
	train := m.trainOn(got.Run)
	var shown []stay
	for _, b := range got.Blocks {
		s := m.stayOf(got.Run, b)
		if shown = append(shown, s); !slices.ContainsFunc(m.blocks[train], func(o block) bool { return o.stay == s }) {
			m.Fail("A1", "the manifest of %s has a block of seat %d in coach %s that nobody made", got.Run.Number, b.Seat, b.Coach)
		}
	}
	for _, b := range m.blocks[train] {
		if b.sure && m.has(got.Run, b.stay) && !slices.Contains(shown, b.stay) {
			m.Fail("A1", "the manifest of %s lacks the block of seat %d in coach %s", got.Run.Number, b.seat, b.coach)
		}
	}
}

// has reports whether a run has a place and both calls of a stay.
func (m *Model) has(run traintravel.Run, s stay) bool {
	calls := 0
	for i := range run.Calls {
		at := m.trains.place[run.Calls[i].Station]
		if s.to <= 0 && s.from < 0 {
			at = -at
		}
		if at == s.from || at == s.to {
			calls++
		}
	}
	return calls == 2 && slices.ContainsFunc(run.Coaches, func(c traintravel.Coach) bool { return c.Number == s.coach && s.seat <= c.Seats })
}

// sections checks the sums of a manifest.
func (m *Model) sections(got traintravel.Manifest) {
	for i, s := range got.Sections {
		var confirmed, held int
		for _, r := range got.Riders {
			switch {
			case !r.Stranded && (i < r.Board || i >= r.Alight):
			case r.Status == traintravel.Confirmed:
				confirmed++
			default:
				held++
			}
		}
		if s.Confirmed != confirmed || s.Held != held || s.Free < 0 {
			m.Fail("A1", "the manifest of %s has %+v between its calls %d and %d, and lists %d confirmed and %d held", got.Run.Number, s, i, i+1, confirmed, held)
		}
	}
}
