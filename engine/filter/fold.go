package filter

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// AppendFold appends s with every character replaced by one that stands for all its cases (Unicode simple folding). Two
// texts are equal without regard to case if their folded forms are equal. Bytes that are not UTF-8 stay unchanged.
func AppendFold(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			dst = append(dst, lower[c])
			i++
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, c)
		} else {
			dst = utf8.AppendRune(dst, foldRune(r))
		}
		i += size
	}
	return dst
}

// foldRune is the least character of r's folding orbit, as a small letter when that is ASCII.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf {
		return rune(lower[least])
	}
	return least
}

var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] += 'a' - 'A'
		}
	}
	return t
}()

// foldable reports whether a search for the folded needle in the ASCII-lowered heap finds the same places as one in the
// folded heap: the needle is ASCII, and when it holds k or s (which the Kelvin sign and the long s fold to) the heap is
// ASCII too.
func foldable(heap, needle []byte) bool {
	special := false
	for _, c := range needle {
		if c >= utf8.RuneSelf {
			return false
		}
		special = special || c == 'k' || c == 's'
	}
	return !special || ascii(heap)
}

// ascii reports whether all bytes are ASCII, 32 at a time.
func ascii(b []byte) bool {
	for ; len(b) >= 32; b = b[32:] {
		m := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) | binary.LittleEndian.Uint64(b[16:]) |
			binary.LittleEndian.Uint64(b[24:])
		if m&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendLower appends s with the letters A to Z made small and all other bytes as they are, eight at a time.
func appendLower(dst, s []byte) []byte {
	at := len(dst)
	dst = append(dst, s...)
	out := dst[at:]
	const ones = 0x0101010101010101
	for len(out) >= 8 {
		x := binary.LittleEndian.Uint64(out)
		low := x & (0x7F * ones)
		// Bit 7 of each byte: at least 'A'; more than 'Z'; not ASCII.
		letter := (low + (0x80-'A')*ones) &^ (low + (0x7F-'Z')*ones) &^ x & (0x80 * ones)
		binary.LittleEndian.PutUint64(out, x|letter>>2)
		out = out[8:]
	}
	for i, c := range out {
		out[i] = lower[c]
	}
	return dst
}
