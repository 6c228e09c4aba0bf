// Package authserver is an OAuth 2.0 authorization server for trying out a server of the Train
// Travel API: anybody who can reach it can sign in under any name, without a password. Apart
// from that it follows the standards: authorization code with PKCE (RFC 7636, only S256), exact
// redirect URIs with variable loopback ports (RFC 8252), the issuer in every response
// (RFC 9207), access tokens by RFC 9068, refresh tokens with rotation, revocation (RFC 7009),
// client credentials, and metadata (RFC 8414), following RFC 9700.
//
// It serves these paths:
//
//	/oauth/authorize and the pages below /oauth/
//	/oauth/token  /oauth/revoke  /oauth/jwks
//	/.well-known/oauth-authorization-server
//
// Sign-ins, codes and refresh tokens are kept in memory: a restart ends them, and servers do
// not share them. Access tokens are valid until they expire, for at most an hour. Revoking
// any token of a consent revokes all of them: refresh tokens, and access tokens at servers
// that ask [Server.Revoked].
package authserver

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// New returns a Server, or an error if an option is invalid.
func New(o Options) (*Server, error) {
	base, err := url.Parse(o.Issuer)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" ||
		base.User != nil || strings.ContainsAny(o.Issuer, "?#") || strings.HasSuffix(o.Issuer, "/") {
		return nil, errors.New("invalid issuer: want an http or https URL without a user, a query, a fragment and a slash at its end")
	}
	if o.TokenLife < 0 || o.TokenLife > tokenLife {
		return nil, fmt.Errorf("invalid TokenLife: want at most %v", tokenLife)
	}
	if o.TokenLife == 0 {
		o.TokenLife = tokenLife
	}
	if o.Audience == "" {
		o.Audience = o.Issuer
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Refuse == nil {
		o.Refuse = refuse
	}
	if o.Limit == nil {
		o.Limit = func(*http.Request, string) (string, int64) { return "", 0 }
	}
	if o.Admit == nil {
		o.Admit = func(*http.Request) func() { return func() {} }
	}
	if o.Address == nil {
		o.Address = func(r *http.Request) string {
			host, _, _ := net.SplitHostPort(r.RemoteAddr)
			return host
		}
	}
	s := &Server{opts: o, base: base, clients: map[string]*client{}}
	for _, c := range append([]Client{demoClient()}, o.Clients...) {
		known, err := newClient(c)
		if err == nil && c.ID == DemoClient {
			err = known.returnTo(o.DemoRedirectURIs, base)
		}
		if err != nil {
			return nil, fmt.Errorf("the client %q %w", c.ID, err)
		}
		if s.clients[c.ID] != nil {
			return nil, fmt.Errorf("two clients have the ID %q", c.ID)
		}
		s.clients[c.ID] = known
	}
	if s.users, err = newUsers(o.Users, o.OnlyUsers); err != nil {
		return nil, err
	}
	if err := s.SetKeys(o.Keys); err != nil {
		return nil, err
	}
	if s.pages, err = newPages(base.EscapedPath()); err != nil {
		return nil, err
	}
	s.origin = originOf(base)
	s.origins = http.NewCrossOriginProtection()
	if err := s.origins.AddTrustedOrigin(s.origin); err != nil {
		return nil, fmt.Errorf("the issuer: %w", err)
	}
	s.sessions = newSessions(base, o.Address)
	s.grants = newGrants()
	s.routes()
	s.shared = http.HandlerFunc(s.serve)
	if o.CrossOrigin != nil {
		s.shared = o.CrossOrigin(s.shared)
	}
	return s, nil
}

// ServeHTTP serves the paths that the package comment lists.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.forPrograms(r.URL.Path) {
		s.shared.ServeHTTP(w, r)
		return
	}
	s.serve(w, r)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Security-Policy", policy())
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodOptions && s.forPrograms(r.URL.Path) { // costs nothing: the call that follows does
		options(w, r.URL.Path)
		return
	}
	if s.limited(w, r, "") {
		s.tooMany(w, r)
		return
	}
	done := s.opts.Admit(r)
	if done == nil {
		s.overloaded(w, r)
		return
	}
	defer done()
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s.route(w, r)
}

// tooMany refuses a request from an address that has used up its quota: with a page for
// people, an error for programs.
func (s *Server) tooMany(w http.ResponseWriter, r *http.Request) {
	if s.forPrograms(r.URL.Path) {
		s.fail(w, errTooMany())
		return
	}
	s.pages.fault(w, http.StatusTooManyRequests, "Too many requests came from your network. Please try again in a minute.")
}

// overloaded refuses a request when too many are in progress.
func (s *Server) overloaded(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "1")
	if s.forPrograms(r.URL.Path) {
		s.fail(w, &oauthError{"temporarily_unavailable", "too many requests are in progress; try again after the number of seconds in Retry-After", http.StatusServiceUnavailable})
		return
	}
	s.pages.fault(w, http.StatusServiceUnavailable, "The server is busy. Please try again in a few seconds.")
}

func (s *Server) routes() {
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("GET /oauth/authorize", s.authorize)
	s.mux.HandleFunc("POST /oauth/sign-in", s.signIn)
	s.mux.HandleFunc("POST /oauth/sign-out", s.signOut)
	s.mux.HandleFunc("POST /oauth/consent", s.consent)
	s.mux.HandleFunc("GET /oauth/style.css", s.pages.file("style.css", "text/css; charset=utf-8"))
	s.mux.HandleFunc("GET /oauth/icon.svg", s.pages.file("icon.svg", "image/svg+xml"))
	s.mux.HandleFunc(tokenPath, s.endpoint(s.token))
	s.mux.HandleFunc(revokePath, s.endpoint(s.revoke))
	s.mux.HandleFunc("GET "+keysPath, s.jwks)
	s.mux.HandleFunc("GET "+metadataPath, s.metadata)
	if s.base.EscapedPath() != "" { // where RFC 8414 looks for an issuer with a path
		s.mux.HandleFunc("GET "+metadataPath+"/{path...}", func(w http.ResponseWriter, r *http.Request) {
			if !s.forPrograms(r.URL.Path) {
				s.opts.Refuse(w, r)
				return
			}
			s.metadata(w, r)
		})
	}
}
