package schedule

import (
	"math"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/rail"
)

// How the stations of a timetable are written. The rest of its record has a number
// for each of their IDs: first come their own, and then the others.

// AddStations encodes stations and returns the numbers of their IDs.
func AddStations(e *codec.Encoder, stations []rail.Station) (index map[uuid.UUID]int) {
	index = make(map[uuid.UUID]int, len(stations))
	e.Uint(uint64(len(stations)))
	for i, s := range stations {
		index[s.ID] = i
		e.ID(s.ID)
		e.Str(s.Name)
		e.Str(s.Address)
		e.Str(s.Country)
		e.Str(s.Zone)
		e.Fixed64(math.Float64bits(s.Latitude))
		e.Fixed64(math.Float64bits(s.Longitude))
		addTexts(e, s.OtherNames)
		addIDs(e, s.OtherIDs)
	}
	n := len(stations)
	for _, s := range stations {
		for _, id := range s.OtherIDs {
			index[id] = n
			n++
		}
	}
	return index
}

// takeStations reads stations and returns their IDs by number.
func takeStations(d *codec.Decoder, version byte) (stations []rail.Station, ids []uuid.UUID) {
	stations = make([]rail.Station, d.Len(36))
	for i := range stations {
		stations[i] = rail.Station{
			ID: d.ID(), Name: d.Str(), Address: d.Str(), Country: d.Str(), Zone: d.Str(),
			Latitude: math.Float64frombits(d.Fixed64()), Longitude: math.Float64frombits(d.Fixed64()),
		}
		if version >= 4 {
			stations[i].OtherNames, stations[i].OtherIDs = takeTexts(d), takeIDs(d)
		}
	}
	ids = make([]uuid.UUID, len(stations))
	for i, s := range stations {
		ids[i] = s.ID
	}
	for _, s := range stations {
		ids = append(ids, s.OtherIDs...)
	}
	return stations, ids
}

func addTexts(e *codec.Encoder, texts []string) {
	e.Uint(uint64(len(texts)))
	for _, s := range texts {
		e.Str(s)
	}
}

func takeTexts(d *codec.Decoder) []string {
	n := d.Len(1)
	if n == 0 {
		return nil
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = d.Str()
	}
	return texts
}

func addIDs(e *codec.Encoder, ids []uuid.UUID) {
	e.Uint(uint64(len(ids)))
	for _, id := range ids {
		e.ID(id)
	}
}

func takeIDs(d *codec.Decoder) []uuid.UUID {
	n := d.Len(16)
	if n == 0 {
		return nil
	}
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = d.ID()
	}
	return ids
}
