package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestExitCodes: each code of the manual is reached by what it stands for, in processes of their own.
func TestExitCodes(t *testing.T) {
	users := writeFile(t, "ops=x\nreader:ro=x\n")
	s := serve(t, nil, "--user-provider", "static_user_provider:file:"+users)
	ops := []string{"VARVE_URL=" + s.url, "VARVE_USER=ops", "VARVE_PASSWORD=x", "HOME=" + t.TempDir()}
	reader := []string{"VARVE_URL=" + s.url, "VARVE_USER=reader", "VARVE_PASSWORD=x", "HOME=" + t.TempDir()}
	lines := filepath.Join(t.TempDir(), "lines.ndjson")
	if err := os.WriteFile(lines, []byte("{\"a\":1}\nno JSON\n{\"a\":2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := makeStore(t)
	if err := os.WriteFile(filepath.Join(damaged, "MANIFEST"), []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	nobody := nobodyListens(t)
	document := writeFile(t, "processors: 1\n")
	for _, c := range []struct {
		name    string
		environ []string
		args    []string
		code    int
		err     string // on standard error
	}{
		{"done", ops, []string{"sql", "-e", "SELECT 1"}, 0, ""},
		{"error of the server", ops, []string{"sql", "-e", "SELECT * FROM nosuch"}, exitFailed,
			"query failed (4001): "},
		{"file that is not there", ops, []string{"check", "/nonexistent"}, exitFailed, "/nonexistent"},
		{"file instead of a directory", nil, []string{"check", document}, exitFailed, "it is a file"},
		{"directory instead of a file", nil, []string{"dump", damaged}, exitFailed, "is a directory"},
		{"wrong usage", ops, []string{"sql", "--nosuch"}, exitUsage, "--nosuch"},
		{"bad configuration", ops, []string{"serve", "--set", "http.nosuch=1"}, exitUsage, "http.nosuch"},
		{"bad document", ops, []string{"pipeline", "lint", document}, exitUsage, document},
		{"rejects", ops, []string{"ingest", "--table", "t", lines, "--rejects", lines + ".rejects", "--max-rejects",
			"5"}, exitPartly, "reject"},
		{"nobody listens", nil, []string{"sql", "-e", "SELECT 1", "--url", nobody}, exitUnreachable,
			"Is the server running?"},
		{"nobody in time", nil, []string{"health", "--url", nobody, "--wait", "100ms"}, exitUnreachable,
			"not healthy within"},
		{"not signed in", nil, []string{"sql", "-e", "SELECT 1", "--url", s.url}, exitRefused, "Sign in with --user"},
		{"wrong password", append(ops, "VARVE_PASSWORD=y")[1:],
			[]string{"sql", "-e", "SELECT 1", "--url", s.url, "--user", "nobody"}, exitRefused, "(7002)"},
		{"not allowed", reader, []string{"config", "show"}, exitRefused, "(7006)"},
		{"not allowed to write", reader, []string{"sql", "-e", "DROP TABLE t"}, exitRefused, "(7006)"},
		{"damage", nil, []string{"check", damaged}, exitDamage, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := program(c.environ, c.args...)
			var errs strings.Builder
			p.Stderr = &errs
			code := exitOf(t, p.Run())
			if code != c.code || !strings.Contains(errs.String(), c.err) ||
				strings.Contains(errs.String(), "goroutine ") {
				t.Errorf("exit code %d, want %d, and %q in %s", code, c.code, c.err, errs.String())
			}
		})
	}
}

// exitOf is the exit code of a process that has ended.
func exitOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return 0
}

// nobodyListens is an address that refuses connections.
func nobodyListens(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// TestSignalsEndCommands: Ctrl-C and SIGTERM end commands that wait for a server that does not answer, with the codes
// of shells; their queries end there too.
func TestSignalsEndCommands(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		for _, args := range [][]string{{"sql", "-e", "SELECT 1"}, {"tail", "t"},
			{"export", "--table", "t", "-o", filepath.Join(t.TempDir(), "x.csv")}, {"pipeline", "list"},
			{"health", "--timeout", "1h"}, {"backup", filepath.Join(t.TempDir(), "b")}} {
			code, errs := interrupted(t, sig, args)
			if code != want {
				t.Errorf("%v and %v: exit code %d, want %d: %s", args, sig, code, want, errs)
			}
		}
	}
}

// interrupted runs a command whose server does not answer, and sends it a signal.
func interrupted(t *testing.T, sig syscall.Signal, args []string) (code int, errs string) {
	t.Helper()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := program([]string{"VARVE_URL=http://" + silent.Addr().String(), "HOME=" + t.TempDir()}, args...)
	var said strings.Builder
	p.Stderr = &said
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := silent.Accept() // it asks
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	silent.Close()
	if err := p.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	return exitOf(t, p.Wait()), said.String()
}
