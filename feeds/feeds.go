// Package feeds joins the timetables of several feeds into one.
//
// Railways publish their own trains, with the stations abroad at which these
// call. [Join] finds out which of the stations of different feeds are one, so
// that people can change there from one railway's trains to another's:
//
//   - stations of one ID, which feeds share if their stop_id is a UUID;
//   - stations of one UIC code, at most [CodeRadius] apart;
//   - stations of one name, at most [NameRadius] apart. Letter case, accents,
//     punctuation, and words such as Gare de or Bahnhof make no difference.
//
// The first feed's station stays. What looked alike but was not joined is
// reported, for somebody to look at.
//
// Trains are not joined: one that two railways run together and both publish is
// there twice. How many are is reported, and [Once] takes out those whose calls agree.
package feeds

import (
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

const (
	// NameRadius is how many metres apart stations of one name may be to be one.
	NameRadius = 300
	// CodeRadius is how many metres apart stations of one UIC code may be to be
	// one. Railways measure large stations at different ends, and some have
	// codes of their own that look like UIC's.
	CodeRadius = 1000
)

// A Part is the timetable of one feed.
type Part struct {
	// Feed is its name, for the Report. The trains bear it themselves.
	Feed string
	// Timetable is not changed by [Join], but what is joined shares with it what
	// is the same. Nil is an empty one.
	Timetable *traintravel.Timetable
	// Codes are the UIC codes of stations, by their IDs, as far as they are known;
	// see [Codes]. It may be nil.
	Codes map[uuid.UUID]string
}

// Join joins timetables into one, in which trains call at the joined stations
// and rules for changes are about them. A station is as the first part has it,
// but for its Address and Country, which a later part gives if the first does
// not, and with the names and IDs that the later parts have for it among its
// OtherNames and OtherIDs. No two stations of one part become one.
//
// Where several parts have a rule for all changes between the same stations, the
// strictest counts: impossible, or else the longest.
//
// The order of the parts matters: keep it from import to import, and put new
// ones last. A station that becomes another by a new order is another one for
// bookings and for trains' identities, too.
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
