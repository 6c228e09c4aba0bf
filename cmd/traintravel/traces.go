package main

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"github.com/go-logr/logr"
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
			return nil, usagef("invalid %s %.200q: want http/protobuf", name, v)
		}
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		u, err := url.Parse(env[name])
		switch {
		case env[name] == "":
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			return nil, usagef("invalid %s %.200q: want an http or https URL", name, withoutSecrets(env[name]))
		case u.User != nil:
			return nil, usagef("invalid %s %.200q: a user in the URL is not sent; set OTEL_EXPORTER_OTLP_HEADERS to the credentials, such as Authorization=Basic%%20…", name, withoutSecrets(env[name]))
		}
	}
	otel.SetLogger(logr.New(settingsOfTraces{p.log}))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "traintravel"), attribute.String("service.version", ownVersion())),
		resource.WithFromEnv())
	if err != nil {
		return nil, usagef("invalid OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { p.log.Warn("sending traces failed", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &traces{tracing.New(provider), provider}, nil
}

// settingsOfTraces logs what OpenTelemetry cannot read of its variables, without their
// values: there are passwords among them.
type settingsOfTraces struct{ log *slog.Logger }

func (settingsOfTraces) Init(logr.RuntimeInfo)            {}
func (settingsOfTraces) Enabled(int) bool                 { return false }
func (settingsOfTraces) Info(int, string, ...any)         {}
func (s settingsOfTraces) WithValues(...any) logr.LogSink { return s }
func (s settingsOfTraces) WithName(string) logr.LogSink   { return s }
func (s settingsOfTraces) Error(_ error, what string, _ ...any) {
	s.log.Warn("invalid OTEL_ environment variable ignored", "what", what)
}

// stop sends what is left.
func (t *traces) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = t.provider.Shutdown(ctx)
}
