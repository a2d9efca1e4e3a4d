package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStartLines: version, data, address and users, in four lines, and before the address what a control group leaves
// of the machine.
func TestStartLines(t *testing.T) {
	s := serve(t, nil)
	for strings.Contains(s.said(), "(recovering: ") { // a busy machine took more than a second for an empty directory
		s.stop()
		s = serve(t, nil)
	}
	s.wait(regexp.MustCompile(`(?m)^users .*\n`))
	limits := ""
	if text := (&Config{MemoryLimit: "50%"}).limits(); text != "" {
		limits = regexp.QuoteMeta("limits    " + text + "\n")
	}
	want := regexp.MustCompile(`^varve ` + version + ` \(go[0-9.]+, [a-z0-9]+\)
data      .*/data  \(0 tables, 0 B, nothing to replay in [0-9.]+(ms|s|m[0-9]+s)\)
` + limits + `listening http://127\.0\.0\.1:\d+(   dashboard http://127\.0\.0\.1:\d+/dashboard/)?
users     none: everybody who can reach this address may read and write
$`)
	if got := s.said(); !want.MatchString(got) {
		t.Errorf("the server starts with\n%s", got)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	exposed := serve(t, nil, "--http-addr", "0.0.0.0:0")
	exposed.wait(regexp.MustCompile(`(?m)^users     none: WARNING: everybody`))
}

// writeCertificate makes a certificate of 127.0.0.1 that signs itself.
func writeCertificate(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "PRIVATE KEY", Bytes: hidden}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// presented is the name in the certificate of a server.
func presented(t *testing.T, url string) string {
	t.Helper()
	c, err := tls.Dial("tcp", strings.TrimPrefix(url, "https://"), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // its name is what is looked at
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

// leaveQuery closes the connection of a query that takes long, and wants it to end: the server looks at the socket
// below TLS.
func leaveQuery(t *testing.T, client *http.Client, url string) {
	t.Helper()
	metric := func(want string) bool {
		resp, err := client.Get(url + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		figures, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(figures), "\n"+want+"\n")
	}
	until := func(want string) {
		t.Helper()
		for begun := time.Now(); !metric(want); {
			if time.Since(begun) > 40*time.Second {
				t.Fatalf("the figures never say %s", want)
			}
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET",
		url+"/v1/sql?sql=SELECT+a.message,count(*)+FROM+t+a+JOIN+t+b+ON+a.message=b.message+GROUP+BY+a.message", nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := client.Do(req) //nolint:bodyclose // there is none
		ended <- err
	}()
	until("varve_sql_requests_running 1")
	leave()
	if err := <-ended; err == nil {
		t.Error("the query is answered")
	}
	until("varve_sql_requests_running 0")
	until("varve_http_clients_left_total 1")
}

// TestTLS: HTTP over TLS, with queries, bodies and client commands, whose certificate is another after SIGHUP; one that
// cannot be read leaves the old one.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, "first")
	s := serve(t, nil, "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatalf("it listens on %s", s.url)
	}
	known := x509.NewCertPool()
	text1, err := os.ReadFile(cert)
	if err != nil || !known.AppendCertsFromPEM(text1) {
		t.Fatalf("the certificate is none: %v", err)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: known}}}
	defer client.CloseIdleConnections()
	body := strings.Repeat(`{"message":"over TLS"}`+"\n", 50000)
	resp, err := client.Post(s.url+"/v1/ingest?table=t&pipeline_name=service_identity", "application/x-ndjson",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Fatalf("ingest: %d %s", resp.StatusCode, answer)
	}
	resp, err = client.Get(s.url + "/v1/sql?format=csv&sql=SELECT+message+FROM+t")
	if err != nil {
		t.Fatal(err)
	}
	answer, err = io.ReadAll(resp.Body)
	resp.Body.Close()
	if got := strings.Count(string(answer), "over TLS"); got != 50000 || err != nil {
		t.Errorf("%d rows, %v", got, err)
	}
	leaveQuery(t, &client, s.url)
	if code, _, errs := command("health", "--url", s.url, "--ca-file", cert); code != 0 {
		t.Errorf("health: %d %s", code, errs)
	}
	if code, _, errs := command("health", "--url", s.url); code != exitUnreachable ||
		!strings.Contains(errs, "--ca-file") {
		t.Errorf("health without the certificate: %d %s", code, errs)
	}

	if code, _, errs := command("health", "--url", strings.Replace(s.url, "https", "http", 1)); code == 0 ||
		!strings.Contains(errs, "use https://") {
		t.Errorf("health without TLS: %d %s", code, errs)
	}

	writeCertificate(t, dir, "second")
	s.signal(syscall.SIGHUP)
	s.wait(text("certificate read again"))
	if got := presented(t, s.url); got != "second" {
		t.Errorf("the certificate is the %s one", got)
	}
	if err := os.WriteFile(key, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
	s.wait(text("cannot be read again: the old one stays"))
	if got := presented(t, s.url); got != "second" {
		t.Errorf("the certificate is the %s one", got)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestReload: SIGHUP reads users, log level and configuration again and says what changed.
func TestReload(t *testing.T) {
	users, file := writeFile(t, "ann=a\n"), writeFile(t, "[logging]\nlevel = \"info\"\n")
	s := serve(t, nil, "--config", file, "--user-provider", "static_user_provider:file:"+users)
	for path, text := range map[string]string{users: "ann=a\nben=b\n",
		file: "[logging]\nlevel = \"debug\"\n[wal]\nsync = \"never\"\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.signal(syscall.SIGHUP)
	s.wait(regexp.MustCompile(`user file read again.* users_before=1 users=2`))
	s.wait(regexp.MustCompile(`hold from the next start on.*keys=\[wal.sync\]`))
	s.wait(text("log_level_from=info log_level_to=debug"))
	if code, _, errs := as("ben", "b", "config", "show", "--url", s.url); code != 0 {
		t.Errorf("the new user: %d %s", code, errs)
	}
	if err := os.WriteFile(file, []byte("[loging]\n"+"level = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
	s.wait(text("its keys stay as they were"))
}

// as runs a command line of a user.
func as(user, password string, args ...string) (code int, out, errs string) {
	var o, e strings.Builder
	code = run(args, streams{out: &o, err: &e, environ: []string{"VARVE_USER=" + user, "VARVE_PASSWORD=" + password}})
	return code, o.String(), e.String()
}

// TestServiceManager: the manager hears when the server is ready, that it lives, and that it stops.
func TestServiceManager(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	heard := func(want string) {
		t.Helper()
		manager.SetReadDeadline(time.Now().Add(40 * time.Second))
		for b := make([]byte, 4096); ; {
			n, err := manager.Read(b)
			if err != nil {
				t.Fatalf("%v before %s", err, want)
			}
			if strings.Contains(string(b[:n]), want) {
				return
			}
		}
	}
	s := serve(t, []string{"NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=100000"})
	heard("READY=1\nSTATUS=serving " + s.url + " with 0 tables")
	heard("WATCHDOG=1")
	s.signal(syscall.SIGHUP)
	heard("STATUS=reading the configuration again")
	heard("STATUS=serving")
	s.signal(syscall.SIGTERM)
	heard("STOPPING=1")
	<-s.ended
}

// TestStartRefusals: what stops a start is one sentence, 2 for configuration and 1 for the rest.
func TestStartRefusals(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	s := serve(t, nil)
	s.wait(regexp.MustCompile(`(?m)^users`))
	held := ""
	for i, arg := range s.command.Args {
		if arg == "--data-dir" {
			held = s.command.Args[i+1]
		}
	}
	cert, key := writeCertificate(t, t.TempDir(), "x")
	sealed := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(sealed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"address in use", []string{"--http-addr", busy.Addr().String()}, exitFailed, "in use"},
		{"directory of another server", []string{"--data-dir", held}, exitFailed, "another"},
		{"directory that is a file", []string{"--data-dir", sealed}, exitFailed, sealed},
		{"configuration that is a directory", []string{"--config", filepath.Dir(sealed)}, exitUsage,
			filepath.Dir(sealed)},
		{"logs in a directory that is a file", []string{"--set", "logging.dir=" + sealed}, exitFailed, "logging.dir"},
		{"logs nowhere", []string{"--set", "logging.append_stdout=false"}, exitUsage, "logging.append_stdout"},
		{"certificate without a key", []string{"--tls-cert", cert}, exitUsage, "http.tls_key"},
		{"key without a certificate", []string{"--tls-key", key}, exitUsage, "http.tls_cert"},
		{"certificate that is none", []string{"--tls-cert", key, "--tls-key", key}, exitUsage, "http.tls_cert"},
		{"certificate that is not there", []string{"--tls-cert", "/nonexistent", "--tls-key", key}, exitUsage,
			"/nonexistent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"serve", "--http-addr", "127.0.0.1:0", "--data-dir",
				filepath.Join(t.TempDir(), "data")}, c.args...)
			code, _, errs := command(args...)
			if code != c.code || !strings.Contains(errs, c.want) || !strings.HasPrefix(errs, "varve: ") ||
				strings.Count(errs, "\n") != 1 {
				t.Errorf("exit code %d, want %d, and %q in %s", code, c.code, c.want, errs)
			}
		})
	}
}

func TestDescriptors(t *testing.T) {
	c, err := loadConfig("", nil, []setting{{"--set", "http.max_connections", "1000"},
		{"--set", "grpc.addr", "127.0.0.1:0"}, {"--set", "grpc.max_connections", "100"}})
	if err != nil {
		t.Fatal(err)
	}
	if need := c.descriptors(); need != 256+1000+100 {
		t.Errorf("%d descriptors", need)
	}
	if err := c.checkDescriptors(1355); err == nil || !strings.Contains(err.Error(), "1355") ||
		!strings.Contains(err.Error(), "LimitNOFILE") {
		t.Errorf("got %v", err)
	}
	if err := c.checkDescriptors(1356); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestAPIServer: the second address is told at the start, has /v1 and nothing of the server's own state, and speaks TLS
// where the first does.
func TestAPIServer(t *testing.T) {
	cert, key := writeCertificate(t, t.TempDir(), "api")
	for _, args := range [][]string{nil, {"--tls-cert", cert, "--tls-key", key}} {
		s := serve(t, nil, append(args, "--set", "http.enable_api_server=true", "--set",
			"http.api_server_addr=127.0.0.1:0")...)
		scheme, _, _ := strings.Cut(s.url, ":")
		url := scheme + "://" + s.wait(regexp.MustCompile(`(?m)^api +(\S+)`))[1]
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // the certificate is the test's own
		for path, want := range map[string]int{"/v1/sql?sql=SELECT+1": 200, "/config": 404, "/metrics": 404,
			"/health": 404} {
			resp, err := client.Get(url + path)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s%s: %s, want %d", url, path, resp.Status, want)
			}
		}
		client.CloseIdleConnections()
		if code := s.stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
}
