package model

import (
	"slices"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// hooks is for how many bicycles trains have places, by number: none is here that has had another
// number of them in some timetable, or other calls.
type hooks struct {
	first  map[string]traintravel.Train
	varies map[string]bool
	since  time.Time // of the last timetable
}

func (h *hooks) loaded(t *traintravel.Timetable) {
	if h.first == nil {
		h.first, h.varies = map[string]traintravel.Train{}, map[string]bool{}
	}
	seen := map[string]bool{}
	for _, train := range t.Trains {
		n := train.Number
		was, known := h.first[n]
		if !known {
			h.first[n] = train
		}
		h.varies[n] = h.varies[n] || seen[n] || known && (was.Hooks != train.Hooks || len(was.Calls) != len(train.Calls))
		seen[n] = true
	}
	h.since = time.Now()
}

// of returns for how many bicycles a train has places, zero if it carries any number.
func (h *hooks) of(number string) (n int, sure bool) {
	t, known := h.first[number]
	return t.Hooks, known && !h.varies[number]
}

// hooked checks that a train has a place for each of the bicycles that ride at the same time as
// that of a booking.
func (m *Model) hooked(b *Booking, at time.Time) {
	for _, l := range b.legs {
		hooks, sure := m.hooks.of(l.number)
		if !l.bicycle || hooks == 0 || !sure {
			continue
		}
		alive := func(o *Booking) bool { return o != b && m.alive(o, at) }
		if n := m.bicycles(l.run, l.stay, alive); n >= hooks {
			m.Fail("S1", "%s on %v takes %d bicycles at a time with that of booking %s, and has places for %d", l.number, l.run.date, n+1, world.Short(b.ID), hooks)
		}
	}
}

// bicycles is how many bicycles of some bookings ride on a run at the same time, at most, during a
// stay.
func (m *Model) bicycles(run runKey, during stay, of func(*Booking) bool) (most int) {
	var rides []stay
	for _, o := range m.byRun[run] {
		for _, l := range o.legs {
			if l.run == run && l.bicycle && l.meets(during) && of(o) {
				rides = append(rides, l.stay)
			}
		}
	}
	for _, r := range append(rides, during) { // the most are there where one of them begins
		at, n := during.from, 0
		if at < r.from {
			at = r.from
		}
		for _, o := range rides {
			if at >= o.from && at < o.to {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// noHook checks that some leg of a trip has indeed no place for one more bicycle.
func (m *Model) noHook(trip traintravel.Trip, told Told) {
	if m.lost > 0 || m.trains.unsure || !m.hooks.since.Before(told.Begin) {
		return
	}
	for _, l := range trip.Legs {
		hooks, sure := m.hooks.of(l.Number)
		may := func(b *Booking) bool { return m.mayHaveLived(b, told.Begin) }
		if !sure || m.closed[runOf(l)] || m.unsure[runOf(l)] || hooks > 0 && m.bicycles(runOf(l), m.trains.wayOf(l), may) >= hooks {
			return
		}
	}
	if len(trip.Legs) > 0 {
		m.Fail("S2", "a bicycle was refused on the trip of %s on %v, and every leg has a place for one", trip.Legs[0].Number, trip.Legs[0].Run.Date)
	}
}

// wayOf is where on the line a leg is.
func (ts *trains) wayOf(l traintravel.Leg) stay {
	from, to := ts.way(l.Origin.Station, l.Destination.Station)
	return stay{from: from, to: to}
}

// exist checks that the trains have the places that were just sold.
func (m *Model) exist(b traintravel.Booking, told Told) {
	if m.trains.unsure || !m.hooks.since.Before(told.Begin) {
		return
	}
	for _, l := range b.Legs {
		train := m.trains.running(l)
		if train == nil {
			continue
		}
		there := len(train.Coaches) == 0 && l.Seat == 0 || slices.ContainsFunc(train.Coaches, func(c traintravel.Coach) bool {
			return c.Number == l.Coach && 1 <= l.Seat && l.Seat <= c.Seats
		})
		if !there {
			m.Fail("S1", "booking %s has seat %d in coach %q of %s, and the train has %v", world.Short(b.ID), l.Seat, l.Coach, l.Number, train.Coaches)
		}
	}
}
