package otlp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otellog "go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"varve/server"
	"varve/server/servertest"
)

// sdk are the exporters of the SDK for Go over one transport.
type sdk struct {
	traces  *otlptrace.Exporter
	metrics sdkmetric.Exporter
	logs    log.Exporter
}

// must returns x, or ends the test.
func must[T any](t *testing.T, x T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// overHTTP and overGRPC make exporters that know the address and the credentials alone.
func overHTTP(t *testing.T, h *servertest.House, headers map[string]string) sdk {
	ctx, base := context.Background(), h.URL+"/v1/otlp"
	traces, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base+"/v1/traces"),
		otlptracehttp.WithHeaders(headers), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	e := sdk{traces: must(t, traces, err)}
	metrics, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(base+"/v1/metrics"),
		otlpmetrichttp.WithHeaders(headers))
	e.metrics = must(t, metrics, err)
	logs, err := otlploghttp.New(ctx, otlploghttp.WithEndpointURL(base+"/v1/logs"), otlploghttp.WithHeaders(headers))
	e.logs = must(t, logs, err)
	return e
}

func overGRPC(t *testing.T, addr string, headers map[string]string) sdk {
	ctx := context.Background()
	traces, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(addr), otlptracegrpc.WithInsecure(),
		otlptracegrpc.WithHeaders(headers), otlptracegrpc.WithCompressor("gzip"))
	e := sdk{traces: must(t, traces, err)}
	metrics, err := otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpoint(addr), otlpmetricgrpc.WithInsecure(),
		otlpmetricgrpc.WithHeaders(headers))
	e.metrics = must(t, metrics, err)
	logs, err := otlploggrpc.New(ctx, otlploggrpc.WithEndpoint(addr), otlploggrpc.WithInsecure(),
		otlploggrpc.WithHeaders(headers))
	e.logs = must(t, logs, err)
	return e
}

// send makes 100 spans, 3 metrics and 100 log records with the SDK and waits until they are taken.
func (e sdk) send(t *testing.T, service string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	about := resource.NewSchemaless(attribute.String("service.name", service), attribute.String("host.name", "h1"))

	spans := trace.NewTracerProvider(trace.WithBatcher(e.traces), trace.WithResource(about))
	tracer := spans.Tracer("sdk")
	for i := range 50 {
		outer, span := tracer.Start(ctx, "outer")
		span.SetAttributes(attribute.Int("i", i), attribute.String("text", "ü"),
			attribute.StringSlice("list", []string{"a", "b"}))
		_, inner := tracer.Start(outer, "inner")
		inner.AddEvent("found", oteltrace.WithAttributes(attribute.Float64("x", 0.5)))
		inner.End()
		span.End()
	}
	if err := spans.Shutdown(ctx); err != nil {
		t.Fatalf("spans: %v", err)
	}

	metrics := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(e.metrics)),
		sdkmetric.WithResource(about))
	meter := metrics.Meter("sdk")
	counter, err := meter.Int64Counter(service+".requests", metric.WithUnit("By"))
	must(t, counter, err).Add(ctx, 42, metric.WithAttributes(attribute.Bool("ok", true)))
	histogram, err := meter.Float64Histogram(service+".latency", metric.WithUnit("s"))
	for _, x := range []float64{0.001, 0.2, 30} {
		must(t, histogram, err).Record(ctx, x)
	}
	if err := metrics.Shutdown(ctx); err != nil {
		t.Fatalf("metrics: %v", err)
	}

	logs := log.NewLoggerProvider(log.WithProcessor(log.NewBatchProcessor(e.logs)), log.WithResource(about))
	logger := logs.Logger("sdk")
	for i := range 100 {
		var r otellog.Record
		r.SetTimestamp(time.Unix(1_700_000_000, int64(i)))
		r.SetSeverity(otellog.SeverityWarn)
		r.SetBody(attribute.StringValue(fmt.Sprint("line ", i)))
		r.AddAttributes(attribute.Int("i", i))
		logger.Emit(ctx, r)
	}
	if err := logs.Shutdown(ctx); err != nil {
		t.Fatalf("logs: %v", err)
	}
}

// oneSpan is a span that is not sent by a provider.
func oneSpan() []trace.ReadOnlySpan {
	return tracetest.SpanStubs{{Name: "one",
		SpanContext: oteltrace.NewSpanContext(
			oteltrace.SpanContextConfig{TraceID: [16]byte{1}, SpanID: [8]byte{1}})}}.Snapshots()
}

// TestOTLPFromSDK: the SDK for Go, over either transport, with credentials, knows the address alone and its data
// arrives.
func TestOTLPFromSDK(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:root=pw,reader:ro=r")
	})
	addr := h.Calls()
	allowed := map[string]string{"authorization": servertest.Basic("root", "pw")}
	overHTTP(t, h, allowed).send(t, "http")
	overGRPC(t, addr, allowed).send(t, "grpc")
	for _, service := range []string{"http", "grpc"} {
		for query, want := range map[string]string{
			"SELECT count(*), count(DISTINCT trace_id), count(parent_span_id), sum(\"span_attributes.i\") FROM opentelemetry_traces WHERE service_name = '%s'":             "[[100 50 50 1225]]",
			"SELECT service_name, span_name, span_kind FROM opentelemetry_traces_operations WHERE service_name = '%s' ORDER BY span_name":                                  "[[%s inner SPAN_KIND_INTERNAL] [%s outer SPAN_KIND_INTERNAL]]",
			"SELECT service_value, ok, job FROM %s_requests_bytes_total":                                                                                                   "[[42 true %s]]",
			"SELECT service_value FROM %s_latency_seconds_bucket WHERE le = '+Inf'":                                                                                        "[[3]]",
			"SELECT count(*), min(severity_text), max(severity_number) FROM opentelemetry_logs WHERE CAST(resource_attributes AS STRING) LIKE '%\"service.name\":\"%s\"%'": "[[100  13]]",
		} {
			query, want := strings.ReplaceAll(query, "%s", service), strings.ReplaceAll(want, "%s", service)
			if got := fmt.Sprint(h.Selected(query, "Authorization", allowed["authorization"])); got != want {
				t.Errorf("%s\n got %s\nwant %s", query, got, want)
			}
		}
	}
	denied := overGRPC(t, addr, map[string]string{"authorization": servertest.Basic("reader", "r")})
	if err := denied.traces.ExportSpans(context.Background(), oneSpan()); err == nil ||
		!strings.Contains(err.Error(), "PermissionDenied") {
		t.Errorf("a reader writes: %v", err)
	}
	nobody := overGRPC(t, addr, nil)
	if err := nobody.traces.ExportSpans(context.Background(), oneSpan()); err == nil ||
		!strings.Contains(err.Error(), "Unauthenticated") {
		t.Errorf("nobody writes: %v", err)
	}
}
