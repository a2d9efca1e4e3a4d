package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain runs, in processes of their own, what tests ask of the program: its command line instead of the tests.
func TestMain(m *testing.M) {
	if os.Getenv("VARVE_TEST_PROGRAM") != "" {
		os.Unsetenv("VARVE_TEST_PROGRAM")
		main()
	}
	os.Exit(m.Run())
}

// program is a command line that runs as a process of its own.
func program(environ []string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append([]string{"VARVE_TEST_PROGRAM=1", "PATH=" + os.Getenv("PATH")}, environ...)
	return c
}

// served is a server as a process of its own.
type served struct {
	t       *testing.T
	command *exec.Cmd
	url     string
	ended   chan struct{}

	mu    sync.Mutex
	lines bytes.Buffer
	grown chan struct{} // has one when lines came
}

func (s *served) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.grown <- struct{}{}:
	default:
	}
	return s.lines.Write(p)
}

// said is what the server printed.
func (s *served) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines.String()
}

var listening = regexp.MustCompile(`(?m)^listening (https?://\S+)`)

// serve starts a server, waits until it listens and serves rows, and kills it when the test ends.
func serve(t *testing.T, environ []string, args ...string) *served {
	t.Helper()
	s := &served{t: t, ended: make(chan struct{}), grown: make(chan struct{}, 1)}
	s.command = program(environ,
		append([]string{"serve", "--data-dir", filepath.Join(t.TempDir(), "data"), "--http-addr", "127.0.0.1:0"},
			args...)...)
	s.command.Stderr = s
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		s.command.Wait() //nolint:errcheck // its state says how it ended
		close(s.ended)
	}()
	t.Cleanup(func() {
		s.command.Process.Kill() //nolint:errcheck // it may have ended
		<-s.ended
		if t.Failed() {
			t.Logf("the server said:\n%s", s.said())
		}
	})
	s.url = s.wait(listening)[1]
	// on a busy machine it says so before an empty directory is looked through
	if strings.Contains(s.said(), "(recovering: ") {
		waitFor(t, func() bool {
			code, _, _ := command("health", "-q", "--ready", "--insecure", "--url", s.url)
			return code == 0
		})
	}
	return s
}

// wait waits until the server has printed what an expression finds.
func (s *served) wait(what *regexp.Regexp) []string {
	s.t.Helper()
	limit := time.After(40 * time.Second)
	for {
		if m := what.FindStringSubmatch(s.said()); m != nil {
			return m
		}
		select {
		case <-s.grown:
		case <-s.ended:
			if m := what.FindStringSubmatch(s.said()); m != nil {
				return m
			}
			s.t.Fatalf("the server ended before it said %s:\n%s", what, s.said())
		case <-limit:
			s.t.Fatalf("the server does not say %s:\n%s", what, s.said())
		}
	}
}

// signal sends a signal.
func (s *served) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.command.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// stop ends the server as an operator does and gives its exit code.
func (s *served) stop() int {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	<-s.ended
	return s.command.ProcessState.ExitCode()
}

// text is a pattern of exactly these words.
func text(words string) *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(strings.TrimSpace(words)))
}
