package expr

import (
	"bytes"

	"varve/engine/vector"
)

// atExtreme is arg_max(x, y) and arg_min(x, y): the x of the row with the greatest or the least y, of several the least
// x. Rows with a NULL in either do not count.
type atExtreme struct {
	cancellation
	cells
	greatest bool
	keys     [][]byte // of y, then x, as they are sorted
	key      []byte
	size     int64 // of keys
}

func (e *atExtreme) Grow(n int) {
	e.grow(n)
	e.keys = vector.Extended(e.keys, n)
}

func (e *atExtreme) Bytes() int64 { return e.memory() + e.size + int64(24*cap(e.keys)) }

// wins reports whether a row with the given key, or one that begins so, may take the place of what group g holds.
func (e *atExtreme) wins(g uint32, key []byte) bool {
	held := e.keys[g]
	return held == nil || bytes.Compare(key, held[:min(len(key), len(held))]) <= 0
}

func (e *atExtreme) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	x, y := args[0], args[1]
	eachRow(n, y, keep, func(i int) {
		if x.IsNull(i) {
			return
		}
		g := groups[i]
		e.key = AppendSortKey(e.key[:0], y, i, e.greatest, false)
		if !e.wins(g, e.key) {
			return
		}
		e.key = AppendSortKey(e.key, x, i, false, false)
		if e.wins(g, e.key) {
			e.size -= int64(cap(e.keys[g]))
			e.keys[g] = append(e.keys[g][:0], e.key...)
			e.size += int64(cap(e.keys[g]))
			e.set(g, x, i)
		}
	})
	return nil
}

func (e *atExtreme) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*atExtreme)
	for i, g := range to {
		if err := e.did(1); err != nil {
			return err
		}
		if from := int(from[i]); from < len(other.keys) && other.keys[from] != nil && e.wins(g, other.keys[from]) {
			e.size += int64(cap(other.keys[from]) - cap(e.keys[g]))
			e.keys[g] = other.keys[from]
			e.copy(g, &other.cells, from)
		}
	}
	return nil
}

func (e *atExtreme) Result(n int) (*vector.Vector, error) {
	e.Grow(n)
	return e.vector(n, e.did)
}

func init() {
	for name, greatest := range map[string]bool{"arg_max": true, "arg_min": false} {
		aggregates[name] = func(_ *Context, a *Agg) error {
			if err := a.need(2, 2); err != nil {
				return err
			}
			a.T = a.Args[0].Type()
			a.keeps = keepsValues
			a.make = func() Accumulator { return &atExtreme{cells: cells{t: a.T}, greatest: greatest} }
			return nil
		}
	}
}
