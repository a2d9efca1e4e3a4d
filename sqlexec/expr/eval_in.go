package expr

import (
	"varve/engine/filter"
	"varve/engine/vector"
)

// in compiles x IN (..): package filter decides a list of constants; other lists are decided row by row.
func (c *compiler) in(e *In) (node, error) {
	arg, err := c.node(e.Arg)
	if err != nil {
		return nil, err
	}
	list := &vector.Vector{Type: e.Arg.Type()}
	n, null := 0, false
	for _, x := range e.List {
		k, ok := x.(*Const)
		if !ok || list.Type == vector.Interval {
			return c.members(e, arg)
		}
		if k.Value.IsNull(0) {
			null = true
			continue
		}
		list.Append(n, k.Value, 0, 1)
		n++
	}
	switch {
	case n == 0 && e.Values != nil:
		list, n = e.Values, e.Count
	case n == 0:
		return c.members(e, arg)
	case e.Values != nil:
		list.Append(n, e.Values, 0, e.Count)
		n += e.Count
	}
	p, err := c.filter(&filter.Cond{Op: filter.In, Args: list, NArgs: n})
	return &condNode{arg: arg, batch: c.run, cond: p, not: e.Not, null: null}, err
}

// members compiles the elements that package filter does not decide. Constants become one set of keys, as there may be
// many.
func (c *compiler) members(e *In, arg node) (node, error) {
	n := &inNode{e: e, arg: arg, constants: map[string]struct{}{}}
	for _, x := range e.List {
		k, ok := x.(*Const)
		switch {
		case !ok:
			member, err := c.node(x)
			if err != nil {
				return nil, err
			}
			n.list = append(n.list, member)
		case k.Value.IsNull(0):
			n.null = true
		default:
			n.constants[string(AppendKey(nil, k.Value, 0))] = struct{}{}
		}
	}
	for i := range e.Count {
		n.constants[string(AppendKey(nil, e.Values, i))] = struct{}{}
	}
	return n, nil
}

// inNode looks a value up among constants and compares it with the other members of a list, row by row.
type inNode struct {
	e         *In
	arg       node
	constants map[string]struct{} // by their keys
	null      bool                // NULL is a member
	list      []node
	key       []byte
	with      []byte
}

func (n *inNode) eval(b *vector.Batch) (*vector.Vector, error) {
	arg, err := n.arg.eval(b)
	if err != nil {
		return nil, err
	}
	lists := make([]*vector.Vector, len(n.list))
	for i, l := range n.list {
		if lists[i], err = l.eval(b); err != nil {
			return nil, err
		}
	}
	out := &vector.Vector{Type: vector.BoolType, Bools: vector.MakeBitmap(b.N)}
	null := func(i int) {
		if out.Valid == nil {
			out.Valid = vector.MakeBitmap(b.N)
			out.Valid.Fill(b.N)
		}
		out.Valid.Clear(i)
	}
	for i := range b.N {
		if arg.IsNull(i) {
			null(i)
			continue
		}
		n.key = AppendKey(n.key[:0], arg, i)
		_, hit := n.constants[string(n.key)]
		unknown := n.null
		for _, l := range lists {
			if l.IsNull(i) {
				unknown = true
				continue
			}
			n.with = AppendKey(n.with[:0], l, i)
			hit = hit || string(n.with) == string(n.key)
		}
		switch {
		case !hit && unknown:
			null(i)
		case hit != n.e.Not:
			out.Bools.Set(i)
		}
	}
	return out, nil
}
