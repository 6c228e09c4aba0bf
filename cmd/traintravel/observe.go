package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/url"
	"time"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/trace"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/metrics"
)

// watching are the flags that say how the operator sees what a server does.
type watching struct {
	admin     string
	remote    bool // admin may be an address that other machines reach
	logFormat string
	logLevel  string
	accessLog bool
}

func (w *watching) flags(f *pflag.FlagSet) {
	f.StringVar(&w.admin, "admin-addr", "", "`address` that the operator's own listener has, for /metrics, /debug/pprof, /healthz and /readyz; without a host it is of this machine alone (default: there is none)")
	f.BoolVar(&w.remote, "admin-remote", false, "let other machines reach --admin-addr: whoever does can read metrics and profiles, without a password")
	f.StringVar(&w.logFormat, "log-format", "text", "how the log is written: text or json")
	f.StringVar(&w.logLevel, "log-level", "info", "the least that is logged: debug, info, warn or error")
	f.BoolVar(&w.accessLog, "access-log", false, "log each request")
}

// check finds the mistakes in them. addr is where the public listens.
func (w *watching) check(addr string) (errs []error) {
	if w.logFormat != "text" && w.logFormat != "json" {
		errs = append(errs, usagef("--log-format: %.200q is neither text nor json", withoutSecrets(w.logFormat)))
	}
	if _, err := w.level(); err != nil {
		errs = append(errs, usagef("--log-level: %.200q is none of debug, info, warn and error", withoutSecrets(w.logLevel)))
	}
	if w.admin == "" {
		return errs
	}
	if err := checkAddr("--admin-addr", w.admin); err != nil {
		return append(errs, err)
	}
	host, port, err := net.SplitHostPort(w.adminAddr())
	publicHost, publicPort, publicErr := net.SplitHostPort(addr)
	if err == nil && !w.remote && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		errs = append(errs, usagef("--admin-addr: %.200q is not an address of this machine alone, and whoever reaches it can read metrics and profiles without a password: give --admin-remote too if that is meant", w.admin))
	}
	everywhere := func(host string) bool { return host == "" || net.ParseIP(host).IsUnspecified() }
	if err == nil && publicErr == nil && port != "0" && port == publicPort && (host == publicHost || everywhere(host) || everywhere(publicHost)) {
		errs = append(errs, usagef("--admin-addr: %.200q is where the public listens (--addr): what is for the operator must not be there", w.admin))
	}
	return errs
}

// adminAddr is the address, which is this machine's own unless it names another.
func (w *watching) adminAddr() string {
	if host, port, err := net.SplitHostPort(w.admin); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return w.admin
}

func (w *watching) level() (level slog.Level, err error) {
	switch w.logLevel {
	case "debug", "info", "warn", "error":
		err = level.UnmarshalText([]byte(w.logLevel))
	default:
		err = fmt.Errorf("unknown")
	}
	return level, err
}

// form is the form of the log that the flags ask for. They have been checked.
func (w *watching) form(to io.Writer) slog.Handler {
	level, _ := w.level()
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: cleanAttr}
	if w.logFormat == "json" {
		return requestNames{slog.NewJSONHandler(to, opts)}
	}
	return requestNames{slog.NewTextHandler(to, opts)}
}

// requestNames writes into each line of the log which request and trace it belongs to.
type requestNames struct{ slog.Handler }

func (h requestNames) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := httpserver.RequestID(ctx); ok {
		named := false
		r.Attrs(func(a slog.Attr) bool {
			named = a.Key == "request"
			return !named
		})
		if !named {
			r = r.Clone()
			r.AddAttrs(slog.String("request", id.String()))
		}
	}
	if in := trace.SpanContextFromContext(ctx); in.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace", in.TraceID().String()), slog.String("span", in.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h requestNames) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestNames{h.Handler.WithAttrs(attrs)}
}

func (h requestNames) WithGroup(name string) slog.Handler {
	return requestNames{h.Handler.WithGroup(name)}
}

// An observation is what the operator sees of a server. Whoever asked for none has one
// that sees nothing, and costs nothing.
type observation struct {
	metrics *metrics.Metrics // nil if there is no listener for them
	admin   net.Listener
	access  *slog.Logger // nil if requests are not logged
	traces  *traces      // nil if they are sent nowhere
}

// observe opens the operator's listener, if there is to be one.
func (p *program) observe(ctx context.Context, w *watching) (*observation, error) {
	o := &observation{}
	var err error
	if o.traces, err = p.startTraces(ctx); err != nil {
		return nil, err
	}
	if w.accessLog {
		o.access = p.log
	}
	if w.admin == "" {
		return o, nil
	}
	if o.admin, err = net.Listen("tcp", w.adminAddr()); err != nil {
		o.close()
		return nil, fmt.Errorf("--admin-addr: %w", err)
	}
	o.metrics = metrics.New(ownVersion())
	return o, nil
}

func (o *observation) close() {
	if o.admin != nil {
		_ = o.admin.Close()
	}
	if o.traces != nil {
		o.traces.stop()
	}
}

// committed is what the store tells of its commits; nil is nobody.
func (o *observation) committed() func(int, time.Duration, error) {
	if o.metrics == nil {
		return nil
	}
	return o.metrics.Committed
}

// fetched is who is told that the issuer's keys were asked for; nil is nobody.
func (o *observation) fetched() func(error) {
	if o.metrics == nil {
		return nil
	}
	return o.metrics.Fetched
}

// observer is who is told what the service does.
func (o *observation) observer() (told traintravel.Observer) {
	if o.metrics != nil {
		told = o.metrics.Observer()
	}
	if o.traces != nil {
		told.Begin = o.traces.Begin
	}
	return told
}

// wrap sees what a service asks of others.
func (o *observation) wrap(opts *traintravel.Options) {
	if o.traces == nil {
		return
	}
	opts.Gateway = o.traces.Gateway(opts.Gateway)
	opts.Webhooks.Sender = o.traces.Sender(opts.Webhooks.Sender)
}

// store sees what a service asks of its store.
func (o *observation) store(s traintravel.Store) traintravel.Store {
	if o.traces == nil {
		return s
	}
	return o.traces.Store(s)
}

// answered is who is told of requests; nil is nobody.
func (o *observation) answered() func(context.Context, httpserver.Answer) {
	if o.metrics == nil && o.traces == nil {
		return nil
	}
	return func(ctx context.Context, a httpserver.Answer) {
		if o.metrics != nil {
			o.metrics.Answered(metrics.Request{Method: a.Method, Route: a.Route, Status: a.Status, Bytes: a.Bytes, Took: a.Took, Problem: a.Problem})
		}
		if o.traces != nil {
			o.traces.Answered(ctx, a.Method, a.Route, a.Status)
		}
	}
}

// handler sees the requests that a handler answers.
func (o *observation) handler(h http.Handler) http.Handler {
	if o.metrics != nil {
		h = o.metrics.InFlight(h)
	}
	if o.traces != nil {
		h = o.traces.Handler(h)
	}
	return h
}

// servers are the operator's own, if there are. api answers for its health.
func (o *observation) servers(p *program, service *traintravel.Service, api *httpserver.Server) []server {
	if o.metrics == nil {
		return nil
	}
	o.metrics.Watch(service)
	o.metrics.WatchWork(func() (all []metrics.Work) {
		for _, w := range api.Work() {
			all = append(all, metrics.Work{Kind: w.Kind, Slots: w.Slots, Busy: w.Busy, Waiting: w.Waiting,
				Refused: w.Refused, OverShare: w.OverShare, Most: w.Most, MostInHand: w.MostInHand, InHand: w.InHand})
		}
		return all
	})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", o.metrics)
	mux.Handle("GET /healthz", api)
	mux.Handle("GET /readyz", api)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }) // it may show a password
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	fmt.Fprintf(p.stdout, "metrics are at http://%s/metrics\n", publicAddr(o.admin.Addr()))
	var handler http.Handler = mux
	if loopback(o.admin.Addr()) {
		handler = fromHere(mux)
	}
	return []server{{o.admin, p.httpServer(handler)}}
}

// fromHere answers who asks this machine by a name of its own. Another name may lead here
// too, so that a page of its owner's, in a browser on this machine, could read everything
// (DNS rebinding); and what pages elsewhere ask costs as much, though they cannot read it.
func fromHere(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		site := r.Header.Get("Sec-Fetch-Site")
		if host != "localhost" && !net.ParseIP(host).IsLoopback() || site == "cross-site" || site == "same-site" {
			http.Error(w, "This is for this machine alone: ask it as localhost, and not from another page.", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}
