package traintravel

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// A Trip is what is searched and sold: a journey from one station to another
// on one to four trains, on a given day.
type Trip struct {
	ID    uuid.UUID
	Legs  []Leg // one to four
	Price Money
	// Bicycles and Dogs are allowed if every leg is known to allow them, and
	// not allowed if one is known not to.
	Bicycles, Dogs Allowance
	// Reserved says that at least one leg has numbered places, of which Seats
	// are left on the leg that has fewest. A trip on unreserved trains alone
	// takes any number.
	Reserved bool
	Seats    int
}

// A Leg is a ride on one train without a change.
type Leg struct {
	Run         RunID
	Operator    string
	Number      string // the train's, as shown to travellers; may be empty
	Origin      Stop
	Destination Stop
	// Coach and Seat are the place of a booking; empty and zero on an
	// unreserved train, and in a search.
	Coach string
	Seat  int
	// Board and Alight are the indexes of the run's calls at which the leg
	// begins and ends, in the timetable it was found in.
	Board, Alight int
}

// A Stop is one end of a leg. Time is in the time zone of the station. In a
// booking, Station may be one of the station's OtherIDs.
type Stop struct {
	Station uuid.UUID
	Name    string
	Time    time.Time
}

// A RunID names a train on one service date. Train is its identity, a version
// 8 UUID made from what makes it known again in later timetables (see [Train]).
// Nobody else has a booking's place on its run, unless the booking is stranded
// (see [LoadReport]): then the run may be that of a train that took it over.
type RunID struct {
	Train uuid.UUID
	Date  Date
}

// String returns the run in the form 2026-12-31/uuid.
func (r RunID) String() string { return fmt.Sprintf("%v/%v", r.Date, r.Train) }

// Origin is where the trip begins.
func (t Trip) Origin() Stop { return t.Legs[0].Origin }

// Destination is where the trip ends.
func (t Trip) Destination() Stop { return t.Legs[len(t.Legs)-1].Destination }

// A ride is a leg found in a snapshot.
type ride struct {
	train  *train
	date   Date
	board  int
	alight int
}

func (r ride) departs() time.Time { return r.train.departs(r.date, r.board) }
func (r ride) arrives() time.Time { return r.train.arrives(r.date, r.alight) }
func (r ride) run() RunID         { return r.train.run(r.date) }

// tripID is the ID of a trip of these rides, which connect accepts.
func tripID(rides []ride) uuid.UUID {
	c := tripCode{date: rides[0].date, board: rides[0].board, alight: rides[len(rides)-1].alight, legs: len(rides)}
	for i, r := range rides {
		c.numbers[i] = r.train.number
	}
	return c.id()
}

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

// trip makes what a traveller sees of rides: without a price and seats.
func (sn *snapshot) trip(rides []ride) Trip {
	t := Trip{ID: tripID(rides), Legs: make([]Leg, len(rides)), Bicycles: Allowed, Dogs: Allowed}
	for i, r := range rides {
		t.Legs[i] = sn.leg(r)
		t.Bicycles = t.Bicycles.and(r.train.bicycles)
		t.Dogs = t.Dogs.and(r.train.dogs)
		t.Reserved = t.Reserved || r.train.places > 0
	}
	return t
}

func (sn *snapshot) leg(r ride) Leg {
	return Leg{
		Run: r.run(), Operator: r.train.operator, Number: r.train.name, Board: r.board, Alight: r.alight,
		Origin:      sn.stop(r.train.station(r.board), r.departs()),
		Destination: sn.stop(r.train.station(r.alight), r.arrives()),
	}
}

func (sn *snapshot) stop(station int32, at time.Time) Stop {
	s := &sn.stations[station]
	return Stop{Station: s.ID, Name: s.Name, Time: at.In(sn.locations[station])}
}

// called is the ID by which a call of a train names its station.
func (sn *snapshot) called(t *train, call int) uuid.UUID {
	if t.named != nil {
		return t.named[call]
	}
	return sn.stations[t.station(call)].ID
}

// and is what holds for two legs: both must be known to allow it.
func (a Allowance) and(b Allowance) Allowance {
	switch {
	case a == NotAllowed || b == NotAllowed:
		return NotAllowed
	case a == Unknown || b == Unknown:
		return Unknown
	}
	return Allowed
}

// farePrice adds up the fares of the legs. It returns false if a leg has none
// or they are in different currencies: such a trip is not for sale.
func farePrice(rides []ride) (Money, bool) {
	price := Money{Currency: rides[0].train.currency()}
	for _, r := range rides {
		if c := r.train.currency(); c == "" || c != price.Currency || !r.train.priced(r.board, r.alight) {
			return Money{}, false
		}
		price.Amount += r.train.costs(r.board, r.alight)
	}
	return price, true
}

// currency is that in which rides on the train are sold, empty if none is.
func (t *train) currency() string {
	if t.prices != nil {
		return t.prices.Currency
	}
	return t.fare.Currency
}

// priced says whether a ride has a price, if any ride on the train has one.
func (t *train) priced(board, alight int) bool {
	return t.prices == nil || t.prices.amount(board, alight) > 0
}

// costs is the price of a ride, in minor units.
func (t *train) costs(board, alight int) int64 {
	if t.prices != nil {
		return t.prices.amount(board, alight)
	}
	metres := int64(t.stops[alight].Metres - t.stops[board].Metres)
	return t.fare.Base + (t.fare.PerKm*metres+500)/1000
}
