package httpserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A stationDoc is a station as clients see it.
type stationDoc struct{ traintravel.Station }

func (d *stationDoc) encode(e *encoder) {
	e.item("station")
	e.id("id", d.ID)
	e.text("name", d.Name)
	e.text("address", d.Address)
	e.optional("country_code", d.Country)
	e.text("timezone", d.Zone)
	e.degrees("latitude", d.Latitude)
	e.degrees("longitude", d.Longitude)
	e.close("station")
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
		docs[i] = stationDoc{st}
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
	return x.answer(http.StatusOK, &stationDoc{station})
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
