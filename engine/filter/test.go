package filter

import (
	"varve/engine/schema"
	"varve/engine/vector"
)

// Test is one comparison of a column with constants, compiled: a leaf of the tree of a Program. It knows its cost. It
// knows the decisions of statistics, dictionaries, token filters and packed values, and it evaluates itself on vectors.
// Several tests may share the compiled condition. A test shares scratch memory with the other tests of its program: one
// goroutine at a time.
type Test struct {
	c      *condition
	memory *memory

	// The last dictionary seen and which of its values pass.
	values *vector.Vector
	passes vector.Bitmap

	searched *matcher // what searches are of; nil: not yet made
	searches []*search
	begins   *search
}

// memory is scratch of the tests of a program.
type memory struct {
	hit  vector.Bitmap // rows that pass the test at hand
	rows []uint32
	text textScratch
}

// NewTest compiles a condition that is not an AnyOf. For cancelled see Prepare.
func NewTest(c *Cond, cancelled func() error) (*Test, error) {
	compiled, err := compileCond(c, cancelled)
	if err != nil {
		return nil, err
	}
	return &Test{c: compiled, memory: &memory{}}, nil
}

// Column is the column that the test looks at.
func (t *Test) Column() schema.ColumnID { return t.c.Column }

// Cost orders tests from cheap to dear: 0 NULL tests, 1 numbers, 2 short comparisons of bytes, 3 text search, 4 regular
// expressions.
func (t *Test) Cost() int {
	switch c := t.c; {
	case c.Op == IsNull || c.Op == IsNotNull:
		return 0
	case c.kind != vector.Bytes:
		return 1
	case c.match == nil || c.op == Prefix:
		return 2
	case c.op == Regex:
		return 4
	}
	return 3
}

// Eval evaluates the test on the n rows of v, of any form and the condition's type, and takes the rows that do not pass
// out of keep, which has Words(n) words.
func (t *Test) Eval(n int, v *vector.Vector, keep vector.Bitmap) {
	switch t.c.Op {
	case IsNull:
		keepNulls(keep, v)
		return
	case IsNotNull:
		keepValid(keep, v)
		return
	}
	switch v.Form {
	case vector.Const:
		if v.IsNull(0) || !t.one(v) {
			clear(keep)
		}
	case vector.Dict:
		if v.Values.Len() == 0 {
			clear(keep)
			return
		}
		keepValid(keep, v)
		KeepCodes(keep, v.Codes[:n], t.dictionary(v.Values))
	default:
		keepValid(keep, v)
		t.c.flat(t.memory, n, v, keep)
	}
}

// one tests the single value of a Const vector.
func (t *Test) one(v *vector.Vector) bool {
	f := *v
	f.Form, f.Valid = vector.Flat, nil
	keep := [1]uint64{1}
	t.c.flat(t.memory, 1, &f, keep[:])
	return keep[0]&1 != 0
}

// dictionary reports which values of a dictionary pass. The answer for the dictionary seen last is kept.
func (t *Test) dictionary(values *vector.Vector) vector.Bitmap {
	if t.values == values {
		return t.passes
	}
	n := values.Len()
	if cap(t.passes) < vector.Words(n) {
		t.passes = vector.MakeBitmap(n)
	}
	t.passes = t.passes[:vector.Words(n)]
	t.passes.Fill(n)
	t.c.flat(t.memory, n, values, t.passes)
	t.values = values
	return t.passes
}

// Passing reports which values of a dictionary pass; ok is false for NULL tests, which a dictionary cannot decide. The
// bitmap is valid until the next evaluation on another dictionary.
func (t *Test) Passing(values *vector.Vector) (passes vector.Bitmap, ok bool) {
	if _, null := t.OnNull(); null {
		return nil, false
	}
	return t.dictionary(values), true
}

// Packed is the test in a form that packed values may answer.
func (t *Test) Packed() *Comparison { return &t.c.packed }

// OnNull reports whether NULL passes; ok is false when the test looks at values.
func (t *Test) OnNull() (passes, ok bool) {
	op := t.c.Op
	return op == IsNull, op == IsNull || op == IsNotNull
}

// ListBytes returns the byte strings that the test names when it is passed by nothing else.
func (t *Test) ListBytes() (list [][]byte, ok bool) {
	c := t.c
	if c.Op != Equal && c.Op != In || c.Lower || c.kind != vector.Bytes {
		return nil, false
	}
	for k := range c.NArgs {
		list = append(list, c.Args.Bytes(k))
	}
	return list, true
}

func keepValid(keep vector.Bitmap, v *vector.Vector) {
	switch {
	case v.Valid == nil:
	case v.Form == vector.Const:
		if v.Valid[0]&1 == 0 {
			clear(keep)
		}
	default:
		keep.And(v.Valid)
	}
}

func keepNulls(keep vector.Bitmap, v *vector.Vector) {
	switch {
	case v.Valid == nil:
		clear(keep)
	case v.Form == vector.Const:
		if v.Valid[0]&1 != 0 {
			clear(keep)
		}
	default:
		valid := v.Valid[:len(keep)]
		for i := range keep {
			keep[i] &^= valid[i]
		}
	}
}
