package traintravel

import (
	"sync"
	"time"
)

// freshFor is how long an inventory that was read from the store is taken for true where
// a little staleness does no harm: in searches. Bookings are checked in the update that
// makes them. It is time that has passed, whatever clocks say.
const freshFor = 2 * time.Second

// A stock remembers inventories for searches.
type stock struct {
	made time.Time // with the monotonic reading
	mu   sync.RWMutex
	runs map[RunID]stocked
}

func newStock() *stock { return &stock{made: time.Now(), runs: map[RunID]stocked{}} }

// now is how long ago the stock was made: an instant that no jump of a clock disturbs.
func (s *stock) now() time.Duration { return time.Since(s.made) }

// stocked is an inventory as it was in the store at an instant. inv is nil if
// nobody had booked the run. It is not modified any more.
type stocked struct {
	inv *inventory
	at  time.Duration // by stock.now
}

// maxStocked bounds the inventories remembered.
const maxStocked = 1 << 16

// lookup returns an inventory that is fresh.
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
