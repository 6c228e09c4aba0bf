package model

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// A runKey is a train on a date.
type runKey struct {
	train uuid.UUID
	date  traintravel.Date
}

func runOf(l traintravel.Leg) runKey { return runKey{l.Run.Train, l.Run.Date} }

// A stay is a place on a run for a part of its way. From and to are where stations stand on
// the line, so that they mean the same in every timetable; from is below to.
type stay struct {
	coach    string
	seat     int
	from, to int
	bicycle  bool
}

func (s stay) meets(o stay) bool { return s.from < o.to && o.from < s.to }

// same reports whether both have a place in common.
func (s stay) same(o stay) bool { return s.coach == o.coach && s.seat == o.seat && s.meets(o) }

// A leg is a ride of a booking.
type leg struct {
	run            runKey
	train          runKey // the run by the train that it is in all timetables
	number         string
	departs, comes time.Time
	stay
}

// equal reports whether what never changes about a leg is the same.
func (l leg) equal(o leg) bool {
	return l.train == o.train && l.number == o.number && l.from == o.from && l.to == o.to && l.departs.Equal(o.departs) && l.comes.Equal(o.comes)
}

func (m *Model) legsOf(b *traintravel.Booking) (legs []leg) {
	for _, l := range b.Legs {
		from, to := m.trains.way(l.Origin.Station, l.Destination.Station)
		legs = append(legs, leg{
			run: runOf(l), train: runKey{m.trains.trainOf(l), l.Run.Date}, number: l.Number, departs: l.Origin.Time, comes: l.Destination.Time,
			stay: stay{l.Coach, l.Seat, from, to, b.HasBicycle},
		})
	}
	return legs
}

// seated checks that nobody else has the places of a booking that is alive.
func (m *Model) seated(b *Booking, at time.Time) {
	m.hooked(b, at)
	for _, l := range b.legs {
		if l.seat == 0 {
			continue
		}
		for _, o := range m.byTrain[l.train] {
			if o == b || b.loose || !m.alive(o, at) || o.loose {
				continue
			}
			for _, taken := range o.legs {
				if taken.train == l.train && taken.same(l.stay) {
					m.Fail("S1", "seat %d in coach %s of %s on %v is sold to bookings %s (%v) and %s (%v)",
						l.seat, l.coach, l.number, l.run.date, world.Short(o.ID), o.can, world.Short(b.ID), b.can)
				}
			}
		}
		for _, blocked := range m.blocks[l.train] {
			if blocked.sure && blocked.same(l.stay) {
				m.Fail("S1", "seat %d in coach %s of %s on %v is blocked and sold to booking %s", l.seat, l.coach, l.number, l.run.date, world.Short(b.ID))
			}
		}
	}
}

// soldOut checks that a trip has indeed no place for sale.
func (m *Model) soldOut(trip traintravel.Trip, told Told) {
	if m.trains.unsure || m.lost > 0 {
		return
	}
	for _, l := range trip.Legs { // while it was refused, a booking may have got other places
		if slices.ContainsFunc(m.byRun[runOf(l)], func(b *Booking) bool { return b.moved.After(told.Begin) }) {
			return
		}
	}
	for _, l := range trip.Legs {
		train, run := m.trains.running(l), runOf(l)
		if train == nil || !m.trains.sells(l, told) || m.closed[run] || m.unsure[run] {
			return
		}
		if len(train.Coaches) == 0 {
			continue
		}
		wanted := stay{}
		wanted.from, wanted.to = m.trains.way(l.Origin.Station, l.Destination.Station)
		on := runKey{m.trains.trainOf(l), run.date}
		if m.freePlaces(on, train, wanted, told.Begin) <= m.wanderers(on, wanted) {
			return
		}
	}
	if len(trip.Legs) > 0 {
		m.Fail("S2", "the trip of %s on %v was refused as sold out, and every leg has a free place", trip.Legs[0].Number, trip.Legs[0].Run.Date)
	}
}

// freePlaces is how many places are free for sure, from an instant until now, but for those that
// wanderers may have got.
func (m *Model) freePlaces(train runKey, is *traintravel.Train, wanted stay, at time.Time) (n int) {
	// Who loses a call keeps the place, and nobody can say any more on which part of the way.
	takes := func(s stay) bool {
		return s.coach == wanted.coach && s.seat == wanted.seat && (s.meets(wanted) || !m.trains.calls(is, s))
	}
	for _, c := range is.Coaches {
		for seat := 1; seat <= c.Seats; seat++ {
			wanted.coach, wanted.seat = c.Number, seat
			taken := slices.ContainsFunc(m.blocks[train], func(b block) bool { return takes(b.stay) }) || slices.ContainsFunc(m.byTrain[train], func(b *Booking) bool {
				return m.mayHaveLived(b, at) && slices.ContainsFunc(b.legs, func(l leg) bool { return l.train == train && takes(l.stay) })
			})
			if !taken {
				n++
			}
		}
	}
	return n
}

// wanderers is how many bookings may have other places of a train than it is known: their holds
// may have ended, and their payments may have come late and found them places again.
func (m *Model) wanderers(train runKey, wanted stay) (n int) {
	for _, b := range m.byTrain[train] {
		late := b.loose && b.can&Confirmed != 0 || b.can&Expired != 0 && m.mayBePaid(b)
		if late && slices.ContainsFunc(b.legs, func(l leg) bool { return l.train == train && l.meets(wanted) }) {
			n++
		}
	}
	return n
}

// sold writes down which trains a new booking is on.
func (m *Model) sold(b *Booking, replayed bool) {
	for _, l := range b.legs {
		switch {
		case replayed: // the run may have been cancelled since
			b.runClosed = b.runClosed || m.closed[l.run] || m.unsure[l.run]
		case m.closed[l.run]:
			m.Fail("S3", "booking %s was sold on %s on %v, which is cancelled", world.Short(b.ID), l.number, l.run.date)
		default:
			delete(m.unsure, l.run)
		}
	}
	m.place(b)
}

// place lists a booking with its runs and its trains.
func (m *Model) place(b *Booking) {
	for _, l := range b.legs {
		if !slices.Contains(m.byRun[l.run], b) {
			m.byRun[l.run] = append(m.byRun[l.run], b)
		}
		if !slices.Contains(m.byTrain[l.train], b) {
			m.byTrain[l.train] = append(m.byTrain[l.train], b)
		}
	}
}

// moved writes down the places that a booking has now.
func (m *Model) moved(b *Booking, got *traintravel.Booking) {
	b.legs, b.loose = m.legsOf(got), false
	m.place(b)
}

// refer checks that no other booking has the reference of a new one. That of a booking that was
// removed may be given again.
func (m *Model) refer(b *Booking) {
	if o := m.names[b.Reference]; o != nil && b.Reference != "" && !m.Removable(o, time.Now()) {
		m.Fail("B1", "bookings %s and %s have the reference %s", world.Short(o.ID), world.Short(b.ID), b.Reference)
	}
	m.names[b.Reference] = b
}

// barred reports whether a run of the booking is cancelled for sure, so that nobody gets a
// place on it again.
func (m *Model) barred(b *Booking) bool {
	return slices.ContainsFunc(b.legs, func(l leg) bool { return m.closed[l.run] })
}

// calls reports whether a train calls where a stay begins and where it ends.
func (ts *trains) calls(t *traintravel.Train, s stay) bool {
	n := 0
	for _, c := range t.Calls {
		if at := ts.place[c.Station]; at == max(s.from, -s.from) || at == max(s.to, -s.to) {
			n++
		}
	}
	return n == 2
}

// sells reports whether the current timetable has a leg as it was offered, for sure and for long
// enough that all servers know.
func (ts *trains) sells(l traintravel.Leg, told Told) bool {
	return !ts.unsure && told.Begin.Sub(ts.since) > 3*time.Second && ts.running(l) != nil
}
