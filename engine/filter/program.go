package filter

import (
	"fmt"

	"varve/engine/schema"
	"varve/engine/vector"
)

// Program is a compiled conjunction. It holds scratch memory: one goroutine at a time.
type Program struct {
	conds []*condition  // first the conjunction's own, then those of alternatives
	n     int           // of the conjunction's own
	hit   vector.Bitmap // scratch: rows that pass the condition at hand
	rows  []uint32      // scratch: row numbers
	text  textScratch
}

// condition is one compiled comparison.
type condition struct {
	Cond
	kind    vector.Kind
	negate  bool     // rows that do not pass test but have a value
	op      Op       // what to test, negation taken off
	numbers numbers  // constants of comparisons and IN lists
	strings stringIn // constants of IN on bytes
	match   *matcher // text operators
	whole   *matcher // Equal, as a text operator; made when first needed
	lowered Op       // of a condition on lower-cased text, negation taken off

	any  [][]int       // numbers of the conditions of each alternative of AnyOf
	left vector.Bitmap // scratch of AnyOf: rows that no alternative has let pass

	// The last dictionary seen and which of its values pass; of AnyOf, the rows that pass.
	values *vector.Vector
	passes vector.Bitmap
}

// Compile prepares a conjunction for evaluation. It fails on a malformed regular expression and on arguments whose
// count does not fit the operator.
func Compile(a And) (*Program, error) {
	p := &Program{conds: make([]*condition, len(a)), n: len(a)}
	for i := range a {
		c, err := compile(&a[i], nil)
		if err != nil {
			return nil, err
		}
		p.conds[i] = c
	}
	for _, c := range p.conds[:p.n] {
		if c.Op == AnyOf {
			if err := p.alternatives(c); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

func compile(from *Cond, ended func() error) (*condition, error) {
	if c := from.prepared(); c != nil {
		return c, nil
	}
	c := &condition{Cond: *from, op: from.Op}
	switch c.Op {
	case IsNull, IsNotNull, AnyOf:
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
	switch c.Op {
	case NotEqual:
		c.op, c.negate = Equal, true
	case Greater:
		c.op, c.negate = LessEqual, true
	case GreaterEqual:
		c.op, c.negate = Less, true
	case NotIn:
		c.op, c.negate = In, true
	case NotRegex:
		c.op, c.negate = Regex, true
	case NotLike:
		c.op, c.negate = Like, true
	case NotILike:
		c.op, c.negate = ILike, true
	case NotTerm:
		c.op, c.negate = Term, true
	case NotContains:
		c.op, c.negate = Contains, true
	case NotPrefix:
		c.op, c.negate = Prefix, true
	case Equal, Less, LessEqual, In, Prefix, Contains, ContainsFold, Term, Regex, Like, ILike:
	default:
		return nil, fmt.Errorf("unknown condition %d on column %d", c.Op, c.Column)
	}
	if c.Lower {
		if c.kind != vector.Bytes {
			return nil, fmt.Errorf("condition %d on column %d takes text, not %s", c.Op, c.Column, c.Args.Type)
		}
		return c, c.compileLower(ended)
	}
	switch c.op {
	case Equal, Less, LessEqual:
		return c, nil
	case In:
		c.compileIn()
		return c, nil
	}
	if c.kind != vector.Bytes {
		return nil, fmt.Errorf("condition %d on column %d takes text, not %s", c.Op, c.Column, c.Args.Type)
	}
	m, err := newMatcher(c.op, c.Args.Bytes(0), ended)
	if err != nil {
		return nil, err
	}
	c.match = m
	return c, nil
}

// Len is the number of conditions of the conjunction.
func (p *Program) Len() int { return p.n }

// Size is the number of conditions with those of alternatives, which have the numbers from Len on.
func (p *Program) Size() int { return len(p.conds) }

// Column is the column that condition i, a comparison, looks at.
func (p *Program) Column(i int) schema.ColumnID { return p.conds[i].Column }

// Cost orders conditions from cheap to dear: 0 NULL tests, 1 numbers, 2 short comparisons of bytes, 3 text search,
// 4 regular expressions; a choice costs what its dearest comparison does.
func (p *Program) Cost(i int) int {
	c := p.conds[i]
	switch {
	case c.Op == AnyOf:
		cost := 0
		for _, and := range c.any {
			for _, at := range and {
				cost = max(cost, p.Cost(at))
			}
		}
		return cost
	case c.Op == IsNull || c.Op == IsNotNull:
		return 0
	case c.kind != vector.Bytes:
		return 1
	case c.match == nil || c.op == Prefix:
		return 2
	case c.op == Regex:
		return 4
	}
	return 3
}

// Eval evaluates the conjunction on n rows. keep holds the rows in question on entry, and of them those that pass on
// return; it has Words(n) words. col gives the vector of a column, of any form, of the condition's type.
func (p *Program) Eval(n int, col func(schema.ColumnID) *vector.Vector, keep vector.Bitmap) {
	one := func(i int, keep vector.Bitmap) error {
		p.EvalCond(i, n, col(p.conds[i].Column), keep)
		return nil
	}
	for i, c := range p.conds[:p.n] {
		if c.Op == AnyOf {
			_ = p.EvalAny(i, keep, one) // one does not fail
		} else {
			p.EvalCond(i, n, col(c.Column), keep)
		}
		if none(keep) {
			return
		}
	}
}

// Eval evaluates the conjunction on n rows, compiling it first: see Program.Eval.
func (a And) Eval(n int, col func(schema.ColumnID) *vector.Vector, keep vector.Bitmap) error {
	p, err := Compile(a)
	if err != nil {
		return err
	}
	p.Eval(n, col, keep)
	return nil
}

// EvalCond evaluates condition i, a comparison, on the n rows of v and takes the rows that do not pass out of keep.
func (p *Program) EvalCond(i, n int, v *vector.Vector, keep vector.Bitmap) {
	c := p.conds[i]
	switch c.Op {
	case IsNull:
		keepNulls(keep, v)
		return
	case IsNotNull:
		keepValid(keep, v)
		return
	}
	switch v.Form {
	case vector.Const:
		if v.IsNull(0) || !c.one(p, v) {
			clear(keep)
		}
	case vector.Dict:
		if v.Values.Len() == 0 {
			clear(keep)
			return
		}
		keepValid(keep, v)
		KeepCodes(keep, v.Codes[:n], c.dictionary(p, v.Values))
	default:
		keepValid(keep, v)
		c.flat(p, n, v, keep)
	}
}

// one tests the single value of a Const vector.
func (c *condition) one(p *Program, v *vector.Vector) bool {
	f := *v
	f.Form, f.Valid = vector.Flat, nil
	keep := [1]uint64{1}
	c.flat(p, 1, &f, keep[:])
	return keep[0]&1 != 0
}

// dictionary tells which values of a dictionary pass. The answer for the dictionary seen last is kept.
func (c *condition) dictionary(p *Program, values *vector.Vector) vector.Bitmap {
	if c.values == values {
		return c.passes
	}
	n := values.Len()
	if cap(c.passes) < vector.Words(n) {
		c.passes = vector.MakeBitmap(n)
	}
	c.passes = c.passes[:vector.Words(n)]
	c.passes.Fill(n)
	c.flat(p, n, values, c.passes)
	c.values = values
	return c.passes
}

// Passing tells which values of a dictionary pass condition i; ok is false for NULL tests, which no dictionary
// decides. The bitmap is valid until the next evaluation on another dictionary.
func (p *Program) Passing(i int, values *vector.Vector) (passes vector.Bitmap, ok bool) {
	c := p.conds[i]
	if c.Op == IsNull || c.Op == IsNotNull {
		return nil, false
	}
	return c.dictionary(p, values), true
}

// flat evaluates on a Flat vector whose NULL rows are no longer in keep.
func (c *condition) flat(p *Program, n int, v *vector.Vector, keep vector.Bitmap) {
	if c.kind != v.Type.Kind() {
		clear(keep) // the caller casts; a vector of another kind holds nothing that could be equal
		return
	}
	if cap(p.hit) < len(keep) {
		p.hit = make(vector.Bitmap, len(keep))
	}
	hit := p.hit[:len(keep)]
	switch {
	case c.match != nil:
		c.match.eval(p, n, v, keep, hit)
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

func none(b vector.Bitmap) bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

func keepValid(keep vector.Bitmap, v *vector.Vector) {
	switch {
	case v.Valid == nil:
	case v.Form == vector.Const:
		if v.Valid[0]&1 == 0 {
			clear(keep)
		}
	default:
		keep.And(v.Valid)
	}
}

func keepNulls(keep vector.Bitmap, v *vector.Vector) {
	switch {
	case v.Valid == nil:
		clear(keep)
	case v.Form == vector.Const:
		if v.Valid[0]&1 != 0 {
			clear(keep)
		}
	default:
		valid := v.Valid[:len(keep)]
		for i := range keep {
			keep[i] &^= valid[i]
		}
	}
}

// KeepCodes takes the rows out of keep whose code is not in passes, which has a bit for every code there is.
func KeepCodes(keep vector.Bitmap, codes []uint32, passes vector.Bitmap) {
	if len(passes) == 1 { // up to 64 values, as in most columns that have a dictionary
		keepFewCodes(keep, codes, passes[0])
		return
	}
	for w := range keep {
		if keep[w] == 0 {
			continue
		}
		chunk := codes[w*64 : min(w*64+64, len(codes))]
		var m uint64
		for i, c := range chunk {
			m |= (passes[c>>6] >> (c & 63) & 1) << i
		}
		keep[w] &= m
	}
}

// keepFewCodes is KeepCodes for codes below 64.
func keepFewCodes(keep []uint64, codes []uint32, passes uint64) {
	full := len(codes) >> 6
	for w, k := range keep[:full] {
		if k == 0 {
			continue
		}
		c := (*[64]uint32)(codes[w*64:])
		var m uint64
		for i := 0; i < 64; i += 4 {
			m |= (passes>>(c[i]&63)&1 | passes>>(c[i+1]&63)&1<<1 | passes>>(c[i+2]&63)&1<<2 | passes>>(c[i+3]&63)&1<<3) << i
		}
		keep[w] &= m
	}
	if full < len(keep) {
		var m uint64
		for i, c := range codes[full*64:] {
			m |= passes >> (c & 63) & 1 << i
		}
		keep[full] &= m
	}
}

// FloatBound gives condition i as v <= k, or v < k when strict, or the negation of either, when it is a comparison of
// order with a number: a run may then compare in the form that it keeps values in. NaN is greater than every number.
func (p *Program) FloatBound(i int) (k float64, strict, negate, ok bool) {
	c := p.conds[i]
	if c.op != Less && c.op != LessEqual || c.kind != vector.Float64 {
		return 0, false, false, false
	}
	k = c.Args.Float(0)
	return k, c.op == Less, c.negate, k == k
}

// Interval gives condition i as v - least <= span, in numbers that wrap around, or the negation of that, when it compares
// integers with one number: a run may then compare in the form that it keeps values in.
func (p *Program) Interval(i int) (least, span uint64, negate, ok bool) {
	c := p.conds[i]
	var k uint64
	switch c.kind {
	case vector.Int64:
		k, least = uint64(c.Args.Int(0)), 1<<63
	case vector.Uint64:
		k = c.Args.Uint(0)
	default:
		return 0, 0, false, false
	}
	switch c.op {
	case Equal:
		return k, 0, c.negate, true
	case LessEqual:
		return least, k - least, c.negate, true
	case Less:
		return least, k - least - 1, c.negate, k != least
	}
	return 0, 0, false, false
}

// OnNull tells whether NULL passes condition i; ok is false when it looks at values.
func (p *Program) OnNull(i int) (passes, ok bool) {
	op := p.conds[i].Op
	return op == IsNull, op == IsNull || op == IsNotNull
}

// ListBytes gives the byte strings that condition i names when it is passed by nothing else.
func (p *Program) ListBytes(i int) (list [][]byte, ok bool) {
	c := p.conds[i]
	if c.Op != Equal && c.Op != In || c.Lower || c.kind != vector.Bytes {
		return nil, false
	}
	for k := range c.NArgs {
		list = append(list, c.Args.Bytes(k))
	}
	return list, true
}

// EqualsBytes gives the constant of condition i when it is an equality of bytes: a run may then compare in the form that
// it keeps values in.
func (p *Program) EqualsBytes(i int) (s []byte, ok bool) {
	c := p.conds[i]
	if c.Op != Equal || c.Lower || c.kind != vector.Bytes {
		return nil, false
	}
	return c.Args.Bytes(0), true
}
