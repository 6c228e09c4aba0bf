package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A stop is a station of a path.
type stop struct {
	station
	dwell                   time.Duration
	run                     time.Duration // to the next stop
	noBoarding, noAlighting bool
}

const usualDwell = 3 * time.Minute

// parsePath reads the path of a line.
func parsePath(s string) ([]stop, error) {
	words := strings.Fields(s)
	if len(words) < 3 || len(words)%2 == 0 {
		return nil, fmt.Errorf("path %q", s)
	}
	var path []stop
	for i := 0; i < len(words); i += 2 {
		p, err := parseStop(words[i])
		if err != nil {
			return nil, err
		}
		if i+1 < len(words) {
			if p.run, err = minutes(words[i+1]); err != nil {
				return nil, err
			}
		}
		path = append(path, p)
	}
	return path, nil
}

// parseStop reads a station, such as Berlin, +Villach/12.
func parseStop(word string) (stop, error) {
	p := stop{dwell: usualDwell}
	key, dwell, ok := strings.Cut(word, "/")
	if ok {
		var err error
		if p.dwell, err = minutes(dwell); err != nil {
			return stop{}, err
		}
	}
	key, p.noAlighting = strings.CutPrefix(key, "+")
	key, p.noBoarding = strings.CutPrefix(key, "-")
	if p.station, ok = stationByKey(key); !ok {
		return stop{}, fmt.Errorf("no station %q", key)
	}
	return p, nil
}

func minutes(s string) (time.Duration, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("minutes %q", s)
	}
	return time.Duration(n) * time.Minute, nil
}

// reverse is the way back.
func reverse(path []stop) []stop {
	n := len(path)
	back := make([]stop, n)
	for i, p := range path {
		p.noBoarding, p.noAlighting = p.noAlighting, p.noBoarding
		p.run = 0
		if i > 0 {
			p.run = path[i-1].run
		}
		back[n-1-i] = p
	}
	return back
}

// parseDepartures reads 6:04 9:04 and 6:04-20:04/2h.
func parseDepartures(s string) ([]time.Duration, error) {
	var departures []time.Duration
	for _, word := range strings.Fields(s) {
		times, every, regular := strings.Cut(word, "/")
		if !regular {
			every = "24h"
		}
		from, to, ok := strings.Cut(times, "-")
		if !ok {
			to = from
		}
		first, err := timeOfDay(from)
		if err != nil {
			return nil, err
		}
		last, err := timeOfDay(to)
		if err != nil {
			return nil, err
		}
		interval, err := time.ParseDuration(every)
		if err != nil || interval <= 0 || regular != ok || (last-first)%interval != 0 {
			return nil, fmt.Errorf("departures %q", word)
		}
		for t := first; t <= last; t += interval {
			departures = append(departures, t)
		}
	}
	return departures, nil
}

func timeOfDay(s string) (time.Duration, error) {
	t, err := time.Parse("15:04", s)
	if err != nil {
		return 0, err
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}
