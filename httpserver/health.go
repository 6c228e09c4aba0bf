package httpserver

import (
	"context"
	"errors"
	"net/http"
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
	ctx, stop := context.WithTimeout(x.ctx(), readyWithin)
	defer stop()
	err := s.service.Ready(ctx)
	if auth, ok := s.auth.(Readier); ok && err == nil {
		err = auth.Ready(ctx)
	}
	if err != nil {
		return problemUnavailable.because(err)
	}
	return x.answer(http.StatusOK, s.refusedWork())
}
