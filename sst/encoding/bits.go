package encoding

import (
	"encoding/binary"
	"math/bits"
)

// word is what bit packing runs on.
type word interface{ int64 | uint64 | uint32 }

// packWidth rounds a width up to a width that unpack supports: a value must lie inside one 8-byte load.
func packWidth(w int) int {
	if w > 56 {
		return 64
	}
	return w
}

// packedSize is the number of bytes of n values of w bits.
func packedSize(n, w int) int { return (n*w + 7) / 8 }

// appendBits appends the low w bits of each (v[i] - base), lowest bit first. Higher bits are cut.
func appendBits[T word](dst []byte, v []T, base T, w int) []byte {
	switch w {
	case 0:
		return dst
	case 64:
		for _, x := range v {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x-base))
		}
		return dst
	}
	mask := uint64(1)<<w - 1
	var acc uint64
	used := 0
	for _, x := range v {
		u := uint64(x-base) & mask
		acc |= u << used
		if used += w; used >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, acc)
			used -= 64
			acc = u >> (w - used)
		}
	}
	for ; used > 0; used -= 8 {
		dst = append(dst, byte(acc))
		acc >>= 8
	}
	return dst
}

// unpack fills dst with len(dst) values of w bits plus base. src holds packedSize bytes; w is at most 56, or 64.
func unpack[T word](dst []T, src []byte, base T, w int) {
	if w == 0 {
		for i := range dst {
			dst[i] = base
		}
		return
	}
	if w == 64 {
		for i := range dst {
			dst[i] = T(binary.LittleEndian.Uint64(src[i*8:])) + base
		}
		return
	}
	mask := uint64(1)<<w - 1
	// Whole 8-byte loads as long as they stay inside src.
	safe := 0
	if len(src) >= 8 {
		safe = min(len(dst), ((len(src)-8)*8)/w+1)
	}
	at, shift := 0, uint(w)
	i := 0
	if w <= 8 {
		i = unpackNarrow(dst, src, base, uint(w))
		at = i * w
	}
	for ; i+4 <= safe; i += 4 {
		d := dst[i : i+4 : i+4]
		b := uint(at)
		d[0] = T(binary.LittleEndian.Uint64(src[b>>3:])>>(b&7)&mask) + base
		b += shift
		d[1] = T(binary.LittleEndian.Uint64(src[b>>3:])>>(b&7)&mask) + base
		b += shift
		d[2] = T(binary.LittleEndian.Uint64(src[b>>3:])>>(b&7)&mask) + base
		b += shift
		d[3] = T(binary.LittleEndian.Uint64(src[b>>3:])>>(b&7)&mask) + base
		at += 4 * w
	}
	for ; i < safe; i++ {
		dst[i] = T(binary.LittleEndian.Uint64(src[at>>3:])>>(at&7)&mask) + base
		at += w
	}
	if i == len(dst) {
		return
	}
	var tail [24]byte
	from := at >> 3
	copy(tail[:], src[from:])
	for at -= from * 8; i < len(dst); i++ {
		dst[i] = T(binary.LittleEndian.Uint64(tail[at>>3:])>>(at&7)&mask) + base
		at += w
	}
}

// unpackNarrow unpacks values of at most 8 bits, eight of them from each load, as far as whole loads stay inside src.
// It gives the number of values unpacked, a multiple of 8.
func unpackNarrow[T word](dst []T, src []byte, base T, w uint) int {
	mask := uint64(1)<<w - 1
	i, at := 0, uint(0)
	for ; i+8 <= len(dst) && at+8 <= uint(len(src)); i += 8 {
		x := binary.LittleEndian.Uint64(src[at:])
		d := (*[8]T)(dst[i:])
		d[0] = T(x&mask) + base
		d[1] = T(x>>(w&63)&mask) + base
		d[2] = T(x>>(2*w&63)&mask) + base
		d[3] = T(x>>(3*w&63)&mask) + base
		d[4] = T(x>>(4*w&63)&mask) + base
		d[5] = T(x>>(5*w&63)&mask) + base
		d[6] = T(x>>(6*w&63)&mask) + base
		d[7] = T(x>>(7*w&63)&mask) + base
		at += w // eight values take w bytes
	}
	return i
}

// lenOf is the number of bits that x needs.
func lenOf(x uint64) int { return bits.Len64(x) }
