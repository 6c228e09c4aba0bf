package httpserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A stationDoc is a station as clients see it.
type stationDoc struct {
	traintravel.Station
	texts *stationTexts
}

func (d *stationDoc) encode(e *encoder) {
	if text := d.texts.of(&d.Station, e.form); text != nil {
		e.again("station", text)
		return
	}
	e.item("station")
	from := len(e.b)
	e.id("id", d.ID)
	e.text("name", d.Name)
	e.text("address", d.Address)
	e.text("country_code", d.Country)
	e.text("timezone", d.Zone)
	e.degrees("latitude", d.Latitude)
	e.degrees("longitude", d.Longitude)
	e.close("station")
	d.texts.keep(&d.Station, e.form, e.b[from:])
}

// stationTexts keeps how stations were written: lists of them are long, and
// asked for often.
type stationTexts struct {
	mu   sync.RWMutex
	kept [2]map[uuid.UUID]stationText // by form
}

// stationText is a station and how it is written after what item writes.
type stationText struct {
	station shownStation
	text    []byte
}

// shownStation is what clients see of a station. It can be compared.
type shownStation struct {
	id                           uuid.UUID
	name, address, country, zone string
	latitude, longitude          float64
}

func shown(st *traintravel.Station) shownStation {
	return shownStation{st.ID, st.Name, st.Address, st.Country, st.Zone, st.Latitude, st.Longitude}
}

// maxStationTexts bounds what is kept of each form, to some 40 MB.
const maxStationTexts = 1 << 16

// of returns the text of a station as it is now, or nil.
func (t *stationTexts) of(st *traintravel.Station, f form) []byte {
	t.mu.RLock()
	kept, ok := t.kept[f][st.ID]
	t.mu.RUnlock()
	if !ok || kept.station != shown(st) {
		return nil
	}
	return kept.text
}

func (t *stationTexts) keep(st *traintravel.Station, f form, text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept[f] == nil || len(t.kept[f]) == maxStationTexts {
		t.kept[f] = map[uuid.UUID]stationText{}
	}
	t.kept[f][st.ID] = stationText{shown(st), bytes.Clone(text)}
}

var stationParams = []string{"search", "country", "coordinates", "page", "limit", "after"}

func (s *Server) listStations(x *exchange) error {
	q := x.query(stationParams)
	ask := traintravel.StationQuery{
		Search: q.text("search"), Country: q.text("country"), Near: q.position("coordinates"), Page: q.page(),
	}
	if err := q.problem(); err != nil {
		return err
	}
	found, err := s.service.Stations(x.ctx(), ask)
	if err != nil {
		return err
	}
	docs := make([]stationDoc, len(found.Items))
	for i, st := range found.Items {
		docs[i] = stationDoc{st, &s.stations}
	}
	return x.answer(http.StatusOK, listOf("stations", docs, q.links(x, found.Next)))
}

func (s *Server) oneStation(x *exchange) error {
	id, err := x.id("stationId")
	if err != nil {
		return err
	}
	station, err := s.service.Station(x.ctx(), id)
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, &stationDoc{station, &s.stations})
}

// zones keeps the time zones that were asked for: reading one is work.
type zones struct{ byName sync.Map }

// zone returns the time zone of the station that a parameter names.
func (s *Server) zone(ctx context.Context, parameter string, station uuid.UUID) (*time.Location, error) {
	st, err := s.service.Station(ctx, station)
	if errors.Is(err, traintravel.ErrNotFound) {
		return nil, &traintravel.InvalidError{Field: parameter, Reason: "there is no station " + station.String()}
	}
	if err != nil {
		return nil, err
	}
	if loc, ok := s.zones.byName.Load(st.Zone); ok {
		return loc.(*time.Location), nil
	}
	loc, err := time.LoadLocation(st.Zone)
	if err == nil {
		s.zones.byName.Store(st.Zone, loc)
	}
	return loc, err
}
