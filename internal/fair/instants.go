package fair

import "sync"

// Instants remembers an instant for each caller, such as when a quota is full again. Its memory
// is bounded: callers are kept in two generations, and when the younger is full the older is
// dropped, with the callers that were inactive while thousands of others were active. The zero
// value is ready to use. It is safe for concurrent use.
type Instants struct{ shards [64]InstantShard }

// perShard is the maximum number of callers in a generation of a shard.
const perShard = 1024

// An InstantShard has the instants of some callers. Lock it while you use it.
type InstantShard struct {
	sync.Mutex
	young, old map[Caller]int64
	_          [40]byte // keeps neighbours' locks off this cache line
}

// Of returns the shard of a caller.
func (i *Instants) Of(caller Caller) *InstantShard {
	return &i.shards[caller%Caller(len(i.shards))]
}

// Get returns the instant of a caller, zero if none is remembered.
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

// Len returns the number of callers with an instant, and Most the maximum.
func (i *Instants) Len() (n, most int) {
	for at := range i.shards {
		s := &i.shards[at]
		s.Lock()
		n += len(s.young) + len(s.old)
		s.Unlock()
	}
	return n, 2 * perShard * len(i.shards)
}
