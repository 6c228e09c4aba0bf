package traintravel

import "context"

// LoadTimetable checks a timetable and makes it the one in force, for this
// service and every other on the same store, all at once. Bookings made before
// stay valid and keep the trip as sold; trip IDs stay the same for trains that
// still run with the same calls. What is wrong with the timetable is returned
// as by [Timetable.Check], and then nothing has changed. If ctx ends before the
// timetable is in force, its error is returned, and nothing has changed either.
// It takes any timetable that is well-formed, also one that has expired:
// [Service.ReplaceTimetable] asks first.
//
// The timetable must not be modified any more.
func (s *Service) LoadTimetable(ctx context.Context, t *Timetable) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "LoadTimetable")
	defer end(&err)
	return s.loader.load(ctx, t, replacing{})
}

// LoadFirstTimetable is LoadTimetable for a store that has none. If another one
// is in force, or is first, that stays, and the error is [ErrHasTimetable].
func (s *Service) LoadFirstTimetable(ctx context.Context, t *Timetable) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "LoadFirstTimetable")
	defer end(&err)
	return s.loader.load(ctx, t, replacing{first: true})
}

// ReplaceTimetable is LoadTimetable that asks before it changes anything: accept is
// told how the timetable differs from the one in force. If accept returns an error,
// that is returned, and nothing has changed. What it was told is still so when the
// timetable comes into force: if another one is loaded meanwhile, accept is asked
// again. [Edition.Check] refuses timetables that look like a mistake:
//
//	report, err := service.ReplaceTimetable(ctx, timetable, traintravel.Edition.Check)
func (s *Service) ReplaceTimetable(ctx context.Context, t *Timetable, accept func(Edition) error) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "ReplaceTimetable")
	defer end(&err)
	return s.loader.load(ctx, t, replacing{accept: accept})
}

// CompareTimetable says what [Service.ReplaceTimetable] would change now. It changes
// nothing. What is wrong with the timetable is returned as by [Timetable.Check].
func (s *Service) CompareTimetable(ctx context.Context, t *Timetable) (_ Edition, err error) {
	ctx, end := s.begin(ctx, "CompareTimetable")
	defer end(&err)
	return s.loader.compareNow(ctx, t)
}
