package expr

import (
	"varve/engine/vector"
	"varve/sqlexec/intern"
)

// NewInterner is an interner of values of a type: intervals of equal length are one value.
func NewInterner(t vector.Type) *intern.Interner {
	if t.ID == vector.TypeInterval {
		return intern.New(t, func(b []byte) uint64 { return uint64(IntervalLength(b)) })
	}
	return intern.New(t, nil)
}

// countDistinct is count(DISTINCT x): values are numbered. As long as there is one group and no filter, their number is
// the answer; otherwise pairs of group and number are counted once each.
type countDistinct struct {
	cancellation
	values *intern.Interner
	pairs  *intern.Table // group in the upper half, number in the lower; nil: one group, all values counted
	counts []int64
	ids    []uint32
	keys   []uint64 // pairs that are counted together
	batch  intern.Batch
}

func newCountDistinct(t vector.Type) *countDistinct { return &countDistinct{values: NewInterner(t)} }

func (c *countDistinct) Grow(n int) {
	c.counts = vector.Extended(c.counts, n)
	if n > 1 {
		c.pair()
	}
}

// pair begins to count pairs; what was seen so far belongs to group 0.
func (c *countDistinct) pair() {
	if c.pairs != nil {
		return
	}
	c.pairs = intern.NewTable()
	null, some := c.values.Null()
	for id := range uint32(c.values.Len()) {
		if !some || id != null {
			c.count(0, id)
		}
	}
	c.enter()
}

func (c *countDistinct) Bytes() int64 {
	n := c.values.Bytes() + int64(8*cap(c.counts))
	if c.pairs != nil {
		n += c.pairs.Bytes()
	}
	return n
}

func (c *countDistinct) Moves(rows int, texts int64) int64 { return c.values.Moves(rows, texts) }

func (c *countDistinct) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	if keep != nil {
		c.pair()
	}
	if cap(c.ids) < n {
		c.ids = make([]uint32, max(n, vector.Size))
	}
	ids := c.ids[:n]
	c.values.Intern(args[0], n, ids)
	if c.pairs == nil {
		return nil
	}
	null, some := c.values.Null()
	for i, id := range ids {
		if some && id == null || keep != nil && !keep.Get(i) {
			continue
		}
		c.count(groups[i], id)
	}
	c.enter()
	return nil
}

// count puts a pair among those that are entered together: one by one each would wait for its place to come from memory.
func (c *countDistinct) count(g, id uint32) {
	if c.keys = append(c.keys, uint64(g)<<32|uint64(id)); len(c.keys) == vector.Size {
		c.enter()
	}
}

// enter counts the pairs that are new.
func (c *countDistinct) enter() {
	for _, at := range c.batch.Add(c.pairs, c.keys) {
		c.counts[c.keys[at]>>32]++
	}
	c.keys = c.keys[:0]
}

func (c *countDistinct) Merge(o Accumulator, to []uint32) error {
	other := o.(*countDistinct)
	if c.pairs != nil || other.pairs != nil {
		c.pair()
		other.pair()
	}
	here := make([]uint32, other.values.Len())
	for from := 0; from < len(here); from += vector.Size {
		n := min(vector.Size, len(here)-from)
		if err := c.did(n); err != nil {
			return err
		}
		c.values.Intern(other.values.Values.Slice(from, from+n), n, here[from:from+n])
	}
	if other.pairs != nil {
		for key := range other.pairs.Keys() {
			if err := c.did(1); err != nil {
				return err
			}
			c.count(to[key>>32], here[uint32(key)])
		}
		c.enter()
	}
	return nil
}

func (c *countDistinct) Result(n int) (*vector.Vector, error) {
	c.Grow(n)
	if c.pairs == nil && n == 1 {
		c.counts[0] = int64(c.values.Len())
		if _, some := c.values.Null(); some {
			c.counts[0]--
		}
	}
	return &vector.Vector{Type: i64, Ints: c.counts[:n]}, nil
}
