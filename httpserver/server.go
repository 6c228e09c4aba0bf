package httpserver

import (
	"context"
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
// closing. Its routes are below the path of Options.BaseURL: the server strips that
// path from requests that have it, so it can be mounted with it or, after
// [http.StripPrefix] or a proxy, without it (see Server.Below).
//
// Set the limits of connections in the host's [http.Server]: timeouts, and MaxHeaderBytes,
// which should be 32 KiB.
type Server struct {
	service      *traintravel.Service
	auth         Authenticator
	try          func(*http.Request) Try // or nil
	issuer       string                  // that gives tokens, if it is known
	log          *slog.Logger
	access       *slog.Logger                  // or nil
	answered     func(context.Context, Answer) // or nil
	now          func() time.Time              // the service's
	base         base
	mount        string // see Below
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

// Leave prepares the server for shutdown. From then on it reports that it is not ready, so
// that load balancers send requests elsewhere, and it closes each connection after the next
// response, so that no client uses a connection that is about to be closed. Otherwise it
// serves as before, until the host's [http.Server] is shut down.
func (s *Server) Leave() { s.leaving.Store(true) }

// closes says whether a connection of an address is closed after the answer to a request:
//
//   - if the server is shutting down.
//   - after a body in chunks over HTTP/1. Such a request may have had a Content-Length as
//     well, which net/http takes out, and what a proxy takes for its body may go on as a
//     request of its own (RFC 9112, section 6.1).
//   - if the address takes back more requests than it may make, so that it does not pay for
//     streams of HTTP/2 that it opens and resets with less than a new connection.
func (s *Server) closes(r *http.Request, who fair.Caller) bool {
	return s.leaving.Load() || r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 ||
		s.taken != nil && r.Context().Err() != nil && s.taken.take(who, 1).wait > 0
}
