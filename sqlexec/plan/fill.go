package plan

import (
	"math"

	"varve/engine/status"
	"varve/engine/vector"
)

// maxSlots bounds the rows that FillSlots makes.
const maxSlots = 20_000_000

// fillSlots adds the missing slots to rows that are sorted by keys, then slot, and fills the aggregates' NULLs.
func (n *FillSlots) fillSlots(in *vector.Batch) (*vector.Batch, error) {
	out := vector.NewBatch(types(n.Cols)...)
	for from := 0; from < in.N; {
		to := from + 1
		for to < in.N && n.sameKey(in, from, to) {
			to++
		}
		if err := n.fillKey(in, from, to, out); err != nil {
			return nil, err
		}
		from = to
	}
	return out, nil
}

// sameKey tells whether two rows have equal keys; NULLs are equal.
func (n *FillSlots) sameKey(b *vector.Batch, i, j int) bool {
	for k := 1; k <= n.Keys; k++ {
		if !sameValue(b.Cols[k], i, j) {
			return false
		}
	}
	return true
}

func sameValue(v *vector.Vector, i, j int) bool {
	if v.IsNull(i) || v.IsNull(j) {
		return v.IsNull(i) && v.IsNull(j)
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return v.Bool(i) == v.Bool(j)
	case vector.Int64:
		return v.Int(i) == v.Int(j)
	case vector.Uint64:
		return v.Uint(i) == v.Uint(j)
	case vector.Float64:
		a, b := v.Float(i), v.Float(j)
		return a == b || a != a && b != b
	}
	return v.Str(i) == v.Str(j)
}

// fillKey writes the slots of one key, rows [from, to) of in.
func (n *FillSlots) fillKey(in *vector.Batch, from, to int, out *vector.Batch) error {
	slots := in.Cols[0]
	first, last := slots.Int(from), slots.Int(to-1)
	count := (last-first)/n.Step + 1
	if count > maxSlots || int64(out.N)+count > maxSlots {
		return status.New(status.RuntimeResourcesExhausted, "FILL would make more than %d rows", maxSlots)
	}
	rows := make([]int, count) // the row of each slot; -1 where there is none
	for i := range rows {
		rows[i] = -1
	}
	for r := from; r < to; r++ {
		rows[(slots.Int(r)-first)/n.Step] = r
	}
	base := out.N
	for i := range rows {
		out.Cols[0].Ints = append(out.Cols[0].Ints, first+int64(i)*n.Step)
		for k := 1; k <= n.Keys; k++ {
			out.Cols[k].Append(base+i, in.Cols[k], from, from+1)
		}
	}
	for a, fill := range n.Fills {
		dst, src := out.Cols[1+n.Keys+a], in.Cols[1+n.Keys+a]
		switch fill.Kind {
		case "linear":
			fillLinear(dst, base, src, rows)
		case "prev":
			fillPrev(dst, base, src, rows)
		case "value":
			fillValue(dst, base, src, rows, fill.Value)
		default:
			fillNull(dst, base, src, rows)
		}
	}
	out.N += len(rows)
	return nil
}

func fillNull(dst *vector.Vector, base int, src *vector.Vector, rows []int) {
	for i, r := range rows {
		if r < 0 {
			dst.AppendNulls(base+i, 1)
		} else {
			dst.Append(base+i, src, r, r+1)
		}
	}
}

func fillPrev(dst *vector.Vector, base int, src *vector.Vector, rows []int) {
	prev := -1
	for i, r := range rows {
		if r >= 0 && !src.IsNull(r) {
			prev = r
		}
		if prev < 0 {
			dst.AppendNulls(base+i, 1)
		} else {
			dst.Append(base+i, src, prev, prev+1)
		}
	}
}

func fillValue(dst *vector.Vector, base int, src *vector.Vector, rows []int, value *vector.Vector) {
	for i, r := range rows {
		if r >= 0 && !src.IsNull(r) {
			dst.Append(base+i, src, r, r+1)
		} else {
			dst.Append(base+i, value, 0, 1)
		}
	}
}

// fillLinear puts gaps on the line between their neighbours, and gaps at the ends on the line through the nearest
// two values. With fewer than two values gaps stay NULL.
func fillLinear(dst *vector.Vector, base int, src *vector.Vector, rows []int) {
	var known []int
	for i, r := range rows {
		if r >= 0 && !src.IsNull(r) {
			known = append(known, i)
		}
	}
	next := 0 // known[next] is the first known place at or after i
	for i, r := range rows {
		for next < len(known) && known[next] < i {
			next++
		}
		if r >= 0 && !src.IsNull(r) {
			dst.Append(base+i, src, r, r+1)
			continue
		}
		if len(known) < 2 {
			dst.AppendNulls(base+i, 1)
			continue
		}
		hi := min(max(next, 1), len(known)-1)
		a, b := known[hi-1], known[hi]
		y0, y1 := src.Float(rows[a]), src.Float(rows[b])
		y := y0 + (y1-y0)*float64(i-a)/float64(b-a)
		dst.Append(base+i, vector.ConstFloat(dst.Type, y), 0, 1)
	}
}

// slots gives the range of k for which origin + k*step <= t < origin + k*step + span: first..last, empty when
// first > last. ok is false when t is out of reach.
func slotRange(t, origin, step, span int64) (first, last int64, ok bool) {
	d := t - origin
	if (t >= 0) != (d >= 0) && (origin >= 0) != (t >= 0) { // overflow
		return 0, -1, false
	}
	last, _ = floorDivMod(d, step)
	if d < math.MinInt64+span {
		return 0, -1, false
	}
	first, _ = floorDivMod(d-span, step)
	return first + 1, last, true
}

// maxSlotsPerRow bounds how often Expand repeats a row.
const maxSlotsPerRow = 1_000_000

// expand writes the rows of in repeated for their slots: which row, and the slot's time.
func (n *Expand) expand(times *vector.Vector, count int, rows []uint32, slots []int64) ([]uint32, []int64, error) {
	if n.Ranges[0]/n.Step > maxSlotsPerRow {
		return nil, nil, status.New(status.InvalidArguments, "a row would lie in more than %d slots: the range is too long for the step", maxSlotsPerRow)
	}
	for i := range count {
		if times.IsNull(i) {
			continue
		}
		first, last, ok := slotRange(times.Int(i), n.Origin, n.Step, n.Ranges[0])
		if !ok {
			continue
		}
		for k := first; k <= last; k++ {
			rows, slots = append(rows, uint32(i)), append(slots, n.Origin+k*n.Step)
		}
	}
	return rows, slots, nil
}
