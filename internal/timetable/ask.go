package timetable

import (
	"slices"
	"time"

	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/rail"
)

// An Ask is what trips are searched for, in the terms of a snapshot.
type Ask struct {
	Origin, Destination int32
	Date                rail.Date // at the origin
	From, To            int64     // departures, in Unix seconds
	Bicycles, Dogs      bool      // only trips that are known to allow them
	OnlyDirect          bool
}

// UnixUp is the first whole second at or after an instant: trains depart on
// whole seconds.
func UnixUp(t time.Time) int64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}

// Direct finds the rides without a change.
func (sn *Snapshot) Direct(a Ask) []Ride {
	q := sn.Query(a, "")
	return sn.Rides(sn.Network.Direct(sn.DaysAround(a.Date), &q, nil))
}

// Query is what the network is asked, of the trains of a currency or, if it is empty, of
// all.
func (sn *Snapshot) Query(a Ask, currency string) raptor.Query {
	return raptor.Query{
		Origin: a.Origin, Target: a.Destination, From: a.From, To: a.To, Legs: rail.MaxLegs, Allow: sn.allow(a, currency),
	}
}

// allow says which groups of trains may be taken, nil for all: those of a
// currency, unless it is empty.
func (sn *Snapshot) allow(a Ask, currency string) func(int32) bool {
	if !a.Bicycles && !a.Dogs && currency == "" {
		return nil
	}
	return func(at int32) bool {
		g := &sn.groups[at]
		return (currency == "" || g.currency == currency) && (!a.Bicycles || g.bicycles == rail.Allowed) && (!a.Dogs || g.dogs == rail.Allowed)
	}
}

// DaysAround are the service days of a search on a date.
func (sn *Snapshot) DaysAround(d rail.Date) *raptor.Days {
	return sn.Network.Days(int32(d), len(sn.groups), len(sn.zones), func(g, day int32) bool { return sn.groups[g].runs(rail.Date(day)) })
}

// Currencies are those in which one can depart from the one station and arrive
// at the other.
func (sn *Snapshot) Currencies(a Ask) []string {
	var both []string
	for _, c := range sn.currenciesAt[a.Origin] {
		if c != "" && slices.Contains(sn.currenciesAt[a.Destination], c) {
			both = append(both, c)
		}
	}
	return both
}
