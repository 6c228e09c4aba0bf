// Package agenda finds due work, distributes it among the servers on a store, and runs workers
// for it. It keeps the heartbeats of the servers and the clock that never goes back. It must not
// know how the work is done.
package agenda

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/store"
)

// A Scheduler does the due work on the agenda of a store, with one worker for each kind of
// work. It serves one Run.
type Scheduler struct {
	Host    *Host
	Workers []*Worker
	Wakeup  *Wakeup

	// Local are the claims of the process if it has the store to itself; nil if other
	// servers share the store. Then NewID makes this server's ID, and Gained is called
	// when it gets a part of the agenda, which another may have worked on.
	Local  *store.Claims
	NewID  func() uuid.UUID
	Gained func()
}

// Run works until ctx ends and all work has stopped.
func (s *Scheduler) Run(ctx context.Context) {
	s.prepare()
	var working, keeping sync.WaitGroup
	present, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	if s.Local != nil {
		s.openAll(ctx)
	} else {
		m := &membership{host: s.Host, id: s.NewID(), workers: s.Workers, gained: s.Gained}
		keeping.Go(func() { m.run(ctx, present) })
	}
	for _, w := range s.Workers {
		working.Go(func() { w.run(ctx) })
	}
	s.pokeAll(ctx)
	working.Wait()
	leave() // not earlier: others would take over the work in progress
	keeping.Wait()
}

// RunDue does the due work once, one item after another. On a shared store it does not
// coordinate with other servers.
func (s *Scheduler) RunDue(ctx context.Context) (errs []error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.prepare()
	s.openAll(ctx)
	for _, w := range s.Workers {
		errs = append(errs, w.runDue(ctx)...)
	}
	return errs
}

func (s *Scheduler) prepare() {
	for _, w := range s.Workers {
		w.prepare(s.Host, s.Local)
	}
}

func (s *Scheduler) openAll(ctx context.Context) {
	for _, w := range s.Workers {
		w.share.openAll(ctx)
	}
}

// pokeAll wakes the workers of kinds with new items, until ctx ends.
func (s *Scheduler) pokeAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Wakeup.C:
			due := s.Wakeup.take()
			for _, w := range s.Workers {
				if due.Has(w.Kind) {
					w.poke()
				}
			}
		}
	}
}

// A Wakeup tells a scheduler that the agenda has new items. It is safe for concurrent use.
type Wakeup struct {
	C   chan struct{}
	Due atomic.Uint32 // of these kinds
}

// NewWakeup returns an empty Wakeup.
func NewWakeup() *Wakeup { return &Wakeup{C: make(chan struct{}, 1)} }

// Add notes that some kinds have new items.
func (w *Wakeup) Add(ks records.Kinds) {
	if ks == 0 {
		return
	}
	w.Due.Or(uint32(ks))
	select {
	case w.C <- struct{}{}:
	default:
	}
}

func (w *Wakeup) take() records.Kinds { return records.Kinds(w.Due.Swap(0)) }
