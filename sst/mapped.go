package sst

import (
	"encoding/binary"
	"fmt"

	"varve/engine/vfs"
)

// mapped is the file of a part. Its bytes are reached by read alone, so that a part may lie elsewhere than in a mapping
// without anything else to be changed.
type mapped struct {
	mapping vfs.Mapping
	data    []byte
}

func (f *mapped) size() uint64 { return uint64(len(f.data)) }

// read returns the bytes of a place, which are valid until the part is closed and not to be changed. What names a place
// outside of the file is damaged.
func (f *mapped) read(r ref) ([]byte, error) {
	if size := f.size(); r.off > size || r.length > size-r.off {
		return nil, fmt.Errorf("%d bytes at %d of a file of %d bytes", r.length, r.off, size)
	}
	end := r.off + r.length
	return f.data[r.off:end:end], nil
}

// readAhead has a place read from the disk while others are decoded.
func (f *mapped) readAhead(r ref) { f.mapping.WillNeed(int64(r.off), int64(r.length)) }

// unreadable is the failed read of the file that a fault was; nil: it was another's.
func (f *mapped) unreadable(fault vfs.MemoryFault) *vfs.Unreadable {
	return vfs.UnreadableIn(f.data, fault)
}

// unseal splits bytes from the checksum behind them.
func unseal(b []byte) (body []byte, sum uint32) {
	body = b[:len(b)-sumSize]
	return body, binary.LittleEndian.Uint32(b[len(body):])
}

// blockRefs has the places of a column's pages, or of its filters: one for each block, with its checksum.
type blockRefs struct {
	off    []uint64
	length []uint32 // 0: the block has none
}

// at returns the place for a block.
func (p *blockRefs) at(block int) ref { return ref{p.off[block], uint64(p.length[block])} }

func (p *blockRefs) has(block int) bool { return p.length[block] > 0 }
