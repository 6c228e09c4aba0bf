package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traceContext is the form in which traces come from others and are sent on: that of
// W3C Trace Context.
var traceContext propagation.TraceContext

var spanOfServer = trace.WithSpanKind(trace.SpanKindServer)

// Handler returns a handler that creates a span for each request, in the trace that the
// request names (W3C Trace Context). Call [Tracing.Answered] with the result of a request.
// A request whose trace is not sampled costs almost nothing.
func (t *Tracing) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if r.Header["Traceparent"] != nil {
			ctx = traceContext.Extract(ctx, propagation.HeaderCarrier(r.Header))
		}
		ctx, span := t.tracer.Start(ctx, "HTTP", spanOfServer)
		defer span.End()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Answered records the result of the request whose span is in the context. The route is that
// of the operation, such as /bookings/{bookingId}, or empty if no operation matched; the
// status is zero if the connection was closed before the response.
func (t *Tracing) Answered(ctx context.Context, method, route string, status int) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	name := method
	if route != "" {
		name += " " + route
		span.SetAttributes(attribute.String("http.route", route))
	}
	span.SetName(name)
	span.SetAttributes(attribute.String("http.request.method", method), attribute.Int("http.response.status_code", status))
	if status == 0 || status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
}

// SendOn writes into the headers of a request to others the trace that it belongs to.
func SendOn(ctx context.Context, h http.Header) {
	traceContext.Inject(ctx, propagation.HeaderCarrier(h))
}
