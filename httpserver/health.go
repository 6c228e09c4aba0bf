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
	return x.answer(http.StatusOK, health("ready"))
}
