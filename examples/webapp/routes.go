package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

func newSite(o options) (*site, error) {
	o.API, o.URL = strings.TrimSuffix(o.API, "/"), strings.TrimSuffix(o.URL, "/")
	if _, err := webAddress(o.API); err != nil {
		return nil, fmt.Errorf("the API: %w", err)
	}
	here, err := webAddress(o.URL)
	if err != nil || !isRoot(here.EscapedPath()) {
		return nil, fmt.Errorf("invalid base URL %q: want http or https and a host, such as https://shop.example, or with a path of letters and digits that does not begin like a page of this site, such as https://trains.example/shop", o.URL)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	// Browsers do not tell the ports of a host apart, so cookies are named after both, and after
	// the path, as there may be several sites at one host.
	sum := sha256.Sum256([]byte(here.Host + here.Path))
	s := &site{
		options: o, log: o.Log, now: o.Now, host: here.Host, root: here.Path,
		secure: here.Scheme == "https", cookie: "webapp-" + hex.EncodeToString(sum[:4]) + "-",
		client: &http.Client{
			Timeout: 30 * time.Second, Transport: newTransport(),
			// No redirect is followed: tokens are for the API alone.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		days: newShelf[cheapest](dayLife), sessions: newShelf[*session](sessionLife), orders: newShelf[[]string](sessionLife), paid: newShelf[link](paidLife),
		ended: newShelf[struct{}](signInLife),
	}
	if s.secure {
		s.cookie = "__Host-" + s.cookie
	}
	s.provider = &provider{api: o.API, client: s.client}
	s.stations = newAtlas(s.now)
	if s.visitors, err = newVisitors(cmp.Or(o.VisitorRate, visitorRate), o.Proxies, s.now); err != nil {
		return nil, err
	}
	own := *s.client
	own.Transport = &visitorTransport{s.visitors, &ownTransport{&ownTokens{options: o, provider: s.provider, client: s.client}, s.client.Transport}}
	s.anybody = reader{&api{o.API, &own}, s.stations}
	if s.signIns, err = newSealer(); err != nil {
		return nil, err
	}
	if s.pages, err = parsePages(s.root); err != nil {
		return nil, err
	}
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(s.plain(func(http.ResponseWriter, *http.Request) error { return errForged }))
	s.handler = crossOrigin.Handler(s.routes())
	return s, nil
}

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.MaxConnsPerHost = 32, 64
	return t
}

func webAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.ContainsAny(address, "?#") {
		return nil, fmt.Errorf("%q is not an http or https URL", address)
	}
	return u, nil
}

func (s *site) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.plain(s.home))
	mux.HandleFunc("GET /sign-in", s.plain(s.signInPage))
	mux.HandleFunc("GET /callback", s.plain(s.callback))
	mux.HandleFunc("POST /sign-out", s.signedIn(s.signOut))
	mux.HandleFunc("GET /stations", s.suggest)
	mux.HandleFunc("GET /trips", s.open(s.tripsPage))
	mux.HandleFunc("GET /trips/{id}", s.open(s.tripPage))
	mux.HandleFunc("GET /trips/{id}/book", s.signedIn(s.tripPage))
	mux.HandleFunc("GET /bookings", s.signedIn(s.bookingsPage))
	mux.HandleFunc("POST /bookings", s.signedIn(s.book))
	mux.HandleFunc("GET /bookings/{id}", s.signedIn(s.bookingPage))
	mux.HandleFunc("GET /pay", s.signedIn(s.payPage))
	mux.HandleFunc("POST /pay", s.signedIn(s.pay))
	mux.HandleFunc("GET /receipt", s.signedIn(s.receiptPage))
	mux.HandleFunc("GET /bookings/{id}/cancel", s.signedIn(s.cancelPage))
	mux.HandleFunc("POST /bookings/{id}/cancel", s.signedIn(s.cancel))
	mux.HandleFunc("GET /bookings/{id}/{file}", s.signedIn(s.ticketFile))
	mux.Handle("GET /static/", assets)
	mux.HandleFunc("/", s.plain(func(http.ResponseWriter, *http.Request) error { return errNoPage }))
	return mux
}

// plain is a page for anybody.
func (s *site) plain(do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := do(w, r); err != nil {
			s.fail(w, r, s.sessionOf(r), err)
		}
	}
}

// signedIn is a page for users who are signed in. Others are sent to the sign-in; what they
// post is dropped, since it may be another user's.
func (s *site) signedIn(do func(http.ResponseWriter, *http.Request, *session) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user := s.sessionOf(r)
		var err error
		switch {
		case user == nil && r.Method != http.MethodPost:
			err = s.beginSignIn(w, r, pathOf(r))
		case user == nil:
			err = errSignedOut
		case r.Method == http.MethodPost && tooLarge(r):
			err = errTooLarge
		case r.Method == http.MethodPost && !user.sent(r):
			err = errForged
		default:
			err = do(w, r, user)
		}
		if err != nil {
			s.fail(w, r, user, err)
		}
	}
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", s.policy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin") // no page elsewhere looks in
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store") // pages say who travels where
	r = below(s.root, r)
	if r.Host != s.host { // cookies, and the address to come back to, are for one name
		http.Redirect(w, r, s.options.URL+pathOf(r), http.StatusTemporaryRedirect)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s.handler.ServeHTTP(w, s.withVisitor(r))
}

// tooLarge reads a form, and says whether it is larger than maxForm.
func tooLarge(r *http.Request) bool {
	_, large := errors.AsType[*http.MaxBytesError](r.ParseForm())
	return large
}

// sent says whether a form is one that this session was given.
func (s *session) sent(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.PostFormValue("csrf")), []byte(s.csrf)) == 1
}

// open is a page for anybody. It may show more to users who are signed in: user is nil for
// others.
func (s *site) open(do func(w http.ResponseWriter, r *http.Request, user *session) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user := s.sessionOf(r)
		if err := do(w, r, user); err != nil {
			s.fail(w, r, user, err)
		}
	}
}

// withVisitor notes in a request's context who sent it.
func (s *site) withVisitor(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitorKey{}, s.visitors.of(r)))
}
