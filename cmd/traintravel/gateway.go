package main

import (
	"context"
	"errors"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/internal/whsec"
	"github.com/traintravel/traintravel/tracing"
)

// gatewayClient is the client of the payment gateway, nil without --gateway. It makes no
// request.
func (p *program) gatewayClient(url string) (*gateway.Client, error) {
	if url == "" {
		return nil, nil
	}
	var wrong []error
	_, err := gateway.New(url, whsec.Encode(make([]byte, 32)), gateway.ClientOptions{})
	if bad, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		wrong = append(wrong, usagef("invalid --gateway %.200q: the URL %s", withoutSecrets(url), bad.Reason))
	}
	secret := p.env()[gatewaySecret]
	_, err = gateway.New("https://gateway.example", secret, gateway.ClientOptions{})
	if bad, ok := errors.AsType[*traintravel.InvalidError](err); secret == "" {
		wrong = append(wrong, usagef("--gateway needs %s: set it to the secret that the gateway has too, %s", gatewaySecret, secretForm))
	} else if ok {
		wrong = append(wrong, invalidSecret(gatewaySecret, bad.Reason))
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return gateway.New(url, secret, gateway.ClientOptions{Propagate: tracing.SendOn})
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
