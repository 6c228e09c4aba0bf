package httpserver

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"net/http"
	"net/netip"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fair"
)

// A work is a kind of work that requests take. Each kind has slots of its own, so that
// what waits for a gateway, a disk or a processor holds up nothing else. A request has a
// slot from when all of it has come until its answer is made, not while either is under
// way: see exchange.work.
type work uint8

const (
	light     work = iota // what is at hand: it has no slots
	reading               // stations, bookings, lists
	searching             // trips
	writing               // what waits for the disk
	paying                // what waits for the payment gateway
	ticketing             // what is drawn and signed
	parsing               // bodies that are large: see exchange.parsed
	signingIn             // what an authorization server beside the API does: see Server.Admit
	works                 // how many kinds there are
)

var workNames = [works]string{"light", "read", "search", "write", "pay", "ticket", "parse", "sign-in"}

func (w work) String() string { return workNames[w] }

// patience is how long a request waits for its turn.
const patience = 10 * time.Second

// slots are the limits of each kind of work, on so many processors.
func slots(processors int) [works]fair.Limits {
	soon := fair.Limits{Slots: 8 * processors, Each: 8 * processors} // it takes a processor, or a database for a moment
	return [works]fair.Limits{
		reading:   soon,
		searching: {Slots: 4 * processors, Each: 4 * processors},
		writing:   {Slots: 512, Each: 256}, // many are written at a time
		paying:    {Slots: 256, Each: 16},  // a gateway may hang
		ticketing: {Slots: processors, Each: max(1, processors/2)},
		parsing:   {Slots: processors, Each: max(1, processors/2)},
		signingIn: soon,
	}
}

const (
	defaultMaxRequests = 1024
	// Each caller has answers of so many bytes that it does not read, and bodies of so
	// many that it does not finish; beyond it, it is refused. So is, with as many times
	// that in all, everybody with more than a sixteenth of it.
	maxUnread, maxUnfinished = 2 << 20, 1 << 20
	manyCallers              = 32
	// An address has so many streams of HTTP/2 on which it is told that it has too much,
	// or that the server is well, and reads none of it.
	maxAside = 128
	// What is smaller than this is bounded by the number of requests.
	countedBytes = 8 << 10
	// A body that is larger than this is parsed in turn; each such part of it costs one.
	smallBody = 4 << 10
)

// A house is the room that a server has for requests.
type house struct {
	seed    maphash.Seed
	open    *fair.Budget // requests that are not answered, of each address
	extra   *fair.Budget // those over HTTP/2 that are answered whatever is open; see aside
	bodies  *fair.Budget // bytes of bodies that are on their way
	answers *fair.Budget // bytes of answers that are on their way
	pools   [works]*fair.Pool
	told    atomic.Int64 // the second in which the log was told last that there are too many requests
}

// newHouse returns one in which, of each kind of work and of each address, there are at
// most so many requests at a time; any number if that is negative.
func newHouse(most int) *house {
	if most = cmp.Or(most, defaultMaxRequests); most < 0 {
		most = 1 << 30
	}
	h := &house{
		seed: maphash.MakeSeed(), open: fair.NewBudget(int64(most), manyCallers*int64(most)),
		extra:  fair.NewBudget(maxAside, manyCallers*maxAside),
		bodies: fair.NewBudget(maxUnfinished, manyCallers*maxUnfinished), answers: fair.NewBudget(maxUnread, manyCallers*maxUnread),
	}
	for kind, l := range slots(runtime.GOMAXPROCS(0)) {
		if work(kind) == light {
			continue
		}
		l.Slots, l.Each = min(l.Slots, most), min(l.Each, most)
		l.Queue, l.InHand, l.Patience = most-l.Slots, max(1, most/4), patience
		h.pools[kind] = fair.NewPool(l)
	}
	return h
}

// address is the caller that an address is.
func (h *house) address(a netip.Addr) fair.Caller {
	return fair.Caller(maphash.Comparable(h.seed, fair.Customer(a)))
}

// user is the caller that a user is who acts through a client.
func (h *house) user(by traintravel.Caller) fair.Caller {
	var hash maphash.Hash
	hash.SetSeed(h.seed)
	for _, part := range [...]string{by.Client, by.Issuer, by.ID} {
		hash.WriteString(part)
		hash.WriteByte(0xff) // in no UTF-8
	}
	return fair.Caller(hash.Sum64())
}

// aside makes room for an answer to an address that does not count as an open request:
// to a health check, or that too many are open. It returns what gives the room back. Over
// HTTP/1 the address's connections bound such answers. Over HTTP/2 each connection has
// many streams: those for which there is no room are reset.
func (h *house) aside(r *http.Request, from fair.Caller) (done func()) {
	if r.ProtoMajor < 2 {
		return func() {}
	}
	if !h.extra.Take(from, 1) {
		panic(http.ErrAbortHandler)
	}
	return func() { h.extra.Give(from, 1) }
}

// tell says whether to log that the server has no room: once a second.
func (h *house) tell() bool {
	second := time.Now().Unix()
	return h.told.Swap(second) != second
}

var (
	// problemOverloaded is the problem of an overloaded server.
	problemOverloaded = &problem{status: http.StatusServiceUnavailable, slug: "overloaded", title: "The server is overloaded",
		detail: "The server did not process the request, because too many others are in progress. Wait for the number of seconds in Retry-After, then send it again.", retry: 1}
	// The problems of a caller who uses too much of the server's capacity.
	problemManyAtATime = &problem{status: http.StatusTooManyRequests, slug: "rate-limited", title: "Too many concurrent requests",
		detail: "You have the maximum number of requests in progress. The server did not process this one. Wait for the responses to the others, then send it again.", retry: 1}
	problemUnread = &problem{status: http.StatusTooManyRequests, slug: "rate-limited", title: "Too many unread responses",
		detail: "You have too many responses that you have not read to the end. The server did not process this request. Read them, then send it again.", retry: 1}
	problemUnfinished = &problem{status: http.StatusTooManyRequests, slug: "rate-limited", title: "Too many unfinished request bodies",
		detail: "You have too many requests in progress whose bodies you have not sent completely. The server did not process this one. Finish the others, then send it again.", retry: 1}
	problemSlow = &problem{status: http.StatusRequestTimeout, slug: "body-too-slow", title: "The request body arrived too slowly",
		detail: "The request body did not arrive completely in time. The server did not process the request. Send it again."}
)

// enter waits for a slot of a kind of work, for a caller.
func (h *house) enter(ctx context.Context, kind work, who fair.Caller, cost int64) error {
	if kind == light {
		if h.answers.Full(who) {
			return problemUnread
		}
		return nil
	}
	err := h.pools[kind].Enter(ctx, who, cost)
	switch {
	case err == nil && h.answers.Full(who):
		h.pools[kind].Leave(who)
		return problemUnread
	case errors.Is(err, fair.ErrShare):
		return problemManyAtATime
	case errors.Is(err, fair.ErrBusy):
		return problemOverloaded
	case err != nil:
		return problemUnavailable.because(err)
	}
	return nil
}

// leave gives the slot back.
func (h *house) leave(kind work, who fair.Caller) {
	if kind != light {
		h.pools[kind].Leave(who)
	}
}

// How slowly a body may come and an answer may be read: so long, and longer by its size.
const (
	bodyAtLeast, bodyPerSecond     = 10 * time.Second, 4 << 10
	answerAtLeast, answerPerSecond = 10 * time.Second, 32 << 10
)

// due is when so many bytes are to be through.
func due(least time.Duration, perSecond, n int) time.Time {
	return time.Now().Add(least + time.Duration(n)*time.Second/time.Duration(perSecond))
}

// deliver writes the body of an answer, within bounds of time and memory. A body that is
// one for all takes no memory.
//
// Over HTTP/2 it waits until the client has had all of a small one as well, which net/http
// would otherwise send when the request counts nowhere any more: a client may let it wait.
func (h *house) deliver(w http.ResponseWriter, r *http.Request, who fair.Caller, body []byte, forAll bool) {
	if len(body) <= countedBytes {
		control := http.NewResponseController(w)
		if r.ProtoMajor >= 2 {
			_ = control.SetWriteDeadline(due(answerAtLeast, answerPerSecond, len(body)))
		}
		_, _ = w.Write(body) // the client may be gone
		if r.ProtoMajor >= 2 {
			_ = control.Flush()
		}
		return
	}
	if !forAll {
		h.answers.Add(who, int64(len(body)))
		defer h.answers.Give(who, int64(len(body)))
	}
	// net/http takes the deadline back. A host without one sees to it itself.
	_ = http.NewResponseController(w).SetWriteDeadline(due(answerAtLeast, answerPerSecond, len(body)))
	_, _ = w.Write(body)
}

// A Work describes the load of a server with one kind of work.
type Work struct {
	// Kind is read, search, write, pay, ticket, parse or sign-in.
	Kind string
	// Slots is the number of requests that are processed at a time, Busy how many are in
	// progress, and Waiting how many wait for their turn.
	Slots, Busy, Waiting int
	// Refused is how many requests were refused since the start because too many
	// waited, with 503, and OverShare because their caller had too many, with 429.
	Refused, OverShare uint64
	// LastRefused is when a request was last refused because too many waited; zero if
	// none was. At that time MostInHand of InHand requests were of the caller Most, a user of
	// a client or an address, as a hash that differs between processes.
	LastRefused        time.Time
	Most               string
	MostInHand, InHand int
}

// callerName is what the operator knows a caller by.
func callerName(c fair.Caller) string { return strconv.FormatUint(uint64(c)>>32, 16) }
