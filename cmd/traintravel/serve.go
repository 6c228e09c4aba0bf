package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/trainserver"
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
gateway/openapi.yaml describes, and the demo network is loaded only if --demo is given.

Servers that share a database (--postgres) need the same --base-url and copies of the
same --keys file. Otherwise one would refuse the tokens of another, and a retry of a
request under its idempotency key. A server whose keys differ from those used before
does not start, unless --new-keys is given.

A user can hold places without paying for them, up to a whole train, for as long as
--hold allows, and again after that. --rate-limit only slows this down: where anybody
may sign in, keep --hold short.`,
		Args:    takes(),
		PreRunE: func(c *cobra.Command, _ []string) error { return p.checkServe(c.Flags(), &set) },
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
		err = errors.Join(err, made.end(ctx, serving))
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
	ring, err := set.serverKeys(ctx, store)
	if err != nil {
		return err
	}
	if ring.Created() {
		made.keys = set.keysFile(set.keys)
	}
	if set.shared() && set.baseURL == "" {
		p.log.Warn("--base-url is not set: servers that share a database need the same --base-url and --keys", "base", base)
	}

	clock, err := serviceClock(ctx, set, store)
	if err != nil {
		return err
	}
	opts, err := p.serverOptions(set, who, listener.Addr(), base, seen)
	if err != nil {
		return err
	}
	if opts.Service, err = p.service(set, store, base, ring, clock, money, seen); err != nil {
		return flagError(err)
	}
	look := &watch{keys: set.keysFile(set.keys), data: set.data, log: p.log, told: seen.committed()}
	file, local := store.(*boltstore.Store) // commands open a database themselves
	if local {
		if look.control, err = listenControl(set.data, p.log); err != nil {
			return err
		}
		defer look.control.Close()
		look.store = file
	}
	wired, err := trainserver.New(ctx, seen.store(store), opts)
	if err != nil {
		return set.refusal(err)
	}
	p.compare(set, base, wired.Previous)
	if err := p.claim(ctx, set, store, ring); err != nil {
		return err
	}
	service, api := wired.Service, wired.API
	if err := p.firstTimetable(ctx, set, service); err != nil {
		return set.explain(err)
	}
	handler := http.Handler(wired)
	if set.baseURL != "" {
		handler = withoutForwardedBase(handler)
	}
	door := newCrowd(listener, opts.HTTP.TrustedProxies, limit(set.maxRequests))
	public := p.httpServer(door.counting(seen.handler(handler)))
	public.TLSConfig, public.ConnContext = certificate, door.know
	servers := append([]server{{door, public}}, seen.servers(p, service, api)...) // the API is first
	if local {
		servers = append(servers, server{look.control, p.httpServer(dutiesOf(set, service, file).handler())})
	}
	serving = true
	background, stop := context.WithCancel(ctx)
	defer stop()
	go look.until(background)
	if set.issuer != "" { // a failure is logged now, not with the first request
		go func() { _ = api.Ready(background) }()
	}
	fmt.Fprintf(p.stdout, "traintravel listens on %s\n", here)
	if base != here {
		fmt.Fprintf(p.stdout, "Links begin with %s\n", base)
	}
	if set.issuer == "" {
		fmt.Fprintf(p.stdout, "Try:\n  TOKEN=$(%s)\n  curl -H \"Authorization: Bearer $TOKEN\" %s/stations\n", tokenCommand(set), here)
	}
	return p.runServers(ctx, service, api, servers...)
}

// serverOptions are those of the server that the settings ask for, without the service's.
func (p *program) serverOptions(set settings, who accounts, addr net.Addr, base string, seen *observation) (trainserver.Options, error) {
	proxies, _ := set.networks() // checked before
	o := trainserver.Options{
		BaseURL: base, SiteURL: set.siteURL, KeysFile: set.keysFile(set.keys), NewKeys: set.newKeys, Logger: p.log,
		HTTP: httpserver.Options{
			RateLimit: limit(set.rateLimit), MaxRequests: limit(set.maxRequests), TrustedProxies: proxies, CORSOrigins: set.origins,
			Tokens: set.tokens(), Answered: seen.answered(), AccessLog: seen.access,
		},
	}
	if set.issuer != "" {
		claims, err := set.claims()
		o.Issuer = &trainserver.Issuer{URL: set.issuer, Audience: set.audience, TokenType: set.kind, ClientClaims: claims, Fetched: seen.fetched()}
		return o, err
	}
	o.SignIn = &trainserver.SignIn{
		Users: who.users, OnlyUsers: !who.anyone, OtherBases: otherBases(addr), TokenCommand: tokenCommand(set),
		Clients: append([]authserver.Client{}, who.clients...), // not nil: with that come those of the demo
	}
	if set.siteURL == "" {
		o.SignIn.Links = []httpserver.Link{{Title: "Booking site", URL: "http://127.0.0.1:8090", Note: "a site for travellers, once it runs: go run ./examples/webapp"}}
	}
	return o, nil
}

// otherBases are the base URLs of a server on this machine beside its own.
func otherBases(addr net.Addr) []string {
	if tcp, ok := addr.(*net.TCPAddr); ok && (tcp.IP.IsLoopback() || tcp.IP.IsUnspecified()) {
		return []string{fmt.Sprintf("http://localhost:%d", tcp.Port)}
	}
	return nil
}

// tokenCommand prints a token for a server with these settings.
func tokenCommand(set settings) string {
	return fmt.Sprintf("%s token --user anna --scope \"read write\"%s", ourName(), tokenFlags(set))
}

// service are the settings of the service.
func (p *program) service(set settings, store traintravel.Store, base string, ring *keys.Ring, clock func() time.Time, money *gateway.Client, seen *observation) (traintravel.Options, error) {
	opts := traintravel.Options{
		Observer: seen.observer(), Gateway: sandbox.Open(store), Logger: p.log, Now: clock, HoldFor: set.hold, Retain: set.retain, KeepUnpaid: cmp.Or(set.keepUnpaid, -1), AnyAmount: set.anyAmount, Declines: set.declineLimits(), Holds: set.holdLimits(),
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
		return opts, err
	}
	seen.wrap(&opts)
	return opts, nil
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
