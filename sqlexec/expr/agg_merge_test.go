package expr

import (
	"math/rand/v2"
	"testing"

	"varve/engine/convert"
	"varve/engine/vector"
)

// TestAggregatesMerge: every aggregate gives the same from rows that several accumulators share as from rows that one
// has, with and without DISTINCT, and counts memory. Those whose answer depends on the order of rows get one.
func TestAggregatesMerge(t *testing.T) {
	const n, groups, parts = 600, 7, 4
	r := rand.New(rand.NewPCG(7, 7))
	cols := []*Column{
		{Index: 0, Name: "i", T: vector.Int64Type, Null: true}, {Index: 1, Name: "f", T: vector.FloatType, Null: true},
		{Index: 2, Name: "s", T: vector.StringType, Null: true},
		{Index: 3, Name: "d", T: vector.Type{ID: vector.TypeDecimal, Precision: 10, Scale: 2}, Null: true},
		{Index: 4, Name: "b", T: vector.BoolType, Null: true},
		{Index: 5, Name: "du", T: vector.Duration(3), Null: true},
		{Index: 6, Name: "iv", T: vector.Interval, Null: true}, {Index: 7, Name: "key", T: vector.StringType},
	}
	rows := &vector.Batch{N: n}
	for _, c := range cols {
		v := &vector.Vector{Type: c.T}
		for i := range n {
			x := int64(r.IntN(20))
			var one *vector.Vector
			switch {
			case c.Null && r.IntN(6) == 0:
				one = vector.ConstNull(c.T)
			case c.T.ID == vector.TypeDecimal:
				b, _ := Int128{Lo: uint64(x)}.Append(nil)
				one = vector.ConstBytes(c.T, b)
			case c.T == vector.Interval:
				one = vector.ConstBytes(c.T, convert.AppendIntervalBytes(nil, int32(x), 1, x))
			case c.T.Kind() == vector.Float64:
				one = vector.ConstFloat(c.T, float64(x)/4)
			case c.T.Kind() == vector.Bool:
				one = vector.ConstBool(x < 10)
			case c.T.Kind() == vector.Int64:
				one = vector.ConstInt(c.T, x)
			default:
				one = vector.ConstString(string(AppendText(nil, vector.ConstInt(i64, x), 0)))
			}
			v.Append(i, one, 0, 1)
		}
		rows.Cols = append(rows.Cols, v)
	}
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(r.IntN(groups - 1)) // the last group stays empty
	}
	half := Expr(&Const{Value: vector.ConstFloat(f64, 0.5)})
	bound := map[string]int{}
	for _, name := range AggregateNames() {
		for _, x := range cols {
			for _, more := range [][]Expr{nil, {cols[1]}, {half}, {Int(2)}, {cols[1], half}, {Int(64), half, cols[1]}} {
				args := append([]Expr{x}, more...)
				if len(more) == 3 {
					args = []Expr{more[0], Expr(&Const{Value: vector.ConstFloat(f64, 0.01)}), x}
				}
				if len(more) > 0 && more[0] == Expr(cols[1]) &&
					(name == "json_object_agg" || name == "json_group_object" || name == "jsonb_object_agg") {
					args[0] = cols[7]
				}
				for _, distinct := range []bool{false, true} {
					order := []SortKey{{Expr: cols[2]}, {Expr: cols[0]}, {Expr: cols[1]}, {Expr: cols[3]},
						{Expr: cols[4]}, {Expr: cols[5]}, {Expr: cols[6]}}
					if distinct || PropertiesOf(name).Ordered {
						order = nil
					}
					a, err := (&Context{}).Aggregate(name, append([]Expr(nil), args...), distinct, order, nil)
					if err != nil || fromStates[name] || anyRow[fullName(name)] && (distinct || len(a.Order) == 0) {
						continue
					}
					bound[name]++
					checkMerge(t, a, rows, ids, groups, parts)
				}
			}
		}
		if bound[name] == 0 && !fromStates[name] {
			t.Errorf("%s was never bound", name)
		}
	}
}

// anyRow are the aggregates that may give what any of several rows says where these are not ordered.
var anyRow = map[string]bool{"first_value": true, "last_value": true, "nth_value": true, "array_agg": true,
	"string_agg": true, "json_agg": true, "json_object_agg": true}

// fromStates are the aggregates over states that others make, and one that may write the same state in several ways.
var fromStates = map[string]bool{"uddsketch_merge": true, "hll_merge": true, "hll": true}

// checkMerge holds the result of several accumulators, whose groups have other numbers, to that of one.
func checkMerge(t *testing.T, a *Agg, rows *vector.Batch, ids []uint32, groups, parts int) {
	t.Helper()
	program, err := Compile(a.Inputs())
	if err != nil {
		t.Fatal(err)
	}
	in := make([]*vector.Vector, len(a.Inputs()))
	if program.Eval(rows, in) != nil {
		return // texts that are no booleans
	}
	one, all := a.New(), a.New()
	one.Grow(groups)
	all.Grow(groups)
	err1 := one.Add(rows.N, ids, in, nil)
	for p := range parts {
		part, to := a.New(), make([]uint32, groups)
		part.Grow(groups)
		turned := make([]uint32, rows.N)
		for i, g := range ids {
			turned[i] = (g + uint32(p)) % uint32(groups)
		}
		for g := range to {
			to[g] = uint32(g+groups-p) % uint32(groups)
		}
		keep := vector.MakeBitmap(rows.N)
		for i := range rows.N {
			if i%parts == p {
				keep.Set(i)
			}
		}
		err := part.Add(rows.N, turned, in, keep)
		if part.Bytes() <= 0 {
			t.Errorf("%s counts no memory", a)
		}
		if err == nil {
			err = inParts(all, part, to, p)
		}
		if err != nil && err1 == nil {
			t.Errorf("%s: merged: %v", a, err)
		}
	}
	if err1 != nil {
		return
	}
	want, err1 := one.Result(groups)
	got, err2 := all.Result(groups)
	if err1 != nil || err2 != nil {
		t.Errorf("%s: %v, merged %v", a, err1, err2)
		return
	}
	for g := range groups {
		x, y := formText(want, g), formText(got, g)
		if x != y && !(want.Type.Kind() == vector.Float64 && near(want, got, g)) {
			t.Errorf("%s of group %d: %s, merged %s", a, g, x, y)
			return
		}
	}
}

// inParts merges all groups of an accumulator: at once, or those with even numbers after the others.
func inParts(all, part Accumulator, to []uint32, p int) error {
	if p == 0 {
		return all.Merge(part, upTo(len(to)), to)
	}
	for first := 1; first >= 0; first-- {
		var some, there []uint32
		for g := first; g < len(to); g += 2 {
			some, there = append(some, uint32(g)), append(there, to[g])
		}
		if err := all.Merge(part, some, there); err != nil {
			return err
		}
	}
	return nil
}

// upTo are the numbers below n.
func upTo(n int) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i)
	}
	return all
}

// near reports whether two floats differ by rounding only.
func near(x, y *vector.Vector, i int) bool {
	if x.IsNull(i) || y.IsNull(i) {
		return false
	}
	a, b := x.Float(i), y.Float(i)
	d := a - b
	return d*d <= 1e-18*(1+a*a)
}
