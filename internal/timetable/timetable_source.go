package timetable

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/stations"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// lookEvery is how long a timetable is taken to be in force before the store is asked
// again. Searches may be late by as much; bookings are checked in the update that makes
// them. It is time that has passed, whatever clocks say.
const lookEvery = 2 * time.Second

// ErrStale gives an update up because another timetable is in force than the
// one it was prepared with.
var ErrStale = errors.New("the timetable has changed")

// A Source has the timetable in force of a store, compiled.
type Source struct {
	store   store.Store
	zones   *tz.Zones
	cities  func() *stations.Gazetteer // made when it is needed
	anyRide bool                       // see compiling

	made    time.Time                // with the monotonic reading
	latest  atomic.Pointer[Snapshot] // that is known
	until   atomic.Int64             // how long after made latest is taken to be in force
	loading chan struct{}            // full while somebody loads, which may take as long as the store
}

// NewSource returns a source that has read nothing. It keeps the cities.
func NewSource(store store.Store, zones *tz.Zones, cities []rail.City, anyRide bool) *Source {
	return &Source{
		store: store, zones: zones, anyRide: anyRide,
		cities: sync.OnceValue(func() *stations.Gazetteer { return stations.NewGazetteer(cities) }),
		made:   time.Now(), loading: make(chan struct{}, 1),
	}
}

// Snapshot returns the timetable in force, loading it if there is a newer one than is
// known here. Of several callers one loads.
func (s *Source) Snapshot(ctx context.Context) (*Snapshot, error) {
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

// Replace makes known a timetable that was loaded here. A refresh that is under
// way may have read the one before, so it ends first.
func (s *Source) Replace(ctx context.Context, sn *Snapshot) error {
	now := time.Since(s.made)
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	s.set(sn, now)
	return nil
}

// Expire makes the next use look whether there is a newer timetable.
func (s *Source) Expire() { s.until.Store(0) }

// WhileCurrent does what needs the timetable in force, again if another came
// into force meanwhile.
func (s *Source) WhileCurrent(ctx context.Context, do func(*Snapshot) error) error {
	for {
		sn, err := s.Snapshot(ctx)
		if err != nil {
			return err
		}
		if err = do(sn); err != ErrStale {
			return err
		}
		s.Expire()
	}
}

// Compiling is what timetables are compiled with.
func (s *Source) Compiling() compiling {
	return compiling{zones: s.zones, cities: s.cities(), anyRide: s.anyRide}
}

// fresh returns the latest timetable if it was in force a moment ago, or nil.
func (s *Source) fresh(now time.Duration) *Snapshot {
	if int64(now) < s.until.Load() {
		return s.latest.Load()
	}
	return nil
}

// set makes known a timetable that was in force at an instant.
func (s *Source) set(sn *Snapshot, at time.Duration) {
	s.latest.Store(sn)
	s.until.Store(int64(at + lookEvery))
}

// lock waits until nobody loads, or until ctx ends.
func (s *Source) lock(ctx context.Context) error {
	select {
	case s.loading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Source) unlock() { <-s.loading }

// read compiles the timetable in force, unless it is known.
func (s *Source) read(ctx context.Context, known *Snapshot) (*Snapshot, error) {
	var c Current
	var t, r, v []byte
	err := s.store.View(ctx, func(rd store.Reader) (err error) {
		c, err = ReadCurrent(ctx, rd)
		if err != nil || c.Generation == uuid.Nil || known != nil && known.Generation == c.Generation {
			return err
		}
		if t, err = ReadChunks(ctx, rd, c.Generation, 't', c.Timetable); err != nil {
			return err
		}
		if r, err = ReadChunks(ctx, rd, c.Generation, 'r', c.Registry); err != nil {
			return err
		}
		v, err = ReadChunks(ctx, rd, c.Generation, 'v', c.Moves)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case c.Generation == uuid.Nil:
		return nil, rail.ErrNoTimetable
	case t == nil:
		return known, nil
	}
	tt, ids, err := trains.DecodeNumbered(t)
	if err != nil {
		return nil, err
	}
	reg, err := trains.DecodeRegistry(r)
	if err != nil {
		return nil, err
	}
	var moves []trains.Move
	if c.Moves > 0 { // a version before had none
		if moves, err = trains.DecodeMoves(v, len(tt.Trains)); err != nil {
			return nil, err
		}
	}
	sn, err := Compile(ctx, tt, ids, reg, s.Compiling())
	if err != nil {
		return nil, err
	}
	sn.Move(tt, moves)
	sn.Generation = c.Generation
	return sn, nil
}
