package main

import (
	"context"
	"errors"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/tracing"
)

// gatewayClient is the client of the payment gateway, nil without --gateway. It makes no
// request.
func (p *program) gatewayClient(url string) (*gateway.Client, error) {
	if url == "" {
		return nil, nil
	}
	secret := p.env()[gatewaySecret]
	if secret == "" {
		return nil, usagef("--gateway needs %s: set it to the secret that the gateway has too, whsec_ and 24 to 64 random bytes in base64, such as \"whsec_$(openssl rand -base64 32)\"", gatewaySecret)
	}
	g, err := gateway.New(url, secret, gateway.ClientOptions{Propagate: tracing.SendOn})
	if bad, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		if bad.Field == "secret" {
			return nil, usagef("invalid %s: %s", gatewaySecret, bad.Reason)
		}
		return nil, usagef("invalid --gateway %.200q: the URL %s", withoutSecrets(url), bad.Reason)
	}
	return g, err
}

// gateway is gatewayClient, and checks in the background whether the gateway answers.
func (p *program) gateway(ctx context.Context, url string) (*gateway.Client, error) {
	g, err := p.gatewayClient(url)
	if g == nil || err != nil {
		return nil, err
	}
	p.log.Info("payments move real money through the gateway", "gateway", g.URL())
	go func() { // a gateway that is down, or comes up later, holds up no bookings
		ctx, stop := context.WithTimeout(ctx, 10*time.Second)
		defer stop()
		if err := g.Check(ctx); err != nil && !errors.Is(err, context.Canceled) {
			p.log.Warn("payment gateway check failed; payments stay pending until the gateway answers", "gateway", g.URL(), "error", err)
		}
	}()
	return g, nil
}
