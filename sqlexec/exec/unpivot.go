package exec

import (
	"fmt"

	"varve/engine/vector"
)

// UnpivotSpec says which columns of a row become rows.
type UnpivotSpec struct {
	Passed []int          // columns that each of the rows repeats
	Names  *vector.Vector // the texts that distinguish the rows made from one row, one for each
	// Sets[k][i] is the column with the k-th value of row i of a row's rows; the columns of a set are of one type.
	Sets  [][]int
	Nulls bool // rows without any value stay
}

// Unpivot makes several rows of each row, and adds their name and values as columns.
func Unpivot(spec UnpivotSpec, budget *Budget) Operator { return &unpivotOp{spec, budget} }

type unpivotOp struct {
	UnpivotSpec
	budget *Budget
}

func (u *unpivotOp) String() string { return fmt.Sprintf("Unpivot: %d rows of each", u.Names.Len()) }

// Step makes rows, a batch at a time.
func (u *unpivotOp) Step(next Step) Step {
	rows := make([]uint32, 0, vector.Size)   // the row that each comes from
	chosen := make([]uint32, 0, vector.Size) // its name
	values := make([]*vector.Vector, len(u.Sets))
	var passed vector.Batch
	flush := func(b *vector.Batch) error {
		if err := u.budget.Err(); err != nil || len(rows) == 0 {
			return err
		}
		passed.Cols, passed.N = passed.Cols[:0], b.N
		for _, at := range u.Passed {
			passed.Cols = append(passed.Cols, b.Cols[at])
		}
		out := gather(&passed, rows)
		out.N = len(rows)
		name := &vector.Vector{}
		name.Gather(u.Names, chosen)
		out.Cols = append(append(out.Cols, name), values...)
		rows, chosen = rows[:0], chosen[:0]
		return next(out)
	}
	return func(b *vector.Batch) error {
		for i := range b.N {
			for c := range u.Names.Len() {
				if !u.Nulls && u.none(b, c, i) {
					continue
				}
				if len(rows) == 0 {
					for k, set := range u.Sets {
						values[k] = &vector.Vector{Type: b.Cols[set[0]].Type}
					}
				}
				for k, set := range u.Sets {
					values[k].Append(len(rows), b.Cols[set[c]], i, i+1)
				}
				rows, chosen = append(rows, uint32(i)), append(chosen, uint32(c))
				if len(rows) == vector.Size {
					if err := flush(b); err != nil {
						return err
					}
				}
			}
		}
		return flush(b)
	}
}

// none reports whether none of the values of a row's row is there.
func (u *unpivotOp) none(b *vector.Batch, c, i int) bool {
	for _, set := range u.Sets {
		if !b.Cols[set[c]].IsNull(i) {
			return false
		}
	}
	return true
}
