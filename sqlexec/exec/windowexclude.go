package exec

import (
	"varve/engine/vector"
)

// EXCLUDE takes rows around the current one out of its frame, which is then up to three spans. Each frame is looked at
// anew: rows that one frame lost and the next one has again cannot be taken off an aggregate.

// rowSpan is the rows [lo, hi) of a partition.
type rowSpan struct{ lo, hi int }

// spans are the rows of the frame of row i, in order; some may be empty.
func (p *windowInput) spans(f *Frame, targets []*vector.Vector, i int) [3]rowSpan {
	lo, hi := p.bounds(f, targets, i)
	from, to := i, i+1 // what is taken out
	if f.Exclude != "current row" {
		from, to = int(p.starts[p.group[i]]), p.groupStart(int(p.group[i])+1)
	}
	out := [3]rowSpan{{lo, max(lo, min(hi, from))}, {}, {min(hi, max(lo, to)), hi}}
	if f.Exclude == "ties" && lo <= i && i < hi {
		out[1] = rowSpan{i, i + 1}
	}
	return out
}

// pickSpans is first_value, last_value and nth_value.
func (r *framer) pickSpans() error {
	r.begin()
	for i := range r.p.to - r.p.from {
		if err := r.cancelled(i); err != nil {
			return err
		}
		list, count := r.p.spans(&r.f.Frame, r.targets, i), int32(0)
		for k, s := range list { // rows that count
			list[k] = rowSpan{int(r.before[s.lo]), int(r.before[s.hi])}
			count += int32(list[k].hi - list[k].lo)
		}
		at, err := r.fn.place(r, i, count)
		if err != nil {
			return err
		}
		row := int32(-1)
		for _, s := range list {
			size := int32(s.hi - s.lo)
			if at >= 0 && at < size {
				row = r.rows[s.lo+int(at)]
			}
			at -= size
		}
		r.add(row)
	}
	return r.end()
}

// generalSpans computes an aggregate over each frame anew.
func (r *framer) generalSpans() error {
	picked := make([]*vector.Vector, len(r.args))
	for k := range picked {
		picked[k] = &vector.Vector{}
	}
	var rows []uint32
	groups := make([]uint32, checkRows)
	for i := range r.p.to - r.p.from {
		state := r.f.Agg.Within(r.room.budget.Memory())
		state.Grow(1)
		add := func() error {
			for k, v := range r.args {
				picked[k].Gather(v, rows)
			}
			err := state.Add(len(rows), groups[:len(rows)], picked, nil)
			rows = rows[:0]
			if err != nil {
				return err
			}
			return r.err()
		}
		for _, s := range r.p.spans(&r.f.Frame, r.targets, i) {
			for row := s.lo; row < s.hi; row++ {
				at := r.p.from + row
				if r.keep != nil && (r.keep.IsNull(at) || !r.keep.Bool(at)) {
					continue
				}
				if rows = append(rows, uint32(at)); len(rows) == checkRows {
					if err := add(); err != nil {
						return err
					}
				}
			}
		}
		if len(rows) > 0 {
			if err := add(); err != nil {
				return err
			}
		}
		result, err := state.Result(1)
		if err != nil {
			return err
		}
		if err := r.room.take(result, 0); err != nil {
			return err
		}
		r.out.Append(r.p.from+i, result, 0, 1)
		state.Free()
	}
	return r.err()
}
