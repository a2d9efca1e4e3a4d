package exec

import (
	"fmt"
	"strings"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// Filter keeps the rows for which all conditions are true. The conditions are BOOLEAN.
func Filter(conds []expr.Expr, budget *Budget) (Operator, error) {
	if _, err := expr.Compile(conds); err != nil {
		return nil, err
	}
	return &filterOp{conds, budget}, nil
}

type filterOp struct {
	conds  []expr.Expr
	budget *Budget
}

// shareParts joins conditions with common parts into one condition, which computes the parts once. The joined condition
// takes the place of the first of them.
func shareParts(conds []expr.Expr) []expr.Expr {
	members := make([][]expr.Expr, len(conds))
	for i, first := range expr.Shared(conds) {
		members[first] = append(members[first], conds[i])
	}
	var out []expr.Expr
	for _, list := range members {
		if len(list) > 0 {
			out = append(out, expr.AllOf(list))
		}
	}
	return out
}

func (f *filterOp) String() string { return "Filter: " + texts(f.conds, " AND ") }

func texts(list []expr.Expr, sep string) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.String()
	}
	return strings.Join(out, sep)
}

// Step evaluates the conditions in order, each on the rows that passed the previous one, so that a cheap first
// condition saves work.
func (f *filterOp) Step(next Step) Step {
	conds := shareParts(f.conds)
	programs := make([]*expr.Program, len(conds))
	for i, c := range conds {
		programs[i] = mustCompile([]expr.Expr{c}, f.budget)
	}
	out := make([]*vector.Vector, 1)
	var rows []uint32
	var keep vector.Bitmap
	var passed [2]vector.Batch // a gather may read the batch that the previous one wrote
	to, other := &passed[0], &passed[1]
	return func(b *vector.Batch) error {
		for _, p := range programs {
			if err := p.Eval(b, out); err != nil {
				return err
			}
			keep = truth(keep, out[0], b.N)
			switch n := keep.Count(); n {
			case b.N:
				continue
			case 0:
				return nil
			}
			rows = keep.AppendRows(rows[:0])
			gatherRows(to, b, rows)
			b, to, other = to, other, to
		}
		return next(b)
	}
}

// mustCompile compiles what has been compiled before.
func mustCompile(list []expr.Expr, budget *Budget) *expr.Program {
	return compiled(expr.CompileWithin(list, budget.Memory()))
}

func compiled(p *expr.Program, err error) *expr.Program {
	if err != nil {
		panic("exec: an expression that compiled does not compile: " + err.Error())
	}
	return p
}

// truth is the set of rows where a BOOLEAN vector is true.
func truth(keep vector.Bitmap, v *vector.Vector, n int) vector.Bitmap {
	if w := vector.Words(n); cap(keep) < w {
		keep = make(vector.Bitmap, w)
	} else {
		keep = keep[:w]
	}
	switch v.Form {
	case vector.Const:
		keep.Fill(0)
		if !v.IsNull(0) && v.Bool(0) {
			keep.Fill(n)
		}
	case vector.Dict:
		keep.Fill(0)
		for i := range n {
			if !v.IsNull(i) && v.Bool(i) {
				keep.Set(i)
			}
		}
	default:
		copy(keep, v.Bools)
		keep.And(v.Valid)
	}
	return keep
}

// gatherRows makes to the rows of from with the given numbers; to's vectors are reused.
func gatherRows(to, from *vector.Batch, rows []uint32) {
	for len(to.Cols) < len(from.Cols) {
		to.Cols = append(to.Cols, &vector.Vector{})
	}
	to.Cols = to.Cols[:len(from.Cols)]
	to.N = len(rows)
	for i, c := range from.Cols {
		to.Cols[i].Gather(c, rows)
	}
}

// Project computes columns.
func Project(list []expr.Expr, budget *Budget) (Operator, error) {
	if _, err := expr.Compile(list); err != nil {
		return nil, err
	}
	return &projectOp{list, budget}, nil
}

type projectOp struct {
	list   []expr.Expr
	budget *Budget
}

func (p *projectOp) String() string { return "Project: " + texts(p.list, ", ") }

// batchMemory is a budget of which the values of a batch may take only a part: a larger batch is cut. The values of a
// single row may take all of it.
type batchMemory struct {
	*Budget
	rows int // of the batch at hand
}

// batchShare is the part of the pool that there is for a batch.
const batchShare = 16

// Left is how many bytes the batch may take.
func (m *batchMemory) Left() int64 {
	left := m.Budget.Left()
	if m.rows > 1 {
		left = min(left, m.pool.limit/batchShare)
	}
	return left
}

// compile compiles what has been compiled before.
func (m *batchMemory) compile(list []expr.Expr) *expr.Program {
	if m.Budget == nil {
		return mustCompile(list, nil)
	}
	return compiled(expr.CompileWithin(list, m))
}

// Step evaluates the expressions.
func (p *projectOp) Step(next Step) Step {
	memory := &batchMemory{Budget: p.budget}
	program := memory.compile(p.list)
	out := vector.Batch{Cols: make([]*vector.Vector, len(p.list))}
	var step Step
	step = func(b *vector.Batch) error {
		memory.rows = b.N
		err := program.Eval(b, out.Cols)
		switch {
		case err == nil:
			out.N = b.N
			return next(&out)
		case b.N > 1 && status.Of(err) == status.RuntimeResourcesExhausted:
			return inHalves(b, step) // what is made of all rows together is too much, what is made of some may not be
		}
		return err
	}
	return step
}

// Limit passes limit rows after the first offset rows; limit < 0 means no limit. One worker.
func Limit(offset, limit int64) Operator { return &limiter{offset, limit} }

type limiter struct{ offset, limit int64 }

func (l *limiter) String() string { return fmt.Sprintf("Limit: %d, offset %d", l.limit, l.offset) }

// Step counts rows and ends the pipeline when there are enough.
func (l *limiter) Step(next Step) Step {
	seen := int64(0)
	var rows []uint32
	var cut vector.Batch
	return func(b *vector.Batch) error {
		from := min(max(l.offset-seen, 0), int64(b.N))
		to := int64(b.N)
		if l.limit >= 0 {
			to = min(to, max(l.offset+l.limit-seen, 0))
		}
		seen += int64(b.N)
		if from < to {
			out := b
			if from > 0 || to < int64(b.N) {
				rows = rows[:0]
				for i := from; i < to; i++ {
					rows = append(rows, uint32(i))
				}
				gatherRows(&cut, b, rows)
				out = &cut
			}
			if err := next(out); err != nil {
				return err
			}
		}
		if l.limit >= 0 && seen >= l.offset+l.limit {
			return ErrStop
		}
		return nil
	}
}
