// Package process starts and ends servers for benchmarks and end-to-end tests, and reads how much processor time and
// memory a process used.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// healthPoll is how often a starting server is asked whether it serves.
const healthPoll = 5 * time.Millisecond

// Options say what to start.
type Options struct {
	Binary string   // path of the varve program
	Dir    string   // data directory
	Addr   string   // host:port; empty: a free port of 127.0.0.1
	Args   []string // further arguments of serve
	Env    []string // in addition to the environment, less its VARVE_* names
}

// Server is a running server.
type Server struct {
	URL string
	Dir string

	cmd    *exec.Cmd
	ready  string // path that answers 200 once it serves
	output *output
	done   chan struct{} // closed when the process has ended
	err    error         // of Wait; set before done is closed
}

// Free addresses have these ports: systems give none of them to who asks for any, so that nobody takes one between the
// moment it is found free and the start of its server, nor while that is started again.
const (
	firstPort = 20000
	portCount = 10000
)

// portsGiven is where FreeAddr goes on; other processes begin elsewhere.
var portsGiven atomic.Uint32

func init() { portsGiven.Store(rand.Uint32N(portCount)) }

// FreeAddr is an address of 127.0.0.1 that nothing listens on; each call gives another.
func FreeAddr() (string, error) {
	for range portCount {
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+portsGiven.Add(1)%portCount)
		if l, err := net.Listen("tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	return "", fmt.Errorf("all ports from %d to %d are taken", firstPort, firstPort+portCount-1)
}

// Launch starts a server without waiting for it to serve. The process dies with this one.
func Launch(o Options) (*Server, error) {
	if o.Addr == "" {
		var err error
		if o.Addr, err = FreeAddr(); err != nil {
			return nil, err
		}
	}
	s := &Server{URL: "http://" + o.Addr, Dir: o.Dir, ready: "/health", output: new(output), done: make(chan struct{})}
	s.cmd = exec.Command(o.Binary, append([]string{"serve", "--data-dir", o.Dir, "--http-addr", o.Addr}, o.Args...)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "VARVE_") {
			s.cmd.Env = append(s.cmd.Env, v)
		}
	}
	s.cmd.Env = append(s.cmd.Env, o.Env...)
	return s, s.launch()
}

// launch starts the process.
func (s *Server) launch() error {
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	s.cmd.SysProcAttr = attributes()
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func() {
		s.err = s.cmd.Wait()
		close(s.done)
	}()
	return nil
}

// Start launches a server and waits until it serves. When it ends instead, or ctx does, the error holds its output.
func Start(ctx context.Context, o Options) (*Server, error) {
	s, err := Launch(o)
	if err != nil {
		return nil, err
	}
	if err := s.Ready(ctx); err != nil {
		return nil, errors.Join(err, s.Kill())
	}
	return s, nil
}

// Ready waits until the server answers that it serves.
func (s *Server) Ready(ctx context.Context) error {
	tick := time.NewTicker(healthPoll)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+s.ready, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_, err := io.Copy(io.Discard, resp.Body)
			if errors.Join(err, resp.Body.Close()) == nil && resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-s.done:
			return fmt.Errorf("server ended before it served: %v\n%s", s.err, s.Output())
		case <-ctx.Done():
			return fmt.Errorf("server does not serve: %w\n%s", ctx.Err(), s.Output())
		case <-tick.C:
		}
	}
}

// PID is the process id.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Output is what the server has written to its standard streams so far.
func (s *Server) Output() string { return s.output.String() }

// Done is closed when the process has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// ExitCode waits for the end of the process and gives its exit code; -1 when a signal ended it.
func (s *Server) ExitCode() int {
	<-s.done
	return s.cmd.ProcessState.ExitCode()
}

// Kill ends the process at once (SIGKILL) and waits for its end.
func (s *Server) Kill() error {
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.done
	return nil
}

// Stop asks the server to end (SIGTERM) and waits for it; a server that is still there at the limit is killed, and that
// or an exit code other than 0 is an error.
func (s *Server) Stop(limit time.Duration) error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		return errors.Join(fmt.Errorf("server runs on %v after SIGTERM\n%s", limit, s.Output()), s.Kill())
	}
	if code := s.ExitCode(); code != 0 {
		return fmt.Errorf("server ended with code %d (%v)\n%s", code, s.err, s.Output())
	}
	return nil
}

// output collects what a process writes; the first megabyte of it.
type output struct {
	mu  sync.Mutex
	buf []byte
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := 1<<20 - len(o.buf); room > 0 {
		o.buf = append(o.buf, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.buf)
}
