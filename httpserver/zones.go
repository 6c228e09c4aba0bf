package httpserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// zones keeps the time zones that were asked for: reading one is work.
type zones struct{ byName sync.Map }

// zone returns the time zone of the station that a parameter names.
func (s *Server) zone(ctx context.Context, parameter string, station uuid.UUID) (*time.Location, error) {
	st, err := s.service.Station(ctx, station)
	if errors.Is(err, traintravel.ErrNotFound) {
		return nil, &traintravel.InvalidError{Field: parameter, Reason: "unknown station " + station.String()}
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
