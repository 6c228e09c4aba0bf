// Package httpserver serves a [traintravel.Service] over HTTP as the Train Travel API. Its
// plain [http.Handler] works in any server.
//
// A handler decodes, makes one call of the service, and encodes: the rules are
// the service's. Every error is a problem document (RFC 9457), and every response
// has the RateLimit header.
package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/ticket"
)

// Options configures a server. Auth is required.
type Options struct {
	// BaseURL begins all links: absolute, without a slash at its end, such as
	// https://trains.example/api. A path in it is the one below which the server is
	// mounted; a proxy may strip it before requests come here, or the host, and need not
	// (see Server.Below). TrustedProxies may replace parts of it.
	BaseURL string

	// Auth returns the identity that a bearer token represents.
	Auth Authenticator

	// RateLimit is the number of requests that each client and user (or, without a token,
	// each address) may make in a minute. Zero is 600, a negative number means no limit.
	RateLimit int

	// MaxRequests limits the requests of each kind of work (see Work.Kind) that are in progress
	// or wait at a time, and the unanswered requests of one address. A caller may have a quarter
	// of each kind. Further requests are refused immediately, with Retry-After: with 429 if the
	// caller has too many, otherwise with 503. Zero is 1024; a negative number means no limit.
	MaxRequests int

	// TrustedProxies are the networks whose X-Forwarded-Proto, -Host, -Prefix
	// and -For headers are used: the first three replace the scheme, the host and
	// the path of BaseURL. To keep BaseURL whatever a proxy sends, remove these three
	// headers before requests reach the server. None by default.
	TrustedProxies []netip.Prefix

	// CORSOrigins are the origins whose pages may call the API from browsers, as browsers
	// send them: http or https, a host in lower case, and a port unless it is the default,
	// such as https://shop.example; * allows all. None by default. An asterisk may replace
	// the beginning of a host, as in https://*.shop.example.
	CORSOrigins []string

	// Tickets makes the tickets of confirmed bookings. With nil, the server has no tickets:
	// their URLs return 404, and no link leads there.
	Tickets *ticket.Issuer
	// TicketKeys verify tickets, and are published. With none, every ticket is
	// invalid.
	TicketKeys ticket.Keys

	// Issuer is the URL of the authorization server whose tokens Auth accepts, for the
	// metadata that clients read (RFC 9728). If it is empty, the metadata names none. With
	// SignIn it is BaseURL.
	Issuer string

	// SignIn says that an authorization server of package authserver, whose issuer
	// is BaseURL, runs next to this server, so that the API description offers it.
	SignIn bool

	// Tokens says in the API description where tokens come from, in a sentence or two
	// (CommonMark). If it is empty, the description says only that they are required.
	Tokens string

	// Try returns what the page at the base URL puts into its sample requests. It must return
	// a token only for requests whose sender may have it: not for strangers, unless anybody
	// may have one. Nil shows no token.
	Try func(*http.Request) Try

	// Now is the service's clock. The examples in the API description use it to name days on
	// which trips can be booked. Nil is time.Now.
	Now func() time.Time

	// Logger receives failures, refused tokens with the reason, and, at debug level, other
	// refusals. Nil logs nothing.
	Logger *slog.Logger

	// AccessLog receives a message at info level for each request. Nil logs nothing.
	AccessLog *slog.Logger

	// Answered is called after each response, on the goroutine that served the request and
	// with its context. Nil is not called.
	Answered func(context.Context, Answer)
}

// An Identity is the user and client that a verified token represents, and its scopes.
type Identity struct {
	Caller  traintravel.Caller
	Read    bool // scope read
	Write   bool // scope write
	Expires time.Time
}

// An Authenticator verifies bearer tokens. It must be safe for concurrent use and
// manages its own cache, if any.
type Authenticator interface {
	// Authenticate returns the identity of a token, an error wrapping
	// [ErrInvalidToken] if the token is not valid, or one wrapping
	// [ErrUnavailable] if it cannot be verified now. The error is for the log and
	// is not shown to the client.
	Authenticate(ctx context.Context, token string) (Identity, error)
}

// A Readier is an [Authenticator] that can say whether it would be able to verify
// tokens. The readiness check asks it.
type Readier interface {
	// Ready returns nil, or why no token can be verified now.
	Ready(ctx context.Context) error
}

// The errors that an Authenticator returns instead of an Identity.
var (
	ErrInvalidToken = errors.New("the token is not valid")
	ErrUnavailable  = errors.New("tokens cannot be verified now")
)

func badOption(field, reason string) error {
	return &traintravel.InvalidError{Field: field, Reason: reason}
}
