package gtfs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// The location types of stops.txt.
const (
	platform = iota
	station
	entrance
	node
	boardingArea
)

func (f *feed) readStops() error {
	t, err := f.open("stops.txt", "stop_id")
	if err != nil {
		return err
	}
	var (
		id      = t.column("stop_id")
		name    = t.column("stop_name")
		lat     = t.column("stop_lat")
		lon     = t.column("stop_lon")
		kind    = t.column("location_type")
		parent  = t.column("parent_station")
		zone    = t.column("stop_timezone")
		country = t.column("stop_country")
		address = t.column("stop_address")
		fares   = t.column("zone_id")
	)
	var key string
	t.flawed = func(flaw *Error) bool {
		if i, ok := f.stopByID[key]; ok { // else no trip can name it
			f.stops[i].told = cmp.Or(f.stops[i].told, flaw)
		}
		return true
	}
	for t.next() {
		key = string(t.get(id))
		if key == "" {
			t.fail("stop_id is missing")
			continue
		}
		if _, twice := f.stopByID[key]; twice {
			t.fail("stop_id %.60q occurs twice", key)
			continue
		}
		f.stopByID[key] = int32(len(f.stops))
		s := stop{line: t.line(), kind: t.choice(kind, "location_type", boardingArea)}
		if s.kind != station { // whose parent, against the rules, would be its end
			s.parent = string(t.get(parent))
		}
		if s.kind == platform || s.kind == station {
			s.Name = t.text(name)
		}
		if s.parent == "" {
			s.Zone = string(t.get(zone))
			if s.Zone != "" && !f.validZone(s.Zone) {
				s.flaw = fmt.Sprintf("stop_timezone %.60q is not a known time zone", s.Zone)
			}
			s.Name, s.Address = t.text(name), t.text(address)
			s.place(t.get(lat), t.get(lon), string(t.get(country)))
			s.ID = StationID(f.opts.Feed, key)
		} else if y, ok := degrees(t.get(lat), 90); ok {
			if x, ok := degrees(t.get(lon), 180); ok {
				s.Latitude, s.Longitude = y, x
			}
		}
		if f.zones != nil {
			s.zone = f.zone(t.get(fares))
		}
		f.hold(sizeStop, key, s.parent, s.Zone, s.Name, s.Address, s.Country, s.flaw)
		f.stops = append(f.stops, s)
	}
	for i := range f.stops {
		f.stops[i].station = f.station(int32(i))
	}
	if f.zones != nil {
		f.inheritZones()
	}
	return t.err
}

// place sets the coordinates of the station and finds mistakes in them.
func (s *stop) place(lat, lon []byte, country string) {
	var okLat, okLon bool
	s.Latitude, okLat = degrees(lat, 90)
	s.Longitude, okLon = degrees(lon, 180)
	if s.Country = strings.ToUpper(country); s.Country == traintravel.UnknownCountry {
		s.Country = "" // perhaps it can be located
	}
	switch {
	case s.flaw != "":
	case s.Name == "":
		s.flaw = "stop_name is missing"
	case long(s.Name), long(s.Address):
		s.flaw = fmt.Sprintf("stop_name or stop_address has more than %d characters", traintravel.MaxText)
	case !okLat || !okLon:
		s.flaw = fmt.Sprintf("stop_lat %.20q, stop_lon %.20q is not a place on earth", lat, lon)
	case s.Latitude == 0 && s.Longitude == 0:
		s.flaw = "stop_lat, stop_lon is 0, 0, which is in the sea"
	case s.Country != "" && (len(s.Country) != 2 || strings.Trim(s.Country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != ""):
		s.flaw = fmt.Sprintf("stop_country %.20q is not a code of two letters", country)
	case s.kind == boardingArea:
		s.flaw = "parent_station of a boarding area is missing"
	}
}

// station returns the station that a stop is part of: itself, or the end of its
// line of parents. A boarding area is part of a platform, that of a station; one
// step more is granted.
func (f *feed) station(i int32) int32 {
	at := i
	for range 4 {
		s := &f.stops[at]
		if s.kind == entrance || s.kind == node {
			s.flaw = fmt.Sprintf("location_type %d is not a place where trains call", s.kind)
			return at
		}
		if s.parent == "" {
			return at
		}
		next, ok := f.stopByID[s.parent]
		if !ok {
			s.flaw = fmt.Sprintf("parent_station %.60q is not in stops.txt", s.parent)
			return at
		}
		at = next
	}
	f.stops[i].flaw = "parent_station leads back to the stop"
	return i
}

// tell returns the mistake of a stop, or nil, and reports it the first time.
func (f *feed) tell(i int32) *Error {
	s := &f.stops[i]
	if s.told != nil || s.looked {
		return s.told
	}
	s.looked = true
	if s.flaw == "" && s.ID != uuid.Nil {
		if f.stations[s.ID] {
			s.flaw = fmt.Sprintf("stop_id is a UUID that occurs twice, in different letter case: %s", s.ID)
		}
		f.stations[s.ID] = true
	}
	if s.flaw != "" {
		f.during(func() { f.fail("stops.txt", s.line, "%s", s.flaw) }, func(flaw *Error) bool { s.told = flaw; return true })
	}
	return s.told
}

// serve records that a train calls at a station.
func (f *feed) serve(i int32) {
	s := &f.stops[i]
	if s.served {
		return
	}
	s.served = true
	f.report.Stations++
	if f.opts.Locate != nil {
		f.opts.Locate(&s.Station)
	}
	if s.Zone == "" {
		s.Zone = f.agencies[0].zone
	}
}
