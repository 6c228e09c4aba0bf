package main

import (
	"context"
	"errors"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/tracing"
)

// gatewaySecret is the environment variable with what this server and the program
// at --gateway know each other by. A flag would show it to all users of the
// machine.
const gatewaySecret = "TRAINTRAVEL_GATEWAY_SECRET"

// gatewayClient is what moves the money, nil if there is no --gateway. It asks nobody.
func (p *program) gatewayClient(url string) (*gateway.Client, error) {
	if url == "" {
		return nil, nil
	}
	secret := p.env()[gatewaySecret]
	if secret == "" {
		return nil, usagef("--gateway needs the secret that the gateway has too in %s: whsec_ and 24 to 64 random bytes in base64, such as \"whsec_$(openssl rand -base64 32)\"", gatewaySecret)
	}
	g, err := gateway.New(url, secret, gateway.ClientOptions{Propagate: tracing.SendOn})
	if bad, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		if bad.Field == "secret" {
			return nil, usagef("%s: %s", gatewaySecret, bad.Reason)
		}
		return nil, usagef("--gateway: the URL %s", bad.Reason)
	}
	return g, err
}

// gateway is gatewayClient, and finds out whether the gateway answers.
func (p *program) gateway(ctx context.Context, url string) (*gateway.Client, error) {
	g, err := p.gatewayClient(url)
	if g == nil || err != nil {
		return nil, err
	}
	p.log.Info("payments are real: money is moved", "gateway", g.URL())
	go func() { // a gateway that is down, or comes up later, holds up no bookings
		ctx, stop := context.WithTimeout(ctx, 10*time.Second)
		defer stop()
		if err := g.Check(ctx); err != nil && !errors.Is(err, context.Canceled) {
			p.log.Warn("the gateway does not answer as it should; payments stay pending until it does", "gateway", g.URL(), "error", err)
		}
	}()
	return g, nil
}
