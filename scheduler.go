package traintravel

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
)

// A scheduler does what becomes due on the agenda of a store, by one worker for each kind
// of work. One serves one Run.
type scheduler struct {
	host    *host
	workers []*worker
	wakeup  *wakeup

	// local are the claims of the process if it has the store to itself; nil if other
	// servers share the store. Then newID makes this server's ID, and gained is called
	// when it gets a part of the agenda, which another may have worked on.
	local  *Claims
	newID  func() uuid.UUID
	gained func()
}

// run works until ctx ends and all work has stopped.
func (s *scheduler) run(ctx context.Context) {
	s.prepare()
	var working, keeping sync.WaitGroup
	present, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	if s.local != nil {
		s.openAll(ctx)
	} else {
		m := &membership{host: s.host, id: s.newID(), workers: s.workers, gained: s.gained}
		keeping.Go(func() { m.run(ctx, present) })
	}
	for _, w := range s.workers {
		working.Go(func() { w.run(ctx) })
	}
	s.pokeAll(ctx)
	working.Wait()
	leave() // not before: others would take over what is in hand
	keeping.Wait()
}

// runDue does once what is due, one item after another. On a shared store it does not ask
// what other servers do.
func (s *scheduler) runDue(ctx context.Context) (errs []error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.prepare()
	s.openAll(ctx)
	for _, w := range s.workers {
		errs = append(errs, w.runDue(ctx)...)
	}
	return errs
}

func (s *scheduler) prepare() {
	for _, w := range s.workers {
		w.prepare(s.host, s.local)
	}
}

func (s *scheduler) openAll(ctx context.Context) {
	for _, w := range s.workers {
		w.share.openAll(ctx)
	}
}

// pokeAll pokes the workers that there is something new for, until ctx ends.
func (s *scheduler) pokeAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wakeup.c:
			due := s.wakeup.take()
			for _, w := range s.workers {
				if due.has(w.kind) {
					w.poke()
				}
			}
		}
	}
}

// A wakeup tells a scheduler that there is something new on the agenda. It is safe for
// concurrent use.
type wakeup struct {
	c   chan struct{}
	due atomic.Uint32 // of these kinds
}

func newWakeup() *wakeup { return &wakeup{c: make(chan struct{}, 1)} }

// add notes that there is something new of some kinds.
func (w *wakeup) add(ks kinds) {
	if ks == 0 {
		return
	}
	w.due.Or(uint32(ks))
	select {
	case w.c <- struct{}{}:
	default:
	}
}

func (w *wakeup) take() kinds { return kinds(w.due.Swap(0)) }
