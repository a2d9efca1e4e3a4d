//go:build !linux

package server

import "net"

// peerLeft reports whether the other side of a connection has closed it. Only Linux knows that without reading.
func peerLeft(net.Conn) bool { return false }

// keepClose is for systems that take little ahead of what a client reads.
func keepClose(net.Conn) {}
