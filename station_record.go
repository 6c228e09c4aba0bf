package traintravel

import (
	"math"

	"github.com/google/uuid"
)

// How the stations of a timetable are written. The rest of its record has a number
// for each of their IDs: first come their own, and then the others.

// addStations writes stations and returns the numbers of their IDs.
func addStations(e *encoder, stations []Station) (index map[uuid.UUID]int) {
	index = make(map[uuid.UUID]int, len(stations))
	e.uint(uint64(len(stations)))
	for i, s := range stations {
		index[s.ID] = i
		e.id(s.ID)
		e.str(s.Name)
		e.str(s.Address)
		e.str(s.Country)
		e.str(s.Zone)
		e.fixed64(math.Float64bits(s.Latitude))
		e.fixed64(math.Float64bits(s.Longitude))
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
func takeStations(d *decoder, version byte) (stations []Station, ids []uuid.UUID) {
	stations = make([]Station, d.len(36))
	for i := range stations {
		stations[i] = Station{
			ID: d.id(), Name: d.str(), Address: d.str(), Country: d.str(), Zone: d.str(),
			Latitude: math.Float64frombits(d.fixed64()), Longitude: math.Float64frombits(d.fixed64()),
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

func addTexts(e *encoder, texts []string) {
	e.uint(uint64(len(texts)))
	for _, s := range texts {
		e.str(s)
	}
}

func takeTexts(d *decoder) []string {
	n := d.len(1)
	if n == 0 {
		return nil
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = d.str()
	}
	return texts
}

func addIDs(e *encoder, ids []uuid.UUID) {
	e.uint(uint64(len(ids)))
	for _, id := range ids {
		e.id(id)
	}
}

func takeIDs(d *decoder) []uuid.UUID {
	n := d.len(16)
	if n == 0 {
		return nil
	}
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = d.id()
	}
	return ids
}
