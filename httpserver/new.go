package httpserver

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/traintravel/traintravel"
)

// New returns a server of a service. It returns an [*traintravel.InvalidError] for an invalid
// option.
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
		service: service, auth: opts.Auth, try: opts.Try, log: opts.Logger, access: opts.AccessLog, answered: opts.Answered, now: opts.Now, base: base, limits: newLimiter(opts.RateLimit), pages: newLimiter(pagesLimit(opts.RateLimit)), taken: newLimiter(pagesLimit(opts.RateLimit)),
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
			return nil, badOption("Options.TrustedProxies", "has an invalid network")
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
	s.mount = s.mountOf()
	s.handler = shared(s.routes())
	return s, nil
}

// ServeHTTP serves a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, s.Below(r))
}
