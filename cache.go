package traintravel

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// freshFor is how long what was read from the store is taken for true where a
// little staleness does no harm: in searches. Bookings are checked in the
// update that makes them. It is time that has passed, whatever clocks say.
const freshFor = 2 * time.Second

// elapsed is how long ago the service was made: an instant that no jump of a
// clock disturbs.
func (s *Service) elapsed() time.Duration { return time.Since(s.made) }

// snapshots holds the latest timetable known.
type snapshots struct {
	latest  atomic.Pointer[snapshot]
	until   atomic.Int64  // when, by Service.elapsed, latest is to be looked after
	loading chan struct{} // full while somebody loads, which may take as long as the store
}

// fresh returns the latest timetable if it was in force a moment ago, or nil.
func (s *snapshots) fresh(now time.Duration) *snapshot {
	if int64(now) < s.until.Load() {
		return s.latest.Load()
	}
	return nil
}

// set makes known a timetable that was in force at an instant.
func (s *snapshots) set(sn *snapshot, at time.Duration) {
	s.latest.Store(sn)
	s.until.Store(int64(at + freshFor))
}

// lock waits until nobody loads, or until ctx ends.
func (s *snapshots) lock(ctx context.Context) error {
	select {
	case s.loading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *snapshots) unlock() { <-s.loading }

// replace makes known a timetable that was loaded here. A refresh that is under
// way may have read the one before, so it ends first.
func (s *snapshots) replace(ctx context.Context, sn *snapshot, at time.Duration) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	s.set(sn, at)
	return nil
}

// expire makes the next use look whether there is a newer timetable.
func (s *snapshots) expire() { s.until.Store(0) }

// refreshed loads the timetable in force. Of several callers one loads.
func (s *Service) refreshed(ctx context.Context) (*snapshot, error) {
	if err := s.snapshots.lock(ctx); err != nil {
		return nil, err
	}
	defer s.snapshots.unlock()
	now := s.elapsed()
	if sn := s.snapshots.fresh(now); sn != nil {
		return sn, nil
	}
	sn, err := s.readSnapshot(ctx, s.snapshots.latest.Load())
	if err != nil {
		return nil, err
	}
	s.snapshots.set(sn, now)
	return sn, nil
}

// stock remembers inventories for searches.
type stock struct {
	mu   sync.RWMutex
	runs map[RunID]stocked
}

// stocked is an inventory as it was in the store at an instant. inv is nil if
// nobody had booked the run. It is not modified any more.
type stocked struct {
	inv *inventory
	at  time.Duration // by Service.elapsed
}

// maxStocked bounds the inventories remembered.
const maxStocked = 1 << 16

func (s *stock) lookup(id RunID, now time.Duration) (stocked, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.runs[id]
	return v, ok && now-v.at < freshFor
}

// keep remembers an inventory unless a later one is known.
func (s *stock) keep(id RunID, v stocked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.runs[id]; ok && old.revision() > v.revision() && v.inv.readable() == nil {
		return
	}
	if len(s.runs) >= maxStocked {
		n := 0
		for victim := range s.runs { // in random order
			delete(s.runs, victim)
			if n++; n == maxStocked/16 {
				break
			}
		}
	}
	s.runs[id] = v
}

func (v stocked) revision() uint64 {
	if v.inv == nil {
		return 0
	}
	return v.inv.revision
}

// readable is nil if what is sold of a run is known, or else why it is not.
func (v *inventory) readable() error {
	if v == nil {
		return nil
	}
	return v.unreadable
}

// inventories returns the inventories of runs, none older than freshFor. Those
// that are not known are read in one round trip. One that cannot be read says so.
func (s *Service) inventories(ctx context.Context, ids []RunID) ([]*inventory, error) {
	out := make([]*inventory, len(ids))
	now := s.elapsed()
	var missing []int
	var keys []Key
	for i, id := range ids {
		if v, ok := s.stock.lookup(id, now); ok {
			out[i] = v.inv
			continue
		}
		missing = append(missing, i)
		keys = append(keys, runKey(id))
	}
	if len(keys) == 0 {
		return out, nil
	}
	values, err := s.store.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var left omissions
	for j, i := range missing {
		var inv *inventory
		if values[j] != nil {
			if inv, err = decodeInventory(values[j]); err != nil {
				inv = &inventory{unreadable: err}
				left.add(keys[j], err)
			}
		}
		out[i] = inv
		s.stock.keep(ids[i], stocked{inv, now})
	}
	s.books.omit(ctx, left)
	return out, nil
}
