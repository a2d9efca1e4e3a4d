package syslog

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
)

// inode is the number by which the system knows a socket; 0: unknown.
func inode(c *net.UDPConn) (n uint64) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	if err := raw.Control(func(fd uintptr) {
		var at syscall.Stat_t
		if syscall.Fstat(int(fd), &at) == nil {
			n = at.Ino
		}
	}); err != nil {
		return 0
	}
	return n
}

// The places of fields in a line of socketTables; blanks part fields.
const (
	inodeField = 9
	dropsField = 12
)

// socketTables list the sockets of UDP, each with the number of datagrams that the system dropped because the socket's
// buffer was full.
var socketTables = [...]string{"/proc/net/udp", "/proc/net/udp6"}

// dropped is how many datagrams the system dropped of a socket.
func dropped(inode uint64) (n uint64, err error) {
	for _, name := range socketTables {
		n, found, err := droppedIn(name, inode)
		if found || err != nil && !os.IsNotExist(err) { // a machine may have no IPv6
			return n, err
		}
	}
	return 0, fmt.Errorf("the socket %d is in none of %q", inode, socketTables)
}

func droppedIn(name string, inode uint64) (n uint64, found bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	want := strconv.AppendUint(nil, inode, 10)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if at := bytes.Fields(lines.Bytes()); len(at) > dropsField && bytes.Equal(at[inodeField], want) {
			n, err = strconv.ParseUint(string(at[dropsField]), 10, 64)
			return n, err == nil, err
		}
	}
	return 0, false, lines.Err()
}
