package expr

import (
	"iter"

	"varve/engine/vector"
	"varve/sqlexec/intern"
)

// cancellation ends the long loops of an aggregate with their query: merging, sorting and giving results at the end are
// not bounded by a batch. The zero value is never cancelled.
type cancellation struct {
	cancelled func() error
	work      int      // rows or groups since cancelled was last asked
	bounds    *account // memory of the aggregate's state; nil: without bounds
}

// bounded is an accumulator with such loops, or an accumulator that takes memory by itself.
type bounded interface{ within(memory *account) }

// within makes the loops end with the error of the memory, which is nil as long as the query runs.
func (h *cancellation) within(memory *account) { h.cancelled, h.bounds = memory.Err, memory }

// cancelRows is the number of rows or groups after which cancelled is called: at most a few milliseconds of work.
const cancelRows = 1 << 14

// did notes work on n rows or groups.
func (h *cancellation) did(n int) error {
	if h.work += n; h.work < cancelRows || h.cancelled == nil {
		return nil
	}
	h.work = 0
	return h.cancelled()
}

// numbersOf enters values of another interner among values: all of them, or those that some pairs have in their second
// half. It gives their numbers here by their numbers there.
func (h *cancellation) numbersOf(values, other *intern.Interner, all bool, pairs iter.Seq2[uint32, uint32]) (
	[]uint32, error) {
	numbers := make([]uint32, other.Len())
	if all {
		for from := 0; from < len(numbers); from += vector.Size {
			n := min(vector.Size, len(numbers)-from)
			if err := h.did(n); err != nil {
				return nil, err
			}
			values.Intern(other.Values.Slice(from, from+n), n, numbers[from:from+n])
		}
		return numbers, nil
	}
	seen := vector.MakeBitmap(len(numbers))
	for _, id := range pairs {
		if err := h.did(1); err != nil {
			return nil, err
		}
		seen.Set(int(id))
	}
	var part vector.Vector
	var here [vector.Size]uint32
	for ids := seen.AppendRows(nil); len(ids) > 0; {
		some := ids[:min(vector.Size, len(ids))]
		ids = ids[len(some):]
		if err := h.did(len(some)); err != nil {
			return nil, err
		}
		part.Gather(other.Values, some)
		values.Intern(&part, len(some), here[:])
		for i, id := range some {
			numbers[id] = here[i]
		}
	}
	return numbers, nil
}

// hold takes bytes before the accumulator grows by them.
func (h *cancellation) hold(bytes int64) error {
	if h.bounds == nil || bytes <= 0 {
		return nil
	}
	return h.bounds.Reserve(bytes)
}

// sameRows reports whether two aggregates with equal arguments see the same values.
func (a *Agg) sameRows(b *Agg) bool {
	return sameColumn(a.Args[0], b.Args[0]) &&
		(a.Filter == nil && b.Filter == nil || a.Filter != nil && a.Filter == b.Filter)
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
