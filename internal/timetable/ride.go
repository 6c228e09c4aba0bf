package timetable

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/rail"
)

// A Ride is a leg found in a snapshot.
type Ride struct {
	Train  *Train
	Date   rail.Date
	Board  int
	Alight int
}

func (r Ride) departs() time.Time { return r.Train.Departs(r.Date, r.Board) }

func (r Ride) arrives() time.Time { return r.Train.Arrives(r.Date, r.Alight) }

// Run is the run that the ride is on.
func (r Ride) Run() rail.RunID { return r.Train.Run(r.Date) }

// FarePrice adds up the fares of the legs. It returns false if a leg has none
// or they are in different currencies: such a trip is not for sale.
func FarePrice(rides []Ride) (rail.Money, bool) {
	price := rail.Money{Currency: rides[0].Train.currency()}
	for _, r := range rides {
		if c := r.Train.currency(); c == "" || c != price.Currency || !r.Train.priced(r.Board, r.Alight) {
			return rail.Money{}, false
		}
		price.Amount += r.Train.costs(r.Board, r.Alight)
	}
	return price, true
}

// Trip makes what a traveller sees of rides: without a price and seats.
func (sn *Snapshot) Trip(rides []Ride) rail.Trip {
	t := rail.Trip{ID: TripID(rides), Legs: make([]rail.Leg, len(rides)), Bicycles: rail.Allowed, Dogs: rail.Allowed}
	for i, r := range rides {
		t.Legs[i] = sn.leg(r)
		t.Bicycles = bothAllow(t.Bicycles, r.Train.bicycles)
		t.Dogs = bothAllow(t.Dogs, r.Train.dogs)
		t.Reserved = t.Reserved || r.Train.Places > 0
	}
	return t
}

func (sn *Snapshot) leg(r Ride) rail.Leg {
	return rail.Leg{
		Run: r.Run(), Operator: r.Train.Operator, Number: r.Train.Name, Board: r.Board, Alight: r.Alight,
		Origin:      sn.Stop(r.Train.Station(r.Board), r.departs()),
		Destination: sn.Stop(r.Train.Station(r.Alight), r.arrives()),
	}
}

// CallingPoints are where the train of a ride stops for travellers, from end to end.
func (sn *Snapshot) CallingPoints(r Ride) []rail.CallingPoint {
	var points []rail.CallingPoint
	for call := r.Board; call <= r.Alight; call++ {
		end := call == r.Board || call == r.Alight
		if !end && !r.Train.boards(call) && !r.Train.alights(call) {
			continue // nobody gets on or off
		}
		at := sn.Stop(r.Train.Station(call), r.Train.Arrives(r.Date, call))
		p := rail.CallingPoint{Station: at.Station, Name: at.Name, Arrival: at.Time}
		if call < r.Alight {
			p.Departure = r.Train.Departs(r.Date, call).In(at.Time.Location())
		}
		if call == r.Board {
			p.Arrival = time.Time{}
		}
		points = append(points, p)
	}
	return points
}

// Rides are what the network's legs mean.
func (sn *Snapshot) Rides(legs []raptor.Leg) []Ride {
	rides := make([]Ride, len(legs))
	for i, l := range legs {
		rides[i] = Ride{Train: &sn.Trains[l.Train], Date: rail.Date(l.Day), Board: int(l.Board), Alight: int(l.Alight)}
	}
	return rides
}

// RidesOf finds the legs of a booking in this timetable: nil unless they are
// all there, between the same stations.
func (sn *Snapshot) RidesOf(b *rail.Booking) []Ride {
	rides := make([]Ride, len(b.Legs))
	for i := range b.Legs {
		g := &b.Legs[i]
		t, ok := sn.Run(g.Run)
		if !ok || !t.Rideable(g.Board, g.Alight) || !sn.Is(g.Origin.Station, t.Station(g.Board)) || !sn.Is(g.Destination.Station, t.Station(g.Alight)) {
			return nil
		}
		rides[i] = Ride{Train: t, Date: g.Run.Date, Board: g.Board, Alight: g.Alight}
	}
	return rides
}

// bothAllow is what holds for two legs: both must be known to allow it.
func bothAllow(a, b rail.Allowance) rail.Allowance {
	switch {
	case a == rail.NotAllowed || b == rail.NotAllowed:
		return rail.NotAllowed
	case a == rail.Unknown || b == rail.Unknown:
		return rail.Unknown
	}
	return rail.Allowed
}

// TripID is the ID of a trip of these rides, which connect accepts.
func TripID(rides []Ride) uuid.UUID {
	c := TripCode{date: rides[0].Date, board: rides[0].Board, Alight: rides[len(rides)-1].Alight, Legs: len(rides)}
	for i, r := range rides {
		c.Numbers[i] = r.Train.number
	}
	return c.ID()
}
