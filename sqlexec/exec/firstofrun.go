package exec

import (
	"bytes"
	"fmt"

	"varve/engine/vector"
)

// FirstOfRun keeps the first row of each run of rows that are equal in some columns. One worker: its input is in order.
func FirstOfRun(columns []int) Operator { return &firstOfRunOp{columns} }

type firstOfRunOp struct{ keys []int }

func (f *firstOfRunOp) String() string { return fmt.Sprintf("FirstOfRun: %d keys", len(f.keys)) }

// Step passes the rows on that differ from the row before in a key.
func (f *firstOfRunOp) Step(next Step) Step {
	last := &vector.Batch{}
	var rows []uint32
	return func(b *vector.Batch) error {
		rows = rows[:0]
		for i := range b.N {
			switch {
			case i > 0 && f.same(b, i-1, b, i), i == 0 && last.N > 0 && f.same(last, 0, b, 0):
			default:
				rows = append(rows, uint32(i))
			}
		}
		if b.N > 0 {
			last = lastRow(b)
		}
		if len(rows) == 0 {
			return nil
		}
		return next(gather(b, rows))
	}
}

func (f *firstOfRunOp) same(a *vector.Batch, i int, b *vector.Batch, j int) bool {
	for _, k := range f.keys {
		if !sameValue(a.Cols[k], i, b.Cols[k], j) {
			return false
		}
	}
	return true
}

// sameValue reports whether two values of one type are equal as consecutive rows are compared. It compares like keys
// do, except that intervals of equal length with different parts differ.
func sameValue(v *vector.Vector, i int, w *vector.Vector, j int) bool {
	return sameKey(v, i, w, j) &&
		(v.Type.ID != vector.TypeInterval || v.IsNull(i) || bytes.Equal(v.Bytes(i), w.Bytes(j)))
}

// lastRow copies the last row of a batch.
func lastRow(b *vector.Batch) *vector.Batch {
	out := &vector.Batch{N: 1}
	for _, c := range b.Cols {
		v := &vector.Vector{Type: c.Type}
		v.Append(0, c, b.N-1, b.N)
		out.Cols = append(out.Cols, v)
	}
	return out
}

// gather is the rows of a batch with the given numbers, in a batch of their own.
func gather(b *vector.Batch, rows []uint32) *vector.Batch {
	out := &vector.Batch{}
	gatherRows(out, b, rows)
	return out
}
