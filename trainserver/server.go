// Package trainserver wires the parts of a server of the Train Travel API into one
// [http.Handler]: a [traintravel.Service], its keys, tickets, webhooks, the check of tokens with or
// without a built-in sign-in, and package httpserver with its limits. The command
// "traintravel serve" runs it.
//
// A program that needs other parts can wire its own from package httpserver, which links none of
// this.
package trainserver

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/agreed"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/signin"
	"github.com/traintravel/traintravel/internal/thishost"
)

// ErrOtherKeys is returned by New if the servers of the store had other keys: their tokens and
// idempotency keys would be refused, and the secrets of webhooks could not be read.
var ErrOtherKeys = agreed.ErrOtherKeys

// ErrNoSignIn is returned by Token of a server without the built-in sign-in.
var ErrNoSignIn = errors.New("the server has no built-in sign-in")

// A Server is an [http.Handler] of the API and, if it has one, the built-in sign-in. It is safe for
// concurrent use. New starts nothing: Run does the work in the background. The store stays the
// caller's, to be closed when Run has returned.
type Server struct {
	// Service is the service behind the API. It has no timetable until one is loaded:
	// [traintravel.Service.LoadTimetable].
	Service *traintravel.Service

	// API is the handler without the sign-in.
	API *httpserver.Server

	// Previous describes the server that was started on the store before this one.
	Previous Previous

	opts   Options
	signIn *signin.Issuer // nil if there is none
	beside http.Handler   // the same, as API bounds it
}

// A Previous describes the server that was started on a store before.
type Previous struct {
	// BaseURL is its base URL, empty if there was no server before. Links and tokens of one
	// base URL are invalid at another.
	BaseURL string

	// Replaced reports that the previous server had other keys, which were replaced: see
	// Options.NewKeys. All other servers of the store need the new keys.
	Replaced bool
}

// New returns a server on a store, makes the keys file if it does not exist, and records its keys
// in the store, so that servers with other keys are refused. It returns ErrOtherKeys if the store
// has other keys, and an [*traintravel.InvalidError] for an invalid option. If it fails, it removes
// a keys file that it has made.
func New(ctx context.Context, store traintravel.Store, opts Options) (_ *Server, err error) {
	s := &Server{opts: opts}
	if err := s.opts.check(); err != nil {
		return nil, err
	}
	ring, err := s.opts.ring()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && ring.Created() {
			err = errors.Join(err, s.opts.forget(ctx, store, ring))
		}
	}()
	settings, err := s.opts.service(store, ring)
	if err != nil {
		return nil, err
	}
	if s.Service, err = traintravel.New(store, settings); err != nil {
		return nil, err
	}
	if err := s.serve(ring); err != nil {
		return nil, err
	}
	before, replaced, err := agreed.Settle(ctx, store, agreed.Server{Ring: ring, Base: opts.BaseURL, Signs: s.signIn != nil, Replace: opts.NewKeys})
	if err != nil {
		return nil, err
	}
	if s.Previous.Replaced = replaced; before != nil {
		s.Previous.BaseURL = before.Base
	}
	if s.signIn != nil && opts.KeysFile != "" {
		if err := ring.RecordIssuer(opts.BaseURL); err != nil { // for programs that make tokens with the file alone
			return nil, err
		}
	}
	return s, nil
}

// serve makes the handlers.
func (s *Server) serve(ring *keys.Ring) error {
	h, err := s.opts.http(ring)
	if err != nil {
		return err
	}
	switch {
	case s.opts.Issuer != nil:
		err = s.opts.remote(&h)
	case s.opts.SignIn != nil:
		err = s.builtin(ring, &h)
	}
	if err != nil {
		return err
	}
	if s.opts.SiteURL != "" {
		h.Try = withLink(h.Try, httpserver.Link{Title: "Booking site", URL: s.opts.SiteURL, Note: "for travellers"})
	}
	if s.API, err = httpserver.New(s.Service, h); err != nil {
		return err
	}
	if s.signIn != nil {
		s.beside = s.API.Beside("/oauth/*", s.signIn)
	}
	return nil
}

// builtin makes the built-in authorization server, and the check of its tokens.
func (s *Server) builtin(ring *keys.Ring, h *httpserver.Options) error {
	in := s.opts.SignIn
	o := authserver.Options{
		Issuer: s.opts.BaseURL, Logger: h.Logger, Users: in.Users, OnlyUsers: in.OnlyUsers, Clients: in.Clients,
		// Its requests count against the quotas of the API, which is made later.
		Limit:   func(r *http.Request, client string) (string, int64) { return s.API.Limit(r, client) },
		Admit:   func(r *http.Request) func() { return s.API.Admit(r) },
		Address: func(r *http.Request) string { return s.API.Address(r) },
		Refuse:  func(w http.ResponseWriter, r *http.Request) { s.API.Refuse(w, r) },
	}
	var err error
	if o.CrossOrigin, err = httpserver.CrossOrigin(h.CORSOrigins); err != nil {
		return err
	}
	if in.Users == nil && in.Clients == nil && !in.OnlyUsers && thishost.URL(o.Issuer) {
		o.Clients = []authserver.Client{signin.SiteClient()}
	}
	for _, base := range append([]string{o.Issuer}, in.OtherBases...) {
		uri, err := httpserver.DocsRedirectURI(base)
		if err != nil {
			return invalid("Options.SignIn.OtherBases", err.Error())
		}
		o.DemoRedirectURIs = append(o.DemoRedirectURIs, uri)
	}
	as := "any name"
	if in.OnlyUsers {
		as = "a listed user"
	}
	s.opts.Logger.Warn("built-in sign-in asks for no password; for trying out only", "sign_in_as", as)
	server, err := signin.Server(ring, o)
	if err != nil {
		return err
	}
	if s.signIn, err = signin.NewIssuer(server, s.opts.KeysFile, s.opts.Logger); err != nil {
		return err
	}
	h.SignIn = true
	if h.Tokens == "" {
		h.Tokens = "An access token (RFC 9068) that you have already, such as `traintravel token` prints."
	}
	if h.Try == nil {
		h.Try = s.try
	}
	h.Auth, err = httpserver.NewVerifier(httpserver.VerifierOptions{
		Issuer: o.Issuer, Audience: o.Issuer, Keys: s.signIn, StoreAs: httpserver.BuiltinIssuer, Revoked: server.Revoked,
	})
	return err
}

// sampleUser is whose token the page for people has in its sample requests.
const sampleUser = "anna"

// try is what somebody on this machine needs for a first request. Others, who may not sign in
// or come from elsewhere, are shown no token.
func (s *Server) try(r *http.Request) httpserver.Try {
	if !thishost.Request(r) || !thishost.URL(s.opts.BaseURL) {
		return httpserver.Try{}
	}
	t := httpserver.Try{Command: s.opts.SignIn.TokenCommand, Links: s.opts.SignIn.Links}
	if s.opts.SignIn.OnlyUsers {
		return t
	}
	if token, err := s.Token(sampleUser, authserver.Scopes()...); err == nil {
		t.Token, t.User = token, sampleUser
	}
	return t
}

// withLink adds a link to what a function returns; nil returns nothing.
func withLink(try func(*http.Request) httpserver.Try, link httpserver.Link) func(*http.Request) httpserver.Try {
	return func(r *http.Request) (t httpserver.Try) {
		if try != nil {
			t = try(r)
		}
		t.Links = append([]httpserver.Link{link}, t.Links...)
		return t
	}
}

// Token returns an access token of the built-in sign-in, valid for an hour, as if a user had signed
// in and consented to the scopes: read, write or both. It returns ErrNoSignIn if the server has no
// built-in sign-in.
func (s *Server) Token(user string, scopes ...string) (string, error) {
	if s.signIn == nil {
		return "", ErrNoSignIn
	}
	return s.signIn.Token(user, scopes)
}

// ServeHTTP answers a request to the API or to the sign-in.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.beside != nil {
		below := s.API.Below(r)
		if p := below.URL.Path; strings.HasPrefix(p, "/oauth/") || strings.HasPrefix(p, "/.well-known/oauth-authorization-server") {
			s.beside.ServeHTTP(w, below)
			return
		}
	}
	s.API.ServeHTTP(w, r)
}

// Mount registers the server with a mux at all paths that clients ask for: that of
// Options.BaseURL with those below it, and, if it is not the root, those at which clients look for
// the metadata of the server (RFC 9728) and of its built-in sign-in (RFC 8414):
//
//	/trains
//	/trains/
//	/.well-known/oauth-protected-resource/trains
//	/.well-known/oauth-authorization-server/trains
//
// It panics, as [http.ServeMux.Handle] does, if the mux has a handler for one of them already.
func (s *Server) Mount(mux *http.ServeMux) {
	path := ""
	if u, err := url.Parse(s.opts.BaseURL); err == nil { // New has checked it
		path = u.EscapedPath()
	}
	if path == "" {
		mux.Handle("/", s)
		return
	}
	var below http.Handler = s
	if plain, err := url.PathUnescape(path); err == nil {
		probe := &http.Request{URL: &url.URL{Path: plain + "/"}}
		if s.API.Below(probe) == probe { // it begins like a path of the API
			below = http.StripPrefix(plain, s)
		}
	}
	mux.Handle(path, below)
	mux.Handle(path+"/", below)
	mux.Handle("/.well-known/oauth-protected-resource"+path, s)
	if s.signIn != nil {
		mux.Handle("/.well-known/oauth-authorization-server"+path, s)
	}
}

// Run does the work in the background until ctx ends: it ends holds, makes refunds, and delivers
// events (see [traintravel.Service.Run]). If no timetable is loaded, or the keys of the Issuer cannot be
// fetched, it logs a warning first.
func (s *Server) Run(ctx context.Context) error {
	_, err := s.Service.Stations(ctx, traintravel.StationQuery{Page: traintravel.Page{Limit: 1}})
	if errors.Is(err, traintravel.ErrNoTimetable) {
		s.opts.Logger.Warn("no timetable is loaded: stations and trips are answered with 503 until one is", "do", "call Service.LoadTimetable")
	}
	if s.opts.Issuer != nil { // a failure is logged now, not with the first request
		go func() { _ = s.API.Ready(ctx) }()
	}
	return s.Service.Run(ctx)
}

// Leave marks the server as shutting down: see [httpserver.Server.Leave].
func (s *Server) Leave() { s.API.Leave() }
