package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/ticket"
)

// mockClock is when the mock server's clock starts: the day of the published
// examples.
var mockClock = time.Date(2024, 2, 1, 8, 0, 0, 0, time.UTC)

func (p *program) mock() *cobra.Command {
	var addr string
	c := &cobra.Command{
		Use:   "mock",
		Short: "Answer like the specification's mock server, in memory",
		Long: `Answer like the specification's mock server: the same paths and rules, on the
demo network, in memory. The clock starts at 2024-02-01T08:00:00Z. Any bearer
token is good, and is a user of its own; any amount in any currency pays. Webhooks
may have any address.`,
		Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return p.mockUntil(c.Context(), addr) },
	}
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:8080", "`address` to listen on, of this machine alone")
	return c
}

func (p *program) mockUntil(ctx context.Context, addr string) error {
	if err := checkAddr("--addr", addr); err != nil {
		return err
	}
	listener, err := listen(addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	if !loopback(listener.Addr()) {
		return usagef("the mock server believes any token, so it listens on loopback addresses only, and %v is none", listener.Addr())
	}
	base := "http://" + listener.Addr().String()
	ring, err := keys.New()
	if err != nil {
		return err
	}
	hooks, err := p.webhookOptions(settings{webhookPrivate: true}, base, ring)
	if err != nil {
		return err
	}
	clock := clockFrom(mockClock)
	service, err := traintravel.New(memstore.New(), traintravel.Options{
		Gateway: sandbox.New(), Logger: p.log, Now: clock, AnyAmount: true, Webhooks: hooks,
		Declines: traintravel.DeclineLimits{Card: -1, User: -1}, // tests decline as often as they like
	})
	if err != nil {
		return err
	}
	if err := loadDemo(ctx, service); err != nil {
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
		BaseURL: base, Auth: anybody{}, RateLimit: 1_000_000, CORSOrigins: []string{"*"}, Logger: p.log,
		Tokens: "Any text without blanks: each is a user of its own, with both scopes.", Now: clock, Tickets: tickets, TicketKeys: ticketSet,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "traintravel mock listens on %s\nTry:\n  curl -H \"Authorization: Bearer anything\" %s/stations\n", base, base)
	return p.runServers(ctx, service, api, server{listener, p.httpServer(api)})
}

// anybody believes any token: each is a user of its own.
type anybody struct{}

// Authenticate returns the user that a token makes.
func (anybody) Authenticate(_ context.Context, token string) (httpserver.Identity, error) {
	sum := sha256.Sum256([]byte(token))
	return httpserver.Identity{
		Caller: traintravel.Caller{Subject: traintravel.Subject{Issuer: "mock", ID: hex.EncodeToString(sum[:])}, Client: "mock"},
		Read:   true, Write: true, Expires: time.Now().Add(time.Hour),
	}, nil
}
