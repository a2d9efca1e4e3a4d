package plan

import (
	"fmt"
	"math"
	"time"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// compare binds a comparison. A constant beside a column takes the column's type where that is exact, so that the
// comparison can be pushed into the scan; times are compared exactly whatever their units.
func (b *binder) compare(op expr.Op, l, r expr.Expr) (expr.Expr, error) {
	if p, ok := r.(*expr.Pending); ok {
		return b.comparePending(op, l, p)
	}
	if p, ok := l.(*expr.Pending); ok && op.Flipped() != expr.NoOp {
		return b.comparePending(op.Flipped(), r, p)
	}
	l, r, err := b.ctx.Numbers(l, r)
	if err != nil {
		return nil, err
	}
	if l, r, err = b.listsAlike(op, l, r); err != nil {
		return nil, err
	}
	if l, r, err = b.booleansAlike(l, r); err != nil {
		return nil, err
	}
	lc, lconst := l.(*expr.Const)
	rc, rconst := r.(*expr.Const)
	switch {
	case rconst && !lconst:
		return b.compareConst(op, l, rc)
	case lconst && !rconst:
		return b.compareConst(op.Flipped(), r, lc)
	case lconst && rconst && lc.Value.Type.IsText() != rc.Value.Type.IsText():
		if rc.Value.Type.IsText() {
			return b.compareConst(op, l, rc)
		}
		return b.compareConst(op.Flipped(), r, lc)
	}
	return b.ctx.Call(op.String(), l, r)
}

// listsAlike casts lists that are compared to one type of elements. They are equal or not and have no order.
func (b *binder) listsAlike(op expr.Op, l, r expr.Expr) (expr.Expr, expr.Expr, error) {
	if l.Type().ID != vector.TypeList || r.Type().ID != vector.TypeList {
		return l, r, nil
	}
	if op.Order() != 0 {
		return nil, nil, planError("operator '%s' is not possible on lists", op)
	}
	return b.ctx.Lists(op.String(), l, r)
}

// booleansAlike reads a text literal beside a boolean as a boolean.
func (b *binder) booleansAlike(l, r expr.Expr) (expr.Expr, expr.Expr, error) {
	read := func(text, other expr.Expr) (expr.Expr, error) {
		if !expr.IsConst(text) || !text.Type().IsText() || other.Type() != vector.BoolType {
			return text, nil
		}
		e, err := b.ctx.Cast(text, vector.BoolType, false)
		if err != nil {
			return nil, planError("cannot read %s as a boolean, which %s is", text, other)
		}
		return e, nil
	}
	left, err := read(l, r)
	if err != nil {
		return nil, nil, err
	}
	right, err := read(r, l)
	return left, right, err
}

// comparePending compares with a subquery that has not run: its text may be read as another type once it is known.
func (b *binder) comparePending(op expr.Op, e expr.Expr, p *expr.Pending) (expr.Expr, error) {
	c, err := b.ctx.Call(op.String(), e, p)
	if err != nil && p.T.IsText() {
		read := *p
		read.T = e.Type()
		return b.ctx.Call(op.String(), e, &read)
	}
	return c, err
}

func (b *binder) compareConst(op expr.Op, e expr.Expr, c *expr.Const) (expr.Expr, error) {
	t := e.Type()
	if c.Value.IsNull(0) {
		return b.ctx.Call(op.String(), e, c)
	}
	switch {
	case t.IsTimestamp(), t.ID == vector.TypeDate:
		return b.compareTime(op, e, c)
	case t.IsNumber() && t.ID != vector.TypeDecimal:
		if n, ok := exactNumber(c.Value, t); ok {
			return b.ctx.Call(op.String(), e, n)
		}
	}
	return b.ctx.Call(op.String(), e, c)
}

// exactNumber returns a numeric constant as type t when that changes nothing.
func exactNumber(v *vector.Vector, t vector.Type) (*expr.Const, bool) {
	if v.Type == t {
		return &expr.Const{Value: v}, true
	}
	var i int64
	switch {
	case v.Type.IsInteger() && v.Type.Kind() == vector.Int64:
		i = v.Int(0)
	case v.Type.IsInteger():
		if u := v.Uint(0); u > math.MaxInt64 {
			return nil, false
		}
		i = int64(v.Uint(0))
	case v.Type.Kind() == vector.Float64:
		f := v.Float(0)
		if t.ID == vector.TypeFloat64 {
			return &expr.Const{Value: vector.ConstFloat(t, f)}, true
		}
		if t.ID == vector.TypeFloat32 {
			return &expr.Const{Value: vector.ConstFloat(t, f)}, float64(float32(f)) == f
		}
		if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return nil, false
		}
		i = int64(f)
	default:
		return nil, false
	}
	switch t.Kind() {
	case vector.Int64:
		lo, hi := intRange(t)
		return &expr.Const{Value: vector.ConstInt(t, i)}, i >= lo && i <= hi
	case vector.Uint64:
		_, hi := intRange(t)
		return &expr.Const{Value: vector.ConstUint(t, uint64(i))}, i >= 0 && (t.ID == vector.TypeUint64 || i <= hi)
	case vector.Float64:
		f := float64(i)
		exact := math.Abs(f) <= 1<<53 && (t.ID == vector.TypeFloat64 || float64(float32(f)) == f)
		return &expr.Const{Value: vector.ConstFloat(t, f)}, exact
	}
	return nil, false
}

// intRange is the range of an integer type; UInt64's upper bound is MaxInt64.
func intRange(t vector.Type) (lo, hi int64) {
	lo, most := convert.IntBounds(t)
	return lo, int64(min(most, math.MaxInt64))
}

// instant is a point in time as seconds and nanoseconds from 0 to 999,999,999.
type instant struct {
	sec   int64
	nanos int64
}

// otherUnit reports a number that is compared with a time but looks like a time of our days in another unit: 1795433600
// on milliseconds would be January 1970. The result is empty if the unit fits.
func otherUnit(n int64, e expr.Expr) string {
	own := e.Type()
	if year := yearOf(n, own); year >= 1971 && year <= 2200 {
		return ""
	}
	units := map[uint8]string{0: "seconds", 3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}
	for precision, name := range units {
		other := vector.Timestamp(precision)
		if year := yearOf(n, other); year < 2000 || year >= 2100 {
			continue
		}
		return fmt.Sprintf("%s is in %s, of which %d is %s. Is the number in %s? Then write '%s'", e,
			units[own.Precision], n,
			timefmt.AppendTimestamp(nil, n, own.Precision), name, timefmt.AppendTimestamp(nil, n, precision))
	}
	return ""
}

func yearOf(n int64, t vector.Type) int {
	return time.Unix(timefmt.FloorDiv(n, t.UnitsPerSecond()), 0).UTC().Year()
}

// compareTime compares a timestamp or date expression with a constant exactly: the constant becomes a count of the
// expression's unit, and where it lies between two counts the operator changes with it. Text is read in the zone of the
// request beside timestamps, in UTC beside dates.
func (b *binder) compareTime(op expr.Op, e expr.Expr, c *expr.Const) (expr.Expr, error) {
	t, v := e.Type(), c.Value
	if v.Type == t {
		return b.ctx.Call(op.String(), e, c)
	}
	var at instant
	switch {
	case v.Type.IsText():
		zone, what := b.ctx.Zone, "timestamp"
		if t.ID == vector.TypeDate {
			zone, what = nil, "date"
		}
		sec, nanos, err := timefmt.ParseTimestamp(v.Str(0), zone)
		if err != nil {
			return nil, status.Wrap(err, status.InvalidSyntax, "Failed to parse value: %q is not a %s", v.Str(0), what)
		}
		at = instant{sec, int64(nanos)}
	case t.IsTimestamp() && v.Type.IsInteger() && v.Type.Kind() == vector.Int64:
		if text := otherUnit(v.Int(0), e); text != "" {
			b.ctx.Warn(text)
		}
		return b.ctx.Call(op.String(), e, &expr.Const{Value: vector.ConstInt(t, v.Int(0))})
	case v.Type.IsTimestamp():
		per := v.Type.UnitsPerSecond()
		sec, rest := timefmt.FloorDiv(v.Int(0), per), timefmt.FloorMod(v.Int(0), per)
		at = instant{sec, rest * (1_000_000_000 / per)}
	case v.Type.ID == vector.TypeDate:
		at = instant{v.Int(0) * 86400, 0}
	default:
		return b.ctx.Call(op.String(), e, c)
	}
	return b.compareInstant(op, e, at)
}

func (b *binder) compareInstant(op expr.Op, e expr.Expr, at instant) (expr.Expr, error) {
	t := e.Type()
	if t.ID == vector.TypeDate {
		day, rest := timefmt.FloorDiv(at.sec, 86400), timefmt.FloorMod(at.sec, 86400)
		return b.compareCount(op, e, day, rest == 0 && at.nanos == 0)
	}
	per := t.UnitsPerSecond()
	unit := 1_000_000_000 / per
	count, ok := convert.Count(at.sec, at.nanos, per)
	exact := ok && at.nanos%unit == 0
	if !ok { // outside the unit's range: all times are on one side
		count = math.MaxInt64
		if at.sec < 0 {
			first := &expr.Const{Value: vector.ConstInt(t, math.MinInt64)}
			switch op.Order() {
			case -1:
				return b.ctx.Call(expr.Less.String(), e, first)
			case 1:
				return b.ctx.Call(expr.GreaterEqual.String(), e, first)
			}
		}
	}
	return b.compareCount(op, e, count, exact)
}

// compareCount compares with a count of the expression's unit; where that is not exact, the constant lies strictly
// between count and count+1.
func (b *binder) compareCount(op expr.Op, e expr.Expr, count int64, exact bool) (expr.Expr, error) {
	if !exact {
		switch op.Order() {
		case -1:
			op = expr.LessEqual
		case 1:
			op = expr.Greater
		default: // equal to nothing
			return b.neverEqual(op, e)
		}
	}
	return b.ctx.Call(op.String(), e, &expr.Const{Value: vector.ConstInt(e.Type(), count)})
}

// neverEqual is a comparison for equality with a value that the column cannot have.
func (b *binder) neverEqual(op expr.Op, e expr.Expr) (expr.Expr, error) {
	if op.Distinguishes() {
		return &expr.Const{Value: vector.ConstBool(op == expr.IsDistinct)}, nil
	}
	// true or false where e has a value, else NULL
	null, err := b.ctx.Call("is null", e)
	if err != nil {
		return nil, err
	}
	unknown := &expr.Const{Value: vector.ConstNull(vector.BoolType)}
	differs := &expr.Const{Value: vector.ConstBool(op == expr.NotEqual)}
	return b.ctx.Case([]expr.Expr{null}, []expr.Expr{unknown}, differs)
}

// Count converts a point in time to a count of a timestamp type's unit and cuts off finer parts; ok reports that it
// fits.
func Count(sec, nanos int64, t vector.Type) (n int64, ok bool) {
	return convert.Count(sec, nanos, t.UnitsPerSecond())
}
