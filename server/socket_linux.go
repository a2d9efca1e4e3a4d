package server

import (
	"net"

	"golang.org/x/sys/unix"
)

// TCP states of a peer that closed its side or is gone.
const (
	tcpClose     = 7
	tcpCloseWait = 8
)

// peerLeft reports whether the other side of a connection has closed it.
func peerLeft(c net.Conn) (left bool) {
	control(c, func(fd int) {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			left = info.State == tcpCloseWait || info.State == tcpClose
			return
		}
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}} // one of another kind, within this machine
		n, err := unix.Poll(polled, 0)
		left = err == nil && n == 1 && polled[0].Revents&(unix.POLLRDHUP|unix.POLLHUP) != 0
	})
	return left
}

// unsentBytes is how much the system takes of an answer that the client is not ready for yet.
const unsentBytes = 256 << 10

// keepClose bounds how much of an answer the system takes ahead of the client, else megabytes for each connection. So a
// client that does not read is noticed sooner and costs less.
func keepClose(c net.Conn) {
	control(c, func(fd int) {
		// without it answers are sent as well
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentBytes)
	})
}

// control runs f with the socket of a connection, if it has one.
func control(c net.Conn, f func(fd int)) {
	if raw, err := rawConn(c); err == nil {
		raw.Control(func(fd uintptr) { f(int(fd)) }) // of a closed connection there is nothing to know
	}
}
