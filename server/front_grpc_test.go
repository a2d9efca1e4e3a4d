package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// rawCodec sends and takes messages as bytes.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }
func (rawCodec) Name() string                       { return "proto" }

const (
	rpcLogs   = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
	rpcTraces = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
)

// dial connects to the server's port of gRPC.
func dial(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(rawCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// call calls a method with a message; pairs are metadata.
func call(c *grpc.ClientConn, method string, message []byte, pairs []string, options ...grpc.CallOption) (answer []byte,
	err error) {
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(context.Background(), pairs...), 40*time.Second)
	defer cancel()
	err = c.Invoke(ctx, method, &message, &answer, options...)
	return answer, err
}

// TestGRPC: answers and errors of calls.
func TestGRPC(t *testing.T) {
	h := real(t, func(o *Options) { o.BodyLimit = 1 << 20 })
	c := dial(t, h.calls())
	logs := otlpLogRequest(t, 100, false)
	for _, one := range []struct {
		name, method string
		message      []byte
		pairs        []string
		options      []grpc.CallOption
		code         codes.Code
		text         string
	}{
		{"records", rpcLogs, logs, nil, nil, codes.OK, ""},
		{"compressed", rpcLogs, logs, nil, []grpc.CallOption{grpc.UseCompressor("gzip")}, codes.OK, ""},
		{"nothing", rpcLogs, nil, nil, nil, codes.OK, ""},
		{"another table", rpcLogs, logs, []string{"x-service-log-table-name", "other"}, nil, codes.OK, ""},
		{"another database", rpcLogs, logs, []string{"x-service-db-name", "nowhere"}, nil, codes.InvalidArgument,
			"nowhere"},
		{"no message", rpcLogs, []byte("certainly not protobuf"), nil, nil, codes.InvalidArgument,
			"Failed to decode OTLP request"},
		{"cut", rpcLogs, logs[:len(logs)-5], nil, nil, codes.InvalidArgument, "Failed to decode OTLP request"},
		{"too large", rpcLogs, make([]byte, 2<<20), nil, nil, codes.ResourceExhausted, "length limit exceeded"},
		{"too large when decompressed", rpcLogs, make([]byte, 2<<20), nil,
			[]grpc.CallOption{grpc.UseCompressor("gzip")}, codes.ResourceExhausted, "length limit exceeded"},
		{"another pipeline", rpcTraces, nil, []string{"x-service-pipeline-name", "other"}, nil, codes.InvalidArgument,
			"service_trace_v1"},
		{"no method", "/opentelemetry.proto.collector.profiles.v1.ProfilesService/Export", nil, nil, nil,
			codes.Unimplemented, "unknown method"},
	} {
		t.Run(one.name, func(t *testing.T) {
			_, err := call(c, one.method, one.message, one.pairs, one.options...)
			if got := status.Convert(err); got.Code() != one.code || !strings.Contains(got.Message(), one.text) {
				t.Errorf("got %v %q, want %v with %q", got.Code(), got.Message(), one.code, one.text)
			}
		})
	}
	h.holds("SELECT count(*) FROM opentelemetry_logs", "[[200]]")
	h.holds("SELECT count(*) FROM other", "[[100]]")
	h.want(h.do("GET", "/metrics", ""), 200,
		`varve_http_requests_total{method="POST",path="grpc /v1/otlp/v1/logs",status="3"}`)

	// A call that tells of records that were refused does so in its answer.
	half := append(otlpLogRequest(t, 1, false), 0)
	half = bytes.Replace(half[:len(half)-1], []byte("worker-0"), []byte("worker-\xff"), 1)
	if _, err := call(c, rpcLogs, half, nil); status.Code(err) != codes.InvalidArgument ||
		!strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("all refused: %v", err)
	}
	answer, err := call(c, rpcLogs, append(half, otlpLogRequest(t, 1, false)...), nil)
	if err != nil || !strings.Contains(string(answer), "not valid UTF-8") || answer[0] != 1<<3|2 || answer[2] != 1<<3 ||
		answer[3] != 1 {
		t.Errorf("one of two refused: %q, %v", answer, err)
	}
}

// messagesInHand is how many messages of gRPC have begun and are not answered.
func (h *house) messagesInHand() (n int64) {
	h.s.rpcConns.mu.Lock()
	defer h.s.rpcConns.mu.Unlock()
	for k := range h.s.rpcConns.conns {
		n += k.messages.Load()
	}
	return n
}

// TestGRPCConnections: connections past the bound are closed while those before them have messages in hand, and take no
// room when they are gone.
func TestGRPCConnections(t *testing.T) {
	h := real(t, func(o *Options) { o.MaxGRPCConnections = 1 })
	addr := h.calls()
	first, frames := h.headersOnly(addr, 1)
	if err := frames.WriteData(1, false, []byte{0, 0, 0, 1, 0, 1}); err != nil {
		t.Fatal(err)
	}
	h.eventually(func() bool { return h.messagesInHand() == 1 })
	second, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	second.SetReadDeadline(time.Now().Add(20 * time.Second))
	if n, err := second.Read(make([]byte, 1)); n > 0 || err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("a connection too many: %d bytes, %v", n, err)
	}
	h.want(h.do("GET", "/metrics", ""), 200, "varve_grpc_connections_refused_total 1\n")
	first.Close()
	third := dial(t, addr)
	if _, err := call(third, rpcLogs, nil, nil, grpc.WaitForReady(true)); err != nil {
		t.Errorf("after the first is gone: %v", err)
	}
}

// TestGRPCShutdown: calls in hand are finished, idle connections do not keep the server.
func TestGRPCShutdown(t *testing.T) {
	h := real(t, nil)
	c := dial(t, h.calls())
	if _, err := call(c, rpcLogs, otlpLogRequest(t, 10, false), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	begun := time.Now()
	if err := h.s.Shutdown(ctx); err != nil || time.Since(begun) > 10*time.Second {
		t.Errorf("shutdown took %v: %v", time.Since(begun), err)
	}
	if _, err := call(c, rpcLogs, nil, nil); status.Code(err) != codes.Unavailable {
		t.Errorf("after it: %v", err)
	}
}

// TestGRPCGarbage: what is no gRPC gets an answer or is cut off; the server lives.
func TestGRPCGarbage(t *testing.T) {
	h := real(t, nil)
	addr := h.calls()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Close()
	for _, send := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\x00\x01\x02",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", packed.String()} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(2 * time.Second))
		c.Write([]byte(send))
		c.Read(make([]byte, 64))
		c.Close()
	}
	if _, err := call(dial(t, addr), rpcLogs, otlpLogRequest(t, 1, false), nil); err != nil {
		t.Error(err)
	}
}
