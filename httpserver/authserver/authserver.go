// Package authserver is an OAuth 2.0 authorization server for trying out a
// server of the Train Travel API: whoever can reach it signs in under any name,
// without a password. Apart from that it follows the rules: authorization code
// with PKCE (RFC 7636, S256 alone), exact redirect URIs with free loopback ports
// (RFC 8252), the issuer in every answer (RFC 9207), access tokens by RFC 9068,
// refresh tokens with rotation, revocation (RFC 7009), client credentials, and
// metadata (RFC 8414), under the advice of RFC 9700.
//
// It answers these paths:
//
//	/oauth/authorize and the pages below /oauth/
//	/oauth/token  /oauth/revoke  /oauth/jwks
//	/.well-known/oauth-authorization-server
//
// Sign-ins, codes and refresh tokens live in memory: a restart ends them, and
// several servers do not share them. Access tokens are good until they expire,
// in an hour at most. Revoking any token of a consent ends all that followed from
// it: refresh tokens, and access tokens for whoever asks [Server.Revoked].
package authserver

import (
	"crypto"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Options are the settings of a [Server]. Issuer and Keys are required.
type Options struct {
	// Issuer is the URL that the server goes by: http or https, without query,
	// fragment, or a slash at its end. A path in it is one that a proxy strips
	// before requests come here.
	Issuer string

	// Audience is who access tokens are for. Empty is Issuer.
	Audience string

	// Keys sign access tokens: P-256, Ed25519, or RSA of 2048 bits or more. The
	// first signs; the others are published too, so that tokens which they
	// signed before stay good. [Server.SetKeys] changes them later.
	Keys []crypto.Signer

	// Users are offered on the sign-in page, so that nobody has to think of a name.
	// With OnlyUsers nobody else may sign in.
	Users     []User
	OnlyUsers bool

	// Clients are the programs that may ask for tokens, beside the [DemoClient].
	Clients []Client

	// DemoRedirectURIs are where the [DemoClient] sends people back to besides
	// loopback addresses, compared byte for byte, the port too. They are as those of
	// a [Client], or http if the issuer is.
	DemoRedirectURIs []string

	// TokenLife is how long access tokens are good. Zero is one hour, and no
	// more is allowed.
	TokenLife time.Duration

	// Limit counts a request against a quota: that of the address it is from,
	// and, with a client that has proved who it is, that of the client. It
	// returns the RateLimit header of the answer, empty for none, and, if the
	// quota is used up, how many seconds the client is to wait: then the answer
	// is 429. Nil is no limit.
	Limit func(r *http.Request, client string) (header string, wait int64)

	// Admit is asked whether a request may be worked on, and returns what is called at
	// its end; nil is no, and then the answer is 503. Requests that take no work, those
	// of browsers before they call, are not asked about. Nil is yes to all.
	Admit func(r *http.Request) (done func())

	// Address names where a request is from: two requests of one name share what is kept
	// for it when there is no room for all. Nil is the host of RemoteAddr, which behind
	// a proxy is the proxy.
	Address func(r *http.Request) string

	// CrossOrigin wraps what answers programs (tokens, revocation, keys, metadata),
	// so that pages of other origins may call it from browsers. It never wraps the
	// pages that people see. Nil is no other origin.
	CrossOrigin func(http.Handler) http.Handler

	// Refuse answers what fits nothing here: with 405 if Allow is set in the header
	// of the answer, which it then has to keep, and else with 404. Nil is a problem
	// document (RFC 9457) that says no more than that.
	Refuse http.HandlerFunc

	// Logger is told of sign-ins, at debug level, and of codes and refresh
	// tokens that come twice. Nil is silent.
	Logger *slog.Logger

	// Now is real time. Nil is time.Now.
	Now func() time.Time
}

// How long things last.
const (
	codeLife    = 50 * time.Second    // until it is exchanged
	codeMemory  = 10 * time.Minute    // in which a second use is noticed
	sessionLife = 12 * time.Hour      // of a sign-in
	refreshLife = 30 * 24 * time.Hour // of all refresh tokens of one consent
	tokenLife   = time.Hour           // of an access token, at most
)

// mostKept is how many codes, sign-ins, refresh tokens and revocations are kept, of each.
// When there are more, whoever has most loses the oldest: see origin.
const mostKept = 10_000

// A Server is an authorization server. It is an [http.Handler], safe for
// concurrent use, and starts nothing.
type Server struct {
	opts    Options
	base    *url.URL
	clients map[string]*client
	users   users
	signer  atomic.Pointer[signer]
	pages   *pages
	mux     *http.ServeMux
	shared  http.Handler // answers programs
	origin  string       // of our pages, as browsers write it
	origins *http.CrossOriginProtection

	sessions *sessions
	grants   *grants
}

// New returns a Server, or says what is wrong with its options.
func New(o Options) (*Server, error) {
	base, err := url.Parse(o.Issuer)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" ||
		base.User != nil || strings.ContainsAny(o.Issuer, "?#") || strings.HasSuffix(o.Issuer, "/") {
		return nil, errors.New("the issuer is not an http or https URL without user, query, fragment and slash at its end")
	}
	if o.TokenLife < 0 || o.TokenLife > tokenLife {
		return nil, fmt.Errorf("access tokens may live for %v at most", tokenLife)
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
			return nil, fmt.Errorf("there are two clients %q", c.ID)
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

// originOf writes the origin of a URL: without a port that goes without saying.
func originOf(u *url.URL) string {
	host, port := strings.ToLower(u.Host), map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(host, port)
}

// ServeHTTP answers the paths that the package comment lists.
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

// limited counts a request against a quota, and says whether it is used up.
func (s *Server) limited(w http.ResponseWriter, r *http.Request, client string) bool {
	header, wait := s.opts.Limit(r, client)
	if header != "" {
		w.Header().Set("RateLimit", header)
	}
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(wait, 10))
	}
	return wait > 0
}

// tooMany answers a request of an address that has no quota left: a page for
// people, an error for programs.
func (s *Server) tooMany(w http.ResponseWriter, r *http.Request) {
	if s.forPrograms(r.URL.Path) {
		s.fail(w, errTooMany())
		return
	}
	s.pages.fault(w, http.StatusTooManyRequests, "There were too many requests from where you are. Please try again in a moment.")
}

// overloaded answers a request when there are too many at a time.
func (s *Server) overloaded(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "1")
	if s.forPrograms(r.URL.Path) {
		s.fail(w, &oauthError{"temporarily_unavailable", "too many requests are being worked on; Retry-After says when to try again", http.StatusServiceUnavailable})
		return
	}
	s.pages.fault(w, http.StatusServiceUnavailable, "Too many people are here at this moment. Please try again in a second.")
}

func errTooMany() error {
	return &oauthError{"temporarily_unavailable", "there were too many requests; Retry-After says when to try again", http.StatusTooManyRequests}
}

// maxForm bounds a body, and maxQuery the query of an authorization request, in
// bytes.
const (
	maxForm  = 32 << 10
	maxQuery = 8 << 10
)

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

// What programs ask.
const (
	tokenPath    = "/oauth/token"
	revokePath   = "/oauth/revoke"
	keysPath     = "/oauth/jwks"
	metadataPath = "/.well-known/oauth-authorization-server"
)

// forPrograms says whether a path is of what programs ask. Everything else is for
// people.
func (s *Server) forPrograms(path string) bool {
	switch path {
	case tokenPath, revokePath, keysPath, metadataPath, metadataPath + s.base.Path:
		return true
	}
	return false
}

// secret makes a name that nobody guesses: 256 bits in base64url.
func secret() string { return encode64(random(32)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	return b
}

var errNoKeys = errors.New("an authorization server needs a key to sign with")
