package traintravel

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// lookEvery is how long a timetable is taken to be in force before the store is asked
// again. Searches may be late by as much; bookings are checked in the update that makes
// them. It is time that has passed, whatever clocks say.
const lookEvery = 2 * time.Second

// errStale gives an update up because another timetable is in force than the
// one it was prepared with.
var errStale = errors.New("the timetable has changed")

// A source has the timetable in force of a store, compiled.
type source struct {
	store   Store
	zones   *zones
	cities  func() *gazetteer // made when it is needed
	anyRide bool              // see compiling

	made    time.Time                // with the monotonic reading
	latest  atomic.Pointer[snapshot] // that is known
	until   atomic.Int64             // how long after made latest is taken to be in force
	loading chan struct{}            // full while somebody loads, which may take as long as the store
}

// newSource returns a source that has read nothing. It keeps the cities.
func newSource(store Store, zones *zones, cities []City, anyRide bool) *source {
	return &source{
		store: store, zones: zones, anyRide: anyRide,
		cities: sync.OnceValue(func() *gazetteer { return newGazetteer(cities) }),
		made:   time.Now(), loading: make(chan struct{}, 1),
	}
}

// snapshot returns the timetable in force, loading it if there is a newer one than is
// known here. Of several callers one loads.
func (s *source) snapshot(ctx context.Context) (*snapshot, error) {
	if sn := s.fresh(time.Since(s.made)); sn != nil {
		return sn, nil
	}
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.unlock()
	now := time.Since(s.made)
	if sn := s.fresh(now); sn != nil {
		return sn, nil
	}
	sn, err := s.read(ctx, s.latest.Load())
	if err != nil {
		return nil, err
	}
	s.set(sn, now)
	return sn, nil
}

// replace makes known a timetable that was loaded here. A refresh that is under
// way may have read the one before, so it ends first.
func (s *source) replace(ctx context.Context, sn *snapshot) error {
	now := time.Since(s.made)
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	s.set(sn, now)
	return nil
}

// expire makes the next use look whether there is a newer timetable.
func (s *source) expire() { s.until.Store(0) }

// whileCurrent does what needs the timetable in force, again if another came
// into force meanwhile.
func (s *source) whileCurrent(ctx context.Context, do func(*snapshot) error) error {
	for {
		sn, err := s.snapshot(ctx)
		if err != nil {
			return err
		}
		if err = do(sn); err != errStale {
			return err
		}
		s.expire()
	}
}

// compiling is what timetables are compiled with.
func (s *source) compiling() compiling {
	return compiling{zones: s.zones, cities: s.cities(), anyRide: s.anyRide}
}

// fresh returns the latest timetable if it was in force a moment ago, or nil.
func (s *source) fresh(now time.Duration) *snapshot {
	if int64(now) < s.until.Load() {
		return s.latest.Load()
	}
	return nil
}

// set makes known a timetable that was in force at an instant.
func (s *source) set(sn *snapshot, at time.Duration) {
	s.latest.Store(sn)
	s.until.Store(int64(at + lookEvery))
}

// lock waits until nobody loads, or until ctx ends.
func (s *source) lock(ctx context.Context) error {
	select {
	case s.loading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *source) unlock() { <-s.loading }

// read compiles the timetable in force, unless it is known.
func (s *source) read(ctx context.Context, known *snapshot) (*snapshot, error) {
	var c current
	var t, r, v []byte
	err := s.store.View(ctx, func(rd Reader) (err error) {
		c, err = readCurrent(ctx, rd)
		if err != nil || c.generation == uuid.Nil || known != nil && known.generation == c.generation {
			return err
		}
		if t, err = readChunks(ctx, rd, c.generation, 't', c.timetable); err != nil {
			return err
		}
		if r, err = readChunks(ctx, rd, c.generation, 'r', c.registry); err != nil {
			return err
		}
		v, err = readChunks(ctx, rd, c.generation, 'v', c.moves)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case c.generation == uuid.Nil:
		return nil, ErrNoTimetable
	case t == nil:
		return known, nil
	}
	tt, ids, err := decodeNumbered(t)
	if err != nil {
		return nil, err
	}
	reg, err := decodeRegistry(r)
	if err != nil {
		return nil, err
	}
	var moves []move
	if c.moves > 0 { // a version before had none
		if moves, err = decodeMoves(v, len(tt.Trains)); err != nil {
			return nil, err
		}
	}
	sn, err := compile(ctx, tt, ids, reg, s.compiling())
	if err != nil {
		return nil, err
	}
	sn.move(tt, moves)
	sn.generation = c.generation
	return sn, nil
}
