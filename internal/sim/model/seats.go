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

// A stay is a place on a run for a while.
type stay struct {
	coach    string
	seat     int
	from, to time.Time
	bicycle  bool
}

func (s stay) meets(o stay) bool { return s.from.Before(o.to) && o.from.Before(s.to) }

// A leg is a ride of a booking.
type leg struct {
	run    runKey
	number string
	stay
}

func legsOf(b *traintravel.Booking) (legs []leg) {
	for _, l := range b.Legs {
		legs = append(legs, leg{runOf(l), l.Number, stay{l.Coach, l.Seat, l.Origin.Time, l.Destination.Time, b.HasBicycle}})
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
		for _, o := range m.byRun[l.run] {
			if o == b || !m.alive(o, at) {
				continue
			}
			for _, taken := range o.legs {
				if taken.run == l.run && taken.coach == l.coach && taken.seat == l.seat && taken.meets(l.stay) {
					m.Fail("S1", "seat %d in coach %s of %s on %v is sold to bookings %s (%v) and %s (%v)",
						l.seat, l.coach, l.number, l.run.date, world.Short(o.ID), o.can, world.Short(b.ID), b.can)
				}
			}
		}
		for _, blocked := range m.blocks[l.run] {
			if blocked.coach == l.coach && blocked.seat == l.seat && blocked.meets(l.stay) {
				m.Fail("S1", "seat %d in coach %s of %s on %v is blocked and sold to booking %s", l.seat, l.coach, l.number, l.run.date, world.Short(b.ID))
			}
		}
	}
}

// trains is what the model knows of the timetables that were loaded.
type trains struct {
	// seats is the places of trains by number, of the current timetable.
	seats map[string][]traintravel.Coach
	// unsure says that it is not known which timetable is current.
	unsure bool
}

// Loaded says that a timetable was loaded, or perhaps, without an answer.
func (m *Model) Loaded(t *traintravel.Timetable, answered bool) {
	m.trains = trains{seats: map[string][]traintravel.Coach{}, unsure: !answered}
	for _, train := range t.Trains {
		m.trains.seats[train.Number] = train.Coaches
	}
	m.hooks.loaded(t)
}

// soldOut checks that a trip has indeed no place for sale.
func (m *Model) soldOut(trip traintravel.Trip, told Told) {
	if m.trains.unsure || m.lost > 0 {
		return
	}
	for _, l := range trip.Legs {
		coaches, run := m.trains.seats[l.Number], runOf(l)
		if len(coaches) == 0 || m.closed[run] {
			continue
		}
		wanted := stay{from: l.Origin.Time, to: l.Destination.Time}
		if !m.freePlace(run, coaches, wanted, told.Begin) {
			return
		}
	}
	if len(trip.Legs) > 0 {
		m.Fail("S2", "the trip of %s on %v was refused as sold out, and every leg has a free place", trip.Legs[0].Number, trip.Legs[0].Run.Date)
	}
}

// freePlace reports whether a place is free for sure.
func (m *Model) freePlace(run runKey, coaches []traintravel.Coach, wanted stay, at time.Time) bool {
	for _, c := range coaches {
		for seat := 1; seat <= c.Seats; seat++ {
			takes := func(s stay) bool { return s.coach == c.Number && s.seat == seat && s.meets(wanted) }
			taken := slices.ContainsFunc(m.blocks[run], takes) || slices.ContainsFunc(m.byRun[run], func(b *Booking) bool {
				return m.mayLive(b, at) && slices.ContainsFunc(b.legs, func(l leg) bool { return l.run == run && takes(l.stay) })
			})
			if !taken {
				return true
			}
		}
	}
	return false
}
