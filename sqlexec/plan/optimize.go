package plan

import (
	"math"
	"slices"

	"varve/engine/scan"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// optimizer rewrites a logical plan. It is for one goroutine and one plan.
type optimizer struct {
	ctx     *expr.Context
	without Rewrites // that are not made
}

// Optimize returns the plan to run: conditions are moved down, unneeded columns dropped, and scans know the wanted
// order of their rows. Rewrites among without are not made. n itself is unchanged.
func Optimize(ctx *expr.Context, n Node, without Rewrites) Node {
	o := &optimizer{ctx: ctx, without: without}
	n = o.push(n, nil)
	n = o.simplify(n)
	n = o.exact(n)
	o.order(n, true)
	return n
}

// order asks scans for the natural row order where nothing above decides it: rows of plain scans come by primary key,
// then time. It changes the nodes in place, which are all the optimizer's own by then. natural reports whether the
// order of n's rows shows in the answer.
func (o *optimizer) order(n Node, natural bool) {
	switch n := n.(type) {
	case *Scan:
		n.Ordered = natural && n.Rel.Table != nil
	case *Filter:
		if w, ok := n.Input.(*Window); ok {
			w.First = w.wantsFirst(n.Conds)
		}
	case *Project, *Limit, *Unnest, *Unpivot, *Union:
	case *Window:
		n.sorted()
		natural = false
	case *DistinctOn:
		if s, ok := n.Input.(*Sort); ok && s.Limit < 0 && s.Offset == 0 && sameBytes(n.Keys) {
			s.First = exec.First{Keys: n.Keys, N: 1}
		}
		natural = false
	default: // sorts, groups or joins
		natural = false
	}
	for _, in := range n.inputs() {
		o.order(in, natural)
	}
}

// sorted puts the sort that a window needs below it.
func (n *Window) sorted() {
	var keys []expr.SortKey
	for _, e := range n.Partition {
		keys = append(keys, expr.SortKey{Expr: e})
	}
	if keys = append(keys, n.Order...); len(keys) > 0 {
		n.Input = &Sort{Input: n.Input, Keys: keys, Limit: -1, First: n.First}
	}
}

// mostFirst is the number of rows of a partition up to which it pays to keep them apart from the others.
const mostFirst = 64

// wantsFirst reports how many rows of each partition conditions let pass at most: row_number() <= n, or rank() <= n,
// which lets ties pass, where no function looks at later rows.
func (n *Window) wantsFirst(conds []expr.Expr) (first exec.First) {
	if len(n.Partition) == 0 || !sameBytes(n.Partition) {
		return first
	}
	for _, f := range n.Funcs {
		if reachOf(f) == exec.ReachesOn {
			return first
		}
	}
	for _, c := range conds {
		col, op, value, ok := columnOpConst(c)
		if !ok || value.IsNull(0) || value.Type.Kind() != vector.Int64 {
			continue
		}
		at := col.Index - (len(n.Cols) - len(n.Funcs))
		most := value.Int(0)
		if op == expr.Less && most > math.MinInt64 {
			op, most = expr.LessEqual, most-1
		}
		if at < 0 || op != expr.Equal && op != expr.LessEqual || most < 1 || most > mostFirst {
			continue
		}
		reach := reachOf(n.Funcs[at])
		if reach != exec.CountsRows && reach != exec.CountsPeers {
			continue
		}
		if first.N == 0 || int(most) < first.N {
			first = exec.First{Keys: n.Partition, N: int(most), Ties: reach == exec.CountsPeers}
		}
	}
	return first
}

func reachOf(f exec.WindowFunc) exec.Reach {
	if fn := exec.WindowFunctionOf(f.Name); fn != nil && f.Agg == nil {
		return fn.Reach
	}
	return exec.ReachesOn
}

// sameBytes reports whether equal values of all keys have the same bytes: intervals of one length are equal to groups,
// and not to rows that are compared one with the next.
func sameBytes(keys []expr.Expr) bool {
	return !slices.ContainsFunc(keys, func(k expr.Expr) bool { return k.Type().ID == vector.TypeInterval })
}

// firstKey returns the scan, and the index of its column, that is the first key of a sort, if only projections, filters
// and joins that let some of its rows through lie between.
func firstKey(s *Sort) (table *Scan, at int, ok bool) {
	if len(s.Keys) == 0 {
		return nil, 0, false
	}
	key, ok := s.Keys[0].Expr.(*expr.Column)
	if !ok {
		return nil, 0, false
	}
	n, at := s.Input, key.Index
	for {
		switch in := n.(type) {
		case *Project:
			c, ok := in.Exprs[at].(*expr.Column)
			if !ok {
				return nil, 0, false
			}
			n, at = in.Input, c.Index
		case *Filter:
			n = in.Input
		case *Join:
			if !in.Kind.semi() || in.keepsLeft() {
				return nil, 0, false
			}
			n = in.L
		case *Scan:
			return in, at, true
		default:
			return nil, 0, false
		}
	}
}

// wholeTable reports whether a scan reads every row of its table.
func (s *Scan) wholeTable() bool {
	return s.Rel.Table != nil && s.Time == scan.All && len(s.Filter) == 0 && len(s.Residual) == 0 && !s.Never
}
