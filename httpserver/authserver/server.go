package authserver

import (
	"crypto"
	"log/slog"
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
	// pages that people see. Nil allows no other origin.
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

// originOf writes the origin of a URL: without a port that goes without saying.
func originOf(u *url.URL) string {
	host, port := strings.ToLower(u.Host), map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(host, port)
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

// maxForm bounds a body, and maxQuery the query of an authorization request, in
// bytes.
const (
	maxForm  = 32 << 10
	maxQuery = 8 << 10
)
