package agenda

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
)

// A store that several servers share may keep what was deleted in its place for as long
// as anybody reads an older snapshot: PostgreSQL walks over all of that each time it reads
// a queue from its head. So there a queue is read from a floor on, under which nothing is
// left to do. What gets under the floor all the same, because a clock is behind or a commit
// was slow, is found by a look at the whole queue, which keeps nobody waiting.

// floorLag is how far the floor of the agenda stays behind the clock. What is
// written later than that after it was due is found a little later.
const floorLag = 3 * time.Second

// A floor is where on the agenda of a kind to begin to look. The zero value is the
// beginning. It is safe for concurrent use.
type floor struct {
	mu   sync.Mutex
	at   string
	held string    // the first item that is left to the next pass; empty if there is none
	pass time.Time // when the pass began; zero if it is not to raise the floor
}

// begin begins a pass and returns its first key. After a clock has stepped back, what is
// new is under the floor: so that follows the clock down.
func (f *floor) begin(k records.Kind, now time.Time) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held, f.pass = "", now
	if f.at != "" {
		f.at = min(f.at, floorKey(k, now))
	}
	return f.at
}

// end ends a pass that has come to the end of what is due, and raises the floor.
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

// hold keeps the floor under an item that has to be met again soon.
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

// forget has the next pass begin at the beginning.
func (f *floor) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.pass = "", time.Time{}
}

func floorKey(k records.Kind, now time.Time) string {
	return records.AgendaKey(k, now.Add(-floorLag), uuid.Nil).ID
}
