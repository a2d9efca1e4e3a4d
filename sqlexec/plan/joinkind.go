package plan

import (
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
)

// JoinKind says which rows a join gives.
type JoinKind uint8

// The kinds. A cross join is an inner one that has no condition yet.
const (
	InnerJoin JoinKind = iota
	CrossJoin
	LeftJoin
	RightJoin
	FullJoin
	LeftSemiJoin
	LeftAntiJoin
)

// joinKinds has for each kind its name in EXPLAIN, and how it runs with the right side kept, and with the left one.
var joinKinds = [...]struct {
	name                  string
	keepsRight, keepsLeft exec.JoinKind
}{
	InnerJoin:    {"Inner", exec.Inner, exec.Inner},
	CrossJoin:    {"Cross", exec.Inner, exec.Inner},
	LeftJoin:     {"Left", exec.Outer, exec.BuildOuter},
	RightJoin:    {"Right", exec.BuildOuter, exec.Outer},
	FullJoin:     {"Full", exec.FullOuter, exec.FullOuter},
	LeftSemiJoin: {"Left semi", exec.Semi, exec.BuildSemi},
	LeftAntiJoin: {"Left anti", exec.Anti, exec.BuildAnti},
}

// kindsOf are the kinds of the joins that are written; the right semi and anti joins are left ones with the sides
// exchanged.
var kindsOf = map[parse.JoinKind]JoinKind{
	parse.InnerJoin: InnerJoin, parse.CrossJoin: CrossJoin, parse.LeftJoin: LeftJoin, parse.RightJoin: RightJoin,
	parse.FullJoin:     FullJoin,
	parse.LeftSemiJoin: LeftSemiJoin, parse.LeftAntiJoin: LeftAntiJoin, parse.RightSemiJoin: LeftSemiJoin,
	parse.RightAntiJoin: LeftAntiJoin,
}

func (k JoinKind) String() string { return joinKinds[k].name }

// semi reports whether the join gives left rows alone, each at most once.
func (k JoinKind) semi() bool { return k == LeftSemiJoin || k == LeftAntiJoin }

// inner reports whether the join gives pairs of rows and nothing else.
func (k JoinKind) inner() bool { return k == InnerJoin || k == CrossJoin }

// fillsLeft and fillsRight tell whether the columns of a side are NULL where a row of the other side has no partner.
func (k JoinKind) fillsLeft() bool  { return k == RightJoin || k == FullJoin }
func (k JoinKind) fillsRight() bool { return k == LeftJoin || k == FullJoin }
