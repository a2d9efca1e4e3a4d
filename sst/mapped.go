package sst

import (
	"context"
	"fmt"

	"varve/engine/vfs"
)

// mapped is a part's file in a mapping: reading copies and waits for nothing, and its pages fault where they cannot be
// read.
type mapped struct {
	mapping vfs.Mapping
	data    []byte
}

// Map maps a file.
func Map(fs vfs.FS, name string) (File, error) {
	m, err := fs.Map(name)
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", name, err)
	}
	return &mapped{m, m.Bytes()}, nil
}

func (f *mapped) Size() int64 { return int64(len(f.data)) }

func (f *mapped) Read(_ context.Context, off, n int64) ([]byte, func(), error) {
	end := off + n
	return f.data[off:end:end], noRelease, nil
}

func (f *mapped) WillNeed(_ context.Context, off, n int64) { f.mapping.WillNeed(off, n) }

func (f *mapped) Far() bool { return false }

func (f *mapped) Forget() { f.mapping.Release() }

func (f *mapped) Unreadable(fault vfs.MemoryFault) *vfs.Unreadable {
	return vfs.UnreadableIn(f.data, fault)
}

func (f *mapped) Close() error { return f.mapping.Unmap() }
