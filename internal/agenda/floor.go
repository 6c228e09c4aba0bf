package agenda

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
)

// A store that several servers share may keep deleted records as long as anybody reads an
// older snapshot: PostgreSQL scans all of them each time it reads a queue from its head. So
// there a queue is read from a floor on, below which all work is done. Items that get below
// the floor nevertheless, because a clock is behind or a commit was slow, are found by a scan
// of the whole queue, which delays no other work.

// floorLag is how far the floor of the agenda stays behind the clock. An item that is written
// later than that after its due time is found a little later.
const floorLag = 3 * time.Second

// A floor is the key from which the agenda of a kind is read. The zero value is the beginning.
// It is safe for concurrent use.
type floor struct {
	mu   sync.Mutex
	at   string
	held string    // the first item that is left to the next pass; may be empty
	pass time.Time // when the pass began; zero if it must not raise the floor
}

// begin begins a pass and returns its first key. If the clock has stepped back, new items
// would be below the floor, so the floor follows the clock.
func (f *floor) begin(k records.Kind, now time.Time) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held, f.pass = "", now
	if f.at != "" {
		f.at = min(f.at, floorKey(k, now))
	}
	return f.at
}

// end ends a pass that has reached the last due item, and raises the floor.
func (f *floor) end(k records.Kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pass.IsZero() {
		return
	}
	f.at = floorKey(k, f.pass)
	if f.held != "" {
		f.at = min(f.at, f.held)
	}
}

// hold keeps the floor below an item that must be read again soon.
func (f *floor) hold(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == "" || key < f.held {
		f.held = key
	}
	if f.at != "" {
		f.at = min(f.at, key)
	}
}

// forget makes the next pass begin at the beginning.
func (f *floor) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.pass = "", time.Time{}
}

func floorKey(k records.Kind, now time.Time) string {
	return records.AgendaKey(k, now.Add(-floorLag), uuid.Nil).ID
}
