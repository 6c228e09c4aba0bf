package seats

import (
	"sync"
	"time"

	"github.com/traintravel/traintravel/rail"
)

// freshFor is how long an inventory that was read from the store is taken for true where
// a little staleness does no harm: in searches. Bookings are checked in the update that
// makes them. It is time that has passed, whatever clocks say.
const freshFor = 2 * time.Second

// A Stock remembers inventories for searches.
type Stock struct {
	made time.Time // with the monotonic reading
	Mu   sync.RWMutex
	Runs map[rail.RunID]Stocked
}

// NewStock returns an empty stock.
func NewStock() *Stock { return &Stock{made: time.Now(), Runs: map[rail.RunID]Stocked{}} }

// Now is how long ago the stock was made: an instant that no jump of a clock disturbs.
func (s *Stock) Now() time.Duration { return time.Since(s.made) }

// Stocked is an inventory as it was in the store at an instant. Inv is nil if
// nobody had booked the run. It is not modified any more.
type Stocked struct {
	Inv *Inventory
	At  time.Duration // by Stock.Now
}

// maxStocked bounds the inventories remembered.
const maxStocked = 1 << 16

// Lookup returns an inventory that is fresh.
func (s *Stock) Lookup(id rail.RunID, now time.Duration) (Stocked, bool) {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	v, ok := s.Runs[id]
	return v, ok && now-v.At < freshFor
}

// Keep remembers an inventory unless a later one is known.
func (s *Stock) Keep(id rail.RunID, v Stocked) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if old, ok := s.Runs[id]; ok && old.revision() > v.revision() && v.Inv.Readable() == nil {
		return
	}
	if len(s.Runs) >= maxStocked {
		n := 0
		for victim := range s.Runs { // in random order
			delete(s.Runs, victim)
			if n++; n == maxStocked/16 {
				break
			}
		}
	}
	s.Runs[id] = v
}

func (v Stocked) revision() uint64 {
	if v.Inv == nil {
		return 0
	}
	return v.Inv.Revision
}

// Readable is nil if what is sold of a run is known, or else why it is not.
func (v *Inventory) Readable() error {
	if v == nil {
		return nil
	}
	return v.Unreadable
}
