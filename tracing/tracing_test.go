package tracing_test

import (
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
	"github.com/traintravel/traintravel/tracing"
)

// A store with spans keeps the contract, and is local if it was.
func TestStore(t *testing.T) {
	t.Parallel()
	tr := tracing.New(noop.NewTracerProvider())
	storetest.Run(t, func(testing.TB) traintravel.Store { return tr.Store(memstore.New()) })
	if _, ok := tr.Store(memstore.New()).(traintravel.LocalStore); !ok {
		t.Error("it is not local any more")
	}
	if _, ok := tr.Store(foreign{memstore.New()}).(traintravel.LocalStore); ok {
		t.Error("one that is not local has become so")
	}
}

type foreign struct{ traintravel.Store }

// Parts of a trace that is not recorded have no spans, and those of one that is have.
func TestUnsampled(t *testing.T) {
	t.Parallel()
	for sampler, want := range map[sdktrace.Sampler]int{sdktrace.NeverSample(): 0, sdktrace.AlwaysSample(): 3} {
		ended := tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(ended), sdktrace.WithSampler(sdktrace.ParentBased(sampler)))
		tr := tracing.New(provider)
		ctx, request := provider.Tracer("test").Start(t.Context(), "request")
		ctx, end := tr.Begin(ctx, "Trip")
		if _, err := tr.Store(memstore.New()).Get(ctx, traintravel.Key{Table: traintravel.TableMeta, ID: "x"}); err != nil {
			t.Fatal(err)
		}
		end(nil)
		request.End()
		if got := len(ended.Ended()); got != want {
			t.Errorf("%s: %d spans, want %d", sampler.Description(), got, want)
		}
	}
}

// A gateway with spans can cancel if it could.
func TestGateway(t *testing.T) {
	t.Parallel()
	tr := tracing.New(noop.NewTracerProvider())
	if _, ok := tr.Gateway(sandbox.New()).(traintravel.Canceller); !ok {
		t.Error("it cannot cancel any more")
	}
	if _, ok := tr.Gateway(unfenced{sandbox.New()}).(traintravel.Canceller); ok {
		t.Error("one that cannot cancel does")
	}
	if tr.Gateway(nil) != nil {
		t.Error("none has become one")
	}
}

type unfenced struct{ traintravel.PaymentGateway }
