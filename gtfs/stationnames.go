package gtfs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/alike"
	"github.com/traintravel/traintravel/internal/fold"
)

// String returns the station as one line.
func (r Renamed) String() string { return fmt.Sprintf("%s, after the platforms of %q", r.Name, r.Was) }

// maxPlatformNames is how many names a station has from its platforms, those at which
// most trains call.
const maxPlatformNames = 20

// nameStations gives stations what their platforms, and the stops that have become
// them, are called: the names under which travellers know them, too.
func (j *joiner) nameStations() {
	type named struct {
		name  string
		calls int
	}
	found := map[int32]map[string]*named{} // by station, and by the name as names are compared
	for i := range j.stops {
		s := &j.stops[i]
		at, ok := j.keys[s.station]
		if !ok || at == "" || int(s.station) == i || s.kind > station || long(s.Name) {
			continue
		}
		name := alike.WithoutPlatform(s.Name)
		if alike.IsNoun(name) || !strings.ContainsFunc(name, unicode.IsLetter) {
			continue
		}
		if found[s.station] == nil {
			found[s.station] = map[string]*named{}
		}
		n := found[s.station][alike.Name(name)]
		if n == nil {
			n = &named{name: name}
			found[s.station][alike.Name(name)] = n
		}
		n.calls += j.calls[int32(i)]
		n.name = min(n.name, name) // whatever the order of the rows
	}
	for _, at := range slices.Sorted(maps.Keys(found)) {
		s := &j.stops[at]
		names := slices.SortedFunc(maps.Values(found[at]), func(a, b *named) int {
			return cmp.Or(cmp.Compare(b.calls, a.calls), cmp.Compare(a.name, b.name))
		})
		if alike.IsNoun(s.Name) {
			j.rename(at, names[0].name)
		}
		for _, n := range names {
			if len(s.OtherNames) < maxPlatformNames && !within(n.name, s.Name) {
				s.OtherNames = append(s.OtherNames, n.name)
			}
		}
	}
}

// rename gives a station without a name of its own that of a platform: Stuttgart Hbf,
// or else the town and what the station was called: Stuttgart Hauptbahnhof.
func (j *joiner) rename(at int32, platform string) {
	s := &j.stops[at]
	name := platform
	for words := strings.Fields(name); len(words) > 1 && isNumber(fold.String(words[len(words)-1])); {
		words = words[:len(words)-1]
		name = strings.Join(words, " ")
	}
	if !alike.HasNoun(name) {
		name += " " + s.Name
	}
	if long(name) {
		return
	}
	j.report.Renamed = append(j.report.Renamed, Renamed{j.keys[at], s.Name, name})
	s.OtherNames = append(s.OtherNames, s.Name)
	j.name(at, name)
}

// name gives a station another name than the feed does.
func (j *joiner) name(at int32, name string) {
	if s := &j.stops[at]; name != s.Name {
		j.rawNames[at] = cmp.Or(j.rawNames[at], s.Name)
		s.Name = name
	}
}

// within says whether a name's words, but for numbers, are all in another name, which a
// search for them finds anyway.
func within(name, other string) bool {
	words := fold.Words(fold.String(other))
	for _, w := range fold.Words(fold.String(name)) {
		if !slices.Contains(words, w) && !isNumber(w) {
			return false
		}
	}
	return true
}

// isNumber says whether a word is a number as platforms have: 7, 12a.
func isNumber(word string) bool {
	digits := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyz")
	return digits != "" && len(word) <= len(digits)+1 && strings.Trim(digits, "0123456789") == ""
}

// appendStations adds the stations at which trains call, with the IDs that their
// platforms, and the stops that have become them, would have as stations.
func (f *feed) appendStations(stations []traintravel.Station) []traintravel.Station {
	used := map[uuid.UUID]bool{}
	for i := range f.stops {
		if f.stops[i].served {
			used[f.stops[i].ID] = true
		}
	}
	parts := map[int32][]string{} // stop_id, by station
	for key, i := range f.stopByID {
		s := &f.stops[i]
		at, ok := s.station, s.kind <= station
		if aside, isAside := f.aside[at]; isAside {
			at = aside
		}
		if ok && at != i && f.stops[at].served {
			parts[at] = append(parts[at], key)
		}
	}
	for i := range f.stops {
		s := &f.stops[i]
		if !s.served {
			continue
		}
		keys := parts[int32(i)]
		slices.Sort(keys)
		for _, key := range keys {
			if id := StationID(f.opts.Feed, key); !used[id] {
				used[id] = true
				s.OtherIDs = append(s.OtherIDs, id)
			}
		}
		stations = append(stations, s.Station)
	}
	return stations
}
