package traintravel

import "context"

// Ready returns nil if the service can sell: its store is read and holds a timetable
// (else the error wraps [ErrNoTimetable]), and takes updates, as far as a [ReadyStore]
// can tell. It is for health checks: cheap enough to be called each second, and safe for
// concurrent use.
func (s *Service) Ready(ctx context.Context) (err error) {
	ctx, end := s.begin(ctx, "Ready")
	defer end(&err)
	if _, err := s.timetable.snapshot(ctx); err != nil {
		return err
	}
	if r, ok := s.given.(ReadyStore); ok {
		return r.Ready(ctx)
	}
	return nil
}
