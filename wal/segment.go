package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"varve/engine/vfs"
)

// LSN is a place in the log: segment number in the high 32 bits, byte offset in the low.
type LSN uint64

func lsnAt(segment uint64, offset int64) LSN { return LSN(segment<<32 | uint64(offset)) }

// Segment is the number of the segment.
func (l LSN) Segment() uint64 { return uint64(l >> 32) }

// Offset is the offset in the segment, in bytes.
func (l LSN) Offset() int64 { return int64(l & (1<<32 - 1)) }

// String is segment:offset.
func (l LSN) String() string { return fmt.Sprintf("%d:%d", l.Segment(), l.Offset()) }

// The header of a segment:
//
//	+--------------------+------------+-----------+-----------------+------------------+----------+
//	| magic "VARVWAL1" 8B| version 4B | segment 8B| first number 8B | synced number 8B | crc32c 4B|
//	+--------------------+------------+-----------+-----------------+------------------+----------+
//	| previous 8B | edit 8B | crc32c 4B, of all before                                            |
//	+-------------------------------------------------------------------------------------------+
//
// Numbers between synced and first belong to frames that were never acknowledged: their segment failed. previous is the
// number of the segment before, 0: none; edit that of the manifest's last edit when the segment was begun. Version 1
// lacks the second line. The first has this form in every version: one whose checksum is right and whose version is not
// known was written by a later program, any other was cut off by a crash.
const (
	segmentMagic   = "VARVWAL1"
	segmentVersion = 2
	segmentHead    = segmentFirst + 20
	segmentFirst   = 40 // bytes of the first line
	segmentSuffix  = Suffix
	damagedSuffix  = ".damaged"
	missingSuffix  = ".missing" // of an empty file that stands for a segment
)

// Suffix ends the names of segments.
const Suffix = ".wal"

var errVersion = errors.New("the segment cannot be read")

type head struct {
	version                uint32
	segment, first, synced uint64
	previous, edit         uint64
}

// size is the length of the header in bytes.
func (h *head) size() int {
	if h.version == 1 {
		return segmentFirst
	}
	return segmentHead
}

func (h head) append(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, segmentMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, segmentVersion)
	dst = binary.LittleEndian.AppendUint64(dst, h.segment)
	dst = binary.LittleEndian.AppendUint64(dst, h.first)
	dst = binary.LittleEndian.AppendUint64(dst, h.synced)
	dst = binary.LittleEndian.AppendUint32(dst, Checksum(dst[at:]))
	dst = binary.LittleEndian.AppendUint64(dst, h.previous)
	dst = binary.LittleEndian.AppendUint64(dst, h.edit)
	return binary.LittleEndian.AppendUint32(dst, Checksum(dst[at:]))
}

func readHead(src []byte) (h head, err error) {
	if len(src) < segmentFirst {
		return h, fmt.Errorf("%d bytes are too short for a segment header", len(src))
	}
	if string(src[:8]) != segmentMagic {
		return h, fmt.Errorf("magic %q is not %q", src[:8], segmentMagic)
	}
	if err := verifySum(src[:segmentFirst]); err != nil {
		return h, err
	}
	u := func(at int) uint64 { return binary.LittleEndian.Uint64(src[at:]) }
	h = head{version: binary.LittleEndian.Uint32(src[8:]), segment: u(12), first: u(20), synced: u(28)}
	err = vfs.CheckVersion(h.version, 1, segmentVersion)
	switch {
	case err != nil:
		return h, fmt.Errorf("%w: %w", errVersion, err)
	case h.version == 1:
		return h, nil
	case len(src) < segmentHead:
		return h, fmt.Errorf("%d bytes are too short for a segment header", len(src))
	}
	h.previous, h.edit = u(40), u(48)
	return h, verifySum(src[:segmentHead])
}

// verifySum compares the last four bytes with the checksum of those before.
func verifySum(b []byte) error {
	body := len(b) - 4
	if got, want := Checksum(b[:body]), binary.LittleEndian.Uint32(b[body:]); got != want {
		return fmt.Errorf("header checksum %08x, want %08x", got, want)
	}
	return nil
}

// segmentName is the file name of a segment: 000001.wal.
func segmentName(n uint64) string { return fmt.Sprintf("%06d%s", n, segmentSuffix) }

// segmentNumber is the inverse; ok is false for other files.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(path.Base(name), segmentSuffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	return n, err == nil && n > 0
}

// Beginning is the place of a segment's first byte.
func Beginning(segment uint64) LSN { return lsnAt(segment, 0) }
