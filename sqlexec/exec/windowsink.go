package exec

import (
	"context"
	"fmt"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// sectionRows is the least number of rows of a section of a window's input, if there are as many.
const sectionRows = 1 << 16

// windowSink computes window functions. Its rows come sorted by partition and order, to one worker; it cuts them into
// sections of whole partitions, which several goroutines compute when all rows are there.
type windowSink struct {
	w        WindowSpec
	workers  int
	budget   *Budget
	types    []vector.Type
	sections []*Rows
	last     *vector.Batch // the partition of the last row
}

// Windows computes window functions over rows of the given types. The rows come to one worker, sorted by partition and
// order.
func Windows(w WindowSpec, types []vector.Type, workers int, budget *Budget) Sink {
	return &windowSink{w: w, workers: workers, budget: budget, types: types}
}

func (s *windowSink) String() string { return fmt.Sprintf("Windows: %d functions", len(s.w.Funcs)) }

// Step keeps rows.
func (s *windowSink) Step(int) Step {
	program, err := expr.CompileWithin(s.w.Partition, s.budget.Memory())
	keys := vector.Batch{Cols: make([]*vector.Vector, len(s.w.Partition))}
	return func(b *vector.Batch) error {
		if err != nil {
			return err
		}
		if err := s.budget.Reserve(BatchBytes(b)); err != nil {
			return err
		}
		if err := program.Eval(b, keys.Cols); err != nil {
			return err
		}
		keys.N = b.N
		from := 0
		if n := len(s.sections); n == 0 {
			s.sections = append(s.sections, NewRows(s.types))
		} else if have := s.sections[n-1].Len(); have+b.N > sectionRows && len(keys.Cols) > 0 {
			// The first partition that begins at sectionRows rows or later begins a section.
			if cut := s.begins(&keys, max(0, sectionRows-have)); cut < b.N {
				s.sections[n-1].Add(b, 0, cut)
				s.sections = append(s.sections, NewRows(s.types))
				from = cut
			}
		}
		s.sections[len(s.sections)-1].Add(b, from, b.N)
		if len(keys.Cols) > 0 {
			s.last = lastRow(&keys)
		}
		return nil
	}
}

// begins returns the first row, from the given one on, that begins a partition; keys.N if there is none.
func (s *windowSink) begins(keys *vector.Batch, from int) int {
	for i := from; i < keys.N; i++ {
		for _, c := range keys.Cols {
			if i > 0 && !sameValue(c, i-1, c, i) {
				return i
			}
		}
		if i > 0 {
			continue
		}
		for k, c := range keys.Cols {
			if !sameValue(s.last.Cols[k], 0, c, 0) {
				return i
			}
		}
	}
	return keys.N
}

// Finish computes the sections and gives them in their order.
func (s *windowSink) Finish(ctx context.Context) (Source, error) {
	out := make([]Source, len(s.sections))
	within := 1 // goroutines for work that can run in parallel in one section
	if len(s.sections) < s.workers {
		within = s.workers
	}
	err := Spread(ctx, len(s.sections), s.workers, func(i int) error {
		rows, err := Together(ctx, s.sections[i:i+1], within, s.budget)
		if err != nil {
			return err
		}
		b, err := s.w.compute(ctx, rows, within, s.budget)
		out[i] = Values(b)
		return err
	})
	return concat(out), err
}
