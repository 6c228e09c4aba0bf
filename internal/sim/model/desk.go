package model

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// Closing says that the operator begins to cancel a run.
func (m *Model) Closing(id traintravel.RunID) {
	run := runKey{id.Train, id.Date}
	for _, b := range m.byRun[run] {
		b.standing = b.on(run) && m.alive(b, time.Now())
		if b.can&(Held|Confirmed) != 0 && b.on(run) {
			b.runClosed = true
			m.pass(b, time.Now())
		}
	}
	m.unsure[run] = true
}

func (b *Booking) on(run runKey) bool {
	return slices.ContainsFunc(b.legs, func(l leg) bool { return l.run == run })
}

// Closed is the answer to the cancellation of a run. arrives is when it arrives by the
// timetable, zero if that is not known.
func (m *Model) Closed(told Told, id traintravel.RunID, arrives time.Time, got traintravel.RunCancellation, err error) {
	run := runKey{id.Train, id.Date}
	switch {
	case Unanswered(err):
		delete(m.closed, run)
		return
	case errors.Is(err, traintravel.ErrArrived):
		if m.closed[run] || !arrives.IsZero() && told.last().Before(arrives) {
			m.Fail("A1", "the run of %v could not be cancelled as arrived, and arrives at %v", id, arrives)
		}
	case errors.Is(err, traintravel.ErrNotFound):
		for _, b := range m.byRun[run] {
			if b.on(run) && m.alive(b, told.End) && b.legs[0].seat > 0 {
				m.Fail("A1", "the run of %v was not found, and booking %s is on it", id, world.Short(b.ID))
			}
		}
	case err != nil:
		m.Fail("A1", "the cancellation of a run was answered with %v", err)
	default:
		m.closedNow(told, run, got)
		return
	}
	if !m.closed[run] { // nothing was done, but perhaps by a call that had no answer
		m.unsure[run] = true
	}
}

// closedNow is the answer that a run is cancelled, with all bookings on it.
func (m *Model) closedNow(told Told, run runKey, got traintravel.RunCancellation) {
	least, most := 0, m.lost
	for _, b := range m.byRun[run] {
		if !b.on(run) || b.can&(Held|Confirmed) == 0 {
			continue
		}
		if most++; b.standing {
			least++
		}
		next := Cancelled
		if b.can&Expired != 0 || b.can&Held != 0 && !told.last().Add(m.terms.Skew).Before(b.Expires) {
			next |= Expired
		}
		if b.can = next; next == Cancelled && b.stopped == 0 && !b.byOwner {
			b.byDesk = true
		}
	}
	m.closed[run] = true
	delete(m.unsure, run)
	if got.Bookings < least || got.Bookings > most {
		m.Fail("A1", "the cancellation of a run says that it cancelled %d bookings, and %d to %d were on it", got.Bookings, least, most)
	}
}

// Opening says that the operator begins to put a run back into sale, and Opened is the answer.
func (m *Model) Opening(id traintravel.RunID) {
	run := runKey{id.Train, id.Date}
	for _, b := range m.byRun[run] {
		m.pass(b, time.Now())
	}
}

// Opened is the answer to a run's way back into sale.
func (m *Model) Opened(id traintravel.RunID, err error) {
	run := runKey{id.Train, id.Date}
	switch {
	case err == nil:
		if !m.closed[run] && !m.unsure[run] {
			m.Fail("A1", "the run of %v was put back into sale, and was not cancelled", id)
		}
		delete(m.closed, run)
		delete(m.unsure, run)
	case Unanswered(err):
		if m.closed[run] {
			delete(m.closed, run)
			m.unsure[run] = true
		}
	case errors.Is(err, traintravel.ErrNotFound):
		if m.closed[run] {
			m.Fail("A1", "the run of %v is cancelled, and was not found to be", id)
		}
		delete(m.unsure, run)
	default:
		m.Fail("A1", "a run's way back into sale was answered with %v", err)
	}
}

// Erasing says that the operator begins to erase a user.
func (m *Model) Erasing(owner string) {
	for _, b := range m.order {
		if b.Owner == owner && b.erased == 0 && m.mayBeOver(b, time.Now()) {
			b.erased = perhaps
		}
	}
}

// mayBeOver reports whether a booking may be over: nobody travels on it any more.
func (m *Model) mayBeOver(b *Booking, at time.Time) bool {
	m.pass(b, at)
	return b.can&over != 0 || !at.Add(m.terms.Skew).Before(b.Arrives)
}

// Erased is the answer to a user's erasure.
func (m *Model) Erased(told Told, owner string, got traintravel.Erasure, err error) {
	if Unanswered(err) {
		return
	}
	if err != nil || got.Unreadable > 0 {
		m.Fail("A1", "the erasure of %s was answered with %v, %+v", owner, err, got)
		return
	}
	for _, b := range m.order {
		if b.Owner != owner || b.erased == certain {
			continue
		}
		kept := slices.Contains(got.Kept, b.ID)
		needed := m.alive(b, told.End) && told.last().Before(b.Arrives)
		over := b.can&^over == 0 || b.can == Confirmed && !told.first().Before(b.Arrives)
		quiet := b.asked == 0 && !slices.ContainsFunc(b.attempts, func(a *Attempt) bool {
			return told.Begin.Sub(a.At) < m.terms.PendingFor+10*24*time.Hour && a.Status != traintravel.Succeeded
		})
		switch {
		case kept && over && quiet:
			m.Fail("A1", "the erasure of %s kept booking %s, which is %v", owner, world.Short(b.ID), b.can)
		case !kept && needed:
			m.Fail("A1", "the erasure of %s did not keep booking %s, which is %v", owner, world.Short(b.ID), b.can)
		case kept:
			b.erased = 0
		default: // or removed long ago
			b.erased = certain
		}
	}
}

// Exported checks all that the store has of a user.
func (m *Model) Exported(told Told, owner string, got traintravel.SubjectData, err error) {
	if err != nil {
		if !Unanswered(err) {
			m.Fail("A1", "an export was answered with %v", err)
		}
		return
	}
	seen := map[uuid.UUID]bool{}
	for _, h := range got.Bookings {
		seen[h.Booking.ID] = true
		b := m.bookings[h.Booking.ID]
		switch {
		case h.Booking.Owner.ID != owner:
			m.Fail("O1", "the data of %s have booking %s of %s", owner, world.Short(h.Booking.ID), h.Booking.Owner.ID)
		case b == nil && m.lost == 0:
			m.Fail("O1", "the data of %s have booking %s, which nobody made", owner, world.Short(h.Booking.ID))
		case b != nil && b.erased == certain:
			m.Fail("A1", "the data of %s have booking %s, which was erased", owner, world.Short(b.ID))
		case b != nil:
			m.sameFacts(b, h.Booking)
		}
	}
	for _, b := range m.order {
		if b.Owner == owner && !seen[b.ID] && !m.mayBeErased(b, told.last()) && !m.Removable(b, told.End) {
			m.Fail("O1", "the data of %s lack booking %s, which is %v", owner, world.Short(b.ID), b.can)
		}
	}
}

// Nameless checks that nothing says any more whose an erased booking was.
func (m *Model) Nameless(b *Booking, got traintravel.Booking) {
	if b.erased == certain && !forgotten(got) {
		m.Fail("A1", "booking %s was erased, and is of %q for %q", world.Short(b.ID), got.Owner.ID, got.PassengerName)
	}
	if forgotten(got) && !m.mayBeErased(b, time.Now()) {
		m.Fail("A1", "booking %s has lost its owner, and nobody erased it", world.Short(b.ID))
	}
}
