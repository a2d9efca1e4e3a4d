package vfs

import (
	"errors"
	"fmt"
)

// ErrNewer is wrapped by the error for a file of a format that this program does not know yet: it is whole, and a later
// program reads it.
var ErrNewer = errors.New("a newer varve wrote it, and nothing is damaged: use that program, or a later one")

// CheckVersion compares the format version of a file with the versions that this program reads, both bounds included.
// Pass only versions whose bytes have been checked: any other number is damage.
func CheckVersion(v, oldest, newest uint32) error {
	if v >= oldest && v <= newest {
		return nil
	}
	reads := fmt.Sprintf("this program reads versions %d to %d", oldest, newest)
	if oldest == newest {
		reads = fmt.Sprintf("this program reads version %d", newest)
	}
	if v > newest {
		return fmt.Errorf("format version %d, %s: %w", v, reads, ErrNewer)
	}
	return fmt.Errorf("format version %d, %s", v, reads)
}
