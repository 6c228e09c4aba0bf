// Package httpserver puts a [traintravel.Service] behind the paths of the Train
// Travel API, as a plain [http.Handler] that works under anybody's server.
//
// A handler decodes, makes one call of the service, and encodes: the rules are
// the service's. Every answer that is not success is a problem document (RFC
// 9457), and every answer carries the RateLimit header.
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

// Options are the settings of a server. Auth is required.
type Options struct {
	// BaseURL begins all links: absolute, without a slash at its end, such as
	// https://trains.example/api. A path in it is the one below which the server is
	// mounted; a proxy may strip it before requests come here, or the host, and need not
	// (see Server.Below). TrustedProxies may replace parts of it.
	BaseURL string

	// Auth tells who a bearer token stands for.
	Auth Authenticator

	// RateLimit is how many requests a minute each client and user (or, without
	// a token, each address) may make. Zero is 600, negative is no limit.
	RateLimit int

	// MaxRequests is how many requests of each kind of work (see Work.Kind) are worked
	// on or wait for it at a time, and how many there may be of one address that are not
	// answered yet. Of each kind, a caller may have a quarter. Beyond it requests are
	// refused at once, with Retry-After: with 429 if their caller has too many, or else
	// with 503. Zero is 1024, negative is no limit.
	MaxRequests int

	// TrustedProxies are the networks whose X-Forwarded-Proto, -Host, -Prefix
	// and -For headers count: the first three replace the scheme, the host and
	// the path of BaseURL. Where that is to stand whatever a proxy says, take
	// those three from requests before they come here. None by default.
	TrustedProxies []netip.Prefix

	// CORSOrigins are the origins whose pages may call the API in browsers, as
	// these send them: http or https, a host in lower case, and a port unless it is
	// the usual one, such as https://shop.example; * is all. None by default. An
	// asterisk may stand for what a host begins with, as in https://*.shop.example.
	CORSOrigins []string

	// Tickets makes the tickets of confirmed bookings. Nil is a server that has
	// none: their addresses are not found, and no link leads there.
	Tickets *ticket.Issuer
	// TicketKeys verify tickets, and are published. With none, every ticket is
	// invalid.
	TicketKeys ticket.Keys

	// Issuer is the URL of the authorization server whose tokens Auth takes, which
	// clients are told of (RFC 9728). Empty tells them of none. With SignIn it is
	// BaseURL.
	Issuer string

	// SignIn says that an authorization server of package authserver, whose issuer
	// is BaseURL, answers beside this server, so that the description offers it.
	SignIn bool

	// Tokens says in the description where tokens come from, in a sentence or two
	// (CommonMark). Empty says no more than that they are needed.
	Tokens string

	// Try is asked what the page for people at the base URL puts into its sample requests.
	// It must show a token only to those who may have it: not to strangers, unless anybody
	// may have one. Nil shows none.
	Try func(*http.Request) Try

	// Now is the service's clock, by which the examples in the description have
	// days on which trips can be booked. Nil is time.Now.
	Now func() time.Time

	// Logger is told of failures, of tokens that are refused and why, and, at debug
	// level, of other refusals. Nil is silent.
	Logger *slog.Logger

	// AccessLog is told, at info level, of each request. Nil is silent.
	AccessLog *slog.Logger

	// Answered is told of each request when it has been answered, on the goroutine that
	// did, and with the context in which that was done. Nil is nobody.
	Answered func(context.Context, Answer)
}

// An Identity is who a verified token stands for, and what it allows.
type Identity struct {
	Caller  traintravel.Caller
	Read    bool // scope read
	Write   bool // scope write
	Expires time.Time
}

// An Authenticator verifies bearer tokens. It is safe for concurrent use and
// keeps what makes it quick, such as a cache, to itself.
type Authenticator interface {
	// Authenticate returns who a token stands for, an error wrapping
	// [ErrInvalidToken] if it is not to be trusted, or one wrapping
	// [ErrUnavailable] if that cannot be told now. The error is for the log:
	// the client learns none of it.
	Authenticate(ctx context.Context, token string) (Identity, error)
}

// A Readier is an [Authenticator] that can say whether it would be able to verify
// tokens. The readiness check asks it.
type Readier interface {
	// Ready returns nil, or why no token can be verified now.
	Ready(ctx context.Context) error
}

// What an Authenticator answers instead of an Identity.
var (
	ErrInvalidToken = errors.New("the token is not valid")
	ErrUnavailable  = errors.New("tokens cannot be verified at the moment")
)

func badOption(field, reason string) error {
	return &traintravel.InvalidError{Field: field, Reason: reason}
}
