package fair

import "time"

// A Pace limits the rate of each caller: it may spend a burst at once, and has to wait for what
// it spends beyond that. It is safe for concurrent use.
type Pace struct {
	every  int64 // nanoseconds per unit
	window int64 // nanoseconds until a whole burst is available again
	began  time.Time
	whole  Instants // when a caller's whole burst is available again
}

// NewPace returns a pace with a rate per second and a burst. Both are positive.
func NewPace(perSecond, atOnce int64) *Pace {
	every := max(1, int64(time.Second)/perSecond)
	return &Pace{every: every, window: every * atOnce, began: time.Now()}
}

// Spend spends an amount for a caller, and returns how long the caller has to wait before it
// continues. Concurrent calls for one caller wait one after the other.
func (p *Pace) Spend(caller Caller, n int64) time.Duration {
	now := int64(time.Since(p.began))
	s := p.whole.Of(caller)
	s.Lock()
	defer s.Unlock()
	whole := max(s.Get(caller), now) + n*p.every
	s.Set(caller, whole)
	return time.Duration(max(0, whole-now-p.window))
}
