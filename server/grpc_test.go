package server_test

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
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"

	"varve/server"
	"varve/server/servertest"
)

const (
	rpcTraces = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
)

// TestGRPC: answers and errors of calls.
func TestGRPC(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.BodyLimit = 1 << 20 })
	c := servertest.Dial(t, h.Calls())
	logs := servertest.OTLPLogRequest(t, 100, false)
	for _, one := range []struct {
		name, method string
		message      []byte
		pairs        []string
		options      []grpc.CallOption
		code         codes.Code
		text         string
	}{
		{"records", servertest.RPCLogs, logs, nil, nil, codes.OK, ""},
		{"compressed", servertest.RPCLogs, logs, nil, []grpc.CallOption{grpc.UseCompressor("gzip")}, codes.OK, ""},
		{"nothing", servertest.RPCLogs, nil, nil, nil, codes.OK, ""},
		{"another table", servertest.RPCLogs, logs, []string{"x-service-log-table-name", "other"}, nil, codes.OK, ""},
		{"another database", servertest.RPCLogs, logs, []string{"x-service-db-name", "nowhere"}, nil,
			codes.InvalidArgument, "nowhere"},
		{"no message", servertest.RPCLogs, []byte("certainly not protobuf"), nil, nil, codes.InvalidArgument,
			"Failed to decode OTLP request"},
		{"cut", servertest.RPCLogs, logs[:len(logs)-5], nil, nil, codes.InvalidArgument,
			"Failed to decode OTLP request"},
		{"too large", servertest.RPCLogs, make([]byte, 2<<20), nil, nil, codes.ResourceExhausted,
			"length limit exceeded"},
		{"too large when decompressed", servertest.RPCLogs, make([]byte, 2<<20), nil,
			[]grpc.CallOption{grpc.UseCompressor("gzip")}, codes.ResourceExhausted, "length limit exceeded"},
		{"another pipeline", rpcTraces, nil, []string{"x-service-pipeline-name", "other"}, nil, codes.InvalidArgument,
			"service_trace_v1"},
		{"no method", "/opentelemetry.proto.collector.profiles.v1.ProfilesService/Export", nil, nil, nil,
			codes.Unimplemented, "unknown method"},
	} {
		t.Run(one.name, func(t *testing.T) {
			_, err := servertest.Call(c, one.method, one.message, one.pairs, one.options...)
			if got := status.Convert(err); got.Code() != one.code || !strings.Contains(got.Message(), one.text) {
				t.Errorf("got %v %q, want %v with %q", got.Code(), got.Message(), one.code, one.text)
			}
		})
	}
	h.Holds("SELECT count(*) FROM opentelemetry_logs", "[[200]]")
	h.Holds("SELECT count(*) FROM other", "[[100]]")
	h.Want(h.Do("GET", "/metrics", ""), 200,
		`varve_http_requests_total{method="POST",path="grpc /v1/otlp/v1/logs",status="3"}`)

	// A call that tells of records that were refused does so in its answer.
	half := append(servertest.OTLPLogRequest(t, 1, false), 0)
	half = bytes.Replace(half[:len(half)-1], []byte("worker-0"), []byte("worker-\xff"), 1)
	if _, err := servertest.Call(c, servertest.RPCLogs, half, nil); status.Code(err) != codes.InvalidArgument ||
		!strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("all refused: %v", err)
	}
	answer, err := servertest.Call(c, servertest.RPCLogs, append(half, servertest.OTLPLogRequest(t, 1, false)...), nil)
	if err != nil || !strings.Contains(string(answer), "not valid UTF-8") || answer[0] != 1<<3|2 || answer[2] != 1<<3 ||
		answer[3] != 1 {
		t.Errorf("one of two refused: %q, %v", answer, err)
	}
}

// TestGRPCConnections: connections past the bound are closed while those before them have messages in hand, and take no
// room when they are gone.
func TestGRPCConnections(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.MaxGRPCConnections = 1 })
	addr := h.Calls()
	first, frames := headersOnly(h, addr, 1)
	if err := frames.WriteData(1, false, []byte{0, 0, 0, 1, 0, 1}); err != nil {
		t.Fatal(err)
	}
	h.Eventually(func() bool { return h.Server.MessagesInHand() == 1 })
	second, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	second.SetReadDeadline(time.Now().Add(20 * time.Second))
	if n, err := second.Read(make([]byte, 1)); n > 0 || err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("a connection too many: %d bytes, %v", n, err)
	}
	h.Want(h.Do("GET", "/metrics", ""), 200, "varve_grpc_connections_refused_total 1\n")
	first.Close()
	third := servertest.Dial(t, addr)
	if _, err := servertest.Call(third, servertest.RPCLogs, nil, nil, grpc.WaitForReady(true)); err != nil {
		t.Errorf("after the first is gone: %v", err)
	}
}

// TestGRPCShutdown: calls in hand are finished, idle connections do not keep the server.
func TestGRPCShutdown(t *testing.T) {
	h := servertest.Real(t, nil)
	c := servertest.Dial(t, h.Calls())
	if _, err := servertest.Call(c, servertest.RPCLogs, servertest.OTLPLogRequest(t, 10, false), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	begun := time.Now()
	if err := h.Server.Shutdown(ctx); err != nil || time.Since(begun) > 10*time.Second {
		t.Errorf("shutdown took %v: %v", time.Since(begun), err)
	}
	if _, err := servertest.Call(c, servertest.RPCLogs, nil, nil); status.Code(err) != codes.Unavailable {
		t.Errorf("after it: %v", err)
	}
}

// TestGRPCGarbage: what is no gRPC gets an answer or is cut off; the server lives.
func TestGRPCGarbage(t *testing.T) {
	h := servertest.Real(t, nil)
	addr := h.Calls()
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
	if _, err := servertest.Call(servertest.Dial(t, addr), servertest.RPCLogs, servertest.OTLPLogRequest(t, 1, false),
		nil); err != nil {
		t.Error(err)
	}
}
