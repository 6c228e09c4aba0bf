// Package feeds joins the timetables of several feeds into one.
//
// Railways publish their own trains, including the foreign stations at which these
// call. [Join] joins stations of different feeds, so that passengers can change there
// from one railway's trains to another's. It joins:
//
//   - stations with the same ID, which feeds share if their stop_id is a UUID;
//   - stations with the same UIC code, at most [CodeRadius] apart;
//   - stations with the same name, at most [NameRadius] apart. Letter case, accents,
//     punctuation, and words such as Gare de or Bahnhof make no difference.
//
// The first feed's station is kept. The [Report] lists pairs that look alike but were
// not joined, so that somebody can look at them.
//
// Join does not join trains: a train that two railways run together and both publish
// is in the timetable twice. The Report has their number, and [Once] removes those
// whose calls agree.
package feeds

import (
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

const (
	// NameRadius is the largest distance in metres between stations with the same
	// name that are joined.
	NameRadius = 300
	// CodeRadius is the largest distance in metres between stations with the same
	// UIC code that are joined. Railways locate large stations at different ends,
	// and some have codes of their own that look like UIC codes.
	CodeRadius = 1000
)

// A Part is the timetable of one feed.
type Part struct {
	// Feed is its name, for the Report. Trains have their own Feed.
	Feed string
	// Timetable is not changed by [Join], but the result shares data with it.
	// Nil means an empty timetable.
	Timetable *traintravel.Timetable
	// Codes are the known UIC codes of stations by their IDs; see [Codes]. It may
	// be nil.
	Codes map[uuid.UUID]string
}

// Join joins timetables into one, in which trains and rules for changes refer to
// the joined stations. A joined station has the fields of the first part. Later parts
// fill in a missing Address or Country, and add their names and IDs to OtherNames and
// OtherIDs. Two stations of one part are never joined.
//
// If several parts have a rule for all changes between the same stations, the
// strictest is used: impossible, or else the longest time.
//
// The order of the parts matters: keep it from import to import, and put new
// ones last. If a new order changes the ID of a station, it is another station for
// bookings and for the identities of trains, too.
//
// Stations are compared in time that grows with their number, not with its
// square. Of more than 64 that bear one name within ten kilometres, or one code,
// only 64 of the earlier parts are compared.
func Join(parts ...Part) (*traintravel.Timetable, Report) {
	j := newJoiner()
	all := &traintravel.Timetable{}
	rules := make([][]traintravel.Change, 0, len(parts))
	moves := make([]map[uuid.UUID]uuid.UUID, len(parts))
	for i, p := range parts {
		if p.Timetable != nil {
			moves[i] = j.add(i, p)
		}
	}
	j.giveIDs(moves)
	for i, p := range parts {
		if p.Timetable == nil {
			continue
		}
		moved := moves[i]
		all.Trains = slices.Grow(all.Trains, len(p.Timetable.Trains))
		for _, t := range p.Timetable.Trains {
			t.Calls = callsAt(t.Calls, moved)
			all.Trains = append(all.Trains, t)
		}
		rules = append(rules, changesAt(p.Timetable.Changes, moved))
	}
	all.Stations = j.stations
	all.Changes, j.report.Rules = joinChanges(rules)
	j.report.Twice = twice(all.Trains, all.Stations)
	return all, j.report
}

// callsAt returns calls at the stations that theirs have become.
func callsAt(calls []traintravel.Call, moved map[uuid.UUID]uuid.UUID) []traintravel.Call {
	copied := false
	for i := range calls {
		to, ok := moved[calls[i].Station]
		if !ok {
			continue
		}
		if !copied {
			calls, copied = slices.Clone(calls), true
		}
		calls[i].Station = to
	}
	return calls
}
