// Command stripe-gateway takes the payments of a traintravel server through Stripe:
// `traintravel serve --gateway URL` calls it. See README.md for the commands, and
// for what Stripe has to enable for your account first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/traintravel/traintravel/gateway"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "stripe-gateway:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	addr := flag.String("addr", "127.0.0.1:8087", "`address` to listen on; unless traintravel runs on this machine, put a proxy with TLS in front of it")
	data := flag.String("data", "stripe-gateway.db", "`file` that maps payments to those of Stripe")
	api := flag.String("stripe", "", "`URL` of another Stripe API, such as stripe-mock")
	flag.Parse()
	key := os.Getenv("STRIPE_API_KEY")
	if key == "" {
		return errors.New("STRIPE_API_KEY is not set: it is your account's secret key, sk_test_… or sk_live_…")
	}
	shared := os.Getenv("TRAINTRAVEL_GATEWAY_SECRET")
	if shared == "" {
		return errors.New(`TRAINTRAVEL_GATEWAY_SECRET is not set: give this program and "traintravel serve" the same, such as "whsec_$(openssl rand -base64 32)"`)
	}
	books, err := openBooks(*data)
	if err != nil {
		return err
	}
	defer books.close()
	var config stripe.BackendConfig
	if *api != "" {
		config.URL = api
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	handler, err := gateway.NewHandler(newStripe(key, config, books), shared, gateway.HandlerOptions{Logger: log})
	if err != nil {
		return fmt.Errorf("TRAINTRAVEL_GATEWAY_SECRET: %w", err)
	}
	server := &http.Server{
		Addr: *addr, Handler: handler, MaxHeaderBytes: 32 << 10,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	log.Info("stripe-gateway listens", "address", *addr)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 65*time.Second) // a charge takes a minute at most
	defer cancel()
	return server.Shutdown(drain)
}
