package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A plan says where to travel, when, and what the time is.
type plan struct {
	origin, destination traintravel.Station
	day, now            time.Time // the day's beginning at the origin, and an hour before
}

// choose reads the arguments, and chooses the rest from the timetable.
func choose(t *traintravel.Timetable, args []string) (p plan, err error) {
	if len(args) == 0 { // the demo network
		args = []string{"", "Berlin Hauptbahnhof", "Paris Gare du Nord", "2024-02-01"}
	}
	if len(args) >= 3 {
		if p.origin, err = named(t, args[1]); err != nil {
			return plan{}, err
		}
		if p.destination, err = named(t, args[2]); err != nil {
			return plan{}, err
		}
	} else {
		p.origin, p.destination = busiest(t)
	}
	day := middle(t)
	if len(args) == 4 {
		if day, err = traintravel.ParseDate(args[3]); err != nil {
			return plan{}, err
		}
	}
	zone, err := time.LoadLocation(p.origin.Zone)
	if err != nil {
		return plan{}, err
	}
	p.day = day.Start(zone)
	p.now = p.day.Add(-time.Hour)
	return p, nil
}

// named finds a station by its exact name.
func named(t *traintravel.Timetable, name string) (traintravel.Station, error) {
	var similar []string
	for _, s := range t.Stations {
		if s.Name == name {
			return s, nil
		}
		if len(similar) < 5 && strings.Contains(strings.ToLower(s.Name), strings.ToLower(name)) {
			similar = append(similar, s.Name)
		}
	}
	if len(similar) > 0 {
		return traintravel.Station{}, fmt.Errorf("the timetable has no station named %q, but %s", name, strings.Join(similar, ", "))
	}
	return traintravel.Station{}, fmt.Errorf("the timetable has no station named %q", name)
}

// busiest finds the two stations that most trains connect end to end.
func busiest(t *traintravel.Timetable) (from, to traintravel.Station) {
	trains := map[[2]uuid.UUID]int{}
	var best [2]uuid.UUID
	for _, tr := range t.Trains {
		ends := [2]uuid.UUID{tr.Calls[0].Station, tr.Calls[len(tr.Calls)-1].Station}
		if trains[ends]++; ends[0] != ends[1] && trains[ends] > trains[best] {
			best = ends
		}
	}
	for _, s := range t.Stations {
		switch s.ID {
		case best[0]:
			from = s
		case best[1]:
			to = s
		}
	}
	return from, to
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
