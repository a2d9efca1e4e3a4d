package expr

import (
	"math/bits"

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
// the answer; of few groups each value knows those that have it; of more, pairs of group and number are counted once
// each.
type countDistinct struct {
	cancellation
	values *intern.Interner
	some   bool          // there are several groups, or a filter
	having []uint64      // of each value the groups that have it, a bit each, as long as there are few
	pairs  *intern.Table // group in the upper half, number in the lower; nil: groups are few
	counts []int64
	ids    []uint32
	keys   []uint64 // pairs that are counted together
	batch  intern.Batch
}

// bitGroups is the number of groups up to which each value knows its own.
const bitGroups = 64

func newCountDistinct(t vector.Type) *countDistinct { return &countDistinct{values: NewInterner(t)} }

func (c *countDistinct) Grow(n int) {
	c.counts = vector.Extended(c.counts, n)
	if n > 1 {
		c.begin()
	}
	if n > bitGroups {
		c.pair()
	}
}

// begin begins to keep groups apart; the values seen so far belong to group 0.
func (c *countDistinct) begin() {
	if c.some {
		return
	}
	c.some = true
	c.having = vector.Extended(c.having, c.values.Len())
	for id := range c.having {
		c.having[id] = 1
	}
	if null, ok := c.values.Null(); ok {
		c.having[null] = 0
	}
	for _, groups := range c.having {
		c.counts[0] += int64(groups)
	}
}

// pair begins to count pairs.
func (c *countDistinct) pair() {
	if c.pairs != nil {
		return
	}
	c.begin()
	c.pairs = intern.NewTable()
	clear(c.counts)
	for id, groups := range c.having {
		for ; groups != 0; groups &= groups - 1 {
			c.count(uint32(bits.TrailingZeros64(groups)), uint32(id))
		}
	}
	c.enter()
	c.having = nil
}

func (c *countDistinct) Bytes() int64 {
	n := c.values.Bytes() + int64(8*(cap(c.counts)+cap(c.having)))
	if c.pairs != nil {
		n += c.pairs.Bytes()
	}
	return n
}

func (c *countDistinct) moves(rows int, texts int64) int64 { return c.values.Moves(rows, texts) }

func (c *countDistinct) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	if keep != nil {
		c.begin()
	}
	if cap(c.ids) < n {
		c.ids = make([]uint32, max(n, vector.Size))
	}
	ids := c.ids[:n]
	c.values.Intern(args[0], n, ids)
	if !c.some {
		return nil
	}
	null, nulls := c.values.Null()
	if c.pairs == nil {
		c.having = vector.Extended(c.having, c.values.Len())
		if keep == nil && !nulls {
			noteGroups(c.having, c.counts, ids, groups)
			return nil
		}
	}
	for i, id := range ids {
		switch {
		case nulls && id == null || keep != nil && !keep.Get(i):
		case c.pairs == nil:
			noteGroups(c.having, c.counts, ids[i:i+1], groups[i:i+1])
		default:
			c.count(groups[i], id)
		}
	}
	c.enter()
	return nil
}

// noteGroups notes the group of each value, and counts the values that are new to their group. No branch depends on a
// value.
func noteGroups(having []uint64, counts []int64, ids, groups []uint32) {
	groups = groups[:len(ids)]
	for i, id := range ids {
		g, had := groups[i], having[id]
		counts[g] += int64(^had >> (g & (bitGroups - 1)) & 1)
		having[id] = had | 1<<(g&(bitGroups-1))
	}
}

// count adds a pair to the pairs that are inserted together: inserted one by one, each would wait for memory.
func (c *countDistinct) count(g, id uint32) {
	if c.keys = append(c.keys, uint64(g)<<32|uint64(id)); len(c.keys) == vector.Size {
		c.enter()
	}
}

// enter counts the pairs that are new.
func (c *countDistinct) enter() {
	if len(c.keys) == 0 {
		return
	}
	for _, at := range c.batch.Add(c.pairs, c.keys) {
		c.counts[c.keys[at]>>32]++
	}
	c.keys = c.keys[:0]
}

func (c *countDistinct) Merge(o Accumulator, to []uint32) error {
	other := o.(*countDistinct)
	if c.some || other.some {
		c.begin()
		other.begin()
	}
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
	if !c.some {
		return nil
	}
	if other.pairs == nil {
		return c.mergeFew(other.having, here, to)
	}
	for key := range other.pairs.Keys() {
		if err := c.did(1); err != nil {
			return err
		}
		c.count(to[key>>32], here[uint32(key)])
	}
	c.enter()
	return nil
}

// mergeFew adds the groups of each of some values, which have the numbers here and to here.
func (c *countDistinct) mergeFew(having []uint64, here, to []uint32) error {
	c.having = vector.Extended(c.having, c.values.Len())
	for id, groups := range having {
		if err := c.did(1); err != nil {
			return err
		}
		at := &c.having[here[id]]
		for ; groups != 0; groups &= groups - 1 {
			g := to[bits.TrailingZeros64(groups)]
			c.counts[g] += int64(^*at >> (g & (bitGroups - 1)) & 1)
			*at |= 1 << (g & (bitGroups - 1))
		}
	}
	return nil
}

func (c *countDistinct) Result(n int) (*vector.Vector, error) {
	c.Grow(n)
	if !c.some && n == 1 {
		c.counts[0] = int64(c.values.Len())
		if _, some := c.values.Null(); some {
			c.counts[0]--
		}
	}
	return &vector.Vector{Type: i64, Ints: c.counts[:n]}, nil
}
