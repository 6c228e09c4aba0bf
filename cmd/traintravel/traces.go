package main

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/traintravel/traintravel/tracing"
)

// traces are sent where OTEL_EXPORTER_OTLP_ENDPOINT says. How, and how many, the
// variables of OpenTelemetry say: the exporter and the sampler read them themselves.
type traces struct {
	*tracing.Tracing
	provider *sdktrace.TracerProvider
}

// startTraces starts to send traces; nil if the environment names no endpoint.
func (p *program) startTraces(ctx context.Context) (*traces, error) {
	env := p.env()
	if env["OTEL_EXPORTER_OTLP_ENDPOINT"] == "" && env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == "" ||
		env["OTEL_TRACES_EXPORTER"] == "none" || env["OTEL_SDK_DISABLED"] == "true" {
		return nil, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if v := env[name]; v != "" && v != "http/protobuf" {
			return nil, usagef("%s: traces are sent as http/protobuf, not as %.200q", name, v)
		}
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "traintravel"), attribute.String("service.version", ownVersion())),
		resource.WithFromEnv())
	if err != nil {
		return nil, usagef("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { p.log.Warn("traces were not sent", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &traces{tracing.New(provider), provider}, nil
}

// stop sends what is left.
func (t *traces) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = t.provider.Shutdown(ctx)
}
