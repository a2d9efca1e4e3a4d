package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// bytesCodec sends and takes messages as bytes.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }
func (bytesCodec) Name() string                       { return "proto" }

// TestGRPCTakesTLS: the port of gRPC has the certificate of HTTP, knows users, and says nothing to who speaks plain
// gRPC. No password is in the log.
func TestGRPCTakesTLS(t *testing.T) {
	cert, key := writeCertificate(t, t.TempDir(), "grpc")
	s := serve(t, nil, "--tls-cert", cert, "--tls-key", key, "--set", "grpc.addr=127.0.0.1:0", "--user-provider",
		"static_user_provider:cmd:a=hush_secret", "--log-level", "debug")
	addr := s.wait(regexp.MustCompile(`(?m)^grpc +(\S+)`))[1]
	secured := credentials.NewTLS(&tls.Config{InsecureSkipVerify: true}) //nolint:gosec // the certificate is the test's own
	for _, c := range []struct {
		name     string
		creds    credentials.TransportCredentials
		password string
		want     codes.Code
	}{
		{"right", secured, "hush_secret", codes.OK}, {"wrong", secured, "wrong_secret", codes.Unauthenticated},
		{"none", secured, "", codes.Unauthenticated},
		{"plain", insecure.NewCredentials(), "hush_secret", codes.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(c.creds),
				grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if c.password != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization",
					"Basic "+base64.StdEncoding.EncodeToString([]byte("a:"+c.password)))
			}
			var message, answer []byte
			err = conn.Invoke(ctx, "/opentelemetry.proto.collector.logs.v1.LogsService/Export", &message, &answer)
			if got := status.Code(err); got != c.want || err != nil && strings.Contains(err.Error(), "_secret") {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if said := s.said(); strings.Contains(said, "_secret") {
		t.Errorf("the server says a password:\n%s", said)
	}
}
