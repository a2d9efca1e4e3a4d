package client

import "golang.org/x/sys/unix"

// Requests that read and set the modes of a terminal.
const (
	getModes = unix.TIOCGETA
	setModes = unix.TIOCSETA
	setFresh = unix.TIOCSETAF // and drops what was typed
)
