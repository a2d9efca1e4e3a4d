package expr

import (
	"fmt"

	"varve/engine/convert"
	"varve/engine/vector"
)

// Program evaluates a list of expressions. It holds scratch memory: one goroutine at a time, so each worker has its own
// Program.
type Program struct {
	roots []node
	run   *batchRun
}

// node evaluates one expression. The result of eval stays valid until its next call and may share memory with the
// batch.
type node interface {
	eval(b *vector.Batch) (*vector.Vector, error)
}

// Compile prepares expressions for evaluation.
func Compile(exprs []Expr) (*Program, error) { return CompileWithin(exprs, nil) }

// CompileWithin is Compile for a program whose vectors count against memory; nil: they are not counted.
func CompileWithin(exprs []Expr, memory Memory) (*Program, error) {
	p := &Program{run: &batchRun{memory: memory}}
	var err error
	p.roots, err = newCompiler(exprs, p.run).nodes(exprs)
	return p, err
}

// Eval computes all expressions over a batch; out gets one vector of b.N rows each, of any form, valid until the next
// Eval.
func (p *Program) Eval(b *vector.Batch, out []*vector.Vector) error {
	p.run.b = b
	p.run.n++
	for i, n := range p.roots {
		v, err := n.eval(b)
		if err != nil {
			return err
		}
		out[i] = v
	}
	return nil
}

// single compiles an expression with one place, or the shared expression of several places.
func (c *compiler) single(e Expr) (node, error) {
	switch e := e.(type) {
	case *Call:
		if e.lambda != nil {
			return c.lambda(e)
		}
		if n, err := c.test(e); n != nil || err != nil {
			return n, err
		}
		return c.call(e)
	case *Cast:
		if convert.Retypes(e.Arg.Type(), e.To) {
			arg, err := c.node(e.Arg)
			return &retypeNode{arg: arg, to: e.To}, err
		}
		k, err := castKernel(e)
		if err != nil {
			return nil, err
		}
		fn := castFunction
		if e.To.ID == vector.TypeJSON && e.Arg.Type().IsText() {
			fn = castJSONFunction
		}
		return c.call(&Call{Fn: fn, Args: []Expr{e.Arg}, T: e.To, k: k})
	case *Case:
		return c.caseOf(e)
	case *In:
		return c.in(e)
	}
	return nil, fmt.Errorf("expression %T cannot be evaluated", e)
}

type columnNode struct{ c *Column }

func (n *columnNode) eval(b *vector.Batch) (*vector.Vector, error) { return b.Cols[n.c.Index], nil }

type constNode struct{ v *vector.Vector }

func (n *constNode) eval(*vector.Batch) (*vector.Vector, error) { return n.v, nil }

// retypeNode changes the type of the values of its argument to another of the same kind: a cast that changes no value.
type retypeNode struct {
	arg    node
	to     vector.Type
	out    vector.Vector
	values *vector.Vector // the last dictionary, retyped
	of     *vector.Vector // the dictionary as it came
}

func (r *retypeNode) eval(b *vector.Batch) (*vector.Vector, error) {
	v, err := r.arg.eval(b)
	if err != nil {
		return nil, err
	}
	r.out = *v
	r.out.Type = r.to
	if v.Form == vector.Dict {
		if r.of != v.Values {
			d := *v.Values
			d.Type = r.to
			r.values, r.of = &d, v.Values
		}
		r.out.Values = r.values
	}
	return &r.out, nil
}

// callNode applies a kernel, which may make a constant where all rows have a value. Constant arguments give a constant;
// one dictionary among constants is computed once per distinct value and gives a dictionary.
type callNode struct {
	call  *Call
	args  []node
	fixed []bool // the argument is the same constant in every batch
	in    []*vector.Vector
	rows  []*vector.Vector // scratch: in, as the batch has it
	flat  []broadcast      // constants and dictionaries with a value for each row
	valid vector.Bitmap
	out   vector.Vector
	batch *batchRun
	held  int64          // bytes of out that were counted
	known int64          // bytes of dict that were counted
	heap  heapRoom       // of out or dict
	dict  *vector.Vector // result per distinct value; nil: it has NULLs or does not compute
	of    *vector.Vector // the dictionary that dict was computed for
	over  vector.Vector  // dict with the codes of the rows
	parts *callParts     // nil: no batch had long texts
}

// broadcast is scratch for an argument that did not come Flat.
type broadcast struct {
	v    vector.Vector
	held int64         // bytes of v that were counted
	n    int           // rows that v holds of a fixed constant
	cut  vector.Vector // the first of them
}

func (c *compiler) call(e *Call) (node, error) {
	args, err := c.nodes(e.Args)
	if err != nil {
		return nil, err
	}
	c.run.owe(callBytes + int64(len(args))*argBytes)
	n := &callNode{call: e, batch: c.run, args: args, fixed: make([]bool, len(args)),
		in: make([]*vector.Vector, len(args)), flat: make([]broadcast, len(args))}
	for i, a := range args {
		_, n.fixed[i] = a.(*constNode)
	}
	return n, nil
}

func (c *callNode) eval(b *vector.Batch) (*vector.Vector, error) {
	consts, dict := 0, -1
	for i, a := range c.args {
		v, err := a.eval(b)
		if err != nil {
			return nil, err
		}
		c.in[i] = v
		switch v.Form {
		case vector.Const:
			consts++
		case vector.Dict:
			dict = i
		}
	}
	switch {
	case c.call.Fn.volatile:
	case consts == len(c.in) && len(c.in) > 0:
		if err := c.run(1, &c.out, &c.held); err != nil {
			return nil, err
		}
		v := c.out
		v.Form = vector.Const
		return &v, nil
	case dict >= 0 && consts == len(c.in)-1 && !c.call.Fn.lazy && c.in[dict].Values.Len() <= 2*b.N:
		if v, err := c.overDictionary(b.N, dict); v != nil || err != nil {
			return v, err
		}
	}
	if err := c.run(b.N, &c.out, &c.held); err != nil {
		return nil, err
	}
	return &c.out, nil
}

// overDictionary computes the function once per distinct value and maps the codes. It gives nil where that is not
// possible: the function fails on a value, which perhaps no row has, or makes NULL of one.
func (c *callNode) overDictionary(n, at int) (*vector.Vector, error) {
	d := c.in[at]
	for i, v := range c.in {
		if i != at && v.IsNull(0) {
			return vector.ConstNull(c.call.T), nil
		}
	}
	size := d.Values.Len()
	if size == 0 {
		return vector.ConstNull(c.call.T), nil
	}
	if c.of != d.Values || c.varies(at) {
		c.dict, c.of = nil, d.Values
		c.rows = append(c.rows[:0], c.in...)
		c.in[at] = d.Values
		err := c.batch.hold(-c.known) // of the last dictionary
		if c.known = 0; err != nil {
			return nil, err
		}
		out := &vector.Vector{}
		err = c.run(size, out, &c.known) // puts vectors of size values into c.in
		copy(c.in, c.rows)
		if err == nil && out.Valid == nil {
			c.dict = out.Flatten(size)
		}
	}
	if c.dict == nil {
		return nil, nil
	}
	if c.call.T == vector.BoolType {
		c.over.Gather(c.dict, d.Codes[:n])
	} else {
		c.over.Type, c.over.Form, c.over.Codes, c.over.Values = c.call.T, vector.Dict, d.Codes[:n], c.dict
	}
	c.over.Valid = d.Valid
	return &c.over, nil
}

// varies reports whether a constant beside the dictionary may be another one in each batch.
func (c *callNode) varies(dictionary int) bool {
	for i, fixed := range c.fixed {
		if i != dictionary && !fixed {
			return true
		}
	}
	return false
}

// run computes n rows into out and reuses its buffers. held is the memory counted for them.
func (c *callNode) run(n int, out *vector.Vector, held *int64) error {
	strict := !c.call.Fn.lazy
	var valid vector.Bitmap
	for i, v := range c.in {
		if strict && v.Valid != nil {
			switch {
			case v.Form == vector.Const:
				if v.Valid[0]&1 == 0 {
					setNull(out, c.call.T, n)
					return nil
				}
			case valid == nil:
				c.valid = append(c.valid[:0], v.Valid[:vector.Words(n)]...)
				valid = c.valid
			default:
				valid.And(v.Valid)
			}
		}
		c.in[i] = c.flat[i].of(v, n, c.fixed[i])
		if v.Form != vector.Flat {
			if err := c.batch.slotsHeld(&c.flat[i].v, &c.flat[i].held); err != nil {
				return err
			}
		}
	}
	*out = vector.Vector{Type: c.call.T, Bools: out.Bools[:0], Ints: out.Ints[:0], Uints: out.Uints[:0],
		Floats: out.Floats[:0],
		Views:  out.Views[:0], Heap: out.Heap[:0], Room: c.heap.room(c.batch, held)}
	err := c.compute(n, valid, out)
	out.Room = nil
	if e := c.batch.vectorHeld(out, held); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	switch {
	case valid == nil:
	case out.Valid == nil:
		out.Valid = valid // both live until the next run
	default:
		out.Valid.And(valid)
	}
	return nil
}

// setNull makes out n NULLs.
func setNull(out *vector.Vector, t vector.Type, n int) {
	*out = vector.Vector{Type: t}
	out.AppendNulls(0, n)
}

// of returns v with a value for each of n rows. What a fixed constant needs is made once.
func (f *broadcast) of(v *vector.Vector, n int, fixed bool) *vector.Vector {
	switch {
	case v.Form == vector.Flat:
		return v
	case !fixed || v.Valid != nil || v.Type.Kind() == vector.Bool:
		return flatten(v, n, &f.v)
	}
	if f.n < n {
		flatten(v, n, &f.v)
		f.n = n
	}
	f.cut = vector.Vector{Type: v.Type, Ints: first(f.v.Ints, n), Uints: first(f.v.Uints, n),
		Floats: first(f.v.Floats, n),
		Views:  first(f.v.Views, n), Heap: f.v.Heap}
	return &f.cut
}

// first is the first n elements of a slice that has as many, or none.
func first[T any](s []T, n int) []T { return s[:min(n, len(s))] }

// flatten returns v with a value for each of n rows, using scratch. Texts stay where they are.
func flatten(v *vector.Vector, n int, scratch *vector.Vector) *vector.Vector {
	switch {
	case v.Form == vector.Flat:
		return v
	case v.Type.Kind() == vector.Bytes:
		return flattenTexts(v, n, scratch)
	}
	scratch.Reset(v.Type)
	scratch.Append(0, v, 0, n)
	return scratch
}

// flattenTexts is flatten for texts: views of the rows into the heap of v.
func flattenTexts(v *vector.Vector, n int, scratch *vector.Vector) *vector.Vector {
	views := vector.Sized(scratch.Views, n)
	*scratch = vector.Vector{Type: v.Type, Views: views, Heap: v.Heap, Valid: v.Valid}
	if v.Form == vector.Const {
		for i := range views {
			views[i] = v.Views[0]
		}
		if v.Valid != nil {
			scratch.Valid = vector.MakeBitmap(n)
			if v.Valid.Get(0) {
				scratch.Valid.Fill(n)
			}
		}
		return scratch
	}
	if scratch.Heap = v.Values.Heap; len(v.Values.Views) == 0 { // all rows are NULL
		clear(views)
		return scratch
	}
	for i, c := range v.Codes[:n] {
		views[i] = v.Values.Views[c]
	}
	return scratch
}
