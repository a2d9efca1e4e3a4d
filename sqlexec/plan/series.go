package plan

import (
	"math"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// maxSeries bounds the rows of generate_series.
const maxSeries = 10_000_000

// tableFunc binds generate_series(a, b [, step]) and range(a, b [, step]).
func (b *binder) tableFunc(t *parse.TableFunc) (Node, error) {
	name := t.Call.Name
	if name != "generate_series" && name != "range" {
		return nil, planError("table function '%s' not found", name)
	}
	eb := &exprBinder{b: b, sc: &scope{}, where: "FROM"}
	args := make([]*vector.Vector, len(t.Call.Args))
	for i, x := range t.Call.Args {
		e, err := eb.bind(x)
		if err != nil {
			return nil, err
		}
		c, ok := e.(*expr.Const)
		if !ok || c.Value.IsNull(0) {
			return nil, planError("%s needs constants", name)
		}
		args[i] = c.Value
	}
	if len(args) == 0 || len(args) > 3 {
		return nil, planError("%s needs one to three arguments, found %d", name, len(args))
	}
	series := b.numberSeries
	if args[0].Type.IsTimestamp() || args[0].Type.ID == vector.TypeDate {
		series = b.timeSeries
	}
	v, err := series(name, args)
	if err != nil {
		return nil, err
	}
	n := &Values{Cols: []Column{{Name: "value", Type: v.Type}}, Batch: &vector.Batch{N: len(v.Ints), Cols: []*vector.Vector{v}}}
	if t.Ordinality {
		ordinal := &vector.Vector{Type: vector.Int64Type, Ints: make([]int64, n.Batch.N)}
		for i := range ordinal.Ints {
			ordinal.Ints[i] = int64(i) + 1
		}
		n.Cols, n.Batch.Cols = append(n.Cols, Column{Name: "ordinality", Type: ordinal.Type}), append(n.Batch.Cols, ordinal)
	}
	return rename(n, t.Alias, name)
}

// numberSeries are the integers of [from, to], of [from, to) for range.
func (b *binder) numberSeries(name string, args []*vector.Vector) (*vector.Vector, error) {
	whole := make([]int64, len(args))
	for i, a := range args {
		if !a.Type.IsInteger() {
			return nil, planError("%s needs integer constants, or times and an interval", name)
		}
		e, err := b.ctx.Cast(&expr.Const{Value: a}, vector.Int64Type, false)
		if err != nil {
			return nil, err
		}
		whole[i] = e.(*expr.Const).Value.Int(0) // a constant stays one
	}
	from, to, step := int64(0), whole[0], int64(1)
	if len(whole) > 1 {
		from, to = whole[0], whole[1]
	}
	if len(whole) > 2 {
		step = whole[2]
	}
	if step == 0 {
		return nil, planError("%s: the step cannot be 0", name)
	}
	return collectSeries(name, vector.Int64Type, from, func(x, _ int64) (next int64, ok bool) {
		next = x + step
		return next, (next > x) == (step > 0) // else it wrapped around
	}, func(x int64) bool { return inSeries(x, to, step > 0, name == "range") })
}

// timeSeries are the times from + k*step up to the second argument; the third is an interval. Months are counted from the
// first time, so that a series from the 31st has the ends of shorter months.
func (b *binder) timeSeries(name string, args []*vector.Vector) (*vector.Vector, error) {
	if len(args) != 3 || args[2].Type != vector.Interval {
		return nil, planError("%s of times needs two times and an interval", name)
	}
	t := args[0].Type
	if t.ID == vector.TypeDate {
		t = vector.Timestamp(3)
	}
	var ends [2]int64
	for i := range ends {
		e, err := b.ctx.Cast(&expr.Const{Value: args[i]}, t, false)
		if err != nil {
			return nil, err
		}
		ends[i] = e.(*expr.Const).Value.Int(0) // a constant stays one
	}
	months, days, ns := splitInterval(args[2].Bytes(0))
	next, ok := expr.Shift(ends[0], t, int64(months), int64(days), ns)
	if !ok || next == ends[0] {
		return nil, planError("%s: the step leads nowhere", name)
	}
	step := func(x, k int64) (int64, bool) {
		if months == 0 {
			return expr.Shift(x, t, 0, int64(days), ns)
		}
		if ns != 0 && k > math.MaxInt64/max(ns, -ns) {
			return 0, false
		}
		return expr.Shift(ends[0], t, k*int64(months), k*int64(days), k*ns)
	}
	return collectSeries(name, t, ends[0], step, func(x int64) bool { return inSeries(x, ends[1], next > ends[0], name == "range") })
}

// inSeries tells whether a series that rises or falls still has x.
func inSeries(x, to int64, rises, open bool) bool {
	if x == to {
		return !open
	}
	return (x < to) == rises
}

// collectSeries takes the values from the first on while there are any; next gives the k-th from the one before.
func collectSeries(name string, t vector.Type, x int64, next func(x, k int64) (int64, bool), has func(x int64) bool) (*vector.Vector, error) {
	v := &vector.Vector{Type: t}
	for ok := true; ok && has(x); {
		if len(v.Ints) == maxSeries {
			return nil, planError("%s makes more than %d rows", name, maxSeries)
		}
		v.Ints = append(v.Ints, x)
		x, ok = next(x, int64(len(v.Ints)))
	}
	return v, nil
}
