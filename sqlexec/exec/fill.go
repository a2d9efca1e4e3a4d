package exec

import (
	"context"

	"varve/engine/status"
	"varve/engine/vector"
)

// maxSlots bounds the rows that Fill makes.
const maxSlots = 20_000_000

// fillRows is the number of rows of a batch at which the slots of further keys go to another batch.
const fillRows = 1 << 16

// FillSpec says how the slots of a range query are filled up. Columns: the slot, keys, aggregates.
type FillSpec struct {
	Keys  int // columns 1..Keys are the keys
	Step  int64
	Fills []FillKind // one per aggregate
	Types []vector.Type
}

// FillKind is how an aggregate's gaps are filled: none and null give NULL.
type FillKind struct {
	Kind  string         // "", null, prev, linear, value
	Value *vector.Vector // Const, of the aggregate's type
}

// Fill adds rows for the slots without rows between the first and last of each key. Its rows come sorted by keys, then
// slot, to one worker.
func Fill(spec FillSpec, in []vector.Type, budget *Budget) Sink {
	return &fillSink{FillSpec: spec, rows: NewRows(in), budget: budget}
}

type fillSink struct {
	FillSpec
	rows   *Rows
	budget *Budget
}

func (f *fillSink) String() string { return "Fill" }

// Step keeps a copy of the rows.
func (f *fillSink) Step(int) Step {
	return func(b *vector.Batch) error {
		if err := f.budget.Reserve(BatchBytes(b)); err != nil {
			return err
		}
		f.rows.Add(b, 0, b.N)
		return nil
	}
}

// Finish returns the rows with those between.
func (f *fillSink) Finish(ctx context.Context) (Source, error) {
	rows, err := Together(ctx, []*Rows{f.rows}, 1, f.budget)
	if err != nil {
		return nil, err
	}
	return f.fillSlots(ctx, rows, f.budget.Reserve)
}

// fillSlots adds the missing slots to rows that are sorted by keys, then slot, and fills the aggregates' NULLs.
func (n *FillSpec) fillSlots(ctx context.Context, in *vector.Batch, reserve func(bytes int64) error) (Source, error) {
	var out []Source
	var b *vector.Batch
	total := uint64(0)
	for from := 0; from < in.N; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := from + 1
		for to < in.N && n.sameKey(in, from, to) {
			to++
		}
		count := n.slotsBetween(in.Cols[0].Int(from), in.Cols[0].Int(to-1)) + 1
		if total += count; total > maxSlots {
			return nil, status.New(status.RuntimeResourcesExhausted, "FILL would make more than %d rows", maxSlots)
		}
		if err := reserve(int64(count) * n.slotBytes(in, from, to)); err != nil {
			return nil, err
		}
		if b == nil || b.N >= fillRows {
			b = vector.NewBatch(n.Types...)
			out = append(out, Values(b))
		}
		n.fillKey(in, from, to, int(count), b)
		from = to
	}
	return concat(out), nil
}

// slotsBetween is the number of steps from one slot to a later one. The distance may exceed an int64.
func (n *FillSpec) slotsBetween(from, to int64) uint64 {
	return (uint64(to) - uint64(from)) / uint64(n.Step)
}

// slotBytes is the most memory of a slot of the key of rows [from, to): texts are repeated in each.
func (n *FillSpec) slotBytes(in *vector.Batch, from, to int) int64 {
	bytes := int64(8 + 9*len(n.Types))
	for k, v := range in.Cols[:1+n.Keys] {
		if k > 0 && v.Type.Kind() == vector.Bytes && !v.IsNull(from) {
			bytes += int64(len(v.Bytes(from)))
		}
	}
	for a, fill := range n.Fills {
		v, most := in.Cols[1+n.Keys+a], 0
		if v.Type.Kind() != vector.Bytes {
			continue
		}
		if fill.Kind == "value" {
			most = len(fill.Value.Bytes(0))
		}
		for r := from; r < to && fill.Kind != ""; r++ {
			if !v.IsNull(r) {
				most = max(most, len(v.Bytes(r)))
			}
		}
		bytes += int64(most)
	}
	return bytes
}

// sameKey reports whether two rows have equal keys; NULLs are equal.
func (n *FillSpec) sameKey(b *vector.Batch, i, j int) bool {
	for k := 1; k <= n.Keys; k++ {
		if !sameValue(b.Cols[k], i, b.Cols[k], j) {
			return false
		}
	}
	return true
}

// fillKey writes the count slots of one key, from rows [from, to) of in.
func (n *FillSpec) fillKey(in *vector.Batch, from, to, count int, out *vector.Batch) {
	slots := in.Cols[0]
	first := slots.Int(from)
	rows := make([]int, count) // the row of each slot; -1: no row
	for i := range rows {
		rows[i] = -1
	}
	for r := from; r < to; r++ {
		rows[n.slotsBetween(first, slots.Int(r))] = r
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
