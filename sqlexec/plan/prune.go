package plan

import (
	"slices"

	"varve/sqlexec/expr"
)

// prune drops unneeded columns. need has one element for each output column of n. It returns the node and the new
// position of each old column; -1 if the column is gone. It may keep more columns than needed.
func (o *optimizer) prune(n Node, need []bool) (Node, []int) {
	switch n := n.(type) {
	case *Scan:
		return n.keep(need)
	case *Filter:
		need = widen(need, n.Conds...)
		in, m := o.prune(n.Input, need)
		return &Filter{Input: in, Conds: remapAll(n.Conds, m)}, m
	case *Project:
		return o.pruneProject(n, need)
	case *Aggregate:
		return o.pruneAggregate(n)
	case *Sort:
		if p, ok := n.sortsBelow(need); ok {
			return o.prune(p, need)
		}
		need = widen(need, expr.KeyExprs(n.Keys)...)
		in, m := o.prune(n.Input, need)
		out := *n
		out.Input, out.Keys = in, remapKeys(n.Keys, m)
		return &out, m
	case *Limit:
		in, m := o.prune(n.Input, need)
		return n.over([]Node{in}), m
	case *DistinctOn:
		need = widen(need, n.Keys...)
		in, m := o.prune(n.Input, need)
		return &DistinctOn{Input: in, Keys: remapAll(n.Keys, m)}, m
	case *Union:
		return o.pruneUnion(n, need)
	case *Join:
		return o.pruneJoin(n, need)
	case *AsofJoin:
		return o.pruneAsof(n, need)
	case *Window:
		return o.pruneWindow(n, need)
	case *Expand:
		return o.pruneExpand(n, need)
	case *Unnest:
		return o.pruneUnnest(n, need)
	case *Unpivot:
		return o.pruneUnpivot(n, need)
	}
	return mapInputs(n, o.exact), identity(len(need))
}

func (o *optimizer) pruneExpand(e *Expand, need []bool) (Node, []int) {
	n := len(e.Input.Columns())
	below := append([]bool(nil), need[:n]...)
	below[e.Time] = true
	in, m := o.prune(e.Input, below)
	c := *e
	c.Input, c.Time = in, m[e.Time]
	width := len(in.Columns())
	c.Cols = append(append([]Column(nil), in.Columns()...), e.Cols[n:]...)
	m = append([]int(nil), m...)
	for i := range e.Cols[n:] {
		m = append(m, width+i)
	}
	return &c, m
}

// exact prunes below n and keeps n's columns as they are.
func (o *optimizer) exact(n Node) Node {
	cols := n.Columns()
	in, m := o.prune(n, all(len(cols)))
	same := len(in.Columns()) == len(cols)
	for i, at := range m {
		same = same && i == at
	}
	if same {
		return in
	}
	p := &Project{Input: in, Cols: cols}
	for i, c := range cols {
		p.Exprs = append(p.Exprs, &expr.Column{Index: m[i], Name: c.Name, T: c.Type, Null: c.Nullable})
	}
	return p
}

func all(n int) []bool {
	need := make([]bool, n)
	for i := range need {
		need[i] = true
	}
	return need
}

func identity(n int) []int {
	m := make([]int, n)
	for i := range m {
		m[i] = i
	}
	return m
}

// manyKeys is the number of columns for ORDER BY alone at which they are no longer columns of the sorted rows: the rows
// would have little else.
const manyKeys = 16

// sortsBelow is the projection below a sort of which it needs many columns that nothing above does, with the sort below
// it: the sort then makes its keys of the rows that it keeps. It is not for a sort of few rows, or where an expression
// would be computed twice that is another each time.
func (n *Sort) sortsBelow(need []bool) (*Project, bool) {
	p, ok := n.Input.(*Project)
	if !ok || n.first() {
		return nil, false
	}
	made := 0
	for i, e := range p.Exprs {
		if expr.Varies(e) {
			return nil, false
		}
		if !need[i] && !cheap(e) {
			made++
		}
	}
	if made < manyKeys {
		return nil, false
	}
	below := *n
	below.Input, below.Keys = p.Input, slices.Clone(n.Keys)
	for i, k := range n.Keys {
		below.Keys[i].Expr = substitute(k.Expr, p.Exprs)
	}
	return &Project{Input: &below, Exprs: p.Exprs, Cols: p.Cols}, true
}

// widen is need with the columns of expressions.
func widen(need []bool, list ...expr.Expr) []bool {
	out := append([]bool(nil), need...)
	for _, e := range list {
		expr.EachColumn(e, func(c *expr.Column) { out[c.Index] = true })
	}
	return out
}

func remapAll(list []expr.Expr, m []int) []expr.Expr {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = remap(e, m)
	}
	return out
}

func remapKeys(keys []expr.SortKey, m []int) []expr.SortKey {
	out := make([]expr.SortKey, len(keys))
	for i, k := range keys {
		out[i] = k
		out[i].Expr = remap(k.Expr, m)
	}
	return out
}

// keep cuts a scan down to the columns needed above and by its residual, which may be none: rows are then only counted.
// Virtual tables give one column at least.
func (s *Scan) keep(need []bool) (*Scan, []int) {
	need = widen(need, s.Residual...)
	some := false
	for _, b := range need {
		some = some || b
	}
	if !some && s.Rel.Table == nil {
		need[0] = true
	}
	m := make([]int, len(need))
	var cols []Column
	var positions []int
	for i, b := range need {
		m[i] = -1
		if b {
			m[i] = len(cols)
			cols, positions = append(cols, s.Cols[i]), append(positions, s.Positions[i])
		}
	}
	out := *s
	out.Cols, out.Positions, out.Residual = cols, positions, remapAll(s.Residual, m)
	return &out, m
}

// pruneProject keeps the needed expressions; a projection of plain columns over another one melts into it.
func (o *optimizer) pruneProject(p *Project, need []bool) (Node, []int) {
	for {
		inner, ok := p.Input.(*Project)
		if !ok || !p.plain() {
			break
		}
		merged := &Project{Input: inner.Input, Cols: p.Cols}
		for _, e := range p.Exprs {
			merged.Exprs = append(merged.Exprs, substitute(e, inner.Exprs))
		}
		p = merged
	}
	m := make([]int, len(p.Exprs))
	out := &Project{}
	for i, e := range p.Exprs {
		m[i] = -1
		if need[i] {
			m[i] = len(out.Exprs)
			out.Exprs, out.Cols = append(out.Exprs, e), append(out.Cols, p.Cols[i])
		}
	}
	below := widen(make([]bool, len(p.Input.Columns())), out.Exprs...)
	in, im := o.prune(p.Input, below)
	out.Input, out.Exprs = in, remapAll(out.Exprs, im)
	return out, m
}

// plain reports whether all expressions are columns or constants.
func (n *Project) plain() bool {
	for _, e := range n.Exprs {
		if !cheap(e) {
			return false
		}
	}
	return true
}

func (o *optimizer) pruneAggregate(a *Aggregate) (Node, []int) {
	need := widen(make([]bool, len(a.Input.Columns())), a.Keys...)
	for _, g := range a.Aggs {
		need = widen(need, aggExprs(g)...)
	}
	in, m := o.prune(a.Input, need)
	out := *a
	out.Input, out.Keys, out.Aggs = in, remapAll(a.Keys, m), nil
	for _, g := range a.Aggs {
		out.Aggs = append(out.Aggs, remapAgg(g, m))
	}
	return &out, identity(len(a.Cols))
}

func (o *optimizer) pruneUnion(u *Union, need []bool) (Node, []int) {
	m := make([]int, len(need))
	out := &Union{}
	for i, b := range need {
		m[i] = -1
		if b {
			m[i] = len(out.Cols)
			out.Cols = append(out.Cols, u.Cols[i])
		}
	}
	for _, in := range u.Inputs {
		p := &Project{Input: in}
		sc := &scope{cols: in.Columns()}
		for i, b := range need {
			if b {
				p.Exprs, p.Cols = append(p.Exprs, sc.column(i)), append(p.Cols, sc.cols[i])
			}
		}
		out.Inputs = append(out.Inputs, o.exact(p))
	}
	return out, m
}

func (o *optimizer) pruneJoin(j *Join, need []bool) (Node, []int) {
	n := len(j.L.Columns())
	semi := j.Kind.semi()
	left := widen(append([]bool(nil), need[:n]...), j.LKeys...)
	right := make([]bool, len(j.R.Columns()))
	if !semi {
		copy(right, need[n:])
	}
	right = widen(right, j.RKeys...)
	if j.Residual != nil {
		expr.EachColumn(j.Residual, func(c *expr.Column) {
			if c.Index < n {
				left[c.Index] = true
			} else {
				right[c.Index-n] = true
			}
		})
	}
	l, lm := o.prune(j.L, left)
	r, rm := o.prune(j.R, right)
	width := len(l.Columns())
	both := append([]int(nil), lm...)
	for _, at := range rm {
		if at >= 0 {
			at += width
		}
		both = append(both, at)
	}
	out := *j
	out.L, out.R, out.LKeys, out.RKeys = l, r, remapAll(j.LKeys, lm), remapAll(j.RKeys, rm)
	if j.Residual != nil {
		out.Residual = remap(j.Residual, both)
	}
	m := both[:len(need)]
	size := width
	if !semi {
		size += len(r.Columns())
	}
	out.Cols = make([]Column, size)
	copy(out.Cols, l.Columns())
	if !semi {
		copy(out.Cols[width:], r.Columns())
	}
	for i, at := range m {
		if at >= 0 {
			out.Cols[at] = j.Cols[i]
		}
	}
	return &out, m
}
