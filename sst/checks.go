package sst

import (
	"bytes"
	"math"

	"varve/engine/invariant"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// Further checks of builds with invariants: a page holds the values that were written, conditions on packed pages give
// the same result as on values, and no index excludes a block with rows that pass.

// checkPage holds that a page gives the values back that it was made of.
func (c *columnWriter) checkPage(page []byte, n int) {
	var shared *vector.Vector
	if c.dict != nil {
		shared = &vector.Vector{Type: c.entry.typ, Views: c.dict.Views, Heap: c.dict.Heap}
	}
	var d encoding.Decoder
	var v vector.Vector
	err := d.Decode(&v, page, c.entry.typ, n, shared)
	invariant.Check(err == nil, "column %q: a page cannot be read: %v", c.entry.name, err)
	v.Check(n)
	for i := range n {
		invariant.Check(sameValue(&v, &c.buf, i), "column %q: row %d of a page is not what was written", c.entry.name,
			i)
	}
}

// sameValue reports whether two vectors of a type have the same value in a row, bit for bit.
func sameValue(a, b *vector.Vector, i int) bool {
	if a.IsNull(i) || b.IsNull(i) {
		return a.IsNull(i) == b.IsNull(i)
	}
	switch b.Type.Kind() {
	case vector.Bool:
		return a.Bool(i) == b.Bool(i)
	case vector.Int64:
		return a.Int(i) == b.Int(i)
	case vector.Uint64:
		return a.Uint(i) == b.Uint(i)
	case vector.Float64:
		return math.Float64bits(a.Float(i)) == math.Float64bits(b.Float(i))
	}
	return bytes.Equal(a.Bytes(i), b.Bytes(i))
}

// checkPacked holds that a test leaves of the rows before what it leaves of the decoded values.
func (sel *selector) checkPacked(t *test, before, after vector.Bitmap) {
	var v vector.Vector
	var d encoding.Decoder
	if _, err := sel.p.decode(sel.reader.ctx, &d, t.src.col, sel.reader.block, &v); err != nil {
		return // the reader meets it
	}
	t.Eval(sel.p.blocks[sel.reader.block].rows, &v, before)
	for w := range after {
		invariant.Check(before[w] == after[w],
			"part %s: column %q: block %d: a test leaves other rows of its packed form: %x, not %x in word %d",
			sel.p.name, t.src.col.name, sel.reader.block, after[w], before[w], w)
	}
}

// checkRefuted verifies that no row passes in a block that indexes excluded.
func (sel *selector) checkRefuted(block int) {
	b := &sel.p.blocks[block]
	if sel.nothing || sel.p.isAside(block) || !sel.inTime(b) && !sel.time.cast {
		return
	}
	quiet := *sel.spec
	quiet.Stats = nil
	other, err := sel.p.selector(&quiet)
	if err != nil {
		return // the reader meets it
	}
	defer other.release()
	if err := other.heed(); err != nil {
		return
	}
	other.keep = vector.MakeBitmap(b.rows)
	other.keep.Fill(b.rows)
	if !other.whole() && !other.keepSeries(b) {
		return
	}
	other.reader.open(block)
	t, err := other.reader.load(other.time)
	if err != nil {
		return
	}
	other.keepTimes(t, b.rows, other.spec.Time)
	for _, c := range append(other.conds, other.bounded...) {
		if err := other.eval(c, other.keep); err != nil {
			return
		}
	}
	invariant.Check(other.keep.Count() == 0, "part %s: block %d was left out, %d of its rows pass", sel.p.name, block,
		other.keep.Count())
}
