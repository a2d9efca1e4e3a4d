package vrl

import (
	"cmp"
	"math"

	"varve/pipeline/value"
)

// binaryOp computes an operator of two values.
type binaryOp func(f *Frame, a, b value.Value) (value.Value, *Failure)

// binaries are the operators that run both sides. Two integers, two floats and two strings come first in each: that
// they are what the compiler found is looked at again, since closures are typed only once.
var binaries = map[string]binaryOp{
	"+": add, "-": subtract, "*": multiply, "/": divide, "|": mergeValues,
	"==": func(f *Frame, a, b value.Value) (value.Value, *Failure) { return value.Bool(equal(a, b)), f.spendOn(a) },
	"!=": func(f *Frame, a, b value.Value) (value.Value, *Failure) {
		return value.Bool(!equal(a, b)), f.spendOn(a)
	},
	">":  func(f *Frame, a, b value.Value) (value.Value, *Failure) { return ordered(f, a, b, 1, false) },
	">=": func(f *Frame, a, b value.Value) (value.Value, *Failure) { return ordered(f, a, b, 1, true) },
	"<":  func(f *Frame, a, b value.Value) (value.Value, *Failure) { return ordered(f, a, b, -1, false) },
	"<=": func(f *Frame, a, b value.Value) (value.Value, *Failure) { return ordered(f, a, b, -1, true) },
}

// finite makes a float, failing on NaN.
func finite(f *Frame, x float64) (value.Value, *Failure) {
	if math.IsNaN(x) {
		return f.Fail("operation would produce NaN")
	}
	return value.Float(x), nil
}

func add(f *Frame, a, b value.Value) (value.Value, *Failure) {
	switch {
	case a.Kind() == value.IntKind && b.Kind() == value.IntKind:
		return value.Int(a.Int() + b.Int()), nil
	case a.Kind() == value.StringKind && b.Kind() == value.StringKind:
		if fl := f.Room(len(a.Str()) + len(b.Str())); fl != nil {
			return value.Null, fl
		}
		return f.Arena.Concat(a.Str(), b.Str()), nil
	case a.IsNumber() && b.IsNumber():
		return finite(f, a.Number()+b.Number())
	case a.Kind() == value.StringKind && b.IsNull():
		return a, nil
	case a.IsNull() && b.Kind() == value.StringKind:
		return b, nil
	}
	return f.Fail("can't add type %k to %k", b, a)
}

func subtract(f *Frame, a, b value.Value) (value.Value, *Failure) {
	switch {
	case a.Kind() == value.IntKind && b.Kind() == value.IntKind:
		return value.Int(a.Int() - b.Int()), nil
	case a.IsNumber() && b.IsNumber():
		return finite(f, a.Number()-b.Number())
	}
	return f.Fail("can't subtract type %k from %k", b, a)
}

func multiply(f *Frame, a, b value.Value) (value.Value, *Failure) {
	switch {
	case a.Kind() == value.IntKind && b.Kind() == value.IntKind:
		return value.Int(a.Int() * b.Int()), nil
	case a.IsNumber() && b.IsNumber():
		return finite(f, a.Number()*b.Number())
	case a.Kind() == value.StringKind && b.Kind() == value.IntKind:
		return repeat(f, a.Str(), b.Int())
	case a.Kind() == value.IntKind && b.Kind() == value.StringKind:
		return repeat(f, b.Str(), a.Int())
	}
	return f.Fail("can't multiply type %k by %k", a, b)
}

// repeat is s so many times; a negative count is none.
func repeat(f *Frame, s string, count int64) (value.Value, *Failure) {
	if count <= 0 || s == "" {
		return value.String(""), nil
	}
	size := MaxStringBytes + 1
	if count <= MaxStringBytes/int64(len(s)) {
		size = len(s) * int(count)
	}
	if fl := f.Room(size); fl != nil {
		return value.Null, fl
	}
	b := f.Arena.Alloc(size)
	for n := copy(b, s); n < size; {
		n += copy(b[n:], b[:n])
	}
	return value.Bytes(b), nil
}

func divide(f *Frame, a, b value.Value) (value.Value, *Failure) {
	switch {
	case !b.IsNumber() || !a.IsNumber() && b.Number() != 0:
		return f.Fail("can't divide type %k by %k", a, b)
	case b.Number() == 0:
		return f.Fail("can't divide by zero")
	}
	return finite(f, a.Number()/b.Number())
}

func mergeValues(f *Frame, a, b value.Value) (value.Value, *Failure) {
	if a.Kind() != value.ObjectKind || b.Kind() != value.ObjectKind {
		return f.Fail("can't merge type %k into %k", b, a)
	}
	return f.sized(value.Merge(f.Arena, a.Object(), b.Object()).Of())
}

// spendOn spends the steps of going through a value once.
func (f *Frame) spendOn(v value.Value) *Failure {
	if n := v.Bulk(); n > 0 {
		return f.Spend(n)
	}
	return nil
}

// equal compares two numbers as floats and all else by kind and value.
func equal(a, b value.Value) bool {
	if a.IsNumber() && b.IsNumber() {
		return a.Number() == b.Number()
	}
	return value.Equal(a, b)
}

// ordered reports whether a is before (sign < 0) or after b, or equal if that counts.
func ordered(f *Frame, a, b value.Value, sign int, orEqual bool) (value.Value, *Failure) {
	c := 0
	switch {
	case a.Kind() == value.IntKind && b.Kind() == value.IntKind:
		c = cmp.Compare(a.Int(), b.Int())
	case a.IsNumber() && b.IsNumber():
		c = cmp.Compare(a.Number(), b.Number())
	case a.Kind() == value.StringKind && b.Kind() == value.StringKind:
		if fl := f.spendOn(a); fl != nil {
			return value.Null, fl
		}
		c = cmp.Compare(a.Str(), b.Str())
	case a.Kind() == value.TimestampKind && b.Kind() == value.TimestampKind:
		c = cmp.Compare(a.Nanos(), b.Nanos())
	case a.Kind() == value.StringKind || a.Kind() == value.TimestampKind:
		if a.Kind() == value.StringKind {
			return f.Fail("expected string, got %k", b)
		}
		return f.Fail("expected timestamp, got %k", b)
	default:
		return f.Fail("can't compare %k >= %k", a, b)
	}
	return value.Bool(c*sign > 0 || orEqual && c == 0), nil
}

var comparisons = map[string]bool{"==": true, "!=": true, ">": true, ">=": true, "<": true, "<=": true}

// operation compiles a binary operator.
func (c *compiler) operation(n *opNode) (operand, bool) {
	before := len(c.pending)
	if op, chained := n.left.(*opNode); chained && comparisons[n.op] && comparisons[op.op] {
		return c.chained(n)
	}
	if x, ok := c.nullTest(n); ok {
		return x, true
	}
	left, ok := c.expr(n.left)
	if !ok {
		return operand{}, false
	}
	if n.op == "??" {
		c.pending = c.pending[:before]
		c.forgetConstants(n.left)
	}
	var afterLeft state
	if n.op == "??" || n.op == "&&" || n.op == "||" {
		afterLeft = c.save()
	}
	right, ok := c.expr(n.right)
	if !ok {
		return operand{}, false
	}
	var x operand
	switch n.op {
	case "??":
		if !left.fallible {
			c.pending = c.pending[:before]
			c.report(codeNeedlessCoalesce, titleNeedlessCoalesce, n.left.at(), "this expression can't fail")
			c.add(n.right.at(), "this expression never resolves")
			c.add(n.opSpan, "remove this error coalescing operation")
			return operand{}, false
		}
		c.join(afterLeft)
		x = operand{typ: Union(left.typ, right.typ), fallible: right.fallible, run: coalesce(left.run, right.run)}
	case "||":
		x = c.or(left, right, afterLeft)
	case "&&":
		x = c.and(left, right, afterLeft)
	case "|":
		if !c.mergeable(n.left.at(), left, n.right.at(), right) {
			c.pending = c.pending[:before]
			return operand{}, false
		}
		x = operand{typ: left.typ.Merge(right.typ), fallible: left.fallible || right.fallible}
		x.run = both(binaries["|"], left.run, right.run)
	default:
		x = c.arithmetic(n, left, right)
	}
	x.node = n
	if !x.fallible {
		c.pending = c.pending[:before]
	}
	return x, true
}

// chained reports a comparison of a comparison, unless its operands have errors of their own.
func (c *compiler) chained(n *opNode) (operand, bool) {
	before := len(c.pending)
	_, ok := c.expr(n.left)
	if ok {
		_, ok = c.expr(n.right)
	}
	c.pending = c.pending[:before]
	if ok {
		c.report(codeChainedComparison, titleChainedComparison, n.opSpan, "",
			"put one of the comparisons in parentheses")
	}
	return operand{}, false
}

// mergeable reports sides of | that are not known to be objects.
func (c *compiler) mergeable(leftAt span, left operand, rightAt span, right operand) bool {
	d := Diagnostic{Code: codeMergeNonObjects, Title: titleMergeNonObjects}
	for _, side := range []struct {
		at  span
		typ Type
	}{{leftAt, left.typ}, {rightAt, right.typ}} {
		if !side.typ.exactly(Object) {
			d.Labels = append(d.Labels, Label{side.at.start, side.at.end, "this expression must resolve to an object"})
		}
	}
	if d.Labels == nil {
		return true
	}
	c.diagnostics = append(c.diagnostics, d)
	return false
}

// nullTest compiles the comparison of a variable with null, which does not count as looking at its value: so the
// message of an error that is only tested for is never made.
func (c *compiler) nullTest(n *opNode) (operand, bool) {
	if c.plain || n.op != "==" && n.op != "!=" {
		return operand{}, false
	}
	named, other := n.left, n.right
	if _, ok := named.(*literalNode); ok {
		named, other = other, named
	}
	v, ok := named.(*variableNode)
	if !ok {
		return operand{}, false
	}
	if l, ok := other.(*literalNode); !ok || !l.value.IsNull() {
		return operand{}, false
	}
	found := c.find(v.name)
	if found == nil || found.isConst {
		return operand{}, false
	}
	slot, want := found.slot.index, n.op == "=="
	return operand{node: n, typ: Of(Boolean), run: func(f *Frame) (value.Value, *Failure) {
		return value.Bool(f.slots[slot].IsNull() == want), nil
	}}, true
}

func coalesce(left, right op) op {
	return func(f *Frame) (value.Value, *Failure) {
		v, fl := left(f)
		if fl == nil || fl.how == byReturn {
			return v, fl
		}
		return right(f)
	}
}

// or compiles a || b with both sides compiled: b runs only when a is null or false.
func (c *compiler) or(left, right operand, afterLeft state) operand {
	x := operand{run: func(f *Frame) (value.Value, *Failure) {
		v, fl := left.run(f)
		if fl != nil || !v.IsNull() && (v.Kind() != value.BoolKind || v.True()) {
			return v, fl
		}
		return right.run(f)
	}}
	switch {
	case left.typ.exactly(Null) || left.isConst && value.Equal(left.constant, value.Bool(false)):
		x.typ, x.fallible = right.typ, left.fallible || right.fallible
		x.constant, x.isConst = right.constant, right.isConst
	case !left.typ.May(Null|Boolean|Undefined) || left.isConst && left.constant.True():
		c.state = afterLeft
		x.typ, x.fallible = left.typ, left.fallible
		x.constant, x.isConst = left.constant, left.isConst
	default:
		c.join(afterLeft)
		x.typ = Union(left.typ.Without(Null|Undefined), right.typ)
		x.fallible = left.fallible || right.fallible
	}
	return x
}

// and compiles a && b with both sides compiled: b runs only when a is neither null nor false.
func (c *compiler) and(left, right operand, afterLeft state) operand {
	x := operand{typ: Of(Boolean), run: func(f *Frame) (value.Value, *Failure) {
		v, fl := left.run(f)
		if fl != nil {
			return value.Null, fl
		}
		if v.IsNull() || v.Kind() == value.BoolKind && !v.True() {
			return value.Bool(false), nil
		}
		w, fl := right.run(f)
		if fl != nil {
			return value.Null, fl
		}
		if v.Kind() != value.BoolKind || w.Kind() != value.BoolKind && !w.IsNull() {
			return f.Fail("can't apply an AND to types %k and %k", v, w)
		}
		return value.Bool(w.True()), nil
	}}
	const logical = Boolean | Null | Undefined
	uncertain := right.typ.kinds&^logical != 0
	switch {
	case left.typ.exactly(Null) || left.isConst && value.Equal(left.constant, value.Bool(false)):
		c.state = afterLeft
		x.fallible = left.fallible
	case left.isConst && left.constant.True():
		x.fallible = left.fallible || right.fallible || uncertain
	default:
		c.join(afterLeft)
		x.fallible = left.fallible || right.fallible || uncertain || left.typ.kinds&^logical != 0
	}
	return x
}

// both runs two sides and an operator.
func both(compute binaryOp, left, right op) op {
	return func(f *Frame) (value.Value, *Failure) {
		a, fl := left(f)
		if fl != nil {
			return value.Null, fl
		}
		b, fl := right(f)
		if fl != nil {
			return value.Null, fl
		}
		return compute(f, a, b)
	}
}

// arithmetic compiles the operators that always run both sides.
func (c *compiler) arithmetic(n *opNode, left, right operand) operand {
	typ, fails := resultOf(n.op, left, right)
	x := operand{typ: typ, fallible: left.fallible || right.fallible || fails}
	compute := binaries[n.op]
	if left.isConst && right.isConst && foldable(n.op, left.constant, right.constant) {
		v, fl := compute(new(Frame), left.constant, right.constant)
		if fl == nil {
			x.constant, x.isConst = v, true
			if !x.fallible && !c.plain {
				return constOperand(n, v)
			}
		} else {
			x.fallible = true
		}
	}
	if c.plain {
		x.run = both(compute, left.run, right.run)
		return x
	}
	if x.parts = concatenated(n, left, right); x.parts != nil {
		x.run = concat(x.parts)
		return x
	}
	x.run = fused(n.op, left, right)
	if x.run == nil {
		x.run = both(compute, left.run, right.run)
	}
	return x
}

// foldable reports whether an operator is computed by the compiler: not if a long string would come of it.
func foldable(op string, a, b value.Value) bool {
	const longest = 4096
	size := 0
	for _, v := range []value.Value{a, b} {
		if v.Kind() == value.StringKind {
			size += len(v.Str())
		}
	}
	return size == 0 || op != "*" && size <= longest
}

// resultOf returns the type of an operator's result and whether it can fail for values of the operands' types.
func resultOf(op string, left, right operand) (typ Type, fails bool) {
	l, r := left.typ.settled(), right.typ.settled()
	either := func(kind Kinds) bool { return l.exactly(kind) || r.exactly(kind) }
	within := func(kinds Kinds) bool { return l.kinds&^kinds == 0 && r.kinds&^kinds == 0 }
	switch op {
	case "==", "!=":
		return Of(Boolean), false
	case ">", ">=", "<", "<=":
		sure := l.exactly(String) && r.exactly(String) || l.exactly(Timestamp) && r.exactly(Timestamp) || within(Number)
		return Of(Boolean), !sure
	case "/":
		nonZero := right.isConst && right.constant.IsNumber() && right.constant.Number() != 0
		return Of(Float), !nonZero || !l.exactly(Integer) && !l.exactly(Float)
	}
	switch {
	case op == "+" && either(String):
		return Of(String), !within(String | Null)
	case either(Float):
		return Of(Float), !within(Number)
	case l.exactly(Integer) && r.exactly(Integer):
		return Of(Integer), false
	case op == "*" && (l.exactly(String) && r.exactly(Integer) || l.exactly(Integer) && r.exactly(String)):
		return Of(String), false
	case op == "-":
		return Of(Number), true
	}
	return Of(String, Number), true
}
