package traintravel

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/raptor"
)

// A ride is a leg found in a snapshot.
type ride struct {
	train  *train
	date   Date
	board  int
	alight int
}

func (r ride) departs() time.Time { return r.train.departs(r.date, r.board) }

func (r ride) arrives() time.Time { return r.train.arrives(r.date, r.alight) }

func (r ride) run() RunID { return r.train.run(r.date) }

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

// trip makes what a traveller sees of rides: without a price and seats.
func (sn *snapshot) trip(rides []ride) Trip {
	t := Trip{ID: tripID(rides), Legs: make([]Leg, len(rides)), Bicycles: Allowed, Dogs: Allowed}
	for i, r := range rides {
		t.Legs[i] = sn.leg(r)
		t.Bicycles = bothAllow(t.Bicycles, r.train.bicycles)
		t.Dogs = bothAllow(t.Dogs, r.train.dogs)
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

// rides are what the network's legs mean.
func (sn *snapshot) rides(legs []raptor.Leg) []ride {
	rides := make([]ride, len(legs))
	for i, l := range legs {
		rides[i] = ride{train: &sn.trains[l.Train], date: Date(l.Day), board: int(l.Board), alight: int(l.Alight)}
	}
	return rides
}

// ridesOf finds the legs of a booking in this timetable: nil unless they are
// all there, between the same stations.
func (sn *snapshot) ridesOf(b *Booking) []ride {
	rides := make([]ride, len(b.Legs))
	for i := range b.Legs {
		g := &b.Legs[i]
		t, ok := sn.run(g.Run)
		if !ok || !t.rideable(g.Board, g.Alight) || !sn.is(g.Origin.Station, t.station(g.Board)) || !sn.is(g.Destination.Station, t.station(g.Alight)) {
			return nil
		}
		rides[i] = ride{train: t, date: g.Run.Date, board: g.Board, alight: g.Alight}
	}
	return rides
}

// bothAllow is what holds for two legs: both must be known to allow it.
func bothAllow(a, b Allowance) Allowance {
	switch {
	case a == NotAllowed || b == NotAllowed:
		return NotAllowed
	case a == Unknown || b == Unknown:
		return Unknown
	}
	return Allowed
}

// tripID is the ID of a trip of these rides, which connect accepts.
func tripID(rides []ride) uuid.UUID {
	c := tripCode{date: rides[0].date, board: rides[0].board, alight: rides[len(rides)-1].alight, legs: len(rides)}
	for i, r := range rides {
		c.numbers[i] = r.train.number
	}
	return c.id()
}
