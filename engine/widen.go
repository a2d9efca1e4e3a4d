package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"varve/engine/convert"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst"
)

// Writers of JSON, and many others, send 12 and then 12.5 for one field. Therefore the first float turns a column of
// integers into a column of floats, by the same change of type that ALTER TABLE makes. Stored values are not rewritten;
// from then on they are read as floats.

// maxExact is the largest integer up to which floats have all of them.
const maxExact = 1 << 53

// takesNumber reports whether a column of floats takes integers.
func (h *Hint) takesNumber(c *schema.Column, given vector.Type) bool {
	return !h.StrictNumbers && c.Type == vector.FloatType && c.Semantic == schema.Field && isWhole(given)
}

// widens reports whether a column of integers must become a column of floats for new values.
func (h *Hint) widens(c *schema.Column, given vector.Type) bool {
	return !h.StrictNumbers && given == vector.FloatType && c.Semantic == schema.Field && c.Nullable && isWhole(c.Type)
}

// OneKind reports whether one of two types is a float and the other an integer.
func OneKind(a, b vector.Type) bool {
	return a == vector.FloatType && isWhole(b) || b == vector.FloatType && isWhole(a)
}

// isWhole reports whether a type is one of the integer types that protocols send.
func isWhole(t vector.Type) bool { return t == vector.Int64Type || t == vector.Uint64Type }

// wider are the names of the columns of a table that the floats of a write widen.
func (w *tableWrite) wider(t *schema.Table) (names []string) {
	for i, f := range w.fields {
		if p := w.hint.column(t, f.Name); p >= 0 && w.refused.columns[i] == nil && w.hint.Planned == nil &&
			w.hint.AutoCreate && w.hint.widens(&t.Columns[p], f.Type) {
			names = append(names, f.Name)
		}
	}
	return names
}

// wholes converts the i-th column of the rows, a column of floats, for a column of integers that cannot become a column
// of floats. It leaves out rows whose value is not an integer, or whose integer the float may have rounded.
func (w *tableWrite) wholes(i int, to vector.Type, why error) *vector.Vector {
	v := w.batch.Cols[i]
	least := -float64(maxExact)
	if to.Kind() == vector.Uint64 {
		least = 0
	}
	for row := range w.batch.N {
		if v.IsNull(row) {
			continue
		}
		if x := v.Float(row); x != math.Trunc(x) || x < least || math.Abs(x) >= maxExact {
			w.refuse(row, why)
		}
	}
	return convert.All(&vector.Vector{}, v, to, w.batch.N)
}

// floatsFor is the change that makes columns of integers columns of floats.
func floatsFor(names []string) func(*schema.Table) (*schema.Table, error) {
	return func(old *schema.Table) (*schema.Table, error) {
		next := *old
		next.Columns = slices.Clone(old.Columns)
		changed := false
		for _, name := range names {
			p := old.Column(name)
			if p < 0 || !isWhole(old.Columns[p].Type) {
				continue
			}
			c := &next.Columns[p]
			c.Type, changed = vector.FloatType, true
			if c.Default != nil {
				c.Default = convert.One(c.Default, c.Type)
			}
		}
		if !changed {
			return old, nil
		}
		return &next, nil
	}
}

// inexactError is why a column of integers stays one.
type inexactError struct {
	column string
	value  string
}

func (e *inexactError) Error() string {
	return fmt.Sprintf("column %s holds the integer %s", e.column, e.value)
}

// beyondExact finds an integer in a part's column that no float represents exactly, or an integer next to such a one.
func beyondExact(p *part, c schema.Column) (x string, far bool, err error) {
	stat, ok, err := p.run.Stat(context.Background(), c)
	if err != nil && !errors.Is(err, sst.ErrCorrupt) {
		return "", false, err
	}
	if !ok || stat.Count == 0 {
		return "", false, nil // no reader can use the values any more
	}
	for _, v := range [...]*vector.Vector{stat.Min, stat.Max} {
		if v.Type.Kind() == vector.Uint64 {
			far = v.Uint(0) > maxExact
		} else {
			far = v.Int(0) > maxExact || v.Int(0) < -maxExact
		}
		if far {
			return string(convert.AppendText(nil, v, 0)), true, nil
		}
	}
	return "", false, nil
}
