package httpserver

import (
	"context"
	"net/http"
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

// id reads a path's parameter. What is not a UUID breaks the form that the
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

// limits are those of the route: what is public, such as the pages that explain
// problems, has its own, so that who has no quota left can read it.
func (x *exchange) limits() *limiter {
	if x.route.scope == public || x.route.scope == free {
		return x.s.pages
	}
	return x.s.limits
}

// take counts the request as what its route costs, and refuses it if the quota is used up.
func (x *exchange) take(key fair.Caller) error {
	l := x.limits()
	if l == nil {
		return nil
	}
	x.quota = l.take(key, min(max(1, x.route.tokens), l.limit))
	if x.quota.wait == 0 {
		return nil
	}
	return &problem{status: http.StatusTooManyRequests, slug: "rate-limited", title: "Too many requests",
		detail: "Your quota of requests is used up. Wait for the number of seconds in Retry-After, then send the request again.", retry: x.quota.wait}
}
