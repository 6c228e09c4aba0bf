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
	"github.com/traintravel/traintravel/internal/fair"
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
	has    work        // the kind of slot that it has; light is none
	wrong  string      // the slug of the problem that was answered
	gone   bool        // nobody gets the answer: see givenUp

	from, who fair.Caller // the address it comes from, and who is asking: the user, or else the address
	shared    []byte      // the body of the answer, if it is kept for others too and not out
	own       bool        // shared is for the caller alone, whose room it takes while it is sent

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
	switch {
	case x.gone:
		a.Status = 0
	case x.r.Method != http.MethodHead:
		a.Bytes = len(x.body())
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

// parsed waits for the turn of the work itself, if that of the body was before it.
func (x *exchange) parsed() error {
	if x.has != parsing {
		return nil
	}
	x.s.house.leave(parsing, x.who)
	return x.turn(x.route.work, x.route.cost)
}

// turn waits for a slot, and says which kind of slot the exchange has then.
func (x *exchange) turn(kind work, cost int64) error {
	x.has = light // which needs no leave
	err := x.s.house.enter(x.ctx(), kind, x.who, cost)
	if err == nil {
		x.has = kind
	}
	return err
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

// write makes the answer whose body is x.out, or x.shared. It is sent when no more work
// is to be done.
func (x *exchange) write(status int, contentType, cache []string) {
	h := x.w.Header()
	if contentType != nil {
		h["Content-Type"] = contentType
	}
	// Over HTTP/1 net/http itself tells the length of a body as short as most are.
	told, n := x.r.Method != http.MethodHead && x.r.ProtoMajor < 2, len(x.body())
	if n >= 2048 || !told && n > 0 {
		x.set("Content-Length", strconv.Itoa(n))
	}
	if &cache[0] == &x.s.fixed.shared[0] && x.base != x.s.base.text {
		cache = x.s.fixed.hour // its links begin as a proxy says: they are not for everybody
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
	if x.limits() != nil && x.route.scope != beside {
		x.set("Ratelimit", x.quota.String())
	}
	if x.s.closes(x.r, x.from) {
		h["Connection"] = x.s.fixed.close
	}
	x.status = status
}

// body is that of the answer.
func (x *exchange) body() []byte {
	if x.shared != nil {
		return x.shared
	}
	return x.out
}

// send sends the answer.
func (x *exchange) send() {
	x.w.WriteHeader(x.status)
	if body := x.body(); len(body) > 0 && x.r.Method != http.MethodHead {
		x.s.house.deliver(x.w, x.r, x.who, body, x.shared != nil && !x.own)
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
