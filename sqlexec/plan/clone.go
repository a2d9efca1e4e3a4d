package plan

import (
	"maps"
	"slices"
)

// clone copies the nodes of a plan, so that optimizing one leaves the other as it is. Expressions are shared: they
// never change.
func clone(n Node) Node {
	switch n := n.(type) {
	case *Scan:
		c := *n
		c.Positions, c.Cols = slices.Clone(n.Positions), slices.Clone(n.Cols)
		c.Filter, c.Residual, c.Equal = slices.Clone(n.Filter), slices.Clone(n.Residual), maps.Clone(n.Equal)
		return &c
	case *Filter:
		return &Filter{Input: clone(n.Input), Conds: n.Conds}
	case *Project:
		return &Project{Input: clone(n.Input), Exprs: slices.Clone(n.Exprs), Cols: slices.Clone(n.Cols)}
	case *Aggregate:
		return &Aggregate{Input: clone(n.Input), Keys: n.Keys, Aggs: n.Aggs, Cols: n.Cols}
	case *Sort:
		return &Sort{Input: clone(n.Input), Keys: n.Keys, Limit: n.Limit, Offset: n.Offset}
	case *Limit:
		return &Limit{Input: clone(n.Input), Limit: n.Limit, Offset: n.Offset}
	case *Distinct:
		return &Distinct{Input: clone(n.Input)}
	case *DistinctOn:
		return &DistinctOn{Input: clone(n.Input), Keys: n.Keys}
	case *Union:
		c := &Union{Cols: slices.Clone(n.Cols)}
		for _, in := range n.Inputs {
			c.Inputs = append(c.Inputs, clone(in))
		}
		return c
	case *Join:
		c := *n
		c.L, c.R = clone(n.L), clone(n.R)
		c.LKeys, c.RKeys, c.Cols = slices.Clone(n.LKeys), slices.Clone(n.RKeys), slices.Clone(n.Cols)
		return &c
	case *AsofJoin:
		c := *n
		c.L, c.R, c.Cols = clone(n.L), clone(n.R), slices.Clone(n.Cols)
		return &c
	case *Window:
		c := *n
		c.Input, c.Cols = clone(n.Input), slices.Clone(n.Cols)
		return &c
	case *Expand:
		c := *n
		c.Input, c.Cols = clone(n.Input), slices.Clone(n.Cols)
		return &c
	case *Unnest:
		c := *n
		c.Input, c.Cols = clone(n.Input), slices.Clone(n.Cols)
		return &c
	case *FillSlots:
		c := *n
		c.Input = clone(n.Input)
		return &c
	}
	return n
}
