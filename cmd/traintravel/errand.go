package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
)

// An errand is work of a command with a service: the server that has the data file open does
// it, or else this process. It reports its results line by line.
type errand func(ctx context.Context, service *traintravel.Service, req json.RawMessage, tell teller) error

// errands are all errands, by the names that servers know them by.
var errands = map[string]errand{
	"webhooks":   errandFor(onWebhooks),
	"manifest":   errandFor(onManifest),
	"block":      errandFor(onBlock),
	"cancel-run": errandFor(onCancelRun),
	"booking":    errandFor(onBooking),

	"payment-stuck":  errandFor(onPaymentStuck),
	"payment-settle": errandFor(onPaymentSettle),

	"subject-export": errandFor(onSubjectExport),
	"subject-erase":  errandFor(onSubjectErase),
}

// errandFor makes an errand of a function with a typed request.
func errandFor[Q any](do func(context.Context, *traintravel.Service, Q, teller) error) errand {
	return func(ctx context.Context, service *traintravel.Service, text json.RawMessage, tell teller) error {
		var req Q
		if err := json.Unmarshal(text, &req); err != nil {
			return err
		}
		return do(ctx, service, req, tell)
	}
}

// errand has an errand done, and prints its results.
func (p *program) errand(c *cobra.Command, where storage, name string, req any) error {
	if err := where.check(c.Flags()); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(c.Context())
	defer stop(nil)
	shown := newProgress(p.stderr, "searching")
	defer shown.end()
	tell := teller{
		progress: shown.show,
		say: func(text string) {
			shown.end()
			if _, err := fmt.Fprintln(p.stdout, text); err != nil {
				stop(err) // the output is lost
			}
		},
	}
	err := errNoServer // servers share a database
	if !where.shared() {
		_, err = askServer[any, struct{}](ctx, p.asker(where.data), "/"+name, req, tell)
	}
	if errors.Is(err, errNoServer) {
		err = p.onStored(ctx, where, errands[name], req, tell)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return where.explain(err)
}

// onStored does an errand in this process, on a database or on a file that no server has open.
func (p *program) onStored(ctx context.Context, where storage, do errand, req any, tell teller) error {
	text, err := json.Marshal(req)
	if err != nil {
		return err
	}
	var store closableStore
	if where.shared() {
		store, err = where.open(ctx, p.log, nil)
	} else {
		store, err = openFile(where.data) // which must exist
	}
	if err != nil {
		return err
	}
	defer store.Close()
	// The last recorded time is in the past for every server, also for one with another clock.
	opts := traintravel.Options{Logger: p.log}
	last, err := traintravel.LastInstant(ctx, store)
	if err != nil {
		return err
	}
	if !last.IsZero() {
		opts.Now = func() time.Time { return last }
	}
	service, err := traintravel.New(store, opts)
	if err != nil {
		return err
	}
	return do(ctx, service, text, tell)
}

// handler answers on the control socket.
func (d duties) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /timetable", d.timetable())
	mux.HandleFunc("POST /check", duty(func(ctx context.Context, req checkRequest, tell teller) (*checked, error) {
		return d.check(ctx, req, tell.progress)
	}))
	for name, do := range errands {
		mux.HandleFunc("POST /"+name, duty(func(ctx context.Context, req json.RawMessage, tell teller) (*struct{}, error) {
			return &struct{}{}, do(ctx, d.service, req, tell)
		}))
	}
	mux.HandleFunc("GET /backup", d.backup)
	return mux
}
