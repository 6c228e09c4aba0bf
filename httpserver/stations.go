package httpserver

import (
	"net/http"

	"github.com/traintravel/traintravel"
)

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
