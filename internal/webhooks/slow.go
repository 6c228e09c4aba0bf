package webhooks

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// patience is how long an endpoint may take for any answer before it counts as slow.
	patience = time.Second
	// slowAtOnce is how many slow endpoints are worked on at a time.
	slowAtOnce = 64
	// maxSlow is how many endpoints are remembered as such: one that was deleted is not
	// cleared here if another server does what is left of it.
	maxSlow = 1 << 14
)

// slowEndpoints are those that have kept this service waiting and not answered in time
// since. They have a small part of the places, however many they are: so others do not
// wait for them. The zero value is none.
type slowEndpoints struct {
	mu     sync.Mutex
	inHand map[uuid.UUID]bool // whether it is
	n      int                // how many are
}

// Begin takes an endpoint in hand, unless it is slow and too many such are.
func (s *slowEndpoints) Begin(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.inHand[id]; !ok {
		return true
	}
	return s.hold(id)
}

func (s *slowEndpoints) hold(id uuid.UUID) bool {
	if s.n == slowAtOnce {
		return false
	}
	s.inHand[id] = true
	s.n++
	return true
}

// End gives an endpoint out of hand. It reports whether another slow one may have its place.
func (s *slowEndpoints) End(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.inHand[id] {
		return false
	}
	s.inHand[id] = false
	s.n--
	return true
}

// add takes an endpoint in hand as slow. If it returns false, too many such are
// in hand: this one must be left.
func (s *slowEndpoints) add(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inHand == nil {
		s.inHand = map[uuid.UUID]bool{}
	}
	if s.inHand[id] {
		return true
	}
	if len(s.inHand) >= maxSlow {
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

// clear says that an endpoint is not slow any more.
func (s *slowEndpoints) clear(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inHand[id] {
		s.n--
	}
	delete(s.inHand, id)
}

// has says whether an endpoint is slow.
func (s *slowEndpoints) has(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.inHand[id]
	return ok
}
