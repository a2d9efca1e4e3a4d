package expr

import (
	"fmt"

	"varve/engine/vector"
)

// Program evaluates a list of expressions. It holds scratch memory: one goroutine at a time, one Program per worker.
type Program struct{ roots []node }

// node evaluates one expression. What eval gives stays valid until its next call and may share memory with the batch.
type node interface {
	eval(b *vector.Batch) (*vector.Vector, error)
}

// Compile prepares expressions for evaluation.
func Compile(exprs []Expr) (*Program, error) {
	p := &Program{}
	for _, e := range exprs {
		n, err := compile(e)
		if err != nil {
			return nil, err
		}
		p.roots = append(p.roots, n)
	}
	return p, nil
}

// Eval computes all expressions over a batch; out gets one vector of b.N rows each, of any form, valid until the next
// Eval.
func (p *Program) Eval(b *vector.Batch, out []*vector.Vector) error {
	for i, n := range p.roots {
		v, err := n.eval(b)
		if err != nil {
			return err
		}
		out[i] = v
	}
	return nil
}

func compile(e Expr) (node, error) {
	switch e := e.(type) {
	case *Column:
		return &columnNode{e}, nil
	case *Const:
		return &constNode{e.Value}, nil
	case *Call:
		args, err := compileAll(e.Args)
		return &callNode{call: e, args: args, in: make([]*vector.Vector, len(args))}, err
	case *Cast:
		arg, err := compile(e.Arg)
		if err != nil {
			return nil, err
		}
		k, err := castKernel(e)
		return &callNode{call: &Call{Fn: castFunction, T: e.To, k: k}, args: []node{arg}, in: make([]*vector.Vector, 1)}, err
	case *Case:
		return compileCase(e)
	case *In:
		return compileIn(e)
	}
	return nil, fmt.Errorf("expression %T cannot be evaluated", e)
}

func compileAll(list []Expr) ([]node, error) {
	nodes := make([]node, len(list))
	for i, e := range list {
		var err error
		if nodes[i], err = compile(e); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

type columnNode struct{ c *Column }

func (n *columnNode) eval(b *vector.Batch) (*vector.Vector, error) { return b.Cols[n.c.Index], nil }

type constNode struct{ v *vector.Vector }

func (n *constNode) eval(*vector.Batch) (*vector.Vector, error) { return n.v, nil }

// callNode applies a kernel. Constant arguments give a constant; one dictionary among constants is computed once per
// distinct value.
type callNode struct {
	call  *Call
	args  []node
	in    []*vector.Vector
	flat  []vector.Vector // broadcast constants and flattened dictionaries
	valid vector.Bitmap
	out   vector.Vector
	dict  vector.Vector  // result per distinct value
	of    *vector.Vector // the dictionary that dict was computed for
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
		if err := c.run(1, &c.out); err != nil {
			return nil, err
		}
		v := c.out
		v.Form = vector.Const
		c.out = vector.Vector{}
		return &v, nil
	case dict >= 0 && consts == len(c.in)-1 && !c.call.Fn.lazy && c.in[dict].Values.Len() <= 2*b.N:
		return c.overDictionary(b.N, dict)
	}
	if err := c.run(b.N, &c.out); err != nil {
		return nil, err
	}
	return &c.out, nil
}

// overDictionary computes the function once per distinct value and maps the codes. Kernels that fail on a value that no
// row has are run over the rows instead.
func (c *callNode) overDictionary(n, at int) (*vector.Vector, error) {
	d := c.in[at]
	if c.of != d.Values {
		c.in[at] = d.Values
		c.dict = vector.Vector{}
		err := c.run(d.Values.Len(), &c.dict)
		c.in[at] = d
		if err != nil {
			if err := c.run(n, &c.out); err != nil {
				return nil, err
			}
			return &c.out, nil
		}
		c.of = d.Values
	}
	if d.Values.Len() == 0 {
		return vector.ConstNull(c.call.T), nil
	}
	c.out.Gather(&c.dict, d.Codes[:n])
	if d.Valid != nil {
		if c.out.Valid == nil {
			c.out.Valid = vector.MakeBitmap(n)
			c.out.Valid.Fill(n)
		}
		c.out.Valid.And(d.Valid[:vector.Words(n)])
	}
	return &c.out, nil
}

// run computes n rows into out.
func (c *callNode) run(n int, out *vector.Vector) error {
	if c.flat == nil {
		c.flat = make([]vector.Vector, len(c.in))
	}
	strict := !c.call.Fn.lazy
	var valid vector.Bitmap
	for i, v := range c.in {
		if strict && v.Valid != nil {
			if v.Form == vector.Const {
				if v.Valid[0]&1 == 0 {
					setNull(out, c.call.T, n)
					return nil
				}
			} else {
				if valid == nil {
					c.valid = append(c.valid[:0], v.Valid[:vector.Words(n)]...)
					valid = c.valid
				} else {
					valid.And(v.Valid[:len(valid)])
				}
			}
		}
		c.in[i] = flatten(v, n, &c.flat[i])
	}
	*out = vector.Vector{Type: c.call.T, Bools: out.Bools[:0], Ints: out.Ints[:0], Uints: out.Uints[:0], Floats: out.Floats[:0],
		Views: out.Views[:0]}
	if err := c.call.k(n, c.in, valid, out); err != nil {
		return err
	}
	if valid != nil {
		if out.Valid == nil {
			out.Valid = append(vector.Bitmap(nil), valid...)
		} else {
			out.Valid.And(valid)
		}
	}
	return nil
}

// setNull makes out n NULLs.
func setNull(out *vector.Vector, t vector.Type, n int) {
	*out = vector.Vector{Type: t}
	out.AppendNulls(0, n)
}

// flatten gives v with a value for each of n rows, using scratch.
func flatten(v *vector.Vector, n int, scratch *vector.Vector) *vector.Vector {
	if v.Form == vector.Flat {
		return v
	}
	scratch.Reset(v.Type)
	scratch.Append(0, v, 0, n)
	return scratch
}

// caseNode evaluates all branches over the rows that reach them and puts the results together.
type caseNode struct {
	e          *Case
	when, then []node
	otherwise  node
}

func compileCase(e *Case) (node, error) {
	c := &caseNode{e: e}
	var err error
	if c.when, err = compileAll(e.When); err != nil {
		return nil, err
	}
	if c.then, err = compileAll(e.Then); err != nil {
		return nil, err
	}
	if e.Else != nil {
		c.otherwise, err = compile(e.Else)
	}
	return c, err
}

// branch is the rows that take one result.
type branch struct {
	rows []uint32
	v    *vector.Vector
}

func (c *caseNode) eval(b *vector.Batch) (*vector.Vector, error) {
	rest := make([]uint32, b.N)
	for i := range rest {
		rest[i] = uint32(i)
	}
	var branches []branch
	for i := range c.when {
		if len(rest) == 0 {
			break
		}
		in := rowsOf(b, rest)
		cond, err := c.when[i].eval(in)
		if err != nil {
			return nil, err
		}
		var hit, miss []uint32
		for k, r := range rest {
			if !cond.IsNull(k) && cond.Bool(k) {
				hit = append(hit, r)
			} else {
				miss = append(miss, r)
			}
		}
		if len(hit) > 0 {
			v, err := c.then[i].eval(rowsOf(b, hit))
			if err != nil {
				return nil, err
			}
			branches = append(branches, branch{hit, v})
		}
		rest = miss
	}
	if c.otherwise != nil && len(rest) > 0 {
		v, err := c.otherwise.eval(rowsOf(b, rest))
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch{rest, v})
	}
	return assemble(c.e.T, b.N, branches), nil
}

// rowsOf is b cut down to some rows; b itself when these are all.
func rowsOf(b *vector.Batch, rows []uint32) *vector.Batch {
	if len(rows) == b.N {
		return b
	}
	out := &vector.Batch{N: len(rows)}
	for _, c := range b.Cols {
		v := &vector.Vector{}
		v.Gather(c, rows)
		out.Cols = append(out.Cols, v)
	}
	return out
}

// assemble puts the branches' values where their rows are; rows without a branch are NULL.
func assemble(t vector.Type, n int, branches []branch) *vector.Vector {
	if len(branches) == 1 && len(branches[0].rows) == n {
		return branches[0].v
	}
	all := &vector.Vector{Type: t}
	at := make([]uint32, n)
	count := 0
	for _, br := range branches {
		all.Append(count, br.v, 0, len(br.rows))
		for k, r := range br.rows {
			at[r] = uint32(count+k) + 1
		}
		count += len(br.rows)
	}
	missing := false
	for _, a := range at {
		missing = missing || a == 0
	}
	if missing {
		all.AppendNulls(count, 1)
	}
	for i, a := range at {
		if a == 0 {
			at[i] = uint32(count)
		} else {
			at[i] = a - 1
		}
	}
	out := &vector.Vector{}
	out.Gather(all, at)
	return out
}

// inNode looks values up in a set when the list is constant, else compares one by one.
type inNode struct {
	e    *In
	arg  node
	list []node
	set  map[string]struct{}
	null bool // the list holds NULL
	key  []byte
}

func compileIn(e *In) (node, error) {
	n := &inNode{e: e}
	var err error
	if n.arg, err = compile(e.Arg); err != nil {
		return nil, err
	}
	if n.list, err = compileAll(e.List); err != nil {
		return nil, err
	}
	n.set = map[string]struct{}{}
	for _, x := range e.List {
		c, ok := x.(*Const)
		if !ok {
			n.set = nil
			return n, nil
		}
		if c.Value.IsNull(0) {
			n.null = true
			continue
		}
		n.set[string(AppendKey(nil, c.Value, 0))] = struct{}{}
	}
	return n, nil
}

func (n *inNode) eval(b *vector.Batch) (*vector.Vector, error) {
	arg, err := n.arg.eval(b)
	if err != nil {
		return nil, err
	}
	out := &vector.Vector{Type: vector.BoolType, Bools: vector.MakeBitmap(b.N)}
	null := func(i int) {
		if out.Valid == nil {
			out.Valid = vector.MakeBitmap(b.N)
			out.Valid.Fill(b.N)
		}
		out.Valid.Clear(i)
	}
	var lists []*vector.Vector
	if n.set == nil {
		for _, l := range n.list {
			v, err := l.eval(b)
			if err != nil {
				return nil, err
			}
			lists = append(lists, v)
		}
	}
	for i := range b.N {
		if arg.IsNull(i) {
			null(i)
			continue
		}
		hit, unknown := false, n.null
		n.key = AppendKey(n.key[:0], arg, i)
		if n.set != nil {
			_, hit = n.set[string(n.key)]
		}
		for _, l := range lists {
			switch {
			case l.IsNull(i):
				unknown = true
			case string(AppendKey(nil, l, i)) == string(n.key):
				hit = true
			}
		}
		switch {
		case hit != n.e.Not && (hit || !unknown):
			out.Bools.Set(i)
		case !hit && unknown:
			null(i)
		}
	}
	return out, nil
}
