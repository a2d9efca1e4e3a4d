package expr

import (
	"varve/engine/filter"
	"varve/engine/vector"
)

// in compiles x IN (..): a list of constants is decided by package filter, others one row after the other.
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
			members, err := c.nodes(e.List)
			return &inNode{e: e, arg: arg, list: members}, err
		}
		if k.Value.IsNull(0) {
			null = true
			continue
		}
		list.Append(n, k.Value, 0, 1)
		n++
	}
	if n == 0 {
		members, err := c.nodes(e.List)
		return &inNode{e: e, arg: arg, list: members}, err
	}
	p, err := filter.Compile(filter.And{{Op: filter.In, Args: list, NArgs: n}})
	return &condNode{arg: arg, batch: c.run, cond: p, not: e.Not, null: null}, err
}

// inNode compares a value with the members of a list that are no constants, row by row.
type inNode struct {
	e    *In
	arg  node
	list []node
	key  []byte
	with []byte
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
		hit, unknown := false, false
		n.key = AppendKey(n.key[:0], arg, i)
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
