package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// TCP states of a peer that closed its side or is gone.
const (
	tcpClose     = 7
	tcpCloseWait = 8
)

// peerLeft reports whether the other side of a connection has closed it.
func peerLeft(c net.Conn) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	left := false
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		left = err == nil && (info.State == tcpCloseWait || info.State == tcpClose)
	})
	return err == nil && left
}
