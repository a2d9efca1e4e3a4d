package filter

import "varve/engine/vector"

// KeepCodes removes the rows from keep whose code is not in passes. passes has a bit for every possible code.
func KeepCodes(keep vector.Bitmap, codes []uint32, passes vector.Bitmap) {
	if len(passes) == 1 { // up to 64 values, as in most columns that have a dictionary
		keepFewCodes(keep, codes, passes[0])
		return
	}
	for w := range keep {
		if keep[w] == 0 {
			continue
		}
		chunk := codes[w*64 : min(w*64+64, len(codes))]
		var m uint64
		for i, c := range chunk {
			m |= (passes[c>>6] >> (c & 63) & 1) << i
		}
		keep[w] &= m
	}
}

// keepFewCodes is KeepCodes for codes below 64.
func keepFewCodes(keep []uint64, codes []uint32, passes uint64) {
	full := len(codes) >> 6
	for w, k := range keep[:full] {
		if k == 0 {
			continue
		}
		c := (*[64]uint32)(codes[w*64:])
		var m uint64
		for i := 0; i < 64; i += 4 {
			m |= (passes>>(c[i]&63)&1 | passes>>(c[i+1]&63)&1<<1 | passes>>(c[i+2]&63)&1<<2 |
				passes>>(c[i+3]&63)&1<<3) << i
		}
		keep[w] &= m
	}
	if full < len(keep) {
		var m uint64
		for i, c := range codes[full*64:] {
			m |= passes >> (c & 63) & 1 << i
		}
		keep[full] &= m
	}
}
