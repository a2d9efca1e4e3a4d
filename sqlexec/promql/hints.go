package promql

import (
	"github.com/prometheus/prometheus/promql/parser"

	"varve/sqlexec/promql/histogram"
)

// countsOnly finds the selectors whose histograms a query reads for counts and sums alone, never for buckets: those
// below a function that takes these and below nothing that needs buckets, or looks at the series again. They tell of
// counter resets that they see; others leave those to whoever compares, as the reference does, so that warnings of
// resets that collide come where it gives them.
func countsOnly(x parser.Expr) map[*parser.VectorSelector]bool {
	out := map[*parser.VectorSelector]bool{}
	var visit func(n parser.Node, counts, buckets bool)
	visit = func(n parser.Node, counts, buckets bool) {
		switch n := n.(type) {
		case *parser.VectorSelector:
			if counts && !buckets {
				out[n] = true
			}
			return
		case *parser.SubqueryExpr:
			buckets = true
		case *parser.BinaryExpr:
			buckets = buckets || n.Op == parser.TRIM_LOWER || n.Op == parser.TRIM_UPPER
		case *parser.Call:
			if f := functionOf(n); f != nil {
				counts, buckets = counts || f.counts, buckets || f.buckets
			}
		}
		for child := range parser.ChildrenIter(n) {
			visit(child, counts, buckets)
		}
	}
	visit(x, false, false)
	return out
}

// presenceOnly finds the selectors whose samples a query only counts, groups or looks for, without using their values.
func presenceOnly(x parser.Expr) map[*parser.VectorSelector]bool {
	out := map[*parser.VectorSelector]bool{}
	add := func(x parser.Expr) {
		x = unwrap(x)
		if m, ok := x.(*parser.MatrixSelector); ok {
			x = m.VectorSelector
		}
		if vs, ok := x.(*parser.VectorSelector); ok && !vs.Anchored && !vs.Smoothed {
			out[vs] = true
		}
	}
	parser.Inspect(x, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.AggregateExpr:
			if n.Op == parser.COUNT || n.Op == parser.GROUP {
				add(n.Expr)
			}
		case *parser.Call:
			if f := functionOf(n); f != nil && f.presence {
				add(n.Args[0])
			}
		}
		return nil
	})
	return out
}

// hinted is histogram i of a series with what is known of a reset since the one before it: compared once here, so that
// windows that overlap need not compare again. Where only counts are wanted it has no buckets.
func hinted(hs []*histogram.Histogram, i int, counts bool) *histogram.Histogram {
	h := hs[i]
	hint := h.Hint
	if hint == histogram.UnknownReset && i > 0 && hs[i-1] != nil && !isStale(hs[i-1].Sum) {
		switch reset := h.ResetSince(hs[i-1]); {
		case !reset:
			hint = histogram.NoReset
		case counts:
			hint = histogram.CounterReset
		}
	}
	switch {
	case counts:
		return &histogram.Histogram{Hint: hint, Schema: h.Schema, Count: h.Count, Sum: h.Sum}
	case hint != h.Hint:
		return h.WithHint(hint)
	}
	return h
}
