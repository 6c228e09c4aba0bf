package traintravel

import "github.com/google/uuid"

// resolve finds the rides that a trip's ID means in this timetable: the trains
// run on the date with the calls they had when the ID was made, travellers may
// board, change and alight where it says, and end elsewhere than they began.
// Anything else is ErrNotFound.
func (sn *snapshot) resolve(id uuid.UUID) ([]ride, error) {
	code, ok := parseTripID(id)
	if !ok {
		return nil, ErrNotFound
	}
	rides := sn.coded(code)
	if rides == nil {
		return nil, ErrNotFound
	}
	last := rides[len(rides)-1]
	if last.train.station(last.alight) == rides[0].train.station(rides[0].board) {
		return nil, ErrNotFound // a way round, which no search finds
	}
	return rides, nil
}

// coded finds the rides that a code means; nil if there are none.
func (sn *snapshot) coded(code tripCode) []ride {
	first, ok := sn.numbered(code.numbers[0], code.date)
	if !ok || code.board >= len(first.stops) || !first.boards(code.board) {
		return nil
	}
	if code.legs == 1 {
		if !first.rideable(code.board, code.alight) {
			return nil
		}
		return []ride{{first, code.date, code.board, code.alight}}
	}
	return sn.connect(ride{train: first, date: code.date, board: code.board}, code.numbers[1:code.legs], code.alight)
}

// canonical is the trip that the ID of a journey means: the same trains, changed
// where connect says. It arrives no later.
func (sn *snapshot) canonical(rides []ride) []ride {
	if len(rides) == 1 {
		return rides
	}
	numbers := make([]uint32, 0, maxLegs)
	for _, r := range rides[1:] {
		numbers = append(numbers, r.train.number)
	}
	return sn.connect(rides[0], numbers, rides[len(rides)-1].alight)
}
