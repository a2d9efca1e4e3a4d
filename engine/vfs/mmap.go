package vfs

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a whole file read-only. An empty file gives an empty mapping.
func mapFile(name string) (Mapping, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return mappedFile(nil), nil
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", name, err)
	}
	return mappedFile(b), nil
}

type mappedFile []byte

func (m mappedFile) Bytes() []byte { return m }

func (m mappedFile) WillNeed(off, n int64) {
	page := int64(os.Getpagesize())
	from := max(off, 0) &^ (page - 1)
	to := min(off+n, int64(len(m)))
	if from < to {
		_ = unix.Madvise(m[from:to], unix.MADV_WILLNEED) // advice: a refusal costs speed only
	}
}

func (m mappedFile) Release() {
	if len(m) > 0 {
		_ = unix.Madvise(m, unix.MADV_DONTNEED) // advice: a refusal costs memory only
	}
}

func (m mappedFile) Unmap() error {
	if m == nil {
		return nil
	}
	return unix.Munmap(m)
}
