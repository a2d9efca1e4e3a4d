package expr

import (
	"math/bits"

	"varve/engine/vector"
	"varve/sqlexec/intern"
)

// NewInterner is an interner of values of a type.
func NewInterner(t vector.Type) *intern.Interner { return intern.New(t, Canon(t)) }

// Canon is what values of a type are compared as, see intern.New: intervals of equal length are one value.
func Canon(t vector.Type) func([]byte) uint64 {
	if t.ID == vector.TypeInterval {
		return func(b []byte) uint64 { return uint64(IntervalLength(b)) }
	}
	return nil
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

func (c *countDistinct) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*countDistinct)
	if c.some || other.some {
		c.begin()
		other.begin()
	}
	if c.pairs != nil || other.pairs != nil {
		c.pair()
		other.pair()
	}
	if !c.some {
		_, err := c.numbersOf(c.values, other.values, true, nil)
		return err
	}
	here := renumbered(from, to, len(other.counts))
	pairs := func(yield func(g, id uint32) bool) { other.each(here, yield) }
	numbers, err := c.numbersOf(c.values, other.values, len(from) == len(other.counts), pairs)
	if err != nil {
		return err
	}
	if c.pairs == nil {
		c.having = vector.Extended(c.having, c.values.Len())
	}
	for g, id := range pairs {
		if err := c.did(1); err != nil {
			return err
		}
		if id = numbers[id]; c.pairs != nil {
			c.count(g, id)
			continue
		}
		at := &c.having[id]
		c.counts[g] += int64(^*at >> (g & (bitGroups - 1)) & 1)
		*at |= 1 << (g & (bitGroups - 1))
	}
	c.enter()
	return nil
}

// each gives the pairs of group and number, as long as yield wants them: of groups by their numbers in here, plus one.
func (c *countDistinct) each(here []uint32, yield func(g, id uint32) bool) {
	if c.pairs != nil {
		for key := range c.pairs.Keys() {
			if g := here[key>>32]; g != 0 && !yield(g-1, uint32(key)) {
				return
			}
		}
		return
	}
	for id, groups := range c.having {
		for ; groups != 0; groups &= groups - 1 {
			g := bits.TrailingZeros64(groups)
			if here[g] != 0 && !yield(here[g]-1, uint32(id)) {
				return
			}
		}
	}
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
