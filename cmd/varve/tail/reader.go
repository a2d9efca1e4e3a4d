package tail

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// whenLeft calls left when the reader of a pipe or a socket closes it, so that a list that waits for rows ends with
// head at once and not with the next row. stop ends the watching.
func whenLeft(out io.Writer, left func()) (stop func()) {
	f, ok := out.(*os.File)
	if !ok {
		return func() {}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return func() {}
	}
	// A second pipe wakes the poll when it is not wanted any more.
	wake, end, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		fds := []unix.PollFd{{Fd: int32(f.Fd())}, {Fd: int32(wake.Fd()), Events: unix.POLLIN}} //nolint:gosec // file descriptors are small
		for {
			_, err := unix.Poll(fds, -1)
			switch {
			case errors.Is(err, unix.EINTR):
			case err != nil, fds[1].Revents != 0:
				return
			case fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0:
				left()
				return
			}
		}
	}()
	return func() {
		end.Close()
		<-done
		wake.Close()
	}
}
