package traintravel

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// patience is how long an endpoint may take for any answer before it is suspected.
	patience = time.Second
	// suspected is how many endpoints under suspicion are worked on at a time.
	suspected = 64
	// maxSuspects is how many endpoints are remembered as such: one that was deleted is not
	// cleared here if another server does what is left of it.
	maxSuspects = 1 << 14
)

// Suspects are the endpoints that have kept this service waiting and not answered in time
// since. They have a small part of the places, however many they are: so others do not
// wait for them. The zero value is none.
type suspects struct {
	mu     sync.Mutex
	inHand map[uuid.UUID]bool // whether it is
	n      int                // how many are
}

// begin takes an endpoint in hand, unless it is under suspicion and too many such are.
func (s *suspects) begin(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.inHand[id]; !ok {
		return true
	}
	return s.hold(id)
}

func (s *suspects) hold(id uuid.UUID) bool {
	if s.n == suspected {
		return false
	}
	s.inHand[id] = true
	s.n++
	return true
}

// end gives an endpoint out of hand. It reports whether another suspect may have its place.
func (s *suspects) end(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.inHand[id] {
		return false
	}
	s.inHand[id] = false
	s.n--
	return true
}

// add puts an endpoint in hand under suspicion. If it returns false, too many such are
// in hand: this one must be left.
func (s *suspects) add(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inHand == nil {
		s.inHand = map[uuid.UUID]bool{}
	}
	if s.inHand[id] {
		return true
	}
	if len(s.inHand) >= maxSuspects {
		for other, busy := range s.inHand { // any that nobody waits for
			if !busy {
				delete(s.inHand, other)
				break
			}
		}
	}
	s.inHand[id] = false
	return s.hold(id)
}

// clear ends the suspicion.
func (s *suspects) clear(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inHand[id] {
		s.n--
	}
	delete(s.inHand, id)
}

// has says whether an endpoint is under suspicion.
func (s *suspects) has(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.inHand[id]
	return ok
}
