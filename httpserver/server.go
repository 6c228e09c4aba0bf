package httpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fair"
	"github.com/traintravel/traintravel/ticket"
)

// A Server answers the requests of the Train Travel API. Make one with New. It
// is an [http.Handler] without a listener: it starts nothing and needs no
// closing. Its routes stand at the root; whoever mounts it below a path strips
// that path first and puts it in Options.BaseURL.
//
// What bounds a connection belongs to the host's [http.Server]: timeouts, and
// MaxHeaderBytes, which ought to be 32 KiB.
type Server struct {
	service      *traintravel.Service
	auth         Authenticator
	issuer       string // that gives tokens, if it is known
	log          *slog.Logger
	access       *slog.Logger                  // or nil
	answered     func(context.Context, Answer) // or nil
	now          func() time.Time              // the service's
	base         base
	proxies      []netip.Prefix
	limits       *limiter // nil if there is no limit
	pages        *limiter // of what is public; likewise
	taken        *limiter // of requests that are taken back; likewise
	house        *house
	looks        looks          // of health checks at readiness
	leaving      atomic.Bool    // see Leave
	tickets      *ticket.Issuer // nil if there are none
	ticketSet    ticket.Keys
	ticketKeySet *text // the same, as they are published
	handler      http.Handler
	fixed        fixed
	zones        zones
	stations     stationTexts
	openAPI      openAPIText
	descriptions descriptions
	ticketsMade  *ticketCache
	exchanges    sync.Pool
}

// fixed holds the header values that are the same in many answers.
type fixed struct {
	forms, problems                [2][]string // by form
	noStore, noCache, hour, shared []string
	vary, nosniff, contentsPolicy  []string
	close                          []string
}

// New returns a server of a service. It returns an [*traintravel.InvalidError]
// for an option that cannot be.
func New(service *traintravel.Service, opts Options) (*Server, error) {
	if service == nil {
		return nil, badOption("service", "is nil")
	}
	if opts.Auth == nil {
		return nil, badOption("Options.Auth", "is nil")
	}
	base, err := parseBase(opts.BaseURL)
	if err != nil {
		return nil, badOption("Options.BaseURL", err.Error())
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Server{
		service: service, auth: opts.Auth, log: opts.Logger, access: opts.AccessLog, answered: opts.Answered, now: opts.Now, base: base, limits: newLimiter(opts.RateLimit), pages: newLimiter(pagesLimit(opts.RateLimit)), taken: newLimiter(pagesLimit(opts.RateLimit)),
		house:     newHouse(opts.MaxRequests),
		tickets:   opts.Tickets,
		ticketSet: opts.TicketKeys,
		fixed: fixed{
			forms:    [2][]string{asJSON: {"application/json"}, asXML: {"application/xml"}},
			problems: [2][]string{asJSON: {"application/problem+json"}, asXML: {"application/problem+xml"}},
			noStore:  []string{"no-store"}, noCache: []string{"private, no-cache"}, hour: []string{"private, max-age=3600"},
			shared: []string{"public, max-age=3600"},
			vary:   []string{"Accept, Authorization"}, nosniff: []string{"nosniff"}, close: []string{"close"},
			contentsPolicy: []string{"default-src 'none'; frame-ancestors 'none'"},
		},
	}
	keys, err := json.Marshal(opts.TicketKeys)
	if err != nil {
		return nil, err
	}
	s.ticketKeySet = textOf(jwkSet, nil, keys)
	for _, p := range opts.TrustedProxies {
		if !p.IsValid() {
			return nil, badOption("Options.TrustedProxies", "has a network that is none")
		}
		s.proxies = append(s.proxies, p.Masked())
	}
	shared, err := CrossOrigin(opts.CORSOrigins)
	if err != nil {
		return nil, err
	}
	s.descriptions, s.ticketsMade = newDescriptions(), newTicketCache()
	s.openAPI.signIn, s.openAPI.tokens = opts.SignIn, opts.Tokens
	if s.issuer = opts.Issuer; opts.SignIn {
		s.issuer = base.text
	} else if s.issuer != "" {
		if err := checkIssuerURL(s.issuer); err != nil {
			return nil, badOption("Options.Issuer", err.Error())
		}
	}
	s.handler = shared(s.routes())
	return s, nil
}

// Leave says that the server is about to end. From then on it is not ready, so that
// whoever looks sends its requests elsewhere, and closes each connection after the
// next answer, so that no client is about to send on one when it is cut. All else is
// answered as before, until the host's [http.Server] is shut down.
func (s *Server) Leave() { s.leaving.Store(true) }

// closes says whether a connection of an address is closed after the answer to a request:
//
//   - if the server is about to end.
//   - after a body in chunks over HTTP/1. Such a request may have had a Content-Length as
//     well, which net/http takes out, and what a proxy takes for its body may go on as a
//     request of its own (RFC 9112, section 6.1).
//   - if the address takes back more requests than it may make, so that it does not pay for
//     streams of HTTP/2 that it opens and resets with less than a new connection.
func (s *Server) closes(r *http.Request, who fair.Caller) bool {
	return s.leaving.Load() || r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 ||
		s.taken != nil && r.Context().Err() != nil && s.taken.take(who, 1).wait > 0
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func badOption(field, reason string) error {
	return &traintravel.InvalidError{Field: field, Reason: reason}
}
