package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Dictionary codes:
//
//	method 1B = 0 | base | width 1B | section: n x width bits
//	method 1B = 1 | runs of codes (ints.go)
const (
	packedCodes = 0
	runCodes    = 1
)

// saveCodes: codes are compressed when that saves a sixth; less does not pay for the time it takes to read them.
const saveCodes = 6

// codesPerRun: codes go by their runs where these have so many rows in the mean. Runs take fewer bytes than compressed
// bits from 4 rows on (of 8 rows 45 % fewer, of 16 rows half), but bits are compared as they lie and runs are decoded.
const codesPerRun = 16

func (e *Encoder) appendCodes(dst []byte, codes []uint32) []byte {
	if len(codes) == 0 {
		return append(dst, packedCodes, 0, 0, 0)
	}
	lo, hi, runs := codes[0], codes[0], 1
	last := lo
	for _, c := range codes {
		lo, hi = min(lo, c), max(hi, c)
		if c != last {
			runs++
			last = c
		}
	}
	width := lenOf(uint64(hi - lo))
	if width > 0 && runs <= len(codes)/codesPerRun {
		e.values = vector.Sized(e.values, len(codes))
		for i, c := range codes {
			e.values[i] = uint64(c)
		}
		return e.appendRuns(append(dst, runCodes), e.planRuns(e.values, false))
	}
	dst = binary.AppendUvarint(append(dst, packedCodes), uint64(lo))
	dst = append(dst, byte(width))
	e.packed = appendBits(e.packed[:0], codes, lo, width)
	return appendSection(dst, e.packed, saveCodes)
}

// decodeCodes fills dst with codes below k.
func (d *Decoder) decodeCodes(r *reader, dst []uint32, k int) {
	if r.byte() == runCodes {
		d.ints = vector.Sized(d.ints, len(dst))
		decodeRuns(d, r, d.ints)
		if r.err != nil {
			return
		}
		for i, c := range d.ints {
			if c >= uint64(k) {
				r.fail("code %d of %d", c, k)
				return
			}
			dst[i] = uint32(c)
		}
		return
	}
	base, width := r.uvarint(), int(r.byte())
	if base > 1<<31 || width > 32 {
		r.fail("code base %d, width %d", base, width)
		return
	}
	body := r.section(d.packed, packedSize(len(dst), 32))
	if r.err != nil {
		return
	}
	if !r.inPlace {
		d.packed = body
	}
	if len(body) != packedSize(len(dst), width) {
		r.fail("codes of %d bytes", len(body))
		return
	}
	unpack(dst, body, uint32(base), width)
	if base+1<<width <= uint64(k) {
		return
	}
	if greatest := greatestOf(dst); len(dst) > 0 && uint64(greatest) >= uint64(k) {
		r.fail("code %d of %d", greatest, k)
	}
}

// AppendCodes appends a block of n rows that was decoded to codes of another part's dictionary, translated to the codes
// of this part. to holds, for each value of the other dictionary, its code here plus one, or 0 if it is not known yet.
// If not all values fit, or v has another form, it returns false and appends nothing.
func (e *Encoder) AppendCodes(dst []byte, v *vector.Vector, n int, shared *Dictionary, to []uint32) (_ []byte,
	ok bool) {
	e.sharedCodes = e.sharedCodes[:0]
	if v.Form != vector.Dict || shared.Refused >= maxRefused {
		return dst, false
	}
	from, heapFrom := len(shared.Views), len(shared.Heap)
	for i, c := range v.Codes[:n] {
		if v.Valid != nil && !v.Valid.Get(i) {
			continue
		}
		if to[c] == 0 {
			code, _ := shared.code(v.Values.Bytes(int(c)))
			to[c] = code + 1
		}
		e.sharedCodes = append(e.sharedCodes, to[c]-1)
	}
	if len(shared.Views) > shared.limit || len(shared.Heap) > shared.bytes {
		shared.truncate(from, heapFrom)
		for i := range to {
			if int(to[i]) > from {
				to[i] = 0
			}
		}
		e.sharedCodes = e.sharedCodes[:0]
		return dst, false
	}
	if len(e.sharedCodes) == n {
		dst = append(dst, byte(Shared), 0)
	} else {
		dst = appendValid(append(dst, byte(Shared), flagValid), v.Valid, n)
	}
	return e.appendCodes(dst, e.sharedCodes), true
}

// greatestOf runs four chains of comparisons beside each other.
func greatestOf(codes []uint32) uint32 {
	var a, b, c, d uint32
	for len(codes) >= 4 {
		q := (*[4]uint32)(codes)
		a, b, c, d = max(a, q[0]), max(b, q[1]), max(c, q[2]), max(d, q[3])
		codes = codes[4:]
	}
	for _, x := range codes {
		a = max(a, x)
	}
	return max(a, b, c, d)
}
