//go:build !linux

package syslog

import (
	"errors"
	"net"
)

// inode is unknown here.
func inode(*net.UDPConn) uint64 { return 0 }

// dropped is unknown here.
func dropped(uint64) (uint64, error) { return 0, errors.ErrUnsupported }
