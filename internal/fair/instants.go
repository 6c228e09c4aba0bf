package fair

import "sync"

// Instants remember an instant of each caller, such as when a quota is whole again. Their
// memory is bounded: callers are kept in two generations, and when the younger is full the
// older is dropped, and with it whoever has not been there while thousands of others were.
// The zero value is ready. Instants are safe for concurrent use.
type Instants struct{ shards [64]InstantShard }

// perShard is how many callers a generation of a shard has at most.
const perShard = 1024

// An InstantShard has the instants of some callers. Whoever uses it locks it.
type InstantShard struct {
	sync.Mutex
	young, old map[Caller]int64
	_          [40]byte // keeps neighbours' locks off this cache line
}

// Of is where the instant of a caller is.
func (i *Instants) Of(caller Caller) *InstantShard {
	return &i.shards[caller%Caller(len(i.shards))]
}

// Get returns the instant of a caller, and zero if none is remembered.
func (s *InstantShard) Get(caller Caller) int64 {
	if at, ok := s.young[caller]; ok {
		return at
	}
	return s.old[caller]
}

// Set remembers the instant of a caller.
func (s *InstantShard) Set(caller Caller, at int64) {
	if len(s.young) >= perShard {
		if _, ok := s.young[caller]; !ok {
			s.old, s.young = s.young, nil
		}
	}
	if s.young == nil {
		s.young = make(map[Caller]int64)
	}
	s.young[caller] = at
}

// Len is of how many callers instants are kept, and Most of how many at most.
func (i *Instants) Len() (n, most int) {
	for at := range i.shards {
		s := &i.shards[at]
		s.Lock()
		n += len(s.young) + len(s.old)
		s.Unlock()
	}
	return n, 2 * perShard * len(i.shards)
}
