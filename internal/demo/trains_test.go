package demo_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

func TestSpeeds(t *testing.T) {
	t.Parallel()
	n := load(t)
	for _, train := range n.Trains {
		for i, c := range train.Calls[1:] {
			before := train.Calls[i]
			a, b := n.byID[before.Station], n.byID[c.Station]
			kmh := a.Distance(b) / float64(c.Arrive-before.Depart) * 3.6
			if kmh < 20 || kmh > 320 {
				t.Errorf("%s runs from %s to %s at %.0f km/h", train.Number, a.Name, b.Name, kmh)
			}
			if wait := c.Depart - c.Arrive; wait < 0 || wait > 2*3600 {
				t.Errorf("%s waits %s at %s", train.Number, wait, b.Name)
			}
		}
	}
}

// No two trains of an operator have one number, and each way has its opposite.
func TestNumbers(t *testing.T) {
	t.Parallel()
	n := load(t)
	seen := map[string]bool{}
	ways := map[[2]uuid.UUID]int{}
	for _, train := range n.Trains {
		if name := train.Operator + " " + train.Number; seen[name] {
			t.Errorf("%s is there twice", name)
		} else {
			seen[name] = true
		}
		ways[[2]uuid.UUID{train.Calls[0].Station, train.Calls[len(train.Calls)-1].Station}]++
	}
	for way, count := range ways {
		if back := ways[[2]uuid.UUID{way[1], way[0]}]; back != count {
			t.Errorf("%d trains from %s to %s, and %d back", count, n.byID[way[0]].Name, n.byID[way[1]].Name, back)
		}
	}
}

// There is something of everything that a train may be.
func TestVariety(t *testing.T) {
	t.Parallel()
	n := load(t)
	count := map[string]int{}
	layouts := map[string]bool{}
	for _, train := range n.Trains {
		count[fmt.Sprintf("bicycles %d, dogs %d", train.Bicycles, train.Dogs)]++
		count["in "+train.Fare.Currency]++
		if train.Fare.Base <= 0 || train.Fare.PerKm <= 0 {
			t.Errorf("%s costs %+v", train.Number, train.Fare)
		}
		if train.Bicycles == traintravel.Allowed {
			if train.Hooks > 0 {
				count["hooks"]++
			} else {
				count["no hooks"]++
			}
		} else if train.Hooks > 0 {
			t.Errorf("%s has %d hooks for no bicycles", train.Number, train.Hooks)
		}
		if len(train.Coaches) == 0 {
			count["unreserved"]++
		} else {
			layouts[fmt.Sprint(train.Coaches)] = true
		}
		stations := map[uuid.UUID]bool{}
		for _, c := range train.Calls {
			stations[c.Station] = true
			if c.NoBoarding || c.NoAlighting {
				count["barred"]++
			}
		}
		if len(stations) < len(train.Calls) {
			count["twice at a station"]++
		}
		if train.Calls[len(train.Calls)-1].Arrive > traintravel.Clock(24, 0) {
			count["over midnight"]++
		}
	}
	for _, what := range []string{
		"bicycles 0, dogs 0", "bicycles 1, dogs 1", "bicycles 1, dogs 2", "bicycles 2, dogs 1", "bicycles 2, dogs 2",
		"in eur", "in gbp", "in chf", "in sek", "in pln",
		"hooks", "no hooks", "unreserved", "barred", "twice at a station", "over midnight",
	} {
		if count[what] < 2 {
			t.Errorf("%d trains: %s", count[what], what)
		}
	}
	if len(layouts) < 10 {
		t.Errorf("%d layouts of coaches", len(layouts))
	}
}

// Times are those of the agency's zone; travellers see those of the stations.
func TestLocalTimes(t *testing.T) {
	t.Parallel()
	n := load(t)
	for _, test := range []struct {
		number, day, from, departure, to, arrival string
	}{
		{"ME 11", "2024-02-01", "Berlin Hauptbahnhof", "02-01 11:00 CET", "Paris Gare du Nord", "02-01 18:46 CET"},
		{"NF 471", "2024-02-29", "Berlin Hauptbahnhof", "02-29 20:18 CET", "Paris Gare du Nord", "03-01 08:36 CET"},
		{"NF 471", "2024-03-30", "Berlin Hauptbahnhof", "03-30 20:18 CET", "Paris Gare du Nord", "03-31 09:36 CEST"},
		{"SX 9001", "2024-02-01", "London St Pancras International", "02-01 07:01 GMT", "Paris Gare du Nord", "02-01 10:18 CET"},
		{"SX 9001", "2024-03-31", "London St Pancras International", "03-31 07:01 BST", "Paris Gare du Nord", "03-31 10:18 CEST"},
		{"SX 9002", "2024-07-14", "Paris Gare du Nord", "07-14 07:13 CEST", "London St Pancras International", "07-14 08:30 BST"},
		{"NF 331", "2024-02-01", "Lisboa Oriente", "02-01 21:34 WET", "Madrid Puerta de Atocha", "02-02 09:02 CET"},
		{"NF 491", "2024-02-01", "София", "02-01 18:40 EET", "İstanbul Halkalı", "02-02 07:48 +03"},
		{"NF 492", "2024-07-14", "İstanbul Halkalı", "07-14 19:00 +03", "София", "07-15 07:08 EEST"},
	} {
		i := slices.IndexFunc(n.Trains, func(train traintravel.Train) bool { return train.Number == test.number })
		if i < 0 {
			t.Errorf("there is no %s", test.number)
			continue
		}
		train := n.Trains[i]
		d, err := traintravel.ParseDate(test.day)
		if err != nil {
			t.Fatal(err)
		}
		local := func(c traintravel.Call, at traintravel.ServiceTime) (string, string) {
			s := n.byID[c.Station]
			return s.Name, at.Instant(d, zone(t, train.Zone)).In(zone(t, s.Zone)).Format("01-02 15:04 MST")
		}
		first, last := train.Calls[0], train.Calls[len(train.Calls)-1]
		from, departure := local(first, first.Depart)
		to, arrival := local(last, last.Arrive)
		got := []string{from, departure, to, arrival}
		if want := []string{test.from, test.departure, test.to, test.arrival}; !slices.Equal(got, want) {
			t.Errorf("%s on %s\n got %q\nwant %q", test.number, test.day, got, want)
		}
	}
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}
