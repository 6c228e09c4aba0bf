package feeds_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/feeds"
)

// drawParts draws feeds whose stations are close together and named alike.
func drawParts(t *rapid.T) []feeds.Part {
	ids := rapid.SampledFrom([]string{"", "", "", "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003"})
	names := rapid.SampledFrom([]string{"X", "x", "Gare d'X", "Y", "Z Hbf", "Z Hauptbahnhof"})
	codes := rapid.SampledFrom([]string{"", "", "8501008", "8711300"})
	at := rapid.IntRange(0, 12)
	parts := make([]feeds.Part, rapid.IntRange(0, 4).Draw(t, "parts"))
	for i := range parts {
		feed := fmt.Sprint("f", i)
		p := feeds.Part{Feed: feed, Timetable: &traintravel.Timetable{}, Codes: map[uuid.UUID]string{}}
		known := map[uuid.UUID]bool{}
		for k := range rapid.IntRange(2, 8).Draw(t, "stations") {
			id := ids.Draw(t, "id")
			if id == "" {
				id = fmt.Sprint(k)
			}
			s := station(feed, id, names.Draw(t, "name"), 50+float64(at.Draw(t, "lat"))/1000, 8+float64(at.Draw(t, "lon"))/1000)
			if known[s.ID] {
				continue
			}
			known[s.ID] = true
			if rapid.IntRange(0, 3).Draw(t, "named") == 0 {
				s.OtherNames = []string{names.Draw(t, "other name")}
			}
			p.Timetable.Stations = append(p.Timetable.Stations, s)
			if code := codes.Draw(t, "code"); code != "" {
				p.Codes[s.ID] = code
			}
		}
		stations := p.Timetable.Stations
		if len(stations) > 1 {
			p.Timetable.Trains = []traintravel.Train{train(feed, "1", stations...), train(feed, "2", stations[1], stations[0])}
		}
		for k := range len(stations) * min(len(p.Timetable.Trains), 1) { // some are platforms, too, which other feeds may have for stations
			for _, id := range []string{"00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003", "00000000-0000-4000-8000-000000000004"} {
				if id := uuid.MustParse(id); !known[id] && rapid.IntRange(0, 5).Draw(t, "other ID") == 0 {
					known[id] = true
					stations[k].OtherIDs = append(stations[k].OtherIDs, id)
					p.Timetable.Trains[0].Calls[k].Station = id
				}
			}
		}
		for range rapid.IntRange(0, 4).Draw(t, "rules") {
			which := rapid.IntRange(0, len(stations)-1)
			p.Timetable.Changes = append(p.Timetable.Changes, traintravel.Change{
				From: stations[which.Draw(t, "from")].ID, To: stations[which.Draw(t, "to")].ID, Feed: feed,
				FromLine: rapid.SampledFrom([]string{"", "S1"}).Draw(t, "line"), Time: time.Duration(rapid.IntRange(0, 3).Draw(t, "minutes")) * time.Minute,
			})
		}
		parts[i] = p
	}
	return parts
}

// copied is a copy of all that Join might change.
func copied(parts []feeds.Part) []feeds.Part {
	out := make([]feeds.Part, len(parts))
	for i, p := range parts {
		t := *p.Timetable
		t.Stations = append([]traintravel.Station(nil), t.Stations...)
		t.Changes = append([]traintravel.Change(nil), t.Changes...)
		t.Trains = append([]traintravel.Train(nil), t.Trains...)
		for k := range t.Trains {
			t.Trains[k].Calls = append([]traintravel.Call(nil), t.Trains[k].Calls...)
		}
		out[i] = feeds.Part{Feed: p.Feed, Timetable: &t, Codes: p.Codes}
	}
	return out
}

func TestJoinDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := drawParts(t)
		was := copied(parts)
		all, report := feeds.Join(parts...)
		if diff := cmp.Diff(was, parts); diff != "" {
			t.Fatalf("the parts have changed (-before +after):\n%s", diff)
		}
		again, reportAgain := feeds.Join(was...)
		if diff := cmp.Diff(all, again) + cmp.Diff(report, reportAgain); diff != "" {
			t.Fatalf("the same parts make something else:\n%s", diff)
		}
		if err := all.Check(); err != nil {
			t.Fatal(err)
		}
		if len(parts) == 1 && cmp.Diff(parts[0].Timetable, all) != "" {
			t.Fatalf("one part alone has changed:\n%s", cmp.Diff(parts[0].Timetable, all))
		}
		become := checkJoined(t, parts, all, report)
		checkMoved(t, parts, all, become)
		checkComplete(t, parts, report, become)
	})
}

// A key is a station of a feed.
type key struct {
	feed string
	id   uuid.UUID
}

// checkJoined checks the pairs that are joined, and returns what each station has
// become.
func checkJoined(t *rapid.T, parts []feeds.Part, all *traintravel.Timetable, report feeds.Report) map[key]traintravel.Station {
	byID := map[uuid.UUID]traintravel.Station{}
	for _, s := range all.Stations {
		byID[s.ID] = s
	}
	codes := map[uuid.UUID]map[string]bool{} // of the stations that have become one
	become := map[key]traintravel.Station{}
	for _, p := range report.Joined {
		if _, twice := become[key{p.Second.Feed, p.Second.Station.ID}]; twice {
			t.Fatalf("%v is joined twice", p.Second)
		}
		become[key{p.Second.Feed, p.Second.Station.ID}] = byID[p.First.Station.ID]
		if p.First.Feed >= p.Second.Feed {
			t.Fatalf("%v: not an earlier feed's station stays", p)
		}
	}
	for _, p := range parts {
		taken := map[uuid.UUID]bool{}
		for _, s := range p.Timetable.Stations {
			now, ok := become[key{p.Feed, s.ID}]
			if !ok {
				now = byID[s.ID]
				become[key{p.Feed, s.ID}] = now
			}
			if now.ID == uuid.Nil || taken[now.ID] {
				t.Fatalf("%v of %s has become nothing, or what another one of its feed has", s, p.Feed)
			}
			taken[now.ID] = true
			if codes[now.ID] == nil {
				codes[now.ID] = map[string]bool{}
			}
			codes[now.ID][p.Codes[s.ID]] = true
		}
	}
	for _, p := range report.Joined {
		switch p.Why {
		case feeds.SameID:
		case feeds.SameCode:
			if p.Metres > feeds.CodeRadius || len(codes[p.First.Station.ID]) == 0 {
				t.Fatalf("%v", p)
			}
		case feeds.SameName:
			if p.Metres > feeds.NameRadius {
				t.Fatalf("%v", p)
			}
		default:
			t.Fatalf("%v: no reason", p)
		}
	}
	for _, p := range report.Alike {
		if become[key{p.First.Feed, p.First.Station.ID}].ID == become[key{p.Second.Feed, p.Second.Station.ID}].ID {
			t.Fatalf("%v: they only look alike, but are joined", p)
		}
	}
	return become
}

// checkMoved checks that trains and rules are what they were, at the new stations.
func checkMoved(t *rapid.T, parts []feeds.Part, all *traintravel.Timetable, become map[key]traintravel.Station) {
	byID := map[uuid.UUID]uuid.UUID{}
	for _, s := range all.Stations {
		for _, id := range append(s.OtherIDs, s.ID) {
			byID[id] = s.ID
		}
	}
	i := 0
	for _, p := range parts {
		others := map[uuid.UUID]uuid.UUID{}
		for _, s := range p.Timetable.Stations {
			now := become[key{p.Feed, s.ID}]
			for _, id := range s.OtherIDs {
				others[id] = now.ID
			}
			if byID[s.ID] == uuid.Nil {
				t.Fatalf("%v of %s is found no more", s, p.Feed)
			}
		}
		for _, want := range p.Timetable.Trains {
			want.Calls = append([]traintravel.Call(nil), want.Calls...)
			for k := range want.Calls {
				at := &want.Calls[k].Station
				if now, ok := others[*at]; ok { // the call keeps it, unless it is another's
					got := all.Trains[i].Calls[k].Station
					if byID[got] != now || got != now && got != *at {
						t.Fatalf("call %d of %s names %v, want %v", k, p.Feed, got, now)
					}
					*at = got
					continue
				}
				*at = become[key{p.Feed, *at}].ID
			}
			if diff := cmp.Diff(want, all.Trains[i]); diff != "" {
				t.Fatalf("a train (-want +got):\n%s", diff)
			}
			i++
		}
	}
	if i != len(all.Trains) {
		t.Fatalf("%d trains have become %d", i, len(all.Trains))
	}
	// The rule that counts for a change is the last one; between feeds the longest.
	type way struct {
		from, to uuid.UUID
		line     string
	}
	want, got := map[way]time.Duration{}, map[way]time.Duration{}
	for _, p := range parts {
		own := map[way]time.Duration{}
		for _, c := range p.Timetable.Changes {
			line := c.FromLine
			if line != "" {
				line += " of " + p.Feed
			}
			own[way{become[key{p.Feed, c.From}].ID, become[key{p.Feed, c.To}].ID, line}] = c.Time
		}
		for w, d := range own {
			want[w] = max(want[w], d)
		}
	}
	for _, c := range all.Changes {
		line := c.FromLine
		if line != "" {
			line += " of " + c.Feed
		}
		got[way{c.From, c.To, line}] = c.Time
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("rules (-want +got):\n%s", diff)
	}
}

// checkComplete looks for stations that should be one and are not.
func checkComplete(t *rapid.T, parts []feeds.Part, report feeds.Report, become map[key]traintravel.Station) {
	joined := map[key]bool{}
	for _, p := range report.Joined {
		joined[key{p.Second.Feed, p.Second.Station.ID}] = true
	}
	for i, p := range parts {
		mine := map[uuid.UUID]bool{} // what has a station of this part
		for _, s := range p.Timetable.Stations {
			mine[become[key{p.Feed, s.ID}].ID] = true
		}
		for _, s := range p.Timetable.Stations {
			if joined[key{p.Feed, s.ID}] {
				continue
			}
			for _, q := range parts[:i] {
				for _, o := range q.Timetable.Stations {
					site := become[key{q.Feed, o.ID}]
					d := s.Distance(site)
					code := p.Codes[s.ID] != "" && p.Codes[s.ID] == q.Codes[o.ID]
					if !mine[site.ID] && (s.Name == o.Name && d <= feeds.NameRadius || code && d <= feeds.CodeRadius) {
						t.Fatalf("%v of %s and %v of %s are not joined", s, p.Feed, o, q.Feed)
					}
				}
			}
		}
	}
}
