package world

import (
	"context"
	"fmt"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
)

// A partition is a time in which a process cannot reach the store. Its calls are refused, or
// hang for a while.
type partition struct {
	until time.Time
	hangs bool
}

// Pause has the process stand still for a while: each of its calls goes on after that.
func (s *Seat) Pause(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = time.Now().Add(d)
}

// Cut keeps the process from the store for a while.
func (s *Seat) Cut(d time.Duration, hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = partition{time.Now().Add(d), hangs}
}

// stand waits while the process stands still, or until it dies. Then it waits a drawn moment,
// so that calls go on one after another, in an order that the seed decides.
func (s *Seat) stand(d chance.Dice) {
	for waited := false; ; waited = true {
		s.mu.Lock()
		wait := time.Until(s.paused)
		s.mu.Unlock()
		if wait <= 0 || s.w.Faults.IsCalm() {
			if waited {
				s.w.latency(d, time.Millisecond)
			}
			return
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-s.died:
			t.Stop()
			return
		}
	}
}

// reach waits for the store, which may not be in reach.
func (s *Seat) reach(ctx context.Context, d chance.Dice, what string) error {
	s.mu.Lock()
	cut := s.cut
	s.mu.Unlock()
	if !time.Now().Before(cut.until) || s.w.Faults.IsCalm() {
		return nil
	}
	if cut.hangs {
		t := time.NewTimer(chance.Between(d.Rand, time.Second, 20*time.Second))
		defer t.Stop()
		select {
		case <-t.C:
		case <-s.died:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("sim: %s cannot reach the store to %s: %w", s.name, what, traintravel.ErrUnavailable)
}
