package httpserver

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/julienschmidt/httprouter"
)

// answering makes a route the router's: it checks a request in the documented
// order, has it handled, and writes the problem if there is one.
func (s *Server) answering(rt *route) httprouter.Handle {
	at, pattern := pattern(rt.path), ""
	if at != "" {
		pattern = rt.method + " " + at
	}
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		if rt.scope != beside {
			r.Pattern = pattern
		}
		x, _ := s.exchanges.Get().(*exchange)
		if x == nil {
			x = &exchange{s: s}
		}
		x.w, x.r, x.route, x.at, x.params = w, r, rt, at, params
		x.serve()
		clear(x.in[:cap(x.in)])
		*x = exchange{s: s, out: x.out[:0]}
		if cap(x.out) <= 64<<10 {
			s.exchanges.Put(x)
		}
	}
}

func (x *exchange) serve() {
	if x.s.watched() && x.route.scope != beside { // or else who is beside tells it
		x.begun = time.Now()
		x.r = x.r.WithContext(context.WithValue(x.r.Context(), requestKey{}, x.request()))
		defer x.report()
	}
	x.values = make([]string, 0, 6)
	x.base = x.s.baseOf(x.r)
	x.attempt()
}

// report tells what was answered.
func (x *exchange) report() {
	a := Answer{Request: x.ident, Method: knownMethod(x.r.Method), Route: x.at, Status: x.status, Took: time.Since(x.begun),
		Problem: x.wrong, Client: x.by.Client}
	switch {
	case x.gone:
		a.Status = 0
	case x.r.Method != http.MethodHead:
		a.Bytes = len(x.body())
	}
	x.s.report(x.ctx(), a)
}

// attempt answers the request, whatever happens.
func (x *exchange) attempt() {
	x.from = x.s.house.address(x.s.client(x.r))
	x.who = x.from
	switch {
	case x.route.scope == beside: // Beside counts these requests
		x.decide()
	case x.route.scope == free:
		defer x.s.house.aside(x.r, x.from)()
		x.decide()
	case x.s.house.open.Take(x.from, 1):
		defer x.s.house.open.Give(x.from, 1)
		x.decide()
	default:
		defer x.s.house.aside(x.r, x.from)()
		x.quota = x.limits().peek(x.from)
		x.fail(problemManyAtATime)
	}
	x.send()
}

// decide finds the answer, whatever happens.
func (x *exchange) decide() {
	defer func() {
		v := recover()
		switch {
		case v == nil:
			return
		case v == http.ErrAbortHandler:
			panic(v)
		}
		x.fail(&panicked{v, debug.Stack()})
	}()
	err := x.check()
	if err == nil {
		err = x.work()
	}
	if err != nil {
		x.fail(err)
	}
}

// work has the request handled when its turn comes: first the turn of its body, if that is
// large, and then that of the work itself. See parsed.
func (x *exchange) work() error {
	kind, cost := x.route.work, x.route.cost
	if len(x.in) > smallBody && x.route.body != bytesBody {
		kind, cost = parsing, int64(len(x.in)/smallBody)
	}
	if err := x.turn(kind, cost); err != nil {
		return err
	}
	defer func() { x.s.house.leave(x.has, x.who) }()
	return x.route.handle(x)
}

// check is what all operations have in common, in the order of the statuses:
// 401 (and 429), 403, 406, 415, 413.
func (x *exchange) check() error {
	switch x.route.scope {
	case free:
		x.quota = x.limits().peek(x.from)
		x.form, _ = accepted(x.r.Header["Accept"]) // whoever checks it is told, whatever it asks for
		return nil
	case public:
		x.form, _ = accepted(x.r.Header["Accept"])
		return x.take(x.from)
	case nowhere:
		if x.r.Method == http.MethodOptions { // browsers ask it before each request of a page: that one counts
			x.quota = x.limits().peek(x.from)
			return nil
		}
		return x.take(x.from)
	case beside:
		return nil
	}
	if x.route.scope == counted {
		if err := x.take(x.from); err != nil {
			return err
		}
	} else if err := x.authorize(); err != nil {
		return err
	}
	if err := x.choose(); err != nil {
		return err
	}
	switch x.route.body {
	case noBody:
		return nil
	case bytesBody:
		if !sentBytes(x.r.Header) {
			return problemMediaBytes
		}
		return x.receive()
	case patchBody:
		if !sentPatch(x.r.Header) {
			return problemMediaPatch
		}
		return x.receive()
	}
	var ok bool
	switch x.sent, ok = sent(x.r.Header); {
	case x.route.body == jsonBody && (!ok || x.sent != asJSON):
		return problemMediaType
	case !ok:
		return problemMediaTypes
	}
	return x.receive()
}

// choose finds the form in which the answer is welcome.
func (x *exchange) choose() (err error) {
	if x.route.bare() {
		return nil
	}
	if x.route.ticket() {
		x.ticket, err = acceptedTicket(x.r.Header["Accept"])
		return err
	}
	var ok bool
	if x.form, ok = accepted(x.r.Header["Accept"]); !ok {
		return problemNotAcceptable
	}
	return nil
}

// report tells of an answer.
func (s *Server) report(ctx context.Context, a Answer) {
	if s.answered != nil {
		s.answered(ctx, a)
	}
	if s.access == nil || !s.access.Enabled(ctx, slog.LevelInfo) {
		return
	}
	s.access.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("request", a.Request.String()), slog.String("method", a.Method), slog.String("route", a.Route),
		slog.Int("status", a.Status), slog.Int("bytes", a.Bytes), slog.Float64("seconds", a.Took.Seconds()),
		slog.String("problem", a.Problem), slog.String("client", a.Client))
}

// watched says whether somebody wants to know what is answered.
func (s *Server) watched() bool { return s.answered != nil || s.access != nil }
