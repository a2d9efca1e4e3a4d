package encoding

import "encoding/binary"

// Runs: number of runs | packed values (frame.go) | packed lengths.

func countRuns(v []uint64) int {
	runs := 1
	for i := 1; i < len(v); i++ {
		if v[i] != v[i-1] {
			runs++
		}
	}
	return runs
}

// appendRuns encodes v by its runs.
func (e *Encoder) appendRuns(dst []byte, v []uint64, signed bool) []byte {
	e.deltas, e.deltas2 = e.deltas[:0], e.deltas2[:0]
	from := 0
	for i := 1; i <= len(v); i++ {
		if i == len(v) || v[i] != v[from] {
			e.deltas = append(e.deltas, flip(v[from], signed))
			e.deltas2 = append(e.deltas2, uint64(i-from))
			from = i
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(e.deltas)))
	plan := planFrame(e.deltas)
	if signed {
		plan = planSigned(e, e.deltas)
	}
	dst = e.appendFrame(dst, e.deltas, plan)
	return e.appendFrame(dst, e.deltas2, planFrame(e.deltas2))
}

func decodeRuns[T int64 | uint64](d *Decoder, r *reader, dst []T) {
	n := r.count(len(dst), "runs")
	if r.err != nil {
		return
	}
	values, lengths := make([]T, n), make([]uint64, n)
	decodeFrame(d, r, values)
	decodeFrame(d, r, lengths)
	if r.err != nil {
		return
	}
	rest := dst
	for i, l := range lengths {
		if l > uint64(len(rest)) {
			r.fail("runs are longer than the block")
			return
		}
		x := values[i]
		for j := range rest[:l] {
			rest[j] = x
		}
		rest = rest[l:]
	}
	if len(rest) > 0 {
		r.fail("runs are %d rows short", len(rest))
	}
}
