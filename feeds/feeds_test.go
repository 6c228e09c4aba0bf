package feeds_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/feeds"
	"github.com/traintravel/traintravel/gtfs"
)

// station makes a station of a feed; a thousandth of a degree north is 111 metres.
func station(feed, id, name string, lat, lon float64) traintravel.Station {
	return traintravel.Station{ID: gtfs.StationID(feed, id), Name: name, Zone: "Europe/Zurich", Latitude: lat, Longitude: lon}
}

func train(feed, id string, at ...traintravel.Station) traintravel.Train {
	t := traintravel.Train{Feed: feed, ID: id, Operator: feed, Zone: "Europe/Zurich", Days: traintravel.Daily(20000, 30000)}
	for i, s := range at {
		t.Calls = append(t.Calls, traintravel.Call{Station: s.ID, Arrive: traintravel.ServiceTime(i * 3600), Depart: traintravel.ServiceTime(i * 3600)})
	}
	return t
}

func part(feed string, stations ...traintravel.Station) feeds.Part {
	return feeds.Part{Feed: feed, Timetable: &traintravel.Timetable{Stations: stations, Trains: []traintravel.Train{train(feed, "1", stations...)}}}
}

// told is a report in words, without distances.
func told(r feeds.Report) (joined, alike []string) {
	line := func(p feeds.Pair) string {
		return p.First.String() + " = " + p.Second.String() + ": " + p.Why.String()
	}
	for _, p := range r.Joined {
		joined = append(joined, line(p))
	}
	for _, p := range r.Alike {
		alike = append(alike, line(p))
	}
	return joined, alike
}

func TestJoin(t *testing.T) {
	t.Parallel()
	shared := "efdbb9d1-02c2-4bc3-afb7-6788d8782b1e"
	for _, c := range []struct {
		name          string
		parts         []feeds.Part
		joined, alike []string
		stations      int
	}{
		{"nothing", nil, nil, nil, 0},
		{"without a timetable", []feeds.Part{{Feed: "a"}, part("b", station("b", "1", "Bern", 47, 7.4), station("b", "2", "Thun", 46.75, 7.6))}, nil, nil, 2},
		{"one name", []feeds.Part{
			part("ch", station("ch", "1", "Basel SBB", 47.547, 7.589), station("ch", "2", "Zürich HB", 47.378, 8.540)),
			part("de", station("de", "1", "BASEL SBB", 47.548, 7.589), station("de", "2", "Zurich HB", 47.378, 8.541)),
		}, []string{"Basel SBB (ch) = BASEL SBB (de): the same name", "Zürich HB (ch) = Zurich HB (de): the same name"}, nil, 2},
		{"one name, as railways spell it", []feeds.Part{
			part("de", station("de", "1", "Paris Est", 48.877, 2.359), station("de", "2", "Berlin Hauptbahnhof", 52.525, 13.369)),
			part("fr", station("fr", "1", "gare de Paris-Est", 48.877, 2.359), station("fr", "2", "Berlin (Hbf)", 52.525, 13.369)),
		}, []string{"Paris Est (de) = gare de Paris-Est (fr): the same name", "Berlin Hauptbahnhof (de) = Berlin (Hbf) (fr): the same name"}, nil, 2},
		{"near and far", []feeds.Part{
			part("a", station("a", "1", "Nord", 48.88, 2.35), station("a", "2", "Neustadt", 49.35, 8.14)),
			part("b", station("b", "1", "Magenta", 48.881, 2.35), station("b", "2", "Neustadt", 49.353, 8.14), station("b", "3", "Neustadt", 53.37, 11.59)),
		}, nil, []string{"Nord (a) = Magenta (b): near, but with different names", "Neustadt (a) = Neustadt (b): the same name, but far apart"}, 5},
		{"the nearest of two", []feeds.Part{
			part("a", station("a", "1", "X", 50, 8), station("a", "2", "Y", 51, 8)),
			part("b", station("b", "1", "X", 50.002, 8), station("b", "2", "X", 50.001, 8)),
		}, []string{"X (a) = X (b): the same name"}, nil, 3},
		{"no chain", []feeds.Part{
			part("a", station("a", "1", "X", 50, 8), station("a", "2", "X", 50.004, 8)),
			part("b", station("b", "1", "X", 50.0021, 8), station("b", "2", "Y", 51, 8)),
			part("c", station("c", "1", "X", 50.002, 8), station("c", "2", "X", 50.0022, 8)),
		}, []string{"X (a) = X (b): the same name", "X (a) = X (c): the same name", "X (a) = X (c): the same name"}, nil, 3},
		{"no farther than from the first", []feeds.Part{
			part("a", station("a", "1", "X", 50, 8), station("a", "2", "Y", 51, 8)),
			part("b", station("b", "1", "X", 50.002, 8), station("b", "2", "Z", 52, 8)),
			part("c", station("c", "1", "X", 50.004, 8), station("c", "2", "Z", 52.0001, 8)),
		}, []string{"X (a) = X (b): the same name", "Z (b) = Z (c): the same name"}, []string{"X (a) = X (c): the same name, but far apart"}, 4},
		{"one ID", []feeds.Part{
			part("a", station("a", shared, "Berlin", 52.5, 13.3), station("a", "2", "Y", 51, 8)),
			part("b", station("b", shared, "Berlin Hbf", 52.6, 13.3), station("b", "2", "Berlin", 52.5, 13.3)),
		}, []string{"Berlin (a) = Berlin Hbf (b): the same ID"}, nil, 3},
		{"over the date line", []feeds.Part{
			part("a", station("a", "1", "X", -16, 179.9999), station("a", "2", "Pole", 89.9999, 0)),
			part("b", station("b", "1", "X", -16, -179.9999), station("b", "2", "Pole", 89.9999, 180)),
		}, []string{"X (a) = X (b): the same name", "Pole (a) = Pole (b): the same name"}, nil, 2},
		{"signs for names", []feeds.Part{
			part("a", station("a", "1", "---", 50, 8), station("a", "2", "Gare", 51, 8)),
			part("b", station("b", "1", "???", 50, 8), station("b", "2", "gare", 51, 8)),
		}, []string{"Gare (a) = gare (b): the same name"}, []string{"--- (a) = ??? (b): near, but with different names"}, 3},
	} {
		joined, report := feeds.Join(c.parts...)
		did, doubts := told(report)
		if diff := cmp.Diff(c.joined, did); diff != "" {
			t.Errorf("%s: joined (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.alike, doubts); diff != "" {
			t.Errorf("%s: alike (-want +got):\n%s", c.name, diff)
		}
		if len(joined.Stations) != c.stations {
			t.Errorf("%s: %d stations, want %d", c.name, len(joined.Stations), c.stations)
		}
		if err := joined.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The same UIC code joins stations whose names differ, if they are near enough.
func TestJoinByCode(t *testing.T) {
	t.Parallel()
	a := part("a", station("a", "1", "Genève", 46.21, 6.142), station("a", "2", "Chiasso", 45.832, 9.031))
	b := part("b", station("b", "1", "Geneva", 46.214, 6.142), station("b", "2", "Milano", 45.486, 9.204))
	c := part("c", station("c", "1", "Geneva", 46.211, 6.142), station("c", "2", "Roma", 41.9, 12.5))
	a.Codes = map[uuid.UUID]string{a.Timetable.Stations[0].ID: "8501008", a.Timetable.Stations[1].ID: "8505307"}
	b.Codes = map[uuid.UUID]string{b.Timetable.Stations[0].ID: "8501008", b.Timetable.Stations[1].ID: "8505307"}
	_, report := feeds.Join(a, b, c)
	joined, alike := told(report)
	// The third knows the station by the name that the second has for it.
	if diff := cmp.Diff([]string{"Genève (a) = Geneva (b): the same UIC code", "Genève (a) = Geneva (c): the same name"}, joined); diff != "" {
		t.Errorf("joined (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Chiasso (a) = Milano (b): the same UIC code, but far apart"}, alike); diff != "" {
		t.Errorf("alike (-want +got):\n%s", diff)
	}
}

// The first feed's station is kept, and fields that it lacks are filled in from the other.
func TestJoinKeeps(t *testing.T) {
	t.Parallel()
	a := part("a", station("a", "1", "Basel SBB", 47.547, 7.589), station("a", "2", "Bern", 46.95, 7.44))
	b := part("b", station("b", "1", "basel sbb", 47.548, 7.589), station("b", "2", "Köln", 50.94, 6.96))
	b.Timetable.Stations[0].Address, b.Timetable.Stations[0].Country = "Centralbahnplatz", "CH"
	rule := func(feed string, from, to traintravel.Station, minutes int) traintravel.Change {
		return traintravel.Change{Feed: feed, From: from.ID, To: to.ID, Time: time.Duration(minutes) * time.Minute}
	}
	of := func(c traintravel.Change, line string) traintravel.Change {
		c.FromLine = line
		return c
	}
	basel, bern, other := a.Timetable.Stations[0], a.Timetable.Stations[1], b.Timetable.Stations[0]
	a.Timetable.Changes = []traintravel.Change{rule("a", basel, basel, 4), rule("a", basel, basel, 6), rule("a", bern, bern, 3), of(rule("a", basel, basel, 2), "S1")}
	b.Timetable.Changes = []traintravel.Change{of(rule("b", other, other, 1), "S2"), rule("b", other, other, 9), rule("b", b.Timetable.Stations[1], other, 30)}
	before := len(a.Timetable.Changes)

	joined, report := feeds.Join(a, b)
	want := basel
	want.Address, want.Country, want.OtherIDs = "Centralbahnplatz", "CH", []uuid.UUID{other.ID}
	if diff := cmp.Diff([]traintravel.Station{want, bern, b.Timetable.Stations[1]}, joined.Stations); diff != "" {
		t.Errorf("stations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]traintravel.Train{train("a", "1", basel, bern), train("b", "1", basel, b.Timetable.Stations[1])}, joined.Trains); diff != "" {
		t.Errorf("trains (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]traintravel.Change{
		rule("b", basel, basel, 9), rule("a", bern, bern, 3), of(rule("a", basel, basel, 2), "S1"),
		of(rule("b", basel, basel, 1), "S2"), rule("b", b.Timetable.Stations[1], basel, 30),
	}, joined.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if report.Rules != 1 {
		t.Errorf("%d differing rules are reported", report.Rules)
	}
	if b.Timetable.Trains[0].Calls[0].Station != other.ID || b.Timetable.Changes[0].From != other.ID || len(a.Timetable.Changes) != before || a.Timetable.Stations[0].Country != "" {
		t.Error("the parts have been changed")
	}
	if got := report.Joined[0].String(); got != "Basel SBB (a) and basel sbb (b), 111 m apart: the same name" {
		t.Error(got)
	}
}

// A joined station has the names of later feeds.
func TestJoinedNames(t *testing.T) {
	t.Parallel()
	a, b := part("a", station("a", "1", "Genève", 46.21, 6.142), station("a", "2", "Bern", 46.95, 7.44)), part("b", station("b", "1", "Geneva", 46.21, 6.142), station("b", "2", "Brig", 46.3, 8))
	a.Codes, b.Codes = map[uuid.UUID]string{}, map[uuid.UUID]string{b.Timetable.Stations[0].ID: "8501008"}
	a.Timetable.Stations[0].OtherIDs, a.Timetable.Stations[0].OtherNames = []uuid.UUID{{9}}, []string{"Cornavin"}
	a.Codes[uuid.UUID{9}] = "8501008" // a platform's
	b.Timetable.Stations[0].OtherNames = []string{"GENEVE", "Genf", "Cornavin"}
	joined, _ := feeds.Join(a, b)
	if diff := cmp.Diff([]string{"Cornavin", "Geneva", "Genf"}, joined.Stations[0].OtherNames); diff != "" || len(joined.Stations) != 3 {
		t.Errorf("%d stations, names (-want +got):\n%s", len(joined.Stations), diff)
	}
	if len(a.Timetable.Stations[0].OtherNames) != 1 {
		t.Error("the part has changed")
	}
}

// Impossible is stricter than any time.
func TestJoinStrictestRule(t *testing.T) {
	t.Parallel()
	a, b, c := part("a", station("a", "1", "X", 50, 8), station("a", "2", "Y", 51, 8)), part("b", station("b", "1", "X", 50, 8), station("b", "2", "Z", 52, 8)), part("c", station("c", "1", "X", 50, 8), station("c", "2", "V", 53, 8))
	change := func(p feeds.Part, kind traintravel.ChangeKind, minutes int) {
		at := p.Timetable.Stations[0].ID
		p.Timetable.Changes = []traintravel.Change{{From: at, To: at, Feed: p.Feed, Kind: kind, Time: time.Duration(minutes) * time.Minute}}
	}
	change(a, traintravel.Takes, 20)
	change(b, traintravel.Impossible, 0)
	change(c, traintravel.Takes, 30)
	for _, parts := range [][]feeds.Part{{a, b, c}, {c, b, a}, {b, c, a}} {
		joined, report := feeds.Join(parts...)
		if len(joined.Changes) != 1 || joined.Changes[0].Kind != traintravel.Impossible || report.Rules != 1 {
			t.Errorf("%v, %d", joined.Changes, report.Rules)
		}
	}
}
