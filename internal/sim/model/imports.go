package model

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// Loaded says that a timetable was loaded, or perhaps, without an answer.
func (m *Model) Loaded(t *traintravel.Timetable, answered bool) {
	m.hooks.loaded(t)
	ts := &m.trains
	if len(ts.place) == 0 {
		for i, s := range t.Stations {
			ts.place[s.ID] = i
		}
	}
	numbers := map[string]bool{}
	for _, train := range t.Trains {
		ts.twins[train.Number] = ts.twins[train.Number] || numbers[train.Number]
		numbers[train.Number] = true
		if !ts.has(&train) {
			ts.past = append(ts.past, train)
		}
	}
	ts.since = time.Now()
	if ts.unsure = !answered; answered {
		ts.current = t.Trains
	}
}

// Stranded checks which bookings an import says that the new timetable does not fit. Only those
// with a place are meant: nobody counts who travels on a train without numbered places.
func (m *Model) Stranded(told Told, t *traintravel.Timetable, got traintravel.LoadReport) {
	if got.Unreadable > 0 || got.Trains != len(t.Trains) || got.Stations != len(t.Stations) {
		m.Fail("A1", "an import of %d trains reports %+v", len(t.Trains), got)
	}
	listed := map[uuid.UUID][]traintravel.Stranded{}
	for _, s := range got.Stranded {
		listed[s.Booking] = append(listed[s.Booking], s)
		if b := m.bookings[s.Booking]; b != nil && b.can == Cancelled && b.flying == 0 {
			m.Fail("A1", "an import reports booking %s as stranded, which is cancelled", world.Short(b.ID))
		}
	}
	soon := told.first().Add(-2 * m.terms.Skew)
	for _, b := range m.order {
		if !soon.Before(b.Arrives) || !m.alive(b, told.End) || b.flying > 0 {
			continue
		}
		for _, l := range b.legs {
			if l.seat == 0 || b.loose || !soon.Before(l.departs) || m.mayBePaid(b) && !b.confirmed {
				continue
			}
			is := slices.ContainsFunc(listed[b.ID], func(s traintravel.Stranded) bool { return s.Run.Date == l.run.date && s.Leg.Number == l.number })
			if fits := m.trains.fits(t, l); fits == is {
				m.Fail("A1", "an import reports booking %s as stranded on %s: %v; the timetable has its place: %v", world.Short(b.ID), l.number, is, fits)
			}
		}
	}
}

// fits reports whether a timetable has the train, the calls and the place of a leg.
func (ts *trains) fits(t *traintravel.Timetable, l leg) bool {
	for i := range t.Trains {
		train := &t.Trains[i]
		if train.Number != l.number || ts.seen[nameOf(train)] != l.train.train {
			continue
		}
		if ts.calls(train, l.stay) && slices.ContainsFunc(train.Coaches, func(c traintravel.Coach) bool { return c.Number == l.coach && l.seat <= c.Seats }) {
			return true
		}
	}
	return false
}

// OnTwins are the bookings on trains that some timetable has two of.
func (m *Model) OnTwins() (bs []*Booking) {
	now := time.Now()
	for _, b := range m.order {
		on := now.Before(b.Arrives) && slices.ContainsFunc(b.legs, func(l leg) bool { return m.trains.twins[l.number] })
		if on && m.mayLive(b, now) {
			bs = append(bs, b)
		}
	}
	return bs
}

// Found checks a booking as the operator sees it, and writes down which run it is on now.
func (m *Model) Found(_ Told, b *Booking, got traintravel.Booking) {
	m.sameFacts(b, got)
	m.moved(b, &got)
}
