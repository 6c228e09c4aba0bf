package tracing_test

import (
	"testing"

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
