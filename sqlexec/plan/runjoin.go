package plan

import (
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// join runs the build side into the join and probes with the other. The right side is kept, the left one streams; a
// right join is a left join with its sides exchanged, a full join a left join and the right rows without a partner.
func (r *runner) join(n *Join) (stream, error) {
	switch n.Kind {
	case "right":
		return r.rightJoin(n)
	case "full":
		return r.fullJoin(n)
	}
	kinds := map[string]exec.JoinKind{"inner": exec.Inner, "cross": exec.Inner, "left": exec.Outer, "left semi": exec.Semi, "left anti": exec.Anti}
	return r.hashJoin(n, kinds[n.Kind], n.L, n.R)
}

func (r *runner) hashJoin(n *Join, kind exec.JoinKind, probe, build Node) (stream, error) {
	j, err := exec.NewJoin(exec.JoinSpec{
		Kind: kind, Probe: n.LKeys, Build: n.RKeys, Residual: n.Residual, NullEqual: n.NullEqual, Budget: r.budget,
		ProbeTypes: types(probe.Columns()), BuildTypes: types(build.Columns()),
	})
	if err != nil {
		return stream{}, err
	}
	b, err := r.build(build)
	if err != nil {
		return b, err
	}
	if _, err = r.finish(b, j.Build(), false); err != nil {
		return b, err
	}
	s, err := r.build(probe)
	s.several = true
	return s.with(j.Probe()), err
}

// exchanged is the join with its sides exchanged; to says where each column of the join is then.
func (n *Join) exchanged() (out *Join, to []int) {
	l, r := len(n.L.Columns()), len(n.R.Columns())
	to = make([]int, l+r)
	for i := range to {
		to[i] = i + r
		if i >= l {
			to[i] = i - l
		}
	}
	out = &Join{Kind: n.Kind, L: n.R, R: n.L, LKeys: n.RKeys, RKeys: n.LKeys, NullEqual: n.NullEqual}
	if n.Residual != nil {
		out.Residual = remap(n.Residual, to)
	}
	return out, to
}

func (r *runner) rightJoin(n *Join) (stream, error) {
	x, to := n.exchanged()
	s, err := r.hashJoin(x, exec.Outer, x.L, x.R)
	if err != nil {
		return s, err
	}
	list := make([]expr.Expr, len(n.Cols))
	for i, c := range n.Cols {
		list[i] = &expr.Column{Index: to[i], Name: c.Name, T: c.Type, Null: true}
	}
	op, err := exec.Project(list)
	return s.with(op), err
}

// fullJoin keeps both sides: the left join's rows, then the right rows without a partner.
func (r *runner) fullJoin(n *Join) (stream, error) {
	left, err := r.keep(n.L)
	if err != nil {
		return stream{}, err
	}
	right, err := r.keep(n.R)
	if err != nil {
		return stream{}, err
	}
	both := &Join{Kind: "left", L: left, R: right, LKeys: n.LKeys, RKeys: n.RKeys, Residual: n.Residual, Cols: n.Cols}
	x, _ := (&Join{Kind: "full", L: left, R: right, LKeys: n.LKeys, RKeys: n.RKeys, Residual: n.Residual}).exchanged()
	alone := &Join{Kind: "left anti", L: x.L, R: x.R, LKeys: x.LKeys, RKeys: x.RKeys, Residual: x.Residual, Cols: right.Cols}
	l := len(left.Cols)
	p := &Project{Input: alone, Cols: n.Cols}
	for i, c := range n.Cols {
		if i < l {
			p.Exprs = append(p.Exprs, nullOf(c.Type))
		} else {
			p.Exprs = append(p.Exprs, &expr.Column{Index: i - l, Name: c.Name, T: c.Type, Null: true})
		}
	}
	return r.union(&Union{Inputs: []Node{both, p}, Cols: n.Cols})
}

// keep runs a node and gives its rows as values.
func (r *runner) keep(n Node) (*Values, error) {
	out := &Values{Cols: n.Columns()}
	sink := newWhole("Keep", n.Columns(), r.budget.Reserve, func(b *vector.Batch) (*vector.Batch, error) {
		out.Batch = b
		return b, nil
	})
	s, err := r.build(n)
	if err == nil {
		_, err = r.finish(s, sink, true)
	}
	return out, err
}
