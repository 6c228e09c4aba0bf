package feeds

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/fold"
)

// A Twin is a train that two feeds have.
type Twin struct {
	gtfs.Twin          // Kept and Left are its IDs in the two feeds
	KeptFeed, LeftFeed string
}

// String returns the twin as one line.
func (t Twin) String() string {
	one := t.Twin
	one.Kept, one.Left = t.Kept+" of "+t.KeptFeed, t.Left+" of "+t.LeftFeed
	return one.String()
}

// Once removes from a timetable the trains that an earlier feed has too, with the same
// calls, on the days on which both run. After [Join] such trains would be sold twice. Once
// returns them in their order. Trains with different calls between their ends are kept, and
// so are trains whose coaches have other numbers, because they are portions of one train.
func Once(t *traintravel.Timetable) []Twin {
	names := map[uuid.UUID]string{}
	for _, s := range t.Stations {
		names[s.ID] = s.Name
	}
	at, days := byAnyID(t.Stations), dayCache{}
	var twins []Twin
	known := map[looks][]*traintravel.Train{}
	kept := t.Trains[:0:0]
	for i := range t.Trains {
		train := &t.Trains[i]
		k, ok := looksOf(train, at)
		if !ok {
			kept = append(kept, *train)
			continue
		}
		var twin *Twin
		for _, first := range known[k] {
			common := days.common(first.Days, train.Days)
			if first.Feed == train.Feed || len(common) == 0 || !sameCalls(first, train, at) || apart(first.Coaches, train.Coaches) {
				continue
			}
			if twin == nil {
				twins = append(twins, Twin{gtfs.Twin{
					Operator: train.Operator, Number: train.Number, From: names[k.first], To: names[k.last], Departs: k.departs,
					Kept: first.ID, Left: train.ID, First: common[0],
				}, first.Feed, train.Feed})
				twin = &twins[len(twins)-1]
			}
			twin.First = min(twin.First, common[0])
			twin.Days += len(common)
			train.Days = without(train.Days, common)
		}
		if twin != nil && len(days.of(train.Days)) == 0 {
			continue
		}
		if len(known[k]) < maxAlike {
			known[k] = append(known[k], train)
		}
		kept = append(kept, *train)
	}
	t.Trains = kept
	return twins
}

// looks is what two railways that publish one train agree about.
type looks struct {
	operator, number string
	first, last      uuid.UUID
	departs, arrives traintravel.ServiceTime
}

// looksOf returns the looks of a train that has a number. Stations have the ID at gives.
func looksOf(t *traintravel.Train, at map[uuid.UUID]uuid.UUID) (looks, bool) {
	if t.Number == "" || len(t.Calls) == 0 {
		return looks{}, false
	}
	first, last := t.Calls[0], t.Calls[len(t.Calls)-1]
	return looks{fold.Label(t.Operator), fold.Label(t.Number), at[first.Station], at[last.Station], first.Depart, last.Arrive}, true
}

// twice counts the trains that an earlier part has as well, to all appearances:
// with a date on which both run.
func twice(trains []traintravel.Train, stations []traintravel.Station) (n int) {
	at, days := byAnyID(stations), dayCache{}
	known := map[looks][]*traintravel.Train{}
next:
	for i := range trains {
		t := &trains[i]
		k, ok := looksOf(t, at)
		if !ok {
			continue
		}
		same := known[k]
		if len(same) < maxAlike {
			known[k] = append(same, t)
		}
		for _, other := range same {
			if other.Feed != t.Feed && len(days.common(other.Days, t.Days)) > 0 {
				n++
				continue next
			}
		}
	}
	return n
}

// byAnyID are the IDs of stations, by all of their IDs.
func byAnyID(stations []traintravel.Station) map[uuid.UUID]uuid.UUID {
	at := make(map[uuid.UUID]uuid.UUID, len(stations))
	for _, s := range stations {
		at[s.ID] = s.ID
		for _, id := range s.OtherIDs {
			at[id] = s.ID
		}
	}
	return at
}
