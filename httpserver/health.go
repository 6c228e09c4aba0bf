package httpserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/traintravel/traintravel"
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

// errLeaving is the reason why a server whose [Server.Leave] was called is not ready.
var errLeaving = errors.New("the server is shutting down")

// refusedLately is how long the readiness check reports that a request was refused.
const refusedLately = time.Minute

// A readiness is the response of the readiness check: the server is ready, and the kinds of
// work of which it refused requests lately because too many were waiting, with the caller who
// had most of them. An overloaded server is still ready: if it were taken out of service, its
// callers would overload the next one.
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
	if err := s.Ready(x.ctx()); err != nil {
		if errors.Is(err, traintravel.ErrNoTimetable) {
			return problemNoTimetable.because(err)
		}
		return problemUnavailable.because(err)
	}
	return x.answer(http.StatusOK, s.refusedWork())
}

// Ready returns nil if the server can sell and verify tokens, as GET /readyz reports it. The error
// has the reason, which is for the operator alone: it may name hosts and files.
func (s *Server) Ready(ctx context.Context) error {
	if s.leaving.Load() {
		return errLeaving
	}
	return s.looks.take(ctx, s.look)
}

// look looks whether all is there that readiness needs.
func (s *Server) look(ctx context.Context) error {
	err := s.service.Ready(ctx)
	if auth, ok := s.auth.(Readier); ok { // asked early, also while no timetable is loaded
		err = errors.Join(err, auth.Ready(ctx))
	}
	return err
}

// Work returns the load of the server, for each kind of work. It is fast.
func (s *Server) Work() []Work {
	all := make([]Work, 0, works)
	for kind, pool := range s.house.pools {
		if pool == nil {
			continue
		}
		counts, last := pool.Counts(), pool.Last()
		w := Work{Kind: work(kind).String(), Slots: pool.Slots(), Busy: counts.Busy, Waiting: counts.Waiting,
			Refused: counts.Refused, OverShare: counts.OverShare, LastRefused: last.At, MostInHand: last.InHand, InHand: last.Of}
		if !last.At.IsZero() {
			w.Most = callerName(last.Most)
		}
		all = append(all, w)
	}
	return all
}
