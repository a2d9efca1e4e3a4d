package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"varve/cmd/varve/client"
)

// notifier tells the service manager how the server is, in the protocol of sd_notify: datagrams of lines NAME=VALUE to
// the socket of NOTIFY_SOCKET. nil: there is no manager that listens.
type notifier struct {
	conn     net.Conn
	watchdog time.Duration // how often the manager wants to hear; 0: it does not
}

// newNotifier finds the manager of an environment. One that cannot be reached is an error.
func newNotifier(environ []string) (*notifier, error) {
	socket := client.Getenv(environ, "NOTIFY_SOCKET")
	if socket == "" {
		return nil, nil
	}
	conn, err := net.Dial("unixgram", socket) // a name that begins with @ is an abstract one
	if err != nil {
		return nil, err
	}
	n := &notifier{conn: conn}
	pid := client.Getenv(environ, "WATCHDOG_PID")
	if us, err := strconv.ParseInt(client.Getenv(environ, "WATCHDOG_USEC"), 10, 64); err == nil && us > 0 &&
		(pid == "" || pid == strconv.Itoa(os.Getpid())) {
		n.watchdog = time.Duration(us) * time.Microsecond / 2
	}
	return n, nil
}

// tell sends lines. A manager that does not take them is none of the server's business.
func (n *notifier) tell(lines ...string) {
	if n != nil {
		n.conn.Write([]byte(strings.Join(lines, "\n")))
	}
}

// watch tells the manager that the server lives, as often as it wants to hear, while answers says so. It returns when
// ctx ends.
func (n *notifier) watch(ctx context.Context, ticks <-chan time.Time, answers func(context.Context) bool) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		if answers(ctx) {
			n.tell("WATCHDOG=1")
		}
	}
}

// startWatching watches until stop is called. A manager that does not want to hear costs nothing.
func (n *node) startWatching() (stop func()) {
	if n.notify == nil || n.notify.watchdog <= 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(n.notify.watchdog)
	var running sync.WaitGroup
	running.Go(func() {
		n.notify.watch(ctx, ticker.C, func(ctx context.Context) bool {
			asking, cancel := context.WithTimeout(ctx, n.notify.watchdog)
			defer cancel()
			err := lives(asking, n.url())
			if err != nil && ctx.Err() == nil {
				n.log.Warn("the server does not answer itself: the service manager is not told that it lives", "error",
					err)
			}
			return err == nil
		})
	})
	return func() { cancel(); ticker.Stop(); running.Wait() }
}

// lives asks a server on this machine whether it is healthy. Any answer will do, and so does a connection that it
// closes because it has too many: who is busy is not restarted, who is stuck is.
func lives(ctx context.Context, url string) error {
	// The certificate is the server's own, for whatever names its clients know.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	var taken atomic.Bool // the server has taken the connection
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { taken.Store(true) }})
	request, err := http.NewRequestWithContext(traced, http.MethodGet, url+"/health", nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	closed := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) // while TLS begins
	if err != nil && ctx.Err() == nil && (taken.Load() || closed) {
		return nil
	}
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
