package timetable

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
)

// Resolve finds the rides that a trip's ID means in this timetable: the trains
// run on the date with the calls they had when the ID was made, travellers may
// board, change and alight where it says, and end elsewhere than they began.
// Anything else is ErrNotFound.
func (sn *Snapshot) Resolve(id uuid.UUID) ([]Ride, error) {
	code, ok := ParseTripID(id)
	if !ok {
		return nil, rail.ErrNotFound
	}
	rides := sn.coded(code)
	if rides == nil {
		return nil, rail.ErrNotFound
	}
	last := rides[len(rides)-1]
	if last.Train.Station(last.Alight) == rides[0].Train.Station(rides[0].Board) {
		return nil, rail.ErrNotFound // a way round, which no search finds
	}
	return rides, nil
}

// coded finds the rides that a code means; nil if there are none.
func (sn *Snapshot) coded(code TripCode) []Ride {
	first, ok := sn.numbered(code.Numbers[0], code.date)
	if !ok || code.board >= len(first.Stops) || !first.boards(code.board) {
		return nil
	}
	if code.Legs == 1 {
		if !first.Rideable(code.board, code.Alight) {
			return nil
		}
		return []Ride{{first, code.date, code.board, code.Alight}}
	}
	return sn.connect(Ride{Train: first, Date: code.date, Board: code.board}, code.Numbers[1:code.Legs], code.Alight)
}

// Canonical is the trip that the ID of a journey means: the same trains, changed
// where connect says. It arrives no later.
func (sn *Snapshot) Canonical(rides []Ride) []Ride {
	if len(rides) == 1 {
		return rides
	}
	numbers := make([]uint32, 0, rail.MaxLegs)
	for _, r := range rides[1:] {
		numbers = append(numbers, r.Train.number)
	}
	return sn.connect(rides[0], numbers, rides[len(rides)-1].Alight)
}
