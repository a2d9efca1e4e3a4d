package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Dictionary codes: method 1B, which is the ID of one of codeSchemes.
//
//	0 packed: base | width 1B | section: n x width bits
//	1 runs of codes (runs.go)
const (
	packedCodes ID = 0
	runCodes    ID = 1
)

// codeScheme is one method: how codes are written, and the function that fills dst with codes below k.
type codeScheme struct {
	writer[codeBlock]
	decode func(d *Decoder, r *reader, dst []uint32, k int)
}

// saveCodes: codes are compressed when that saves a sixth; less does not pay for the time it takes to read them.
const saveCodes = 6

// codesPerRun: codes go by their runs where these have so many rows in the mean. Runs take fewer bytes than compressed
// bits from 4 rows on (of 8 rows 45 % fewer, of 16 rows half), but bits are compared as they lie and runs are decoded.
const codesPerRun = 16

// codeBlock is a block of codes that is encoded.
type codeBlock struct {
	codes []uint32
	base  uint32 // the least
	width int    // bits of the greatest less base
	runs  int    // 0: there are no codes
	run   runPlan
}

func (e *Encoder) appendCodes(dst []byte, codes []uint32) []byte {
	e.coded = codeBlock{codes: codes}
	e.coded.analyse()
	dst = codeWriters.append(e, dst, &e.coded)
	e.coded.codes = nil
	return dst
}

func (b *codeBlock) analyse() {
	if len(b.codes) == 0 {
		return
	}
	lo, hi, runs := b.codes[0], b.codes[0], 1
	last := lo
	for _, c := range b.codes {
		lo, hi = min(lo, c), max(hi, c)
		if c != last {
			runs++
			last = c
		}
	}
	b.base, b.width, b.runs = lo, lenOf(uint64(hi-lo)), runs
}

// leastPackedCodes is the size of the bits uncompressed, with their heads.
func leastPackedCodes(_ *Encoder, b *codeBlock) int { return 4 + packedSize(len(b.codes), b.width) }

func planPackedCodes(e *Encoder, dst []byte, b *codeBlock) ([]byte, int) {
	return dst, leastPackedCodes(e, b)
}

func appendPackedCodes(e *Encoder, dst []byte, b *codeBlock) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(b.base)), byte(b.width))
	e.packed = appendBits(e.packed[:0], b.codes, b.base, b.width)
	return appendSection(dst, e.packed, saveCodes)
}

func leastRunCodes(_ *Encoder, b *codeBlock) int {
	if b.runs < 2 || b.runs > len(b.codes)/codesPerRun {
		return never
	}
	return 2*frameHead + 1
}

func planRunCodes(e *Encoder, dst []byte, b *codeBlock) (out []byte, cost int) {
	e.values = vector.Sized(e.values, len(b.codes))
	for i, c := range b.codes {
		e.values[i] = uint64(c)
	}
	b.run = e.planRuns(e.values, false)
	return dst, b.run.size
}

func appendRunCodes(e *Encoder, dst []byte, b *codeBlock) []byte { return e.appendRuns(dst, b.run) }

// decodeCodes fills dst with codes below k.
func (d *Decoder) decodeCodes(r *reader, dst []uint32, k int) {
	method := r.byte()
	if int(method) >= len(codeSchemes) {
		r.fail("method %d of codes", method)
		return
	}
	codeSchemes[method].decode(d, r, dst, k)
}

func decodeRunCodes(d *Decoder, r *reader, dst []uint32, k int) {
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
}

func decodePackedCodes(d *Decoder, r *reader, dst []uint32, k int) {
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
