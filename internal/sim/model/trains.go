package model

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// trains is what the model knows of the timetables that were loaded. All stations stand on
// one line, in the order of the first timetable, and every train goes along it, one way.
type trains struct {
	place   map[uuid.UUID]int // of stations, on the line
	current []traintravel.Train
	in      map[string]*time.Location
	// unsure says that it is not known which timetable is current.
	unsure bool
	// known is which train each identity is: by what timetables say that they recognise it.
	known map[uuid.UUID]uuid.UUID
	seen  map[string]uuid.UUID // trains by number, first station and first departure
	past  []traintravel.Train  // of all timetables, each once
	twins map[string]bool      // the numbers that two trains have had in one timetable
	since time.Time            // when the last timetable was loaded, or perhaps
}

func newTrains() trains {
	return trains{place: map[uuid.UUID]int{}, in: map[string]*time.Location{}, known: map[uuid.UUID]uuid.UUID{}, seen: map[string]uuid.UUID{}, twins: map[string]bool{}}
}

func (ts *trains) has(t *traintravel.Train) bool {
	for i := range ts.past {
		if o := &ts.past[i]; o.Number == t.Number && o.Zone == t.Zone && sameCalls(o.Calls, t.Calls) {
			return true
		}
	}
	return false
}

func sameCalls(a, b []traintravel.Call) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Station != b[i].Station || a[i].Depart != b[i].Depart {
			return false
		}
	}
	return true
}

// way is where a ride begins and ends on the line; backwards, both are below zero.
func (ts *trains) way(origin, destination uuid.UUID) (from, to int) {
	if from, to = ts.place[origin], ts.place[destination]; from > to {
		return -from, -to
	}
	return from, to
}

// trainOf names the train of a leg. Timetables recognise a train by its number, its first
// station and its first departure, so twins have one name; each has coaches of its own.
func (ts *trains) trainOf(l traintravel.Leg) uuid.UUID {
	if name, ok := ts.known[l.Run.Train]; ok {
		return name
	}
	for i := range ts.past {
		if t := &ts.past[i]; ts.goes(t, l) {
			key := nameOf(t)
			if _, ok := ts.seen[key]; !ok {
				ts.seen[key] = l.Run.Train
			}
			ts.known[l.Run.Train] = ts.seen[key]
			return ts.seen[key]
		}
	}
	return l.Run.Train
}

// nameOf is what all timetables recognise a train by.
func nameOf(t *traintravel.Train) string {
	return fmt.Sprint(t.Number, t.Calls[0].Station, t.Calls[0].Depart)
}

// running is the train of the current timetable that a leg is on, nil if that is not known.
func (ts *trains) running(l traintravel.Leg) (found *traintravel.Train) {
	for i := range ts.current {
		if t := &ts.current[i]; ts.goes(t, l) {
			if found != nil {
				return nil // a twin
			}
			found = t
		}
	}
	return found
}

// goes reports whether a train departs as a leg says.
func (ts *trains) goes(t *traintravel.Train, l traintravel.Leg) bool {
	if t.Number != l.Number {
		return false
	}
	for _, c := range t.Calls {
		if c.Station == l.Origin.Station {
			return ts.instant(t.Zone, l.Run.Date, c.Depart).Equal(l.Origin.Time)
		}
	}
	return false
}

// instant is when a time of a service day is: counted from its noon minus 12 hours.
func (ts *trains) instant(zone string, day traintravel.Date, at traintravel.ServiceTime) time.Time {
	in := ts.in[zone]
	if in == nil {
		var err error
		if in, err = time.LoadLocation(zone); err != nil {
			panic(err)
		}
		ts.in[zone] = in
	}
	y, month, d := time.Unix(int64(day)*86400, 0).UTC().Date()
	return time.Date(y, month, d, 12, 0, 0, 0, in).Add(-12*time.Hour + time.Duration(at)*time.Second)
}

// clock is the time of the service day at which a run departs.
func (ts *trains) clock(zone string, run traintravel.Run) traintravel.ServiceTime {
	return traintravel.ServiceTime(run.Calls[0].Depart.Sub(ts.instant(zone, run.ID.Date, 0)) / time.Second)
}
