package expr

import (
	"math"

	"varve/engine/vector"
)

// valueLog keeps values of one type in chunks, so that texts of any total length have a place. One goroutine at a time.
type valueLog struct {
	t      vector.Type
	chunks []*valueChunk
	size   int64
}

// valueChunk is a vector of n values.
type valueChunk struct {
	v vector.Vector
	n int
}

// add keeps row i of v and tells where.
func (l *valueLog) add(v *vector.Vector, i int) itemRef {
	var c *valueChunk
	if n := len(l.chunks); n > 0 && l.chunks[n-1].n < chunkItems && len(l.chunks[n-1].v.Heap) < chunkHeap {
		c = l.chunks[n-1]
	} else {
		c = &valueChunk{v: vector.Vector{Type: l.t}}
		l.chunks = append(l.chunks, c)
	}
	before := heldBytes(&c.v)
	c.v.Append(c.n, v, i, i+1)
	c.n++
	l.size += heldBytes(&c.v) - before
	return itemRef{uint32(len(l.chunks) - 1), uint32(c.n - 1)}
}

// take adds the chunks of another log behind those here: its first is chunk number base.
func (l *valueLog) take(o *valueLog) (base uint32) {
	base = uint32(len(l.chunks))
	l.chunks = append(l.chunks, o.chunks...)
	l.size += o.size
	return base
}

func (l *valueLog) compare(a, b itemRef) int {
	return Compare(&l.chunks[a.chunk].v, int(a.item), &l.chunks[b.chunk].v, int(b.item))
}

// discrete is percentile_disc(x, p): the first value in order that has at least the share p of all values up to it.
type discrete struct {
	cancellation
	p      float64
	desc   bool
	log    valueLog
	groups [][]itemRef
	refs   int64 // that the groups have room for
}

func (d *discrete) Grow(n int) { d.groups = vector.Extended(d.groups, n) }

// refBytes is the memory of a value's place, and of its other place while they are sorted.
const refBytes = 16

func (d *discrete) Bytes() int64 { return d.log.size + refBytes*d.refs + int64(24*cap(d.groups)) }

func (d *discrete) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	eachRow(n, args[0], keep, func(i int) {
		g := groups[i]
		before := cap(d.groups[g])
		d.groups[g] = append(d.groups[g], d.log.add(args[0], i))
		d.refs += int64(cap(d.groups[g]) - before)
	})
	return nil
}

func (d *discrete) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*discrete)
	all := len(from) == len(other.groups) // then the values stay where they are
	base := uint32(0)
	if all {
		base = d.log.take(&other.log)
	}
	for i, k := range from {
		list := other.groups[k]
		if err := d.did(len(list) + 1); err != nil {
			return err
		}
		g := &d.groups[to[i]]
		before := cap(*g)
		for _, r := range list {
			if all {
				*g = append(*g, itemRef{r.chunk + base, r.item})
			} else {
				*g = append(*g, d.log.add(&other.log.chunks[r.chunk].v, int(r.item)))
			}
		}
		d.refs += int64(cap(*g) - before)
	}
	return nil
}

func (d *discrete) Result(n int) (*vector.Vector, error) {
	d.Grow(n)
	compare := d.log.compare
	if d.desc {
		compare = func(a, b itemRef) int { return d.log.compare(b, a) }
	}
	out := &vector.Vector{Type: d.log.t}
	for g, list := range d.groups[:n] {
		if err := d.did(len(list) + 1); err != nil {
			return nil, err
		}
		if len(list) == 0 {
			out.AppendNulls(g, 1)
			continue
		}
		if err := sortStable(list, compare, d.did); err != nil {
			return nil, err
		}
		at := list[max(int(math.Ceil(d.p*float64(len(list))))-1, 0)]
		out.Append(g, &d.log.chunks[at.chunk].v, int(at.item), int(at.item)+1)
	}
	return out, nil
}

// percentile takes the constant share out of argument i.
func (a *Agg) percentile(i int) (float64, error) {
	p, err := a.constant(i)
	if err == nil && !(p >= 0 && p <= 1) {
		err = planError("aggregate '%s': the percentile %v is not between 0 and 1", a.Name, p)
	}
	return p, err
}

func init() {
	aggregates["percentile_disc"] = func(_ *Context, a *Agg) error {
		if err := a.need(2, 2); err != nil {
			return err
		}
		p, err := a.percentile(1)
		if err != nil {
			return err
		}
		a.Args, a.params, a.T = a.Args[:1:1], []float64{p}, a.Args[0].Type()
		desc := a.descending()
		a.keeps = keepsValues
		a.make = func() Accumulator { return &discrete{p: p, desc: desc, log: valueLog{t: a.T}} }
		return nil
	}
}

// descending reports whether WITHIN GROUP orders the aggregated value from the greatest on, and takes that order: it
// says how values compare, not how rows come.
func (a *Agg) descending() bool {
	desc := len(a.Order) > 0 && a.Order[0].Desc
	a.Order = nil
	return desc
}
