package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/cities"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/ticket"
)

func (p *program) serve() *cobra.Command {
	var set settings
	c := &cobra.Command{
		Use:   "serve",
		Short: "Sell trains over HTTP",
		Long: `Sell trains over HTTP.

Without flags it sells the demo network from a data file in the working folder, with
sign-in by a built-in authorization server and a sandbox that moves no money. 'import'
loads another timetable, and --demo=false starts without the demo network. With
--gateway, payments move real money through a program that answers as
gateway/openapi.yaml describes.

Servers that share a database (--postgres) need the same --base-url and copies of the
same --keys file. Otherwise one would refuse the tokens of another, and a retry of a
request under its idempotency key. A server whose keys differ from those used before
does not start, unless --new-keys is given.

A user can hold places without paying for them, up to a whole train, for as long as
--hold allows, and again after that. --rate-limit only slows this down: where anybody
may sign in, keep --hold short.`,
		Args:    takes(),
		PreRunE: func(c *cobra.Command, _ []string) error { return set.check(c.Flags()) },
		RunE: func(c *cobra.Command, _ []string) error {
			p.log = p.logTo.logger(set.watch.form)
			for _, v := range p.unknownVariables(c.Root()) {
				p.log.Warn("unknown TRAINTRAVEL_ environment variable", v.attrs()...)
			}
			return p.serveUntil(c.Context(), set)
		},
	}
	set.flags(c.Flags())
	return c
}

// serveUntil serves until ctx ends, then finishes the requests in progress.
func (p *program) serveUntil(ctx context.Context, set settings) (err error) {
	money, err := p.gateway(ctx, set.gateway)
	if err != nil {
		return err
	}
	if !set.shared() {
		if err := dataFolder(set.data); err != nil { // before a keys file is made there
			return err
		}
	}
	certificate, err := p.certificate(set)
	if err != nil {
		return err
	}
	listener, given, err := listenOrTake(set.addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	who, err := p.signInAccounts(set, listener.Addr())
	if err != nil { // before a file is made
		return err
	}
	if given { // perhaps by a server that is about to end
		set.lockWait = p.waits.file
	}
	seen, err := p.observe(ctx, &set.watch)
	if err != nil {
		return err
	}
	defer seen.close()
	here := "http://" + publicAddr(listener.Addr())
	if certificate != nil {
		here = "https://" + publicAddr(listener.Addr())
	}
	base := cmp.Or(set.baseURL, here)
	made := startFiles{set: set, log: p.log, absent: !set.shared() && !exists(set.data)}
	serving := false
	defer func() {
		if !serving {
			made.remove(ctx)
		}
		if made.store != nil {
			err = errors.Join(err, made.store.Close())
		}
	}()
	if made.absent {
		if err := p.asker(set.data).refuseLost(ctx); err != nil {
			return err
		}
		if err := p.firstKeys(set, &made); err != nil {
			return err
		}
	}
	store, err := set.open(ctx, p.log, seen.committed())
	if err != nil {
		return err
	}
	made.opened(ctx, store)
	ring, id, err := set.serverKeys(ctx, store)
	if err != nil {
		return err
	}
	if ring.Created() {
		made.keys = set.keysFile(set.keys)
	}
	if set.shared() && set.baseURL == "" {
		p.log.Warn("--base-url is not set: servers that share a database need the same --base-url and --keys", "base", base)
	}

	var api *httpserver.Server // what the sign-in's requests count against, and who refuses them
	auth, signIn, err := p.authentication(set, who, listener.Addr(), base, ring, seen, authserver.Options{
		Limit:   func(r *http.Request, client string) (string, int64) { return api.Limit(r, client) },
		Admit:   func(r *http.Request) func() { return api.Admit(r) },
		Address: func(r *http.Request) string { return api.Address(r) },
		Refuse:  func(w http.ResponseWriter, r *http.Request) { api.Refuse(w, r) },
	})
	if err != nil {
		return err
	}
	clock, err := serviceClock(ctx, set, store)
	if err != nil {
		return err
	}
	service, err := p.service(set, store, base, ring, clock, money, seen)
	if err != nil {
		return flagError(set.explain(err))
	}
	tickets, err := ticket.NewIssuer(ring.Tickets()[0])
	if err != nil {
		return err
	}
	ticketSet, err := publicTickets(ring.Tickets())
	if err != nil {
		return err
	}
	proxies, _ := set.networks() // checked before
	api, err = httpserver.New(service, httpserver.Options{
		BaseURL: base, Auth: auth, RateLimit: limit(set.rateLimit), MaxRequests: limit(set.maxRequests), TrustedProxies: proxies, CORSOrigins: set.origins, Logger: p.log,
		SignIn: signIn != nil, Issuer: set.issuer, Tokens: set.tokens(), Now: clock, Tickets: tickets, TicketKeys: ticketSet,
		Answered: seen.answered(), AccessLog: seen.access,
	})
	if err != nil {
		return flagError(err)
	}
	handler := mount(api, signIn)
	if set.baseURL != "" {
		handler = withoutForwardedBase(handler)
	}
	door := newCrowd(listener, proxies, limit(set.maxRequests))
	public := p.httpServer(door.counting(seen.handler(handler)))
	public.TLSConfig, public.ConnContext = certificate, door.know
	servers := append([]server{{door, public}}, seen.servers(p, service, api)...) // the API is first
	look := &watch{keys: set.keysFile(set.keys), data: set.data, log: p.log, told: seen.committed()}
	if file, ok := store.(*boltstore.Store); ok { // commands open a database themselves
		if look.control, err = listenControl(set.data, p.log); err != nil {
			return err
		}
		defer look.control.Close()
		look.store = file
		servers = append(servers, server{look.control, p.httpServer(dutiesOf(set, service, file).handler())})
	}
	if id, err = p.agree(ctx, set, store, ring, base, id); err != nil {
		return set.explain(err)
	}
	if err := p.claim(set, ring, id); err != nil {
		return err
	}
	if signIn != nil {
		if err := ring.RecordIssuer(base); err != nil {
			return err
		}
	}
	if err := p.firstTimetable(ctx, set, service); err != nil {
		return set.explain(err)
	}
	serving = true
	background, stop := context.WithCancel(ctx)
	defer stop()
	go look.until(background)
	fmt.Fprintf(p.stdout, "traintravel listens on %s\n", here)
	if base != here {
		fmt.Fprintf(p.stdout, "Links begin with %s\n", base)
	}
	if signIn != nil {
		fmt.Fprintf(p.stdout, "Try:\n  TOKEN=$(%s token --user anna --scope \"read write\"%s)\n  curl -H \"Authorization: Bearer $TOKEN\" %s/stations\n",
			ourName(), tokenFlags(set), here)
	}
	return p.runServers(ctx, service, api, servers...)
}

// authentication makes what checks tokens, and the built-in authorization
// server unless there is another.
func (p *program) authentication(set settings, accounts accounts, addr net.Addr, base string, ring *keys.Ring, seen *observation, o authserver.Options) (httpserver.Authenticator, http.Handler, error) {
	audience := set.audience
	if audience == "" {
		audience = base
	}
	if set.issuer != "" {
		remote, err := httpserver.RemoteKeys(httpserver.RemoteOptions{Issuer: set.issuer, Logger: p.log, Fetched: seen.fetched()})
		if err != nil {
			return nil, nil, usagef("invalid --issuer %.200q: %w", withoutSecrets(set.issuer), err)
		}
		claims, err := set.claims()
		if err != nil {
			return nil, nil, err
		}
		v, err := httpserver.NewVerifier(httpserver.VerifierOptions{Issuer: set.issuer, Audience: audience, Keys: remote, TokenType: set.kind, ClientClaims: claims})
		return v, nil, err
	}
	shared, err := httpserver.CrossOrigin(set.origins)
	if err != nil {
		return nil, nil, flagError(err)
	}
	pages, err := docsRedirects(base, addr)
	if err != nil {
		return nil, nil, usagef("invalid --base-url: %w", err)
	}
	o.Issuer, o.DemoRedirectURIs, o.CrossOrigin, o.Logger = base, pages, shared, p.log
	o.Users, o.OnlyUsers, o.Clients = accounts.users, !accounts.anyone, accounts.clients
	server, err := builtin(ring, o)
	if err != nil {
		return nil, nil, err
	}
	as := "any name"
	if !accounts.anyone {
		as = "a listed user"
	}
	p.log.Warn("built-in sign-in asks for no password; for trying out only", "sign_in_as", as)
	signIn, err := newIssuer(server, set.keysFile(set.keys), p.log)
	if err != nil {
		return nil, nil, err
	}
	v, err := httpserver.NewVerifier(httpserver.VerifierOptions{
		Issuer: base, Audience: base, Keys: signIn, StoreAs: httpserver.BuiltinIssuer, Revoked: server.Revoked,
	})
	return v, signIn, err
}

// docsRedirects are the redirect URIs of /docs, by the name of the server and by that of this
// machine. Every client may use those of this machine.
func docsRedirects(base string, addr net.Addr) ([]string, error) {
	names := []string{base}
	if tcp, ok := addr.(*net.TCPAddr); ok && (tcp.IP.IsLoopback() || tcp.IP.IsUnspecified()) {
		names = append(names, fmt.Sprintf("http://localhost:%d", tcp.Port))
	}
	var uris []string
	for _, name := range names {
		uri, err := httpserver.DocsRedirectURI(name)
		if err != nil {
			return nil, err
		}
		uris = append(uris, uri)
	}
	return uris, nil
}

// builtin is the built-in authorization server, with the keys and the clients of
// the ring.
func builtin(ring *keys.Ring, o authserver.Options) (*authserver.Server, error) {
	o.Keys = ring.Live(time.Now())
	if secret := ring.ProgramSecret(); secret != "" {
		o.Clients = append(o.Clients, authserver.Client{ID: programClient, Name: "A program", Secret: secret, Grants: []string{"client_credentials"}})
	}
	return authserver.New(o)
}

// service makes the service.
func (p *program) service(set settings, store traintravel.Store, base string, ring *keys.Ring, clock func() time.Time, money *gateway.Client, seen *observation) (*traintravel.Service, error) {
	opts := traintravel.Options{
		Observer: seen.observer(), Gateway: sandbox.Open(store), Logger: p.log, Now: clock, HoldFor: set.hold, Retain: set.retain, KeepUnpaid: cmp.Or(set.keepUnpaid, -1), AnyAmount: set.anyAmount, FingerprintKey: ring.Fingerprint(), Declines: set.declineLimits(), Holds: set.holdLimits(), Cities: cities.Europe(),
	}
	if money != nil {
		opts.Gateway = money
	} else {
		p.log.Warn("sandbox payments move no money; for trying out only")
	}
	if set.webhookPrivate {
		p.log.Warn("webhooks may have private addresses, which subscribers can have the server post to; for trying out only")
	}
	var err error
	if opts.Webhooks, err = p.webhookOptions(set, base, ring); err != nil {
		return nil, err
	}
	seen.wrap(&opts)
	return traintravel.New(seen.store(store), opts)
}

// serviceClock is nil for the real time, or the clock that --clock asks for:
// it starts there, but not before what the store says has happened.
func serviceClock(ctx context.Context, set settings, store traintravel.Store) (func() time.Time, error) {
	start, err := set.start()
	if err != nil || set.clock == "" {
		return nil, err
	}
	last, err := traintravel.LastInstant(ctx, store)
	if err != nil {
		return nil, err
	}
	if last.After(start) {
		start = last
	}
	return clockFrom(start), nil
}

// clockFrom is a clock that shows start now.
func clockFrom(start time.Time) func() time.Time {
	began := time.Now()
	return func() time.Time { return start.Add(time.Since(began)) }
}

// mount puts the API and the authorization server on one listener.
func mount(api *httpserver.Server, signIn http.Handler) http.Handler {
	if signIn == nil {
		return api
	}
	beside := api.Beside("/oauth/*", signIn)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.Path; strings.HasPrefix(p, "/oauth/") || strings.HasPrefix(p, "/.well-known/oauth-authorization-server") {
			beside.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// withoutForwardedBase hides from a handler what proxies say of its address, because --base-url
// says it. What they say of the client still counts.
func withoutForwardedBase(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Prefix"} {
			r.Header.Del(name)
		}
		h.ServeHTTP(w, r)
	})
}

// dutiesOf are those of the server of a data file.
func dutiesOf(set settings, service *traintravel.Service, file *boltstore.Store) duties {
	return duties{
		load: func(ctx context.Context, h *handover) (*report, error) { return h.load(ctx, service) },
		check: func(ctx context.Context, req checkRequest, progress func(done, total int64)) (*checked, error) {
			req.AnyAmount = req.AnyAmount || set.anyAmount
			return checkRecords(ctx, file, req, progress)
		},
		service: service,
		store:   file,
	}
}

// tokenFlags are the flags by which the token command finds the keys.
func tokenFlags(set settings) string {
	var flags string
	if !set.shared() && set.data != defaultData {
		flags += " --data " + shellWord(set.data)
	}
	if set.keys != "" {
		flags += " --keys " + shellWord(set.keys)
	}
	return flags
}
