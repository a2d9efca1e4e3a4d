package filter

import (
	"fmt"

	"varve/engine/vector"
)

// condition is what a comparison means once it is compiled. It does not change: the tests that are made of one prepared
// condition share it.
type condition struct {
	Cond
	kind    vector.Kind
	negate  bool     // rows that do not pass op but have a value
	op      Op       // what to test, negation taken off
	numbers numbers  // constants of comparisons and IN lists
	strings stringIn // constants of IN on bytes
	rising  bool     // constants of IN rise
	match   *matcher // text operators
	lowered Op       // of a condition on lower-cased text, negation taken off
	packed  Comparison
}

// opposites are the operators that are evaluated by their opposite: the rows that the opposite leaves out pass.
var opposites = map[Op]Op{
	NotEqual: Equal, Greater: LessEqual, GreaterEqual: Less, NotIn: In,
	NotRegex: Regex, NotLike: Like, NotILike: ILike, NotTerm: Term, NotContains: Contains, NotPrefix: Prefix,
}

// compileCond makes a condition that is not an AnyOf. It fails on a malformed regular expression, and if the number
// of arguments does not fit the operator. For cancelled see Prepare.
func compileCond(from *Cond, cancelled func() error) (*condition, error) {
	if from.prepared() {
		return from.ready, nil
	}
	c := &condition{Cond: *from, op: from.Op}
	switch c.Op {
	case IsNull, IsNotNull:
		return c, nil
	case In, NotIn:
	default:
		if c.Args == nil || c.NArgs != 1 {
			return nil, fmt.Errorf("condition %d on column %d takes one argument, not %d", c.Op, c.Column, c.NArgs)
		}
	}
	if c.Args == nil || c.Args.Form != vector.Flat && (c.Args.Form != vector.Const || c.NArgs != 1) {
		return nil, fmt.Errorf("condition %d on column %d: arguments must be flat", c.Op, c.Column)
	}
	c.kind = c.Args.Type.Kind()
	if op, ok := opposites[c.Op]; ok {
		c.op, c.negate = op, true
	}
	switch c.op {
	case Equal, Less, LessEqual, In, Prefix, Contains, ContainsFold, Term, Regex, Like, ILike:
	default:
		return nil, fmt.Errorf("unknown condition %d on column %d", c.Op, c.Column)
	}
	return c, c.compileTest(cancelled)
}

// compileTest makes what tests values.
func (c *condition) compileTest(cancelled func() error) (err error) {
	text := c.Lower
	switch c.op {
	case Equal, Less, LessEqual, In:
	default:
		text = true
	}
	switch {
	case text && c.kind != vector.Bytes:
		return fmt.Errorf("condition %d on column %d takes text, not %s", c.Op, c.Column, c.Args.Type)
	case c.Lower:
		return c.compileLower(cancelled)
	case text:
		c.match, err = newMatcher(c.op, c.Args.Bytes(0), cancelled)
		return err
	case c.op == In:
		c.compileIn()
	}
	c.packed = c.comparison()
	return nil
}

// flat evaluates on a Flat vector whose NULL rows are no longer in keep.
func (c *condition) flat(m *memory, n int, v *vector.Vector, keep vector.Bitmap) {
	if c.kind != v.Type.Kind() {
		clear(keep) // the caller casts; a vector of another kind holds nothing that could be equal
		return
	}
	if cap(m.hit) < len(keep) {
		m.hit = make(vector.Bitmap, len(keep))
	}
	hit := m.hit[:len(keep)]
	switch {
	case c.match != nil:
		c.match.eval(m, n, v, keep, hit)
	case c.kind == vector.Bytes:
		c.evalBytes(n, v, keep, hit)
	default:
		c.evalNumbers(n, v, hit)
	}
	if c.negate {
		for i := range keep {
			keep[i] &^= hit[i]
		}
		return
	}
	for i := range keep {
		keep[i] &= hit[i]
	}
}
