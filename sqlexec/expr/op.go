package expr

import (
	"varve/engine/filter"
	"varve/engine/vector"
)

// Op is the meaning of a function to the planner and the executor, which never compare names: logic, tests for NULL,
// comparisons, searches in texts, and the arithmetic that rewrites know. Most functions have none.
type Op uint8

// The meanings.
const (
	NoOp Op = iota
	And
	Or
	Not
	Negate
	IsNull
	IsNotNull
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	IsDistinct
	IsNotDistinct
	Like
	NotLike
	ILike
	NotILike
	Regex
	NotRegex
	IRegex
	NotIRegex
	Similar
	NotSimilar
	RegexpLike
	HasTerm
	StartsWith
	Contains
	Lower
	Plus
	Minus
	ListConcat
	JSONGet
	opCount
)

// opProperties has the properties of a meaning.
type opProperties struct {
	name    string // of the function that means this
	flipped Op     // the comparison with its operands exchanged
	strict  Op     // the order without equality
	// order is -1 for less and 1 for greater.
	order  int
	filter filter.Op // what package filter calls it, if it decides it against a constant
	// plain marks tests that look at nothing but the values of their operands, and are not true for NULL.
	plain bool
	// prefix and similar make the pattern of filter of one that is written otherwise.
	prefix  string
	similar bool
	// written marks the operators that test a text against a pattern.
	written bool
}

// ops has room for every value of an Op, so that no index is checked.
var ops = [1 << 8]opProperties{
	And:       {name: "and"},
	Or:        {name: "or"},
	Not:       {name: "not"},
	Negate:    {name: "negate"},
	IsNull:    {name: "is null"},
	IsNotNull: {name: "is not null"},
	Equal:     {name: "=", flipped: Equal, filter: filter.Equal, plain: true},
	NotEqual:  {name: "<>", flipped: NotEqual, filter: filter.NotEqual, plain: true},
	Less:      {name: "<", flipped: Greater, strict: Less, order: -1, filter: filter.Less, plain: true},
	LessEqual: {name: "<=", flipped: GreaterEqual, strict: Less, order: -1, filter: filter.LessEqual,
		plain: true},
	Greater: {name: ">", flipped: Less, strict: Greater, order: 1, filter: filter.Greater, plain: true},
	GreaterEqual: {name: ">=", flipped: LessEqual, strict: Greater, order: 1, filter: filter.GreaterEqual,
		plain: true},
	IsDistinct:    {name: "is distinct from", flipped: IsDistinct},
	IsNotDistinct: {name: "is not distinct from", flipped: IsNotDistinct},
	Like:          {name: "like", filter: filter.Like, plain: true, written: true},
	NotLike:       {name: "not like", filter: filter.NotLike, written: true},
	ILike:         {name: "ilike", filter: filter.ILike, plain: true, written: true},
	NotILike:      {name: "not ilike", filter: filter.NotILike, written: true},
	Regex:         {name: "~", filter: filter.Regex, plain: true, written: true},
	NotRegex:      {name: "!~", filter: filter.NotRegex, written: true},
	IRegex:        {name: "~*", filter: filter.Regex, prefix: "(?i)", written: true},
	NotIRegex:     {name: "!~*", filter: filter.NotRegex, prefix: "(?i)", written: true},
	Similar:       {name: "similar to", filter: filter.Regex, similar: true, written: true},
	NotSimilar:    {name: "not similar to", filter: filter.NotRegex, similar: true, written: true},
	RegexpLike:    {name: "regexp_like", filter: filter.Regex},
	HasTerm:       {name: "matches_term", filter: filter.Term},
	StartsWith:    {name: "starts_with", filter: filter.Prefix},
	Contains:      {name: "contains", filter: filter.Contains},
	Lower:         {name: "lower"},
	Plus:          {name: "+"},
	Minus:         {name: "-"},
	ListConcat:    {name: "array_concat"},
	JSONGet:       {name: "json_get"},
}

// opsByName has the meanings by the names of their functions.
var opsByName = func() map[string]Op {
	all := map[string]Op{}
	for i := NoOp + 1; i < opCount; i++ {
		all[ops[i].name] = i
	}
	return all
}()

// OpOf is the meaning of the function with a name, as operators are written; NoOp where it has none.
func OpOf(name string) Op { return opsByName[name] }

// OpOfCall is the meaning of an expression that is a call; NoOp for all others.
func OpOfCall(e Expr) Op {
	if c, ok := e.(*Call); ok {
		return c.Fn.op
	}
	return NoOp
}

// String is the name of the function; Context.Call takes it.
func (o Op) String() string { return ops[o].name }

// Flipped is the comparison with its operands exchanged; NoOp for what is no comparison.
func (o Op) Flipped() Op { return ops[o].flipped }

// Strict is the comparison of order without equality; NoOp for what compares no order.
func (o Op) Strict() Op { return ops[o].strict }

// Order is -1 for less, 1 for greater and 0 for what compares no order.
func (o Op) Order() int { return ops[o].order }

// Compares reports whether it compares two values.
func (o Op) Compares() bool { return ops[o].flipped != NoOp }

// Distinguishes reports whether it compares NULL like a value.
func (o Op) Distinguishes() bool { return o == IsDistinct || o == IsNotDistinct }

// Written reports whether it tests a text against a pattern, as an operator.
func (o Op) Written() bool { return ops[o].written }

// PlainTest reports whether it is a test that depends on nothing but the values of its operands, and is not true for
// NULL.
func (o Op) PlainTest() bool { return ops[o].plain }

// Filter is the operator of package filter that decides it against a constant that is not NULL, and the constant as
// that operator reads it: patterns of other kinds become regular expressions. 0: package filter has no such operator.
func (o Op) Filter(constant *vector.Vector) (filter.Op, *vector.Vector) {
	of := &ops[o]
	if constant.Type.Kind() != vector.Bytes || !of.similar && of.prefix == "" {
		return of.filter, constant
	}
	pattern := of.prefix + constant.Str(0)
	if of.similar {
		pattern = SimilarTo(pattern)
	}
	return of.filter, vector.ConstBytes(constant.Type, []byte(pattern))
}
