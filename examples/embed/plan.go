package main

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A plan says where to travel, when, and what the time is.
type plan struct {
	origin, destination traintravel.Station
	day, now            time.Time
}

// choose takes what the arguments say and finds the rest in the timetable.
func choose(t *traintravel.Timetable, args []string) (plan, error) {
	stations := map[uuid.UUID]traintravel.Station{}
	names := map[string]uuid.UUID{}
	for _, s := range t.Stations {
		stations[s.ID] = s
		names[s.Name] = s.ID
	}
	var from, to uuid.UUID
	switch {
	case len(args) == 0:
		args = []string{"", "Berlin Hauptbahnhof", "Paris Gare du Nord", "2024-02-01"}
		fallthrough
	case len(args) >= 3:
		var ok bool
		if from, ok = names[args[1]]; !ok {
			return plan{}, fmt.Errorf("the timetable has no station named %q", args[1])
		}
		if to, ok = names[args[2]]; !ok {
			return plan{}, fmt.Errorf("the timetable has no station named %q", args[2])
		}
	default:
		from, to = busiest(t)
	}
	day := middle(t)
	if len(args) > 3 {
		var err error
		if day, err = traintravel.ParseDate(args[3]); err != nil {
			return plan{}, err
		}
	}
	loc, err := time.LoadLocation(stations[from].Zone)
	if err != nil {
		return plan{}, err
	}
	start := day.Start(loc)
	return plan{origin: stations[from], destination: stations[to], day: start, now: start.Add(-time.Hour)}, nil
}

// busiest finds the two stations that most trains connect end to end.
func busiest(t *traintravel.Timetable) (from, to uuid.UUID) {
	trains := map[[2]uuid.UUID]int{}
	var best [2]uuid.UUID
	for _, tr := range t.Trains {
		ends := [2]uuid.UUID{tr.Calls[0].Station, tr.Calls[len(tr.Calls)-1].Station}
		if trains[ends]++; ends[0] != ends[1] && trains[ends] > trains[best] {
			best = ends
		}
	}
	return best[0], best[1]
}

// middle is a day in the midst of the trains' calendars.
func middle(t *traintravel.Timetable) traintravel.Date {
	first, last := traintravel.Date(0), traintravel.Date(0)
	for _, tr := range t.Trains {
		if c := tr.Days; c != nil && c.From != 0 {
			if first == 0 || c.From < first {
				first = c.From
			}
			last = max(last, c.To)
		}
	}
	return first + (last-first)/2
}
