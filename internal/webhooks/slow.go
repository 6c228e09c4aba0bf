package webhooks

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// patience is how long an endpoint may take to respond before it counts as slow.
	patience = time.Second
	// slowAtOnce is the number of slow endpoints that are served at a time.
	slowAtOnce = 64
	// maxSlow is the number of endpoints that are remembered as slow: a deleted one is not
	// removed here if another server does the rest of its work.
	maxSlow = 1 << 14
)

// slowEndpoints are those that kept this service waiting and have not responded in time since.
// They get a small part of the slots, however many they are, so that others do not wait for
// them. The zero value is empty.
type slowEndpoints struct {
	mu     sync.Mutex
	inHand map[uuid.UUID]bool // whether it is
	n      int                // how many are
}

// Begin begins to serve an endpoint, unless it is slow and too many slow ones are being served.
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

// End ends the service of an endpoint. It reports whether another slow one may have its slot.
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

// add marks an endpoint as slow while it is served. If it returns false, too many slow ones are
// being served: the caller must leave this one.
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
		for other, busy := range s.inHand { // any that is not being served
			if !busy {
				delete(s.inHand, other)
				break
			}
		}
	}
	s.inHand[id] = false
	return s.hold(id)
}

// clear marks an endpoint as no longer slow.
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
