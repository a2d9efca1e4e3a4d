package main

import (
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"varve/cmd/varve/client"
)

// notifier tells the service manager how the server is, in the protocol of sd_notify: datagrams of lines NAME=VALUE to the
// socket of NOTIFY_SOCKET. nil: there is no manager that listens.
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
	if us, err := strconv.ParseInt(client.Getenv(environ, "WATCHDOG_USEC"), 10, 64); err == nil && us > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
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

// ticks say when the manager wants to hear that the server lives; nil: never.
func (n *notifier) ticks() (ticks <-chan time.Time, stop func()) {
	if n == nil || n.watchdog <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(n.watchdog)
	return t.C, t.Stop
}
