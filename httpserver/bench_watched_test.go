package httpserver_test

import (
	"context"
	"net/http"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/metrics"
	"github.com/traintravel/traintravel/tracing"
)

// BenchmarkWatched reads a booking from a server with metrics, with traces of which one
// in a hundred is sampled, and with both, wired as the command does, beside one that
// nobody watches.
func BenchmarkWatched(b *testing.B) {
	counted := metrics.New("bench")
	withMetrics := func(w *world) {
		w.service_.Observer = counted.Observer()
		w.options.Answered = func(_ context.Context, a httpserver.Answer) {
			counted.Answered(metrics.Request{Method: a.Method, Route: a.Route, Status: a.Status, Bytes: a.Bytes, Took: a.Took, Problem: a.Problem})
		}
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(discarding{}), sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(0.01))))
	b.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	traces := tracing.New(provider)
	withTraces := func(w *world) {
		count := w.options.Answered
		w.options.Answered = func(ctx context.Context, a httpserver.Answer) {
			if count != nil {
				count(ctx, a)
			}
			traces.Answered(ctx, a.Method, a.Route, a.Status)
		}
		w.store = traces.Store(w.store)
		w.service_.Observer.Begin = traces.Begin
	}
	b.Run("metrics", func(b *testing.B) {
		compare(b, [2]string{"plain", "watched"}, [2]load{readBooking(b, nil), readBooking(b, counted.InFlight, withMetrics)})
	})
	b.Run("traces", func(b *testing.B) {
		compare(b, [2]string{"plain", "watched"}, [2]load{readBooking(b, nil), readBooking(b, traces.Handler, withTraces)})
	})
	b.Run("both", func(b *testing.B) {
		compare(b, [2]string{"plain", "watched"}, [2]load{readBooking(b, nil), readBooking(b, func(h http.Handler) http.Handler { return traces.Handler(counted.InFlight(h)) }, withMetrics, withTraces)})
	})
}

// readBooking reads a booking from a server of its own, below what wraps it.
func readBooking(b *testing.B, wrap func(http.Handler) http.Handler, options ...func(*world)) load {
	b.Helper()
	w, token := benchWorld(b, options...)
	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: base, ID: "anna"}, Client: "bench"}
	booking, err := w.service.CreateBooking(b.Context(), anna, traintravel.NewBooking{TripID: w.spread(1)[0], PassengerName: "Anna Example"})
	if err != nil {
		b.Fatal(err)
	}
	request := []byte("GET /bookings/" + booking.ID.String() + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nAuthorization: Bearer " + token + "\r\n\r\n")
	var h http.Handler = w.server
	if wrap != nil {
		h = wrap(h)
	}
	return over(wires(b, h), 200, func() []byte { return request })
}

// discarding is an exporter of spans to nowhere.
type discarding struct{}

func (discarding) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (discarding) Shutdown(context.Context) error                             { return nil }
