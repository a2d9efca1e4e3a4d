package client

import "golang.org/x/sys/unix"

// Requests that read and set the modes of a terminal.
const (
	getModes = unix.TCGETS
	setModes = unix.TCSETS
	setFresh = unix.TCSETSF // and drops what was typed
)
