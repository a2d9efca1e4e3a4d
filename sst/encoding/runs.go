package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Runs: number of runs | packed values (frame.go) | packed lengths.

// runPlan is a plan for encoding values as runs: those of e.runs, e.lengths times each.
type runPlan struct {
	values, lengths frame
	size            int // bytes of the payload
}

// leastRuns: runs pay only where they are long enough in the mean.
func leastRuns(_ *Encoder, b *intBlock) int {
	if b.runs < 2 || b.runs > len(b.values)/minRowsPerRun {
		return never
	}
	return 2*frameHead + 1 + b.runs*runCost
}

func planRunsOf(e *Encoder, dst []byte, b *intBlock) (out []byte, cost int) {
	b.run = e.planRuns(b.values, b.signed)
	return dst, b.run.size + b.runs*runCost
}

func appendRunsOf(e *Encoder, dst []byte, b *intBlock) []byte { return e.appendRuns(dst, b.run) }

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
