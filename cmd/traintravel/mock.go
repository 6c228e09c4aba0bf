package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/cities"
	"github.com/traintravel/traintravel/cmd/traintravel/internal/published"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/ticket"
)

// mockClock is when the mock server's clock starts: a year before the day of the
// published examples. Their trips can be booked for as long as a server is likely to run,
// and so can those of today and of next week, which are years ahead for it.
var mockClock = time.Date(2023, 2, 1, 8, 0, 0, 0, time.UTC)

func (p *program) mock() *cobra.Command {
	var m mockServer
	c := &cobra.Command{
		Use:   "mock",
		Short: "Answer like the specification's mock server, in memory",
		Long: `Answer like the specification's mock server: the same paths and rules, on the
demo network, in memory. It accepts any bearer token, each of which is a user of its
own, and payments of any amount in any currency. Webhooks may have any address.

The clock starts at 2023-02-01T08:00:00Z, and trips are sold for a hundred years
ahead: those of 2024 in the published examples as well as those of next week. The
published IDs of stations, trips and of the booking work. Each user has that booking,
unpaid at first; after it was cancelled or has expired, a request for it makes it again.

It listens on this machine alone, because it accepts any token. For a container, or
for a phone in the same network, give --host 0.0.0.0. Links begin with the address
that the client used, also behind a proxy; those in webhooks begin with --base-url.`,
		Args:    takes(),
		PreRunE: func(*cobra.Command, []string) error { return m.check() },
		RunE:    func(c *cobra.Command, _ []string) error { return p.mockUntil(c.Context(), m) },
	}
	f := c.Flags()
	f.StringVar(&m.addr, "addr", "127.0.0.1:8081", "loopback `address` to listen on")
	f.StringVar(&m.host, "host", "", "`host` to listen on instead, which other machines may reach, with its own port or that of --addr: 0.0.0.0 for all addresses, or 0.0.0.0:4010")
	f.StringVar(&m.baseURL, "base-url", "", "`URL` that links begin with (default: the address that the client used)")
	return c
}

// A mockServer is what the flags of mock say.
type mockServer struct{ addr, host, baseURL string }

func (m *mockServer) check() error {
	if err := checkAddr("--addr", m.addr); err != nil {
		return err
	}
	if m.host != "" {
		host, port, err := net.SplitHostPort(m.at())
		if _, bad := netip.ParseAddr(host); err != nil || port == "" || strings.Contains(host, ":") && bad != nil {
			return usagef("invalid --host %.200q: want a host such as 0.0.0.0, with or without a port, as in 0.0.0.0:4010", m.host)
		}
		if err := checkAddr("--host", m.at()); err != nil {
			return err
		}
	}
	return checkBase(m.baseURL)
}

// flag is the flag that says where to listen.
func (m *mockServer) flag() string {
	if m.host == "" {
		return "--addr"
	}
	return "--host"
}

// at is the address to listen on: that of --host, with a port of its own or that of --addr.
func (m *mockServer) at() string {
	if m.host == "" {
		return m.addr
	}
	if _, _, err := net.SplitHostPort(m.host); err == nil {
		return m.host
	}
	_, port, _ := net.SplitHostPort(m.addr) // checked before
	return net.JoinHostPort(strings.Trim(m.host, "[]"), port)
}

// admit refuses an address that other machines may reach, unless --host names it.
func (m *mockServer) admit(addr net.Addr) error {
	if m.host != "" || loopback(addr) {
		return nil
	}
	return usagef("invalid --addr %.200q: want a loopback address, because the mock accepts any token; to let other machines reach it, give --host %s instead", m.addr, m.addr)
}

func (p *program) mockUntil(ctx context.Context, m mockServer) error {
	listener, err := net.Listen("tcp", m.at())
	if err != nil {
		return cannotListen(m.flag(), m.at(), err)
	}
	defer listener.Close()
	if err := m.admit(listener.Addr()); err != nil {
		return err
	}
	if addr := listener.Addr(); !loopback(addr) {
		p.log.Warn("the mock accepts any token: everyone who reaches it can use all of it, and have it post webhooks to any address", "addr", addr.String())
	}
	here := "http://" + publicAddr(listener.Addr())
	base := cmp.Or(m.baseURL, here)
	ring, err := keys.New()
	if err != nil {
		return err
	}
	hooks, err := p.webhookOptions(settings{webhookPrivate: true}, base, ring)
	if err != nil {
		return flagError(err)
	}
	examples := published.Examples{Ahead: time.Since(mockClock)}
	hooks.Sender = examples.Sender(hooks.Sender)
	service, err := traintravel.New(memstore.New(), traintravel.Options{
		Gateway: sandbox.New(), Logger: p.log, Now: clockFrom(mockClock), AnyAmount: true, Webhooks: hooks, Horizon: math.MaxInt64,
		Cities:   cities.Europe(),
		Declines: traintravel.DeclineLimits{Card: -1, User: -1}, // tests decline as often as they like
		Holds:    traintravel.HoldLimits{User: -1, Train: -1},
	})
	if err != nil {
		return err
	}
	if err := loadPublished(ctx, service, &examples); err != nil {
		return err
	}
	tickets, err := ticket.NewIssuer(ring.Tickets()[0])
	if err != nil {
		return err
	}
	ticketSet, err := publicTickets(ring.Tickets())
	if err != nil {
		return err
	}
	api, err := httpserver.New(service, httpserver.Options{
		BaseURL: base, TrustedProxies: everywhere, Auth: anybody{}, RateLimit: 1_000_000, CORSOrigins: []string{"*"}, Logger: p.log, Try: tryMock,
		Tokens: "Any text without blanks: each is a user of its own, with both scopes.", Tickets: tickets, TicketKeys: ticketSet,
	})
	if err != nil {
		return flagError(err)
	}
	handler := examples.Handler(api, callerOf)
	if m.baseURL != "" {
		handler = withoutForwardedBase(handler)
	} else {
		handler = withHost(handler)
	}
	fmt.Fprintf(p.stdout, "traintravel mock listens on %s\n", here)
	for _, other := range networkAddrs(listener.Addr()) {
		fmt.Fprintf(p.stdout, "Other machines reach it at http://%s\n", other)
	}
	if base != here {
		fmt.Fprintf(p.stdout, "Links begin with %s\n", base)
	}
	fmt.Fprintf(p.stdout, "Try:\n  curl -H \"Authorization: Bearer anything\" %s/stations\n", here)
	return p.runServers(ctx, service, api, server{listener, p.httpServer(handler)})
}

// tryMock has the page for people show a token that is as good as any.
func tryMock(*http.Request) httpserver.Try { return httpserver.Try{Token: "anna", User: "anna"} }

// loadPublished loads the demo network with the trains of the published examples.
func loadPublished(ctx context.Context, service *traintravel.Service, examples *published.Examples) error {
	t, err := demoNetwork(ctx)
	if err != nil {
		return err
	}
	published.Timetable(t)
	if _, err := service.LoadTimetable(ctx, t); err != nil {
		return err
	}
	return examples.Find(ctx, service)
}

// withHost has links begin with the address that a client used, unless a proxy says by
// which address it was used itself.
func withHost(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Forwarded-Host") == "" {
			r.Header.Set("X-Forwarded-Host", r.Host)
		}
		h.ServeHTTP(w, r)
	})
}

// everywhere is all networks.
var everywhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// networkAddrs are the addresses at which machines in the same networks reach a server
// that listens on all addresses.
func networkAddrs(a net.Addr) (addrs []string) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return nil
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil // it is only a help
	}
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			addrs = append(addrs, (&net.TCPAddr{IP: n.IP, Port: tcp.Port}).String())
		}
	}
	return addrs
}

// anybody accepts any token: each is a user of its own.
type anybody struct{}

// Authenticate returns the user that a token stands for.
func (anybody) Authenticate(_ context.Context, token string) (httpserver.Identity, error) {
	return httpserver.Identity{Caller: userOf(token), Read: true, Write: true, Expires: time.Now().Add(time.Hour)}, nil
}

func userOf(token string) traintravel.Caller {
	sum := sha256.Sum256([]byte(token))
	return traintravel.Caller{Subject: traintravel.Subject{Issuer: "mock", ID: hex.EncodeToString(sum[:])}, Client: "mock"}
}

// callerOf returns the user that the token of a request stands for, if it has one.
func callerOf(r *http.Request) (traintravel.Caller, bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.Trim(token, " ")
	return userOf(token), strings.EqualFold(scheme, "Bearer") && token != ""
}
