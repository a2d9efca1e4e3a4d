package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

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

// runPlan is a plan for encoding values as runs: those of e.runs, e.lengths times each.
type runPlan struct {
	values, lengths frame
	size            int // bytes of the payload
}

// planRunsOf plans runs where they are long enough in the mean.
func planRunsOf(e *Encoder, b *intBlock) (cost int, ok bool) {
	if b.runs > len(b.values)/minRowsPerRun {
		return 0, false
	}
	b.run = e.planRuns(b.values, b.signed)
	return b.run.size + b.runs*runCost, true
}

func (e *Encoder) appendRunsOf(dst []byte, b *intBlock) []byte { return e.appendRuns(dst, b.run) }

// planRuns finds the runs of v and the cheapest frames for them.
func (e *Encoder) planRuns(v []uint64, signed bool) runPlan {
	e.runs, e.lengths = e.runs[:0], e.lengths[:0]
	from := 0
	for i := 1; i <= len(v); i++ {
		if i == len(v) || v[i] != v[from] {
			e.runs = append(e.runs, flip(v[from], signed))
			e.lengths = append(e.lengths, uint64(i-from))
			from = i
		}
	}
	p := runPlan{lengths: planFrame(e.lengths)}
	if signed {
		p.values = planSigned(e, e.runs)
	} else {
		p.values = planFrame(e.runs)
	}
	p.size = p.values.size + p.lengths.size + 1
	return p
}

// appendRuns encodes what planRuns has found.
func (e *Encoder) appendRuns(dst []byte, p runPlan) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(e.runs)))
	dst = e.appendFrame(dst, e.runs, p.values)
	return e.appendFrame(dst, e.lengths, p.lengths)
}

func decodeRuns[T int64 | uint64](d *Decoder, r *reader, dst []T) {
	n := r.count(len(dst), "runs")
	if r.err != nil {
		return
	}
	d.runs, d.lengths = vector.Sized(d.runs, n), vector.Sized(d.lengths, n)
	values := d.runs
	lengths := d.lengths[:len(values)]
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
		x := T(values[i])
		for j := range rest[:l] {
			rest[j] = x
		}
		rest = rest[l:]
	}
	if len(rest) > 0 {
		r.fail("runs are %d rows short", len(rest))
	}
}
