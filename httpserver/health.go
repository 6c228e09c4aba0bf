package httpserver

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// A health is what a health check says.
type health string

func (h health) encode(e *encoder) {
	e.item("health")
	e.text("status", string(h))
	e.close("health")
}

// healthy says that the process answers.
func (s *Server) healthy(x *exchange) error { return x.answer(http.StatusOK, health("ok")) }

// readyWithin is how long all that readiness needs may take to show that it is there.
const readyWithin = 5 * time.Second

// errLeaving is why a server is not ready whose [Server.Leave] was called.
var errLeaving = errors.New("the server is about to end")

// refusedLately is for how long a refusal for want of room is told.
const refusedLately = time.Minute

// A readiness is what the readiness check says: that the server is ready, and what it
// has refused lately because too many requests waited, and who had most of them. It is
// ready all the same: if it were taken out of the service for that, its callers would go
// to the next one.
type readiness []Work

func (r readiness) encode(e *encoder) {
	e.item("health")
	e.text("status", "ready")
	if len(r) > 0 {
		e.list("refusing", "refusing")
		for _, w := range r {
			e.item("refusal")
			e.text("work", w.Kind)
			e.time("last_refused_at", w.LastRefused.UTC().Truncate(time.Second))
			e.text("most_by", w.Most)
			e.whole("most", w.MostInHand)
			e.whole("of", w.InHand)
			e.close("refusal")
		}
		e.endList("refusing")
	}
	e.close("health")
}

// refusedWork is the work of which some was refused lately.
func (s *Server) refusedWork() (lately readiness) {
	for _, w := range s.Work() {
		if time.Since(w.LastRefused) < refusedLately {
			lately = append(lately, w)
		}
	}
	return lately
}

// ready says whether the service can sell (see [traintravel.Service.Ready]) and tokens
// can be verified.
func (s *Server) ready(x *exchange) error {
	if s.leaving.Load() {
		return problemUnavailable.because(errLeaving)
	}
	if err := s.looks.take(x.ctx(), s.look); err != nil {
		return problemUnavailable.because(err)
	}
	return x.answer(http.StatusOK, s.refusedWork())
}

// look looks whether all is there that readiness needs.
func (s *Server) look(ctx context.Context) error {
	err := s.service.Ready(ctx)
	if auth, ok := s.auth.(Readier); ok && err == nil {
		err = auth.Ready(ctx)
	}
	return err
}

// looks are the looks at readiness. Nobody's quota counts for them and they ask the
// database, so there is one at a time: whoever comes meanwhile is told what it says.
type looks struct {
	mu  sync.Mutex
	now *oneLook // that is under way, or nil
}

// A oneLook is a look that is under way. Its error may be read when done is closed.
type oneLook struct {
	done chan struct{}
	err  error
}

var errLookPanicked = errors.New("looking whether the server is ready panicked")

// take returns what the look says that is under way, or that it begins.
func (l *looks) take(ctx context.Context, look func(context.Context) error) error {
	l.mu.Lock()
	one := l.now
	if one != nil {
		l.mu.Unlock()
		select {
		case <-one.done:
			return one.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	one = &oneLook{done: make(chan struct{}), err: errLookPanicked}
	l.now = one
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.now = nil
		close(one.done)
	}()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), readyWithin) // others wait for it too
	defer stop()
	one.err = look(ctx)
	return one.err
}
