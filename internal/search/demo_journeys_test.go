package search_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// A way leads from one station to another.
type way [2]uuid.UUID

// demoJourneys are those between all stations of the demo network on a day.
func demoJourneys(t *testing.T, tt *traintravel.Timetable) map[way][]traintravel.Trip {
	t.Helper()
	o := officetest.New(t, memstore.New())
	o.Load(tt)
	o.Clock.Set(time.Date(2024, 5, 1, 8, 0, 0, 0, time.UTC))
	found := map[way][]traintravel.Trip{}
	for _, a := range tt.Stations {
		zone, err := time.LoadLocation(a.Zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range tt.Stations {
			if a.ID == b.ID {
				continue
			}
			trips, err := o.SearchTrips(t.Context(), traintravel.TripQuery{
				Origin: a.ID, Destination: b.ID, Depart: time.Date(2024, 5, 15, 0, 0, 0, 0, zone),
				Page: traintravel.Page{Limit: traintravel.MaxLimit},
			})
			if err != nil {
				t.Fatal(err)
			}
			found[way{a.ID, b.ID}] = trips.Items
		}
	}
	return found
}

// TestDemoJourneys goes from everywhere to everywhere.
func TestDemoJourneys(t *testing.T) {
	t.Parallel()
	// From corners three changes do not lead everywhere, but far; only from
	// King's Cross all trains go to Edinburgh, and those to the continent leave
	// across the street.
	corners := []string{
		"London King's Cross", "Edinburgh Waverley", "Lisboa Oriente", "Porto Campanhã", "Sevilla Santa Justa",
		"Oslo S", "Stockholm C", "Αθήνα", "Русе",
	}
	tt := officetest.DemoNetwork(t)
	found := demoJourneys(t, tt)
	rules := map[way]time.Duration{}
	for _, ch := range tt.Changes {
		rules[way{ch.From, ch.To}] = ch.Time
	}
	crossed := map[way]bool{}
	for _, trips := range found {
		for _, trip := range trips {
			for i, next := range trip.Legs[1:] {
				last := trip.Legs[i].Destination
				w := way{last.Station, next.Origin.Station}
				crossed[w] = true
				if took := next.Origin.Time.Sub(last.Time); took < rules[w] {
					t.Errorf("from %s to %s in %v, not %v", last.Name, next.Origin.Name, took, rules[w])
				}
			}
		}
	}
	for w := range rules {
		if !crossed[w] {
			t.Errorf("nobody changes from %v to %v", w[0], w[1])
		}
	}
	for _, a := range tt.Stations {
		to, from := 0, 0
		for _, b := range tt.Stations {
			there, back := len(found[way{a.ID, b.ID}]) > 0, len(found[way{b.ID, a.ID}]) > 0
			if there {
				to++
			}
			if back {
				from++
			}
			within := a.Distance(b) < 20_000 // one station, or of one city
			if !there && !within && !slices.Contains(corners, a.Name) && !slices.Contains(corners, b.Name) {
				t.Errorf("no trip from %s to %s", a.Name, b.Name)
			}
		}
		if (to < 50 || from < 50) && a.Name != corners[0] {
			t.Errorf("from %s one gets to %d stations, and there from %d", a.Name, to, from)
		}
	}
}
