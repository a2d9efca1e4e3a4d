package expr

import (
	"varve/engine/filter"
	"varve/engine/vector"
)

// test compiles the calls whose answer is BOOLEAN and that need no argument for every row: AND and OR, tests for
// NULL, comparisons with a constant. nil for all others.
func (c *compiler) test(e *Call) (node, error) {
	switch op := e.Fn.op; op {
	case And, Or:
		args, err := c.nodes(e.Args)
		return &logicNode{all: op == And, args: args}, err
	case IsNull, IsNotNull:
		arg, err := c.node(e.Args[0])
		return &nullNode{arg: arg, want: op == IsNull}, err
	}
	return c.cond(e)
}

// cond compiles a comparison with a constant; nil when it is none.
func (c *compiler) cond(e *Call) (node, error) {
	if len(e.Args) != 2 {
		return nil, nil
	}
	of, arg := e.Fn.op, e.Args[0]
	k, ok := e.Args[1].(*Const)
	if !ok {
		if k, ok = e.Args[0].(*Const); !ok || of.Flipped() == NoOp {
			return nil, nil
		}
		of, arg = of.Flipped(), e.Args[1]
	}
	// Intervals compare by their length, not by their bytes.
	if k.Value.IsNull(0) || k.Value.Type.Kind() != arg.Type().Kind() || arg.Type() == vector.Interval ||
		instantsOf(k.Value.Type, arg.Type()) != nil {
		return nil, nil
	}
	op, value := of.Filter(k.Value)
	if op == 0 {
		return nil, nil
	}
	p, err := c.filter(&filter.Cond{Op: op, Args: value, NArgs: 1})
	if err != nil { // a pattern that is no expression: the function says so in its own words
		return nil, nil
	}
	a, err := c.node(arg)
	return &condNode{arg: a, batch: c.run, cond: p}, err
}

// filter compiles a condition that ends with the query.
func (c *compiler) filter(cond *filter.Cond) (*filter.Test, error) {
	cancelled := (func() error)(nil)
	if c.run != nil && c.run.memory != nil {
		cancelled = c.run.memory.Err
	}
	return filter.NewTest(cond, cancelled)
}

// condNode decides a condition of package filter: on a dictionary once per distinct value, else in plain loops.
type condNode struct {
	arg   node
	batch *batchRun
	cond  *filter.Test
	not   bool // the condition's negation
	null  bool // rows that the condition does not hold for are unknown: an IN list with NULL
	out   vector.Vector
	one   vector.Bitmap // scratch: what a constant's NULL leaves valid
}

func (c *condNode) eval(b *vector.Batch) (*vector.Vector, error) {
	v, err := c.arg.eval(b)
	if err != nil {
		return nil, err
	}
	keep := wordsOf(c.out.Bools, b.N)
	keep.Fill(b.N)
	if err := c.decide(b.N, v, keep); err != nil {
		return nil, err
	}
	valid := c.validity(v, b.N)
	if c.null {
		c.one = wordsOf(c.one, b.N)
		copy(c.one, keep)
		valid = c.one
	}
	if c.not {
		invert(keep, valid, b.N)
	}
	c.out = vector.Vector{Type: vector.BoolType, Bools: keep, Valid: valid}
	return &c.out, nil
}

// validity are the rows of v that have a value, whatever its form; nil: all.
func (c *condNode) validity(v *vector.Vector, n int) vector.Bitmap {
	if v.Form != vector.Const || v.Valid == nil {
		return v.Valid
	}
	if v.Valid[0]&1 != 0 {
		return nil
	}
	c.one = wordsOf(c.one, n)
	clear(c.one)
	return c.one
}

// wordsOf returns room for n rows, with any content.
func wordsOf(b vector.Bitmap, n int) vector.Bitmap {
	if w := vector.Words(n); cap(b) < w {
		return make(vector.Bitmap, w, max(w, vector.Size/64))
	} else {
		return b[:w]
	}
}

// invert turns the bits of the first n rows that are valid (nil: all).
func invert(b, valid vector.Bitmap, n int) {
	for i := range b {
		b[i] = ^b[i]
	}
	if valid != nil {
		b.And(valid)
	}
	clearTail(b, n)
}

// clearTail clears the bits past row n.
func clearTail(b vector.Bitmap, n int) {
	if tail := uint(n) & 63; tail != 0 {
		b[n>>6] &= 1<<tail - 1
	}
}

// nullNode is IS NULL, or IS NOT NULL.
type nullNode struct {
	arg  node
	want bool
	out  vector.Vector
}

func (x *nullNode) eval(b *vector.Batch) (*vector.Vector, error) {
	v, err := x.arg.eval(b)
	if err != nil {
		return nil, err
	}
	hit := wordsOf(x.out.Bools, b.N)
	switch {
	case v.Valid == nil:
		clear(hit)
	case v.Form != vector.Const:
		copy(hit, v.Valid)
		invert(hit, nil, b.N)
	case v.Valid[0]&1 == 0:
		hit.Fill(b.N)
	default:
		clear(hit)
	}
	if !x.want {
		invert(hit, nil, b.N)
	}
	x.out = vector.Vector{Type: vector.BoolType, Bools: hit}
	return &x.out, nil
}

// logicNode is AND (all) or OR in three-valued logic, on whole words. An argument that comes when every row is decided
// is not computed; one that fails is computed again for the rows that it still matters to.
type logicNode struct {
	all     bool
	args    []node
	out     vector.Vector
	decided vector.Bitmap // rows that an argument has decided: false for AND, true for OR
	unknown vector.Bitmap // rows for which an argument is NULL
	flat    vector.Vector
}

func (l *logicNode) eval(b *vector.Batch) (*vector.Vector, error) {
	decided, unknown := wordsOf(l.decided, b.N), wordsOf(l.unknown, b.N)
	clear(decided)
	clear(unknown)
	l.decided, l.unknown = decided, unknown
	for i, a := range l.args {
		if i > 0 && decided.All(b.N) {
			break
		}
		v, err := a.eval(b)
		if err != nil && i > 0 {
			v, err = l.undecided(b, a)
		}
		if err != nil {
			return nil, err
		}
		l.take(flatten(v, b.N, &l.flat), b.N)
	}
	return l.result(b.N), nil
}

// undecided computes an argument for the undecided rows; the others get NULL, which has no effect there.
func (l *logicNode) undecided(b *vector.Batch, a node) (*vector.Vector, error) {
	open := append(vector.Bitmap(nil), l.decided...)
	invert(open, nil, b.N)
	rows := open.AppendRows(nil)
	v, err := a.eval(rowsOf(b, rows))
	if err != nil {
		return nil, err
	}
	return assemble(vector.BoolType, b.N, []branch{{rows: rows, v: v}}), nil
}

// take counts an argument in.
func (l *logicNode) take(v *vector.Vector, n int) {
	bools := v.Bools[:len(l.decided)]
	var flip uint64
	if l.all {
		flip = ^uint64(0) // false decides
	}
	if v.Valid == nil {
		for w := range bools {
			l.decided[w] |= bools[w] ^ flip
		}
	} else {
		valid := v.Valid[:len(bools)]
		for w := range bools {
			l.decided[w] |= (bools[w] ^ flip) & valid[w]
			l.unknown[w] |= ^valid[w]
		}
	}
	clearTail(l.decided, n)
}

func (l *logicNode) result(n int) *vector.Vector {
	values := wordsOf(l.out.Bools, n)
	null := false
	for w := range values {
		l.unknown[w] &^= l.decided[w]
		values[w] = l.decided[w]
		if l.all {
			values[w] = ^l.decided[w] &^ l.unknown[w]
		}
	}
	clearTail(values, n)
	clearTail(l.unknown, n)
	for _, u := range l.unknown {
		null = null || u != 0
	}
	l.out = vector.Vector{Type: vector.BoolType, Bools: values}
	if null {
		invert(l.unknown, nil, n)
		l.out.Valid = l.unknown
	}
	return &l.out
}
