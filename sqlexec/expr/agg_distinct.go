package expr

import "varve/engine/vector"

// distinct feeds every distinct value of a group, NULL too, to the aggregate once, at the end.
type distinct struct {
	cancellation
	a      *Agg
	types  []vector.Type // of the arguments, then of the order keys
	seen   map[string]struct{}
	chunks []*distinctChunk
	key    []byte
	size   int64 // without the last chunk
	groups int
}

// distinctChunk has rows with their groups.
type distinctChunk struct {
	rows   *vector.Batch
	groups []uint32
}

// seenBytes is the approximate memory of a seen value without its bytes.
const seenBytes = 64

func newDistinct(a *Agg) *distinct {
	types := make([]vector.Type, 0, len(a.Args)+len(a.Order))
	for _, e := range a.Inputs() {
		types = append(types, e.Type())
	}
	return &distinct{a: a, types: types, seen: map[string]struct{}{}}
}

// Grow notes the number of groups, which have no state of their own before the end.
func (d *distinct) Grow(n int) { d.groups = max(d.groups, n) }

// Bytes counts the rows and the keys by which they are found.
func (d *distinct) Bytes() int64 {
	if n := len(d.chunks); n > 0 {
		return d.size + d.chunks[n-1].bytes()
	}
	return d.size
}

func (c *distinctChunk) bytes() int64 {
	bytes := int64(4 * cap(c.groups))
	for _, v := range c.rows.Cols {
		bytes += heldBytes(v)
	}
	return bytes
}

// full reports whether a chunk takes no more rows.
func (c *distinctChunk) full() bool {
	if c.rows.N >= vector.Size {
		return true
	}
	heap := 0
	for _, v := range c.rows.Cols {
		heap = max(heap, len(v.Heap))
	}
	return heap >= chunkHeap
}

// open is the chunk that takes the next row.
func (d *distinct) open() *distinctChunk {
	if n := len(d.chunks); n > 0 {
		last := d.chunks[n-1]
		if !last.full() {
			return last
		}
		d.size += last.bytes()
	}
	c := &distinctChunk{rows: vector.NewBatch(d.types...)}
	d.chunks = append(d.chunks, c)
	return c
}

func (d *distinct) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	eachRow(n, nil, keep, func(i int) {
		g := groups[i]
		d.key = append(d.key[:0], byte(g), byte(g>>8), byte(g>>16), byte(g>>24))
		for _, v := range args[:len(d.a.Args)] {
			d.key = AppendKey(d.key, v, i)
		}
		if _, ok := d.seen[string(d.key)]; ok {
			return
		}
		d.seen[string(d.key)] = struct{}{}
		d.size += int64(len(d.key)) + seenBytes
		c := d.open()
		for k, v := range c.rows.Cols {
			v.Append(c.rows.N, args[k], i, i+1)
		}
		c.rows.N++
		c.groups = append(c.groups, g)
	})
	return nil
}

// Merge adds rows of another.
func (d *distinct) Merge(o Accumulator, from, to []uint32) error {
	here := renumbered(from, to, o.(*distinct).groups)
	mapped := make([]uint32, 0, vector.Size)
	for _, c := range o.(*distinct).chunks {
		mapped = mapped[:0]
		keep := vector.MakeBitmap(c.rows.N)
		for i, g := range c.groups {
			mapped = append(mapped, here[g]-1)
			if here[g] != 0 {
				keep.Set(i)
			}
		}
		if err := d.did(c.rows.N); err != nil {
			return err
		}
		if err := d.Add(c.rows.N, mapped, c.rows.Cols, keep); err != nil {
			return err
		}
	}
	return nil
}

// resultBytes is 0: the memory of the aggregate is counted while it is fed.
func (d *distinct) resultBytes() int64 { return 0 }

// Result feeds the aggregate.
func (d *distinct) Result(n int) (*vector.Vector, error) {
	each := *d.a
	each.Distinct = false
	var memory Memory
	if d.bounds != nil {
		memory = d.bounds
	}
	inner := each.Within(memory)
	inner.Grow(n)
	for _, c := range d.chunks {
		if err := d.did(c.rows.N); err != nil {
			return nil, err
		}
		if err := inner.Add(c.rows.N, c.groups, c.rows.Cols, nil); err != nil {
			return nil, err
		}
	}
	v, err := inner.Result(n)
	if err != nil {
		return nil, err
	}
	given := inner.given
	inner.Free()
	return v, d.hold(given)
}
