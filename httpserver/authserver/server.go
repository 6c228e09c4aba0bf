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

// Options configures a [Server]. Issuer and Keys are required.
type Options struct {
	// Issuer is the issuer URL of the server: http or https, without a query, a fragment, or
	// a slash at its end. A proxy must strip its path from requests.
	Issuer string

	// Audience is the audience of access tokens. Empty means Issuer.
	Audience string

	// Keys sign access tokens: P-256, Ed25519, or RSA of at least 2048 bits. The first one
	// signs; the others are published too, so that tokens that they signed stay valid.
	// [Server.SetKeys] changes them later.
	Keys []crypto.Signer

	// Users are the users that the sign-in page offers. With OnlyUsers nobody else may sign
	// in.
	Users     []User
	OnlyUsers bool

	// Clients are the clients besides the [DemoClient].
	Clients []Client

	// DemoRedirectURIs are redirect URIs of the [DemoClient] besides loopback addresses,
	// compared byte for byte including the port. They have the form of those of a [Client],
	// or http if the issuer has.
	DemoRedirectURIs []string

	// TokenLife is how long access tokens are valid. Zero means one hour, the maximum.
	TokenLife time.Duration

	// Limit counts a request against a quota: that of its address and, once a client has
	// authenticated, that of the client. It returns the RateLimit header of the response,
	// which may be empty, and, if the quota is used up, the number of seconds that the client
	// must wait: then the status is 429. Nil means no limit.
	Limit func(r *http.Request, client string) (header string, wait int64)

	// Admit is called before a request is processed, and returns a function to call when it
	// ends, or nil to refuse it with 503. It is not called for preflight requests of browsers,
	// which cost no work. Nil admits all.
	Admit func(r *http.Request) (done func())

	// Address returns the address of a request: requests with the same address share its part
	// of the limited memory for sessions. Nil means the host of RemoteAddr, which behind a
	// proxy is the proxy.
	Address func(r *http.Request) string

	// CrossOrigin wraps the handlers of the endpoints for programs (tokens, revocation, keys,
	// metadata), so that pages of other origins may call them from browsers. It never wraps
	// the HTML pages. Nil allows no other origin.
	CrossOrigin func(http.Handler) http.Handler

	// Refuse responds to requests that match no route: with 405 if Allow is set in the
	// response header, which it must then keep, and otherwise with 404. Nil responds with a
	// problem document (RFC 9457) without details.
	Refuse http.HandlerFunc

	// Logger receives sign-ins, at debug level, and codes and refresh tokens that are used
	// twice. Nil logs nothing.
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
