package traintravel

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// freshFor is how long what was read from the store is taken for true where a
// little staleness does no harm: in searches. Bookings are checked in the
// update that makes them. It is real time, whatever the service's clock says.
const freshFor = 2 * time.Second

// snapshots holds the latest timetable known.
type snapshots struct {
	latest  atomic.Pointer[snapshot]
	checked atomic.Int64 // nanos at which latest was known to be in force
	loading sync.Mutex
}

// fresh returns the latest timetable if it was in force a moment ago, or nil.
func (s *snapshots) fresh() *snapshot {
	if time.Now().UnixNano()-s.checked.Load() < int64(freshFor) {
		return s.latest.Load()
	}
	return nil
}

func (s *snapshots) set(sn *snapshot) {
	s.latest.Store(sn)
	s.checked.Store(time.Now().UnixNano())
}

// expire makes the next use look whether there is a newer timetable.
func (s *snapshots) expire() { s.checked.Store(0) }

// refresh loads the timetable in force. Of several callers one loads.
func (s *snapshots) refresh(ctx context.Context, load func(known *snapshot) (*snapshot, error)) (*snapshot, error) {
	s.loading.Lock()
	defer s.loading.Unlock()
	if sn := s.fresh(); sn != nil {
		return sn, nil
	}
	sn, err := load(s.latest.Load())
	if err != nil {
		return nil, err
	}
	s.set(sn)
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
	at  int64
}

// maxStocked bounds the inventories remembered.
const maxStocked = 1 << 16

func (s *stock) lookup(id RunID, now int64) (stocked, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.runs[id]
	return v, ok && now-v.at < int64(freshFor)
}

// keep remembers an inventory unless a later one is known.
func (s *stock) keep(id RunID, v stocked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.runs[id]; ok && old.revision() > v.revision() {
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

// inventories returns the inventories of runs, none older than freshFor. Those
// that are not known are read in one round trip.
func (s *Service) inventories(ctx context.Context, ids []RunID) ([]*inventory, error) {
	out := make([]*inventory, len(ids))
	now := time.Now().UnixNano()
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
	for j, i := range missing {
		var inv *inventory
		if values[j] != nil {
			if inv, err = decodeInventory(values[j]); err != nil {
				return nil, err
			}
		}
		out[i] = inv
		s.stock.keep(ids[i], stocked{inv, now})
	}
	return out, nil
}
