package expr

import "varve/engine/vector"

// A kernel over a batch of short texts takes microseconds, over one of texts of megabytes it would take seconds in
// which the query could not be ended. Such batches are computed in parts, and the query is asked for in between.

// partBytes is how many bytes of texts a kernel goes through at a time: a few milliseconds of work for most.
const partBytes = 1 << 20

// callParts is scratch for a call over long texts.
type callParts struct {
	in   []*vector.Vector
	out  vector.Vector
	held int64 // bytes of out that were counted
	heap heapRoom
}

// compute calls the kernel for the n rows of c.in, at once or in parts.
func (c *callNode) compute(n int, valid vector.Bitmap, out *vector.Vector) error {
	if c.batch == nil || c.batch.memory == nil || c.call.Fn.volatile || n == 1 || textBytes(c.in, n) <= partBytes {
		return c.kernel(n, c.in, valid, out)
	}
	if c.parts == nil {
		c.parts = &callParts{in: make([]*vector.Vector, len(c.in))}
	}
	for from := 0; from < n; {
		if err := c.batch.memory.Err(); err != nil {
			return err
		}
		to := endOfPart(c.in, from, n)
		if err := c.part(from, to, valid, out); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// textWork is how many bytes a kernel that makes texts takes at most for a byte that it is given, beside what it
// reserves: a text in other letters, and a heap of as much that grows, old and new. readWork is the same for a kernel
// that looks at texts: a copy.
const (
	textWork = 3
	readWork = 1
)

// kernel calls the kernel within the memory that it works with.
func (c *callNode) kernel(n int, in []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
	given := textBytes(in, n)
	if given <= smallText {
		return c.call.k(n, in, valid, out)
	}
	most := int64(0)
	for i := range n {
		if c.call.Fn.work != nil && (valid == nil || valid.Get(i)) {
			most = max(most, c.call.Fn.work(in, i))
		}
	}
	if c.call.T.Kind() == vector.Bytes {
		most += textWork * given
	} else {
		most += readWork * given
	}
	back, err := c.batch.borrow(most)
	if err != nil {
		return err
	}
	defer back()
	return c.call.k(n, in, valid, out)
}

// part calls the kernel for the rows from to to and appends what it gives.
func (c *callNode) part(from, to int, valid vector.Bitmap, out *vector.Vector) error {
	p := c.parts
	for i, v := range c.in {
		p.in[i] = v.Slice(from, to)
	}
	valid = valid.Slice(from, to)
	p.out = vector.Vector{Type: c.call.T, Bools: p.out.Bools[:0], Ints: p.out.Ints[:0], Uints: p.out.Uints[:0],
		Floats: p.out.Floats[:0],
		Views:  p.out.Views[:0], Heap: p.out.Heap[:0]}
	p.out.Room = p.heap.room(c.batch, &p.held)
	err := c.kernel(to-from, p.in, valid, &p.out)
	p.out.Room = nil
	if e := c.batch.vectorHeld(&p.out, &p.held); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := checkHeap(out, textBytes([]*vector.Vector{&p.out}, to-from)); err != nil {
		return err
	}
	out.Append(from, &p.out, 0, to-from)
	return nil
}

// decide sets the bits of keep for the n rows of v that the condition holds for, in parts where texts are long.
func (c *condNode) decide(n int, v *vector.Vector, keep vector.Bitmap) error {
	if c.batch == nil || c.batch.memory == nil {
		c.cond.Eval(n, v, keep)
		return nil
	}
	if v.Form != vector.Flat || n > 1 && textBytes([]*vector.Vector{v}, n) <= partBytes {
		c.cond.Eval(n, v, keep)
		return c.batch.memory.Err() // once the query is over an expression looks no further
	}
	clear(keep)
	for from := 0; from < n; {
		if err := c.batch.memory.Err(); err != nil {
			return err
		}
		to := endOfPart([]*vector.Vector{v}, from, n)
		part := vector.MakeBitmap(to - from)
		part.Fill(to - from)
		values := v.Slice(from, to)
		back, err := c.batch.borrow(textWork * textBytes([]*vector.Vector{values}, to-from))
		if err != nil {
			return err
		}
		c.cond.Eval(to-from, values, part)
		back()
		for i := range to - from {
			if part.Get(i) {
				keep.Set(from + i)
			}
		}
		from = to
	}
	return c.batch.memory.Err()
}

// textBytes is the sum of the lengths of the texts of n rows.
func textBytes(in []*vector.Vector, n int) (bytes int64) {
	for _, v := range in {
		for _, w := range first(v.Views, n) {
			bytes += int64(w.Len)
		}
	}
	return bytes
}

// endOfPart is where the part ends that begins at a row: at least one row after it.
func endOfPart(in []*vector.Vector, from, n int) int {
	bytes := int64(0)
	for i := from; i < n; i++ {
		for _, v := range in {
			if i < len(v.Views) {
				bytes += int64(v.Views[i].Len)
			}
		}
		if bytes > partBytes {
			return max(i, from+1)
		}
	}
	return n
}
