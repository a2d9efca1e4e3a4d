package server_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"varve/server"
	"varve/server/servertest"
)

// certified makes a certificate for 127.0.0.1 and the pool of who trusts it.
func certified(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	known.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, known
}

// secured serves on another address that speaks TLS, and returns it.
func secured(h *servertest.House, config *tls.Config, serve func(net.Listener) error) string {
	h.Helper()
	ln := h.Listen()
	served := make(chan error, 1)
	go func() { served <- serve(tls.NewListener(ln, config)) }()
	h.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		h.Server.Shutdown(ctx) // a test that left a connection open does not fail for it
		if err := <-served; err != nil {
			h.Errorf("serve: %v", err)
		}
	})
	return ln.Addr().String()
}

// TestStrangers: clients of PostgreSQL, and those of HTTP at a port of TLS, are told at once where they have come.
func TestStrangers(t *testing.T) {
	h := servertest.Open(t, nil)
	cert, _ := certified(t)
	secure := secured(h, &tls.Config{Certificates: []tls.Certificate{cert}}, h.Server.Serve)
	startup := "\x00\x00\x00\x11\x00\x03\x00\x00user\x00ann\x00\x00"
	const wishTLS, wishGSS = "\x00\x00\x00\x08\x04\xd2\x16\x2f", "\x00\x00\x00\x08\x04\xd2\x16\x30"
	refusal := "SFATAL\x00VFATAL\x00C08P01\x00M" + server.RefusalOfPsql + "\x00\x00"
	for _, one := range []struct{ name, addr, send, want string }{
		{"packet", h.Addr, startup, "E\x00\x00\x00"},
		{"wish for TLS", h.Addr, wishTLS + startup, "NE\x00\x00\x00"},
		{"both wishes", h.Addr, wishGSS + wishTLS + startup, "NNE\x00\x00\x00"},
		{"packet to TLS", secure, startup, "E\x00\x00\x00"},
		{"HTTP to TLS", secure, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
	} {
		got := exchangeRaw(t, one.addr, one.send)
		end := refusal
		if strings.HasPrefix(one.want, "HTTP") {
			end = "\r\n\r\n" + server.RefusalOfTLS
		}
		if !strings.HasPrefix(got, one.want) || !strings.HasSuffix(got, end) {
			t.Errorf("%s: got %q, want %q .. %q", one.name, got, one.want, end)
		}
	}
	if got := exchangeRaw(t, h.Addr, wishGSS+wishTLS+wishGSS+wishTLS); got != "NN" {
		t.Errorf("wishes without end: got %q", got)
	}
	h.Want(h.Do("GET", "/health", ""), 200, "{}")
}

// TestPsqlIsToldAtOnce runs the client itself, with and without its wishes.
func TestPsqlIsToldAtOnce(t *testing.T) {
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Log("psql is not here: TestStrangers sends what it does")
		return
	}
	h := servertest.Open(t, nil)
	host, port, err := net.SplitHostPort(h.Addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"prefer", "disable"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, psql, "-w", "host="+host+" port="+port+" user=ann dbname=public sslmode="+mode,
			"-c", "SELECT 1")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), server.RefusalOfPsql) {
			t.Errorf("sslmode=%s: %v %s", mode, err, out)
		}
		cancel()
	}
}

// exchangeRaw sends bytes and returns all that comes until the connection ends.
func exchangeRaw(t *testing.T, addr, send string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, send); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := got.ReadFrom(c); err != nil {
		t.Errorf("%q: the connection ends with %v", send, err)
	}
	return got.String()
}

// TestGRPCOverTLS: a client of gRPC that trusts the certificate writes over TLS, with its password, and another gets
// nothing.
func TestGRPCOverTLS(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Users = servertest.Users(t, "static_user_provider:cmd:ann=a") })
	cert, known := certified(t)
	addr := secured(h, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}},
		h.Server.ServeGRPC)
	as := []string{"authorization", servertest.Basic("ann", "a")}
	for _, one := range []struct {
		name  string
		trust *x509.CertPool
		pairs []string
		want  string
	}{
		{"trusted", known, as, ""},
		{"without a password", known, nil, "Unauthenticated"},
		{"another authority", x509.NewCertPool(), as, "certificate"},
	} {
		c, err := grpc.NewClient(addr,
			grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: one.trust})),
			grpc.WithDefaultCallOptions(grpc.ForceCodec(servertest.RawCodec{})))
		if err != nil {
			t.Fatal(err)
		}
		_, err = servertest.Call(c, servertest.RPCLogs, servertest.OTLPLogRequest(t, 10, false), one.pairs)
		if (err == nil) != (one.want == "") || err != nil && !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: got %v, want %q", one.name, err, one.want)
		}
		c.Close()
	}
	if _, err := servertest.Call(servertest.Dial(t, addr), servertest.RPCLogs, servertest.OTLPLogRequest(t, 10, false),
		as); err == nil {
		t.Error("a call without TLS is answered")
	}
	rows := h.Do("GET", "/v1/sql?sql=SELECT+count(*)+FROM+opentelemetry_logs", "", as...)
	h.Want(rows, 200, "[[10]]")
}
