package vfs

import "golang.org/x/sys/unix"

// forget drops clean pages of the range from the page cache.
func forget(fd int, off, n int64) {
	_ = unix.Fadvise(fd, off, n, unix.FADV_DONTNEED) // advice: a refusal costs speed only
}
