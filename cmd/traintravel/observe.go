package main

import (
	"context"
	"encoding/json"
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

// watching are the flags of logs, metrics and profiles.
type watching struct {
	admin     string
	remote    bool // admin may be an address that other machines reach
	logFormat string
	logLevel  string
	accessLog bool
}

func (w *watching) flags(f *pflag.FlagSet) {
	f.StringVar(&w.admin, "admin-addr", "", "`address` of the operator's own listener, such as 127.0.0.1:8083, for /metrics, /debug/pprof, /healthz and /readyz; without a host it is on this machine alone (default: no such listener)")
	f.BoolVar(&w.remote, "admin-remote", false, "let other machines reach --admin-addr, where they can read metrics and profiles without a password")
	f.StringVar(&w.logFormat, "log-format", "text", "`format` of the log: text or json")
	f.StringVar(&w.logLevel, "log-level", "info", "lowest `level` that is logged: debug, info, warn or error")
	f.BoolVar(&w.accessLog, "access-log", false, "log each request")
}

// check finds invalid values. addr is the public address.
func (w *watching) check(addr string) (errs []error) {
	if w.logFormat != "text" && w.logFormat != "json" {
		errs = append(errs, invalidChoice("--log-format", withoutSecrets(w.logFormat), flagValues()["log-format"]))
	}
	if _, err := w.level(); err != nil {
		errs = append(errs, invalidChoice("--log-level", withoutSecrets(w.logLevel), flagValues()["log-level"]))
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
		errs = append(errs, usagef("invalid --admin-addr %.200q: other machines can reach it, and could read metrics and profiles without a password: give a loopback address such as 127.0.0.1:8083, or --admin-remote too if that is meant", w.admin))
	}
	everywhere := func(host string) bool { return host == "" || net.ParseIP(host).IsUnspecified() }
	if err == nil && publicErr == nil && port != "0" && port == publicPort && (host == publicHost || everywhere(host) || everywhere(publicHost)) {
		errs = append(errs, usagef("invalid --admin-addr %.200q: it is the public address (--addr): give the operator's listener another port", w.admin))
	}
	return errs
}

// adminAddr is the address of --admin-addr, on a loopback address if it has no host.
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

// requestNames adds the IDs of the request and the trace to each line of the log.
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

// An observation has the metrics, the traces and the access log of a server. Without the flags
// for them it does nothing, and costs nothing.
type observation struct {
	metrics *metrics.Metrics // nil if there is no listener for them
	admin   net.Listener
	access  *slog.Logger // nil if requests are not logged
	traces  *traces      // nil if they are sent nowhere
}

// observe starts traces and opens the operator's listener, if the flags ask for them.
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
		return nil, cannotListen("--admin-addr", w.adminAddr(), err)
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

// committed observes the commits of the store; nil without metrics.
func (o *observation) committed() func(int, time.Duration, error) {
	if o.metrics == nil {
		return nil
	}
	return o.metrics.Committed
}

// fetched observes requests for the keys of the issuer; nil without metrics.
func (o *observation) fetched() func(error) {
	if o.metrics == nil {
		return nil
	}
	return o.metrics.Fetched
}

// observer observes what the service does.
func (o *observation) observer() (told traintravel.Observer) {
	if o.metrics != nil {
		told = o.metrics.Observer()
	}
	if o.traces != nil {
		told.Begin = o.traces.Begin
	}
	return told
}

// wrap traces the requests that a service makes.
func (o *observation) wrap(opts *traintravel.Options) {
	if o.traces == nil {
		return
	}
	opts.Gateway = o.traces.Gateway(opts.Gateway)
	opts.Webhooks.Sender = o.traces.Sender(opts.Webhooks.Sender)
}

// store traces the use of the store.
func (o *observation) store(s traintravel.Store) traintravel.Store {
	if o.traces == nil {
		return s
	}
	return o.traces.Store(s)
}

// answered observes requests; nil without metrics and traces.
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

// handler observes the requests in progress.
func (o *observation) handler(h http.Handler) http.Handler {
	if o.metrics != nil {
		h = o.metrics.InFlight(h)
	}
	if o.traces != nil {
		h = o.traces.Handler(h)
	}
	return h
}

// servers are the operator's listener, if there is one. api answers for its health.
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
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		err := api.Ready(r.Context())
		if err == nil {
			api.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = json.NewEncoder(w).Encode(object{"title": "Not ready", "status": http.StatusServiceUnavailable, "detail": shownError(oneLine{err})})
	})
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

// fromHere refuses requests by another host name than one of this machine's own, which a page
// in a browser on this machine could use to read everything (DNS rebinding), and requests from
// pages of other sites, which cannot read the answer but cause work.
func fromHere(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		site := r.Header.Get("Sec-Fetch-Site")
		if host != "localhost" && !net.ParseIP(host).IsLoopback() || site == "cross-site" || site == "same-site" {
			http.Error(w, "Only this machine may use this listener: open it as localhost, and not from another site.", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}
