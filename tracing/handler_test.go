package tracing_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/traintravel/traintravel/tracing"
)

// A request's span is in the trace that the request names, if that is recorded, and says
// what came of it and nothing that was asked. What it leads to is asked in its trace.
func TestHandler(t *testing.T) {
	t.Parallel()
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for _, c := range []struct {
		route  string
		status int
		name   string
		code   codes.Code
	}{
		{"/bookings/{bookingId}", 200, "GET /bookings/{bookingId}", codes.Unset},
		{"", 404, "GET", codes.Unset},
		{"/trips", 500, "GET /trips", codes.Error},
		{"/trips", 0, "GET /trips", codes.Error},
	} {
		for _, flags := range []string{"00", "01"} {
			ended := tracetest.NewSpanRecorder()
			tr := tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(ended)))
			sent := http.Header{}
			h := tr.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				tracing.SendOn(r.Context(), sent)
				tr.Answered(r.Context(), r.Method, c.route, c.status)
			}))
			r := httptest.NewRequest("GET", "/secret?secret", nil)
			r.Header.Set("Traceparent", "00-"+id+"-"+parent+"-"+flags)
			r.Header.Set("User-Agent", "secret")
			h.ServeHTTP(httptest.NewRecorder(), r)
			if flags == "00" {
				if len(ended.Ended()) != 0 || len(sent.Get("Traceparent")) != 55 || sent.Get("Traceparent")[:36] != "00-"+id+"-" || sent.Get("Traceparent")[52:] != "-00" {
					t.Errorf("a trace that is not recorded: %d, %v", len(ended.Ended()), sent)
				}
				continue
			}
			span := ended.Ended()[0]
			if got := span.SpanContext(); span.Name() != c.name || span.Status().Code != c.code || span.SpanKind() != trace.SpanKindServer ||
				got.TraceID().String() != id || span.Parent().SpanID().String() != parent ||
				sent.Get("Traceparent") != "00-"+id+"-"+got.SpanID().String()+"-01" {
				t.Errorf("%v: %s %v, sent on as %v", c, span.Name(), span.Status(), sent)
			}
			want := []attribute.KeyValue{attribute.String("http.request.method", "GET"), attribute.Int("http.response.status_code", c.status)}
			if c.route != "" {
				want = append([]attribute.KeyValue{attribute.String("http.route", c.route)}, want...)
			}
			if got := span.Attributes(); !slices.Equal(got, want) {
				t.Errorf("%v: %v", c, got)
			}
		}
	}
}
