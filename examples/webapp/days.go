package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A dayOffer is a day in the calendar, and the least that a trip costs on it.
type dayOffer struct {
	Date    string
	Path    string
	Rel     string // prev and next for those beside the day of the list
	Current bool   // the list is of that day
	cheapest
}

// dayLife is how long the least price of a day is remembered. It is one to compare by: the
// list of the day has those that count.
const dayLife = 10 * time.Minute

// calendarTime is how long a page waits for the prices of other days.
const calendarTime = 3 * time.Second

// least is the cheapest of some trips that have seats for all.
func (f search) least(trips []trip) cheapest {
	trips = slices.DeleteFunc(slices.Clone(trips), func(t trip) bool { return !f.fits(t) })
	if len(trips) == 0 {
		return cheapest{None: true}
	}
	t := slices.MinFunc(trips, func(a, b trip) int { return a.price.compare(b.price) })
	return cheapest{Price: &t.price}
}

// key names a day of a search in what is remembered.
func (f search) key(date string) string {
	w := f.way()
	return fmt.Sprint(w.FromID, w.ToID, date, f.Passengers, f.Bicycles, f.Dogs)
}

// learn remembers the least price of a day by its trips.
func (s *site) learn(find search, date string, trips []trip) cheapest {
	known := find.least(trips)
	s.days.put(find.key(date), known, s.now())
	return known
}

// cheapestOf asks for the trips of days, at the same time. Of days of which it cannot know
// in time it says nothing.
func (s *site) cheapestOf(ctx context.Context, ask reader, find search, days []string) []cheapest {
	ctx, cancel := context.WithTimeout(ctx, calendarTime)
	defer cancel()
	found := make([]cheapest, len(days))
	var wg sync.WaitGroup
	for i, date := range days {
		wg.Go(func() {
			known, ok := s.days.get(find.key(date), s.now())
			if !ok {
				trips, err := ask.day(ctx, find, date)
				if err != nil {
					return
				}
				known = s.learn(find, date, trips)
			}
			found[i] = known
		})
	}
	wg.Wait()
	return found
}

// week is the calendar of the days around that of the list.
func (s *site) week(ctx context.Context, ask reader, find search) []dayOffer {
	from := -3
	for from < 0 && find.plus(from) == "" {
		from++ // days that have passed
	}
	var dates []string
	for n := from; n < from+7; n++ {
		if date := find.plus(n); date != "" {
			dates = append(dates, date)
		}
	}
	prices := s.cheapestOf(ctx, ask, find, dates)
	week := make([]dayOffer, len(dates))
	for i, date := range dates {
		week[i] = dayOffer{Date: date, Path: find.On(date).Path(), Current: date == find.Day(), cheapest: prices[i]}
		switch date {
		case find.plus(-1):
			week[i].Rel = "prev"
		case find.plus(1):
			week[i].Rel = "next"
		}
	}
	return week
}

// lookAhead is for how many days after one without trains others are looked for.
const lookAhead = 14

// nextDay leads to the next day on which there is a trip; nil if none is near.
func (s *site) nextDay(ctx context.Context, ask reader, find search) *link {
	for n := 1; n <= lookAhead; n += lookAhead / 2 {
		var dates []string
		for i := n; i < n+lookAhead/2; i++ {
			if date := find.plus(i); date != "" {
				dates = append(dates, date)
			}
		}
		for i, day := range s.cheapestOf(ctx, ask, find, dates) {
			if day.Price != nil {
				return &link{longDay(dates[i]), find.On(dates[i]).Path()}
			}
		}
	}
	return nil
}
