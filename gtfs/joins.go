package gtfs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/alike"
)

// JoinRadius is the largest distance in metres between stops without a parent, or
// stations, of the same name that are joined into one station.
const JoinRadius = 250

// String returns the station as one line.
func (j Joined) String() string {
	return fmt.Sprintf("%d stops named %s, up to %.0f m apart", len(j.Stops), j.Name, j.Metres)
}

// A joiner finds the stops that are one station.
type joiner struct {
	*feed
	calls map[int32]int    // of each stop
	keys  map[int32]string // stop_id of those that may be joined
	names map[string]int32 // numbers of their names, as names are compared
	grid  alike.Grid       // of all of these, by the number of the name
}

// joinStops makes one station of the stops without a parent, and stations, at which
// trains call, that have one name and are near each other. There is one among them
// that all others are near to: a chain of them is not one station.
func (f *feed) joinStops() {
	j := &joiner{feed: f, calls: map[int32]int{}, keys: map[int32]string{}, names: map[string]int32{}, grid: alike.NewGrid(JoinRadius)}
	served := j.candidates()
	near := make(map[int32][]int32, len(served))
	for _, i := range served {
		j.near(i, j.names[nameOf(&f.stops[i])], func(k int32) { near[i] = append(near[i], k) })
	}
	order := slices.Clone(served)
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(len(near[b]), len(near[a])), j.comparePrecedence(a, b))
	})
	joined := map[int32]int32{}
	for _, centre := range order {
		if _, gone := joined[centre]; gone {
			continue
		}
		group := []int32{centre}
		for _, k := range near[centre] {
			if _, gone := joined[k]; !gone {
				group = append(group, k)
			}
		}
		slices.SortFunc(group, j.comparePrecedence)
		for _, i := range group {
			joined[i] = group[0]
		}
		if len(group) > 1 {
			j.join(group)
		}
	}
	j.apply(joined)
	j.nameStations()
}

// nameOf returns a stop's name in the form in which names are compared.
func nameOf(s *stop) string {
	return alike.Name(cmp.Or(alike.WithoutPlatform(s.Name), s.Name))
}

// candidates lists the stops at which trains call and that may be joined, in the order
// of their rows, and puts them into the grid. Of those that are wrong, nothing is known.
func (j *joiner) candidates() []int32 {
	for _, t := range j.trips {
		if t.flaw != nil {
			continue
		}
		for _, m := range t.marks {
			j.calls[m.stop]++
		}
	}
	found := map[int32]bool{}
	ids := map[uuid.UUID]int{}
	for stop := range j.calls {
		i := j.stops[stop].station
		if s := &j.stops[i]; !found[i] && s.flaw == "" && s.told == nil {
			found[i] = true
			ids[s.ID]++
		}
	}
	served := slices.DeleteFunc(slices.Sorted(maps.Keys(found)), func(i int32) bool { return ids[j.stops[i].ID] > 1 })
	kept := make(map[int32]bool, len(served))
	for _, i := range served {
		s := &j.stops[i]
		name := nameOf(s)
		if _, ok := j.names[name]; !ok {
			j.names[name] = int32(len(j.names))
		}
		j.grid.Put(j.names[name], alike.At(s.Latitude, s.Longitude), i)
		kept[i] = true
	}
	for key, i := range j.stopByID {
		if kept[i] {
			j.keys[i] = key
		}
	}
	return served
}

// near calls fn for the other stops of a name that are near a stop.
func (j *joiner) near(i, name int32, fn func(int32)) {
	s := &j.stops[i]
	j.grid.Near(name, alike.At(s.Latitude, s.Longitude), func(k int32) {
		o := &j.stops[k]
		if k != i && o.Zone == s.Zone && s.Distance(o.Station) <= JoinRadius {
			fn(k)
		}
	})
}

// comparePrecedence determines which stop of a station gives it its ID and place: one that
// the feed calls a station, and then that with the smaller ID. It does not depend on the
// order of the rows.
func (j *joiner) comparePrecedence(a, b int32) int {
	other := func(i int32) int {
		if j.stops[i].kind == station {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(other(a), other(b)), cmp.Compare(j.keys[a], j.keys[b]))
}

// join reports that stops are one station, and names it.
func (j *joiner) join(group []int32) {
	s := &j.stops[group[0]]
	s.joined = true
	told := Joined{}
	for _, i := range group {
		told.Stops = append(told.Stops, j.keys[i])
		told.Metres = max(told.Metres, s.Distance(j.stops[i].Station))
	}
	j.name(group[0], cmp.Or(alike.WithoutPlatform(s.Name), s.Name))
	told.Name = s.Name
	j.report.Joined = append(j.report.Joined, told)
}

// apply makes the stops, and what is part of them, parts of the stations that they
// have become. Stops at which no train calls, but that have become one with it if one
// did, give the station their IDs and nothing more.
func (j *joiner) apply(joined map[int32]int32) {
	j.aside = map[int32]int32{}
	for i := range j.stops {
		s := &j.stops[i]
		if at, ok := joined[s.station]; ok {
			if int(s.station) == i && at != s.station {
				j.became[s.ID] = at
			}
			s.station = at
			continue
		}
		if int(s.station) != i || s.flaw != "" || s.told != nil || s.kind > station {
			continue
		}
		name, ok := j.names[nameOf(s)]
		if !ok {
			continue
		}
		best := int32(-1)
		j.near(int32(i), name, func(k int32) {
			if best < 0 || s.Distance(j.stops[k].Station) < s.Distance(j.stops[best].Station) {
				best = k
			}
		})
		if best >= 0 {
			j.aside[int32(i)] = joined[best]
		}
	}
}

// stationID is the ID of the station that a call names.
func (f *feed) stationID(id uuid.UUID) uuid.UUID {
	if at, ok := f.became[id]; ok {
		return f.stops[at].ID
	}
	return id
}
