package traintravel

import (
	"slices"
	"time"

	"github.com/traintravel/traintravel/internal/raptor"
)

// An ask is what trips are searched for, in the terms of a snapshot.
type ask struct {
	origin, destination int32
	date                Date  // at the origin
	from, to            int64 // departures, in Unix seconds
	bicycles, dogs      bool  // only trips that are known to allow them
	onlyDirect          bool
}

// unixUp is the first whole second at or after an instant: trains depart on
// whole seconds.
func unixUp(t time.Time) int64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}

// direct finds the rides without a change.
func (sn *snapshot) direct(a ask) []ride {
	q := sn.query(a, "")
	return sn.rides(sn.network.Direct(sn.daysAround(a.date), &q, nil))
}

// query is what the network is asked, of the trains of a currency or, if it is empty, of
// all.
func (sn *snapshot) query(a ask, currency string) raptor.Query {
	return raptor.Query{
		Origin: a.origin, Target: a.destination, From: a.from, To: a.to, Legs: maxLegs, Allow: sn.allow(a, currency),
	}
}

// allow says which groups of trains may be taken, nil for all: those of a
// currency, unless it is empty.
func (sn *snapshot) allow(a ask, currency string) func(int32) bool {
	if !a.bicycles && !a.dogs && currency == "" {
		return nil
	}
	return func(at int32) bool {
		g := &sn.groups[at]
		return (currency == "" || g.currency == currency) && (!a.bicycles || g.bicycles == Allowed) && (!a.dogs || g.dogs == Allowed)
	}
}

// daysAround are the service days of a search on a date.
func (sn *snapshot) daysAround(d Date) *raptor.Days {
	return sn.network.Days(int32(d), len(sn.groups), len(sn.zones), func(g, day int32) bool { return sn.groups[g].runs(Date(day)) })
}

// currencies are those in which one can depart from the one station and arrive
// at the other.
func (sn *snapshot) currencies(a ask) []string {
	var both []string
	for _, c := range sn.currenciesAt[a.origin] {
		if c != "" && slices.Contains(sn.currenciesAt[a.destination], c) {
			both = append(both, c)
		}
	}
	return both
}
