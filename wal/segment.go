package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// LSN is a place in the log: segment number in the high 32 bits, byte offset in the low.
type LSN uint64

func lsn(segment uint64, offset int64) LSN { return LSN(segment<<32 | uint64(offset)) }

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
//
// Numbers between synced and first belong to frames that were never acknowledged: their segment failed. Headers have this
// form in every version: one whose checksum is right and whose version is another was written by another program, any
// other was cut off by a crash.
const (
	segmentMagic   = "VARVWAL1"
	segmentVersion = 1
	segmentHead    = 40
	segmentSuffix  = ".wal"
	damagedSuffix  = ".damaged"
)

var errVersion = errors.New("format version")

type head struct{ segment, first, synced uint64 }

func (h head) append(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, segmentMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, segmentVersion)
	dst = binary.LittleEndian.AppendUint64(dst, h.segment)
	dst = binary.LittleEndian.AppendUint64(dst, h.first)
	dst = binary.LittleEndian.AppendUint64(dst, h.synced)
	return binary.LittleEndian.AppendUint32(dst, Checksum(dst[at:]))
}

func readHead(src []byte) (head, error) {
	if len(src) < segmentHead {
		return head{}, fmt.Errorf("%d bytes are no segment header", len(src))
	}
	if string(src[:8]) != segmentMagic {
		return head{}, fmt.Errorf("magic %q is not %q", src[:8], segmentMagic)
	}
	if got, want := Checksum(src[:36]), binary.LittleEndian.Uint32(src[36:]); got != want {
		return head{}, fmt.Errorf("header checksum %08x, want %08x", got, want)
	}
	if v := binary.LittleEndian.Uint32(src[8:]); v != segmentVersion {
		return head{}, fmt.Errorf("%w %d, this program reads version %d", errVersion, v, segmentVersion)
	}
	return head{binary.LittleEndian.Uint64(src[12:]), binary.LittleEndian.Uint64(src[20:]), binary.LittleEndian.Uint64(src[28:])}, nil
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
