package expr

// cancellation ends the long loops of an aggregate with their query: what is merged, sorted or put out at the end is not bounded by
// a batch. The zero value is never cancelled.
type cancellation struct {
	cancelled func() error
	work      int // rows or groups since cancelled was last asked
}

// cancellable is an accumulator with such loops.
type cancellable interface{ cancelBy(cancelled func() error) }

// cancelBy makes the loops end with the error of cancelled, which is nil as long as the query runs.
func (h *cancellation) cancelBy(cancelled func() error) { h.cancelled = cancelled }

// cancelRows is the number of rows or groups after which cancelled is asked: at most a few milliseconds of work.
const cancelRows = 1 << 14

// did notes work on n rows or groups.
func (h *cancellation) did(n int) error {
	if h.work += n; h.work < cancelRows || h.cancelled == nil {
		return nil
	}
	h.work = 0
	return h.cancelled()
}

// NewFor is New for a query that may be cancelled: Merge and Result end with the error of cancelled.
func (a *Agg) NewFor(cancelled func() error) Accumulator {
	acc := a.New()
	if h, ok := acc.(cancellable); ok {
		h.cancelBy(cancelled)
	}
	return acc
}

// Accumulators makes the states of aggregates that see the same rows, each as NewFor does. Several percentiles of the same values keep
// these once.
func Accumulators(aggs []*Agg, cancelled func() error) []Accumulator {
	accs := make([]Accumulator, len(aggs))
	for i, a := range aggs {
		acc := a.NewFor(cancelled)
		if s, ok := acc.(*samples); ok {
			for j, b := range aggs[:i] {
				if of, ok := accs[j].(*samples); ok && of.exact == s.exact && a.sameRows(b) {
					acc = &furtherPercentile{of: of, p: s.p, t: s.t}
					break
				}
			}
		}
		accs[i] = acc
	}
	return accs
}

// sameRows reports whether two aggregates of one argument look at the same values.
func (a *Agg) sameRows(b *Agg) bool {
	return sameColumn(a.Args[0], b.Args[0]) && (a.Filter == nil && b.Filter == nil || a.Filter != nil && a.Filter == b.Filter)
}

// sameColumn reports whether two expressions are the same column, or casts of it to the same type.
func sameColumn(a, b Expr) bool {
	switch a := a.(type) {
	case *Column:
		b, ok := b.(*Column)
		return ok && a.Index == b.Index
	case *Cast:
		b, ok := b.(*Cast)
		return ok && a.To == b.To && a.Try == b.Try && sameColumn(a.Arg, b.Arg)
	}
	return false
}
