package servertest

import (
	"bytes"
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
)

// RawCodec sends and takes messages as bytes.
type RawCodec struct{}

func (RawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (RawCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }

func (RawCodec) Name() string { return "proto" }

// RPCLogs is the method that takes log records.
const RPCLogs = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"

// Dial connects to the server's port of gRPC.
func Dial(t testing.TB, addr string) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(RawCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Call calls a method with a message; pairs are metadata.
func Call(c *grpc.ClientConn, method string, message []byte, pairs []string, options ...grpc.CallOption) (answer []byte,
	err error) {
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(context.Background(), pairs...), 40*time.Second)
	defer cancel()
	err = c.Invoke(ctx, method, &message, &answer, options...)
	return answer, err
}

// Calls starts the server's port of gRPC; it gives the address.
func (h *House) Calls() string {
	h.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- h.Server.ServeGRPC(ln) }()
	h.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := h.Server.Shutdown(ctx); err != nil {
			h.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			h.Errorf("ServeGRPC: %v", err)
		}
	})
	return ln.Addr().String()
}
