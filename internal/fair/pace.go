package fair

import "time"

// A Pace is how fast each caller goes on when it does not stop: what it spends beyond so
// much at once, it has to wait for. It is safe for concurrent use.
type Pace struct {
	every  int64 // nanoseconds in which one comes
	window int64 // nanoseconds in which as many come as are there at once
	began  time.Time
	whole  Instants // when all is there again that a caller may spend at once
}

// NewPace returns a pace of so much a second, and so much at once. Both are positive.
func NewPace(perSecond, atOnce int64) *Pace {
	every := max(1, int64(time.Second)/perSecond)
	return &Pace{every: every, window: every * atOnce, began: time.Now()}
}

// Spend spends so much of what a caller has, and returns how long the caller has to wait
// before it goes on. Those who wait at a time go on one after the other.
func (p *Pace) Spend(caller Caller, n int64) time.Duration {
	now := int64(time.Since(p.began))
	s := p.whole.Of(caller)
	s.Lock()
	defer s.Unlock()
	whole := max(s.Get(caller), now) + n*p.every
	s.Set(caller, whole)
	return time.Duration(max(0, whole-now-p.window))
}
