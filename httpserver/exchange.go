package httpserver

import (
	"context"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/julienschmidt/httprouter"

	"github.com/traintravel/traintravel"
)

// An exchange is one request and its answer. It lives as long as ServeHTTP
// runs and is used again after that.
type exchange struct {
	s      *Server
	w      http.ResponseWriter
	r      *http.Request
	route  *route
	at     string // the route as Answer.Route has it
	params httprouter.Params
	base   string // begins the links of this answer
	by     traintravel.Caller
	quota  quota
	values []string    // backs the header values of this answer
	in     []byte      // the body of the request, if the operation takes one
	sent   form        // of in
	form   form        // of the answer, if it is a success
	ticket *ticketForm // of the answer, if it is a ticket
	out    []byte      // the body of the answer
	enc    encoder     // writes it
	policy []string    // Content-Security-Policy, if it is not that of data
	status int         // what was answered; zero before
	begun  time.Time   // if the server is watched
	ident  uuid.UUID   // the request's name; see id
	wrong  string      // the slug of the problem that was answered

	working bool // whether it is one of the requests that are worked on

	booking bookingDoc // of an answer that is one booking
}

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
	if x.r.Method != http.MethodHead {
		a.Bytes = len(x.out)
	}
	x.s.report(x.ctx(), a)
}

// request is the name of the request in the log.
func (x *exchange) request() uuid.UUID {
	if x.ident == uuid.Nil {
		x.ident = uuid.New()
		if id, ok := RequestID(x.ctx()); ok { // given by who is beside
			x.ident = id
		}
	}
	return x.ident
}

// attempt answers the request, whatever happens.
func (x *exchange) attempt() {
	defer func() {
		if x.working {
			x.s.load.leave()
		}
	}()
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
		err = x.route.handle(x)
	}
	if err != nil {
		x.fail(err)
	}
}

// check is what all operations have in common, in the order of the statuses:
// 401 (and 429), 403, 406, 415, 413.
func (x *exchange) check() error {
	switch x.route.scope {
	case public:
		x.quota = x.s.limits.peek(x.address())
		x.form, _ = accepted(x.r.Header["Accept"]) // whoever checks health is told, whatever it asks for
		return nil
	case nowhere:
		if x.r.Method == http.MethodOptions { // browsers ask it before each request of a page: that one counts
			x.quota = x.s.limits.peek(x.address())
			return nil
		}
		return x.take(x.address())
	case beside:
		return nil
	}
	if x.working = x.s.load.enter(); !x.working {
		x.quota = x.s.limits.peek(x.address())
		return problemOverloaded
	}
	if x.route.scope == counted {
		if err := x.take(x.address()); err != nil {
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

// ctx is the request's context.
func (x *exchange) ctx() context.Context { return x.r.Context() }

// set gives the answer a header that it has once.
func (x *exchange) set(name, value string) {
	x.values = append(x.values, value)
	n := len(x.values)
	x.w.Header()[name] = x.values[n-1 : n : n]
}

// answer writes a success.
func (x *exchange) answer(status int, d document) error {
	x.encode(d, x.form)
	if x.route.tagged && status == http.StatusOK {
		return x.sendTagged(x.s.fixed.forms[x.form])
	}
	x.write(status, x.s.fixed.forms[x.form], x.route.cache)
	return nil
}

// sendTagged sends the answer whose body is x.out, with its ETag, unless the client
// has it already.
func (x *exchange) sendTagged(contentType []string) error {
	switch known, err := x.known(); {
	case err != nil:
		return err
	case known:
		return x.empty(http.StatusNotModified)
	}
	x.write(http.StatusOK, contentType, x.route.cache)
	return nil
}

// encode writes a document into x.out.
func (x *exchange) encode(d document, f form) {
	x.enc = encoder{b: x.out, form: f, base: x.base}
	x.enc.write(d)
	x.out = x.enc.b
}

// empty writes a success that has no body.
func (x *exchange) empty(status int) error {
	x.out = x.out[:0]
	x.write(status, nil, x.route.cache)
	return nil
}

// write sends the answer whose body is x.out.
func (x *exchange) write(status int, contentType, cache []string) {
	h := x.w.Header()
	if contentType != nil {
		h["Content-Type"] = contentType
	}
	// net/http itself tells the length of a body as short as most are.
	head := x.r.Method == http.MethodHead
	if len(x.out) >= 2048 || head && len(x.out) > 0 {
		x.set("Content-Length", strconv.Itoa(len(x.out)))
	}
	h["Cache-Control"] = cache
	if vary := h["Vary"]; vary == nil {
		h["Vary"] = x.s.fixed.vary
	} else {
		x.set("Vary", strings.Join(slices.Concat(vary, x.s.fixed.vary), ", "))
	}
	h["X-Content-Type-Options"] = x.s.fixed.nosniff
	if h["Content-Security-Policy"] = x.policy; x.policy == nil {
		h["Content-Security-Policy"] = x.s.fixed.contentsPolicy
	}
	if x.s.limits != nil && x.route.scope != beside {
		x.set("Ratelimit", x.quota.String())
	}
	if x.s.leaving.Load() {
		h["Connection"] = x.s.fixed.close
	}
	x.status = status
	x.w.WriteHeader(status)
	if len(x.out) > 0 && !head {
		_, _ = x.w.Write(x.out) // the client may be gone
	}
}

// id reads a path's parameter. What is no UUID breaks the form that the
// parameter has, so it is a bad request that names it, and not a resource that
// is missing: who sent "undefined" learns where to look. The checks' order
// agrees, which has 400 before 404.
func (x *exchange) id(name string) (uuid.UUID, error) {
	id, ok := parseID(x.params.ByName(name))
	if !ok {
		return uuid.Nil, faults{{parameter: name, detail: "is not a UUID"}}.problem()
	}
	return id, nil
}

// parseID reads a UUID in its one canonical form, in either letter case.
func parseID(s string) (uuid.UUID, bool) {
	if len(s) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(s)
	return id, err == nil
}
