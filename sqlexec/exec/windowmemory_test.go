package exec

import (
	"runtime"
	"strings"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// TestWindowsOfAggregatesAreCounted: whatever the aggregate and its frame, a window over long texts that JSON escapes
// ends before it has allocated many times the memory, or fits. Rows of one result share its bytes.
func TestWindowsOfAggregatesAreCounted(t *testing.T) {
	const rows, size, limit = 64, 64 << 10, 8 << 20
	types := []vector.Type{vector.Int64Type, vector.StringType}
	b := &vector.Batch{N: rows, Cols: []*vector.Vector{{Type: types[0]}, {Type: types[1]}}}
	for i := range rows {
		b.Cols[0].Ints = append(b.Cols[0].Ints, int64(i))
		b.Cols[1].PushBytes([]byte(strings.Repeat("\x01", size+i)))
	}
	number, text := &expr.Column{T: types[0]}, &expr.Column{Index: 1, T: types[1], Null: true}
	frames := map[string]Frame{
		"all":     {Mode: "rows", From: FrameBound{Unbounded: true}, To: FrameBound{Unbounded: true}},
		"running": {Mode: "rows", From: FrameBound{Unbounded: true}},
		"sliding": {Mode: "rows", From: FrameBound{Offset: -3}},
		"excluded": {Mode: "rows", From: FrameBound{Unbounded: true}, To: FrameBound{Unbounded: true},
			Exclude: "current row"},
	}
	called := 0
	for _, name := range expr.AggregateNames() {
		for _, args := range [][]expr.Expr{{text}, {text, text}, {text, expr.Int(2)},
			{text, &expr.Const{Value: vector.ConstFloat(vector.FloatType, 0.5)}}} {
			for _, distinct := range []bool{false, true} {
				agg, err := (&expr.Context{}).Aggregate(name, args, distinct, nil, nil)
				if err != nil {
					continue
				}
				for frame, f := range frames {
					called++
					budget := NewBudget(limit)
					w := WindowSpec{Order: []expr.SortKey{{Expr: number}},
						Funcs: []WindowFunc{{Name: name, Args: agg.Inputs(), Type: agg.Type(), Agg: agg, Frame: f}}}
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					_, err := w.compute(t.Context(), b, 1, &loan{budget: budget})
					runtime.ReadMemStats(&after)
					most := uint64(32 * limit)
					if f.Exclude != "" {
						most = 2 * rows * limit // each frame is computed anew
					}
					if grown := after.TotalAlloc - before.TotalAlloc; grown > most {
						t.Errorf("%s over frame %s allocates %d MiB where there are %d (%.60v)", agg, frame, grown>>20,
							limit>>20, err)
					}
					budget.Close()
				}
			}
		}
	}
	if called < 200 {
		t.Errorf("only %d windows were computed", called)
	}
}
