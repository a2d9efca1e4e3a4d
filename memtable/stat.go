package memtable

import (
	"bytes"
	"context"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// Stat returns count, smallest and largest value of a column from its slices in memory. ok is false for tags, for types
// whose order differs from the order of their bytes, and if there are tombstones.
func (r *Run) Stat(_ context.Context, c schema.Column) (scan.ColumnStat, bool, error) {
	if c.Semantic == schema.Tag || c.ID >= schema.SeriesID {
		return scan.ColumnStat{}, false, nil
	}
	switch c.Type.ID {
	case vector.TypeBool, vector.TypeJSON, vector.TypeInterval, vector.TypeDecimal, vector.TypeList:
		return scan.ColumnStat{}, false, nil
	}
	var total scan.ColumnStat
	for _, ch := range r.s.chunks {
		if ch.kinds != nil || ch.oneKind != schema.KindPut {
			return scan.ColumnStat{}, false, nil
		}
		v := ch.vector(c, vector.ConstNull(c.Type))
		if v.Type.Kind() != c.Type.Kind() {
			return scan.ColumnStat{}, false, nil
		}
		count, lo, hi := extremes(v, ch.n)
		if count == 0 {
			continue
		}
		if total.Count == 0 || less(v, lo, total.Min, 0) {
			total.Min = pick(c.Type, v, lo)
		}
		if total.Count == 0 || less(total.Max, 0, v, hi) {
			total.Max = pick(c.Type, v, hi)
		}
		total.Count += count
	}
	return total, true, nil
}

// extremes returns the number of values in n rows of v and the rows of the smallest and the largest one.
func extremes(v *vector.Vector, n int) (count, lo, hi int) {
	lo = -1
	if v.Form == vector.Const {
		if v.IsNull(0) {
			return 0, 0, 0
		}
		return n, 0, 0
	}
	for i := range n {
		if v.IsNull(i) {
			continue
		}
		count++
		switch {
		case lo < 0:
			lo, hi = i, i
		case less(v, i, v, lo):
			lo = i
		case less(v, hi, v, i):
			hi = i
		}
	}
	return count, lo, hi
}

// less reports whether row i of a comes before row j of b; NaN is the greatest number.
func less(a *vector.Vector, i int, b *vector.Vector, j int) bool {
	switch a.Type.Kind() {
	case vector.Int64:
		return a.Int(i) < b.Int(j)
	case vector.Uint64:
		return a.Uint(i) < b.Uint(j)
	case vector.Float64:
		x, y := a.Float(i), b.Float(j)
		return x < y || x == x && y != y
	}
	return bytes.Compare(a.Bytes(i), b.Bytes(j)) < 0
}

// pick copies row i of v.
func pick(t vector.Type, v *vector.Vector, i int) *vector.Vector {
	one := &vector.Vector{Type: t}
	one.Append(0, v, i, i+1)
	one.Form, one.Valid = vector.Const, nil
	return one
}
