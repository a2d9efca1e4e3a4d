package expr

import (
	"encoding/binary"

	"varve/engine/vector"
	"varve/sqlexec/intern"
)

// NewInterner is an interner of values of a type: intervals of equal length are one value.
func NewInterner(t vector.Type) *intern.Interner {
	if t.ID == vector.TypeInterval {
		return intern.New(t, func(b []byte) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(intervalLength(b))) })
	}
	return intern.New(t, nil)
}

// countDistinct is count(DISTINCT x): values are numbered, then pairs of group and number counted once.
type countDistinct struct {
	values *intern.Interner
	pairs  *intern.Table // group in the upper half, number in the lower
	counts []int64
	ids    []uint32
}

func newCountDistinct(t vector.Type) *countDistinct {
	return &countDistinct{values: NewInterner(t), pairs: intern.NewTable()}
}

func (c *countDistinct) Grow(n int) { c.counts = grown(c.counts, n) }

func (c *countDistinct) Bytes() int64 {
	return c.values.Bytes() + c.pairs.Bytes() + int64(8*cap(c.counts))
}

func (c *countDistinct) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	if cap(c.ids) < n {
		c.ids = make([]uint32, max(n, vector.Size))
	}
	ids := c.ids[:n]
	c.values.Intern(args[0], n, ids)
	null, some := c.values.Null()
	for i, id := range ids {
		if some && id == null || keep != nil && !keep.Get(i) {
			continue
		}
		c.count(groups[i], id)
	}
	return nil
}

func (c *countDistinct) count(g, id uint32) {
	if _, fresh := c.pairs.Find(uint64(g)<<32 | uint64(id)); fresh {
		c.counts[g]++
	}
}

func (c *countDistinct) Merge(o Accumulator, to []uint32) error {
	other := o.(*countDistinct)
	here := make([]uint32, other.values.Len())
	for from := 0; from < len(here); from += vector.Size {
		n := min(vector.Size, len(here)-from)
		c.values.Intern(other.values.Values.Slice(from, from+n), n, here[from:from+n])
	}
	other.pairs.Each(func(key uint64) { c.count(to[key>>32], here[uint32(key)]) })
	return nil
}

func (c *countDistinct) Result(n int) (*vector.Vector, error) {
	c.Grow(n)
	return &vector.Vector{Type: i64, Ints: c.counts[:n]}, nil
}
