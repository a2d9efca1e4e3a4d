// Package filter holds the conditions that queries push down into runs: comparisons of a column with constants, joined
// by AND and OR. A compiled filter is a tree whose leaves are tests. Evaluation goes from cheap to dear: zone maps rule
// out blocks; postings and token filters rule out blocks or rows; a dictionary is tested once per distinct value;
// packed values are tested without unpacking; only then are values decoded.
package filter

import (
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
)

// Op is a comparison.
type Op uint8

// The comparisons. A NULL value passes none of them but IsNull.
const (
	Equal        Op = iota + 1 // Args has one row
	NotEqual                   // one row
	Less                       // one row
	LessEqual                  // one row
	Greater                    // one row
	GreaterEqual               // one row
	In                         // any number of rows, sorted, without NULL
	NotIn                      // the same
	IsNull                     // no Args
	IsNotNull                  // no Args
	Prefix                     // text begins with the argument
	Contains                   // text holds the argument, byte for byte
	ContainsFold               // text holds the argument, ASCII and Unicode simple case folded; the argument is folded
	Term                       // text holds the argument as a whole word (matches_term)
	Regex                      // text matches the regular expression somewhere; Args row 0 is the expression
	NotRegex
	Like // SQL LIKE pattern with % and _, escape is backslash; Args row 0
	NotLike
	ILike
	NotILike
	NotTerm
	NotContains
	NotPrefix
	AnyOf // at least one of the conjunctions of Any passes; no column, no Args
)

// Cond is one comparison of a column with constants, or a choice among conjunctions. Args has the column's type at the
// reader's schema version (STRING for text operators), Flat, without NULL. Those of In and NotIn may come in any
// order; blocks are refuted faster if they rise.
type Cond struct {
	Column schema.ColumnID
	Op     Op
	Args   *vector.Vector
	// NArgs is the number of rows of Args.
	NArgs int
	// Lower: the operator looks at the value in lower case, as SQL's lower() gives it. For Equal, NotEqual and the text
	// operators that regard case.
	Lower bool
	// Any are the alternatives of AnyOf.
	Any []And

	ready *condition // result of Prepare; nil: none
}

// And is a conjunction; empty means true.
type And []Cond

// AppendColumns appends the columns that a looks at, each once.
func (a And) AppendColumns(dst []schema.ColumnID) []schema.ColumnID {
	for i := range a {
		dst = a[i].AppendColumns(dst)
	}
	return dst
}

// AppendColumns appends the columns that c looks at, each once.
func (c *Cond) AppendColumns(dst []schema.ColumnID) []schema.ColumnID {
	if c.Op == AnyOf {
		for _, and := range c.Any {
			dst = and.AppendColumns(dst)
		}
		return dst
	}
	if !slices.Contains(dst, c.Column) {
		dst = append(dst, c.Column)
	}
	return dst
}
