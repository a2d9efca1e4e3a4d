package plan

import (
	"varve/engine"
	"varve/engine/filter"
	"varve/engine/scan"
	"varve/sqlexec/expr"
)

// estimate is about how many rows a node gives: what tables and their parts know about themselves, and the usual
// guesses about conditions. It decides which side of a join is kept.
func estimate(n Node) float64 {
	switch n := n.(type) {
	case *Scan:
		return n.estimate()
	case *Values:
		if n.Of != "" {
			return virtualRows
		}
		return float64(n.Batch.N)
	case *Series:
		return float64(n.Count)
	case *Filter:
		return estimate(n.Input) * share(n.Conds)
	case *Aggregate:
		if len(n.Keys) == 0 {
			return 1
		}
		return max(1, estimate(n.Input)/10)
	case *Distinct:
		return max(1, estimate(n.Input)/10)
	case *Sort:
		return limited(estimate(n.Input), n.Limit)
	case *Limit:
		return limited(estimate(n.Input), n.Limit)
	case *Expand, *Unnest:
		return 4 * estimate(n.inputs()[0])
	case *Unpivot:
		return float64(len(n.Names)) * estimate(n.Input)
	case *Union:
		sum := 0.0
		for _, in := range n.Inputs {
			sum += estimate(in)
		}
		return sum
	case *Join:
		return n.estimate()
	}
	if in := n.inputs(); len(in) > 0 {
		return estimate(in[0])
	}
	return 1
}

// limited is an estimate with a LIMIT over it.
func limited(rows float64, limit int64) float64 {
	if limit < 0 {
		return rows
	}
	return min(rows, float64(limit))
}

// share is the part of rows that is guessed to pass conditions.
func share(conds []expr.Expr) float64 {
	s := 1.0
	for range conds {
		s /= 3
	}
	return s
}

func (n *Join) estimate() float64 {
	l, r := estimate(n.L), estimate(n.R)
	switch {
	case n.Kind.semi():
		return l
	case len(n.LKeys) == 0:
		return l * r
	}
	return max(l, r)
}

// virtualRows is a guess at the rows of a table that is made when it is read.
const virtualRows = 1000

// estimate looks at the parts: their rows in the time range, spread evenly, times a usual share for each condition.
func (n *Scan) estimate() float64 {
	switch {
	case n.Never:
		return 0
	case n.Rel.Table == nil:
		return virtualRows
	}
	st := n.Rel.Table.Stats()
	rows := float64(st.MemtableRows)
	for _, p := range st.Parts {
		rows += float64(p.Rows) * overlap(n.Time, p)
	}
	for i := range n.Filter {
		switch n.Filter[i].Op {
		case filter.Equal:
			rows /= 20
		case filter.NotEqual, filter.NotIn, filter.IsNotNull:
		default:
			rows /= 3
		}
	}
	return rows * share(n.Residual)
}

// overlap is the part of a part's span that lies in a time range.
func overlap(r scan.Range, p engine.PartInfo) float64 {
	if !r.Overlaps(p.Min, p.Max) {
		return 0
	}
	span := float64(p.Max) - float64(p.Min)
	if span <= 0 {
		return 1
	}
	from, to := max(float64(r.From), float64(p.Min)), min(float64(r.To)+1, float64(p.Max))
	return min(max((to-from)/span, 0), 1)
}
