package main

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A reader asks the API for what anybody may know: stations and trips.
type reader struct {
	api   *api
	atlas *atlas
}

// stationLife is how long a station is remembered, whoever asked for it. The API says that
// it does not change for as long.
const stationLife = time.Hour

// searchLife is how long it is remembered which stations some words find, and longestKept
// how many bytes such words have at most.
const (
	searchLife  = time.Minute
	longestKept = 100
)

// An atlas remembers stations that the API has told of, and what it finds.
type atlas struct {
	known *shelf[station]
	found *shelf[[]station] // by words and limit
	now   func() time.Time
}

func newAtlas(now func() time.Time) *atlas {
	return &atlas{newShelf[station](stationLife), newShelf[[]station](searchLife), now}
}

func (a *atlas) remember(all ...station) {
	for _, st := range all {
		a.known.put(st.ID, st, a.now())
	}
}

// station returns one station.
func (r reader) station(ctx context.Context, id string) (station, error) {
	if st, ok := r.atlas.known.get(id, r.atlas.now()); ok {
		return st, nil
	}
	st, err := r.api.station(ctx, id)
	if err == nil {
		r.atlas.remember(st)
	}
	return st, err
}

// search returns the stations that the API finds by words.
func (r reader) search(ctx context.Context, words string, limit int) ([]station, error) {
	name := strconv.Itoa(limit) + " " + strings.ToLower(words)
	if known, ok := r.atlas.found.get(name, r.atlas.now()); ok {
		return known, nil
	}
	found, err := r.api.stations(ctx, words, limit)
	if err != nil {
		return nil, err
	}
	r.atlas.remember(found.Data...)
	if len(name) <= longestKept {
		r.atlas.found.put(name, found.Data, r.atlas.now())
	}
	return found.Data, nil
}

// find returns the stations that somebody may mean: one if it is clear.
func (r reader) find(ctx context.Context, typed, id string) ([]station, error) {
	if isID(id) { // unless the name was changed after it was chosen
		if st, err := r.station(ctx, id); err == nil && strings.EqualFold(st.Name, typed) {
			return []station{st}, nil
		}
	}
	found, err := r.search(ctx, typed, 12)
	if err != nil {
		return nil, err
	}
	var exact []station
	for _, st := range found {
		if strings.EqualFold(st.Name, typed) {
			exact = append(exact, st)
		}
	}
	if len(exact) == 1 {
		return exact, nil
	}
	return found, nil
}

// stationsOf returns the stations of rides, by ID. Those that cannot be had are
// missing: a page without a name is better than none.
func (r reader) stationsOf(ctx context.Context, rides ...ride) map[string]station {
	found := map[string]station{}
	for _, ride := range rides {
		found[ride.Origin], found[ride.Destination] = station{}, station{}
	}
	var mu sync.Mutex
	each(found, func(id string) {
		st, err := r.station(ctx, id)
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		found[id] = st
	})
	return found
}

// each calls a function for all keys of a map at the same time.
func each[V any](m map[string]V, do func(key string)) {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	var wg sync.WaitGroup
	for _, key := range keys {
		wg.Go(func() { do(key) })
	}
	wg.Wait()
}
