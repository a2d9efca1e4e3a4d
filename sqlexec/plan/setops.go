package plan

import (
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// setOp binds UNION, EXCEPT and INTERSECT. Both sides get common types; names come from the left.
func (b *binder) setOp(op *parse.SetOp, out *outer) (Node, error) {
	if err := b.countNode(0); err != nil {
		return nil, err
	}
	l, err := b.body(op.L, out)
	if err != nil {
		return nil, err
	}
	r, err := b.body(op.R, out)
	if err != nil {
		return nil, err
	}
	if op.ByName {
		if l, r, err = byName(l, r); err != nil {
			return nil, parse.PlaceError(err, op.At)
		}
	}
	if l, r, err = b.align(l, r, op.Op); err != nil {
		return nil, parse.PlaceError(err, op.At)
	}
	switch op.Op {
	case "union":
		u := &Union{Inputs: []Node{l, r}, Cols: unqualified(l.Columns())}
		for i, c := range r.Columns() {
			u.Cols[i].Nullable = u.Cols[i].Nullable || c.Nullable
		}
		if left, ok := l.(*Union); ok && op.All { // one flat union
			u.Inputs = append(append([]Node(nil), left.Inputs...), r)
		}
		if op.All {
			return u, nil
		}
		return &Distinct{Input: u}, nil
	}
	kind := LeftAntiJoin
	if op.Op == "intersect" {
		kind = LeftSemiJoin
	}
	cols := unqualified(l.Columns())
	if op.All {
		l, r = numbered(l), numbered(r)
	} else {
		l = &Distinct{Input: l}
	}
	j := &Join{Kind: kind, L: l, R: r, Cols: unqualified(l.Columns()), NullEqual: true}
	sl, sr := &scope{cols: l.Columns()}, &scope{cols: r.Columns()}
	for i := range sl.cols {
		j.LKeys, j.RKeys = append(j.LKeys, sl.column(i)), append(j.RKeys, sr.column(i))
	}
	return cut(j, len(cols)), nil
}

// numbered counts equal rows: the k-th of them has the number k in a column behind the others. With it, a row that is
// there n times on the left and m times on the right of INTERSECT ALL finds min(n, m) partners, and max(n-m, 0) find
// none for EXCEPT ALL.
func numbered(n Node) Node {
	w := &Window{Input: n, Cols: unqualified(n.Columns())}
	sc := &scope{cols: n.Columns()}
	for i := range sc.cols {
		w.Partition = append(w.Partition, sc.column(i))
	}
	all := exec.Frame{Mode: "range", From: exec.FrameBound{Unbounded: true}, To: exec.FrameBound{Unbounded: true}}
	w.Funcs = []exec.WindowFunc{{Name: "row_number", Text: "row_number()", Frame: all, Type: vector.Int64Type}}
	w.Cols = append(w.Cols, Column{Name: "row_number()", Type: vector.Int64Type})
	return w
}

// byName brings both sides of a union to the columns of the left one and then those that only the right one has, NULL
// where a side has none of that name.
func byName(l, r Node) (Node, Node, error) {
	var names []string
	at := [2]map[string]int{{}, {}}
	for side, n := range []Node{l, r} {
		for i, c := range n.Columns() {
			if _, twice := at[side][c.Name]; twice {
				return nil, nil, planError("UNION BY NAME: column %s is there twice on one side", quoteMixed(c.Name))
			}
			at[side][c.Name] = i
			if _, have := at[0][c.Name]; side == 0 || !have {
				names = append(names, c.Name)
			}
		}
	}
	out := [2]Node{}
	for side, n := range []Node{l, r} {
		other := [2]Node{r, l}[side].Columns()
		sc := &scope{cols: n.Columns()}
		p := &Project{Input: n}
		for _, name := range names {
			i, have := at[side][name]
			if have {
				p.Exprs, p.Cols = append(p.Exprs, sc.column(i)), append(p.Cols, sc.cols[i])
				continue
			}
			t := other[at[1-side][name]].Type
			p.Exprs, p.Cols = append(p.Exprs, nullOf(t)), append(p.Cols, Column{Name: name, Type: t, Nullable: true})
		}
		out[side] = p
	}
	return out[0], out[1], nil
}

// align brings both sides of a set operation to the same types, by casts where needed.
func (b *binder) align(l, r Node, op string) (Node, Node, error) {
	lc, rc := l.Columns(), r.Columns()
	if len(lc) != len(rc) {
		return nil, nil,
			planError("%s queries have different number of columns: left has %d columns whereas right has %d columns",
				op, len(lc), len(rc))
	}
	types := make([]vector.Type, len(lc))
	for i := range lc {
		t, err := expr.CommonType([]expr.Expr{&expr.Column{T: lc[i].Type}, &expr.Column{T: rc[i].Type}})
		if err != nil {
			return nil, nil, planError("%s: column %d is %s on the left and %s on the right", op, i+1, lc[i].Type,
				rc[i].Type)
		}
		types[i] = t
	}
	l, err := b.castTo(l, types)
	if err != nil {
		return nil, nil, err
	}
	r, err = b.castTo(r, types)
	return l, r, err
}
