// Package tracing creates OpenTelemetry spans for the operations of a [traintravel.Service]
// and its calls of the store, the gateway and the webhook sender:
//
//	t := tracing.New(provider)
//	service, err := traintravel.New(t.Store(store), traintravel.Options{
//		Observer: traintravel.Observer{Begin: t.Begin},
//		Gateway:  t.Gateway(gateway),
//	})
//
// [Tracing.Handler] creates spans for requests. Spans contain names, statuses, the routes
// of requests and the types of events. They contain no stored data, no requests or responses,
// and no error texts, which may quote these; the log has the error texts, with the trace's ID.
package tracing

import (
	"context"
	"net/url"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/traintravel/traintravel"
)

// Tracing makes spans. Make it with New. It is safe for concurrent use.
type Tracing struct{ tracer trace.Tracer }

// New returns a Tracing whose spans a provider has.
func New(provider trace.TracerProvider) *Tracing {
	return &Tracing{provider.Tracer("github.com/traintravel/traintravel")}
}

// Begin begins the span of an operation: it is [traintravel.Observer.Begin].
func (t *Tracing) Begin(ctx context.Context, operation string) (context.Context, func(error)) {
	if unsampled(ctx) {
		return ctx, func(error) {}
	}
	ctx, span := t.tracer.Start(ctx, operation)
	return ctx, func(err error) { end(span, err) }
}

// call begins the span of a call of something else.
func (t *Tracing) call(ctx context.Context, name string) (context.Context, trace.Span) {
	if unsampled(ctx) {
		return ctx, none
	}
	return t.tracer.Start(ctx, name, spanOfClient)
}

var (
	spanOfClient = trace.WithSpanKind(trace.SpanKindClient)
	none         = trace.SpanFromContext(context.Background()) // does nothing
)

// unsampled says that what goes on belongs to a trace that is not recorded: then nor are
// its parts, which need no spans.
func unsampled(ctx context.Context) bool {
	sc := trace.SpanContextFromContext(ctx)
	return sc.IsValid() && !sc.IsSampled()
}

func end(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// Store returns a store that creates spans for its calls. It is a [traintravel.LocalStore] if
// the given store is one.
func (t *Tracing) Store(s traintravel.Store) traintravel.Store {
	if local, ok := s.(traintravel.LocalStore); ok {
		return localStore{store{s, t}, local}
	}
	return store{s, t}
}

type store struct {
	traintravel.Store
	t *Tracing
}

type localStore struct {
	store
	local traintravel.LocalStore
}

func (s localStore) Claims() *traintravel.Claims { return s.local.Claims() }

// Ready implements [traintravel.ReadyStore], whether the other store does or not.
func (s store) Ready(ctx context.Context) error {
	if r, ok := s.Store.(traintravel.ReadyStore); ok {
		return r.Ready(ctx)
	}
	return nil
}

func (s store) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	ctx, span := s.t.call(ctx, "store.Get")
	values, err := s.Store.Get(ctx, keys...)
	end(span, err)
	return values, err
}

func (s store) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	ctx, span := s.t.call(ctx, "store.List")
	records, err := s.Store.List(ctx, r)
	end(span, err)
	return records, err
}

func (s store) View(ctx context.Context, fn func(traintravel.Reader) error) (err error) {
	ctx, span := s.t.call(ctx, "store.View")
	defer func() { end(span, err) }() // fn may panic
	return s.Store.View(ctx, fn)
}

func (s store) Update(ctx context.Context, fn func(traintravel.Tx) error) (err error) {
	ctx, span := s.t.call(ctx, "store.Update")
	defer func() { end(span, err) }()
	return s.Store.Update(ctx, fn)
}

// Gateway returns a gateway that creates spans for its calls. It is a [traintravel.Canceller]
// if the given gateway is one, and nil if that is nil.
func (t *Tracing) Gateway(g traintravel.PaymentGateway) traintravel.PaymentGateway {
	if g == nil {
		return nil
	}
	if c, ok := g.(traintravel.Canceller); ok {
		return canceller{gateway{g, t}, c}
	}
	return gateway{g, t}
}

type gateway struct {
	traintravel.PaymentGateway
	t *Tracing
}

type canceller struct {
	gateway
	c traintravel.Canceller
}

func (g gateway) ask(ctx context.Context, name string, call func(context.Context) (traintravel.Outcome, error)) (out traintravel.Outcome, err error) {
	ctx, span := g.t.call(ctx, name)
	defer func() {
		if err == nil {
			span.SetAttributes(attribute.String("traintravel.payment.status", string(out.Status)))
		}
		end(span, err)
	}()
	return call(ctx)
}

func (g gateway) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	return g.ask(ctx, "gateway.Charge", func(ctx context.Context) (traintravel.Outcome, error) { return g.PaymentGateway.Charge(ctx, c) })
}

func (g gateway) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return g.ask(ctx, "gateway.Lookup", func(ctx context.Context) (traintravel.Outcome, error) { return g.PaymentGateway.Lookup(ctx, id) })
}

func (g gateway) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	return g.ask(ctx, "gateway.Refund", func(ctx context.Context) (traintravel.Outcome, error) { return g.PaymentGateway.Refund(ctx, r) })
}

func (g canceller) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return g.ask(ctx, "gateway.Cancel", func(ctx context.Context) (traintravel.Outcome, error) { return g.c.Cancel(ctx, id) })
}

// Sender returns a webhook sender that creates spans for its posts, with the host, the type
// of the event and the status.
func (t *Tracing) Sender(s traintravel.WebhookSender) traintravel.WebhookSender { return sender{s, t} }

type sender struct {
	traintravel.WebhookSender
	t *Tracing
}

func (s sender) Send(ctx context.Context, p traintravel.WebhookPost) (a traintravel.WebhookAnswer, err error) {
	ctx, span := s.t.call(ctx, "webhook.Send")
	defer func() {
		if err == nil {
			span.SetAttributes(attribute.Int("http.response.status_code", a.Status))
		}
		end(span, err)
	}()
	span.SetAttributes(attribute.String("traintravel.event.type", string(p.Event.Type)))
	if u, err := url.Parse(p.URL); err == nil {
		span.SetAttributes(attribute.String("server.address", u.Hostname()))
	}
	return s.WebhookSender.Send(ctx, p)
}
