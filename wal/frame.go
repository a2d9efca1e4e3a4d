package wal

import (
	"encoding/binary"
	"hash/crc32"
)

// Frame is one record with its header:
//
//	+--------------+------------+-----------+-----------+-----------+---------+--------+------+
//	| head crc 4B  | body crc 4B| length 4B | number 8B | synced 8B | type 1B | 0 3B   | body |
//	+--------------+------------+-----------+-----------+-----------+---------+--------+------+
//
// Numbers are little endian. Both checksums are CRC-32C; the head's checksum covers the 28 bytes after it. Frame
// numbers rise by one; synced is the number of the last frame known to be on disk when this frame was written.
type Frame struct {
	Type   byte
	Number uint64
	Synced uint64
	Body   []byte
}

// FrameHead is the length of a frame's header in bytes.
const FrameHead = 32

// MaxRecord is the largest body of a frame. A body is the batch of one request, whose size is limited far below.
const MaxRecord = 1 << 30

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C of b.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// appendHead appends the header of a frame whose body has the given checksum.
func appendHead(dst []byte, typ byte, number, synced uint64, length int, bodySum uint32) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, bodySum)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(length))
	dst = binary.LittleEndian.AppendUint64(dst, number)
	dst = binary.LittleEndian.AppendUint64(dst, synced)
	dst = append(dst, typ, 0, 0, 0)
	binary.LittleEndian.PutUint32(dst[at:], Checksum(dst[at+4:]))
	return dst
}

// AppendFrame appends a whole frame.
func AppendFrame(dst []byte, f Frame) []byte {
	dst = appendHead(dst, f.Type, f.Number, f.Synced, len(f.Body), Checksum(f.Body))
	return append(dst, f.Body...)
}

// ReadFrame reads the frame at the start of src; its body points into src. ok is false if there is no whole, intact
// frame. headOK reports that at least the header is intact, so that length can be trusted.
func ReadFrame(src []byte) (f Frame, length int, headOK, ok bool) {
	if len(src) < FrameHead || binary.LittleEndian.Uint32(src) != Checksum(src[4:FrameHead]) {
		return Frame{}, 0, false, false
	}
	size := binary.LittleEndian.Uint32(src[8:])
	if size > MaxRecord {
		return Frame{}, 0, false, false
	}
	length = FrameHead + int(size)
	f = Frame{Type: src[28], Number: binary.LittleEndian.Uint64(src[12:]), Synced: binary.LittleEndian.Uint64(src[20:])}
	if len(src) < length {
		return f, length, true, false
	}
	f.Body = src[FrameHead:length:length]
	return f, length, true, Checksum(f.Body) == binary.LittleEndian.Uint32(src[4:])
}
