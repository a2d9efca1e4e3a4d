package exec

import (
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// WindowSpec is functions computed over the rows of each partition in order: each adds a column.
type WindowSpec struct {
	Partition []expr.Expr
	Order     []expr.SortKey
	Funcs     []WindowFunc
}

// WindowFunc is one window function.
type WindowFunc struct {
	Name        string // lower case: row_number, lag, sum
	Text        string // as written
	Args        []expr.Expr
	Filter      expr.Expr
	Star        bool
	IgnoreNulls bool
	Frame       Frame
	Type        vector.Type
	Agg         *expr.Agg // an aggregate that has no loop of its own here; Args are its inputs
	// Targets is the number of Args at the end that are ends of RANGE frames.
	Targets int
}

// Frame says which rows of the partition a function sees from a row. Unbounded ends are MinInt64 and MaxInt64.
type Frame struct {
	Mode     string // rows, range, groups
	From, To FrameBound
	Exclude  string // "", "current row", "group" or "ties"
}

// FrameBound is an end of a frame: Offset rows or groups before (negative) or after the current one. For RANGE with an
// offset, Target, counted from 1, is the function's target that holds the value of the order key at the end of the
// frame. Side says on which side of the key it lies: -1 before, in the order of the rows, 1 behind, 0 where it is not
// known. A number that overflows wraps around and is found on the other side.
type FrameBound struct {
	Unbounded bool
	Offset    int64
	Target    int
	Side      int
}
