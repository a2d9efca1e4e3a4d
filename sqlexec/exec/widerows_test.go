package exec

import (
	"bytes"
	"strconv"
	"testing"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// TestSinksCountWideRows: whatever keeps rows counts those of few long texts as soon as it has them. Of a few mebibytes
// of budget none keeps more than a batch beyond them, which holds for the room that its slices have grown to as well.
func TestSinksCountWideRows(t *testing.T) {
	const limit, text, rows = 32 << 20, 256 << 10, 4
	types := []vector.Type{vector.Int64Type, vector.StringType}
	number, long := &expr.Column{Index: 0, T: types[0]}, &expr.Column{Index: 1, T: types[1], Null: true}
	byNumber, byText := []expr.SortKey{{Expr: number}}, []expr.SortKey{{Expr: long}}
	agg := func(name string, args ...expr.Expr) *expr.Agg {
		a, err := (&expr.Context{}).Aggregate(name, args, false, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	sinks := map[string]func(b *Budget) (Sink, error){
		"sort":         func(b *Budget) (Sink, error) { return Sort(byNumber, types, b) },
		"sort by text": func(b *Budget) (Sink, error) { return Sort(byText, types, b) },
		"top":          func(b *Budget) (Sink, error) { return TopK(byText, 1000, types, nil, b) },
		"distinct":     func(b *Budget) (Sink, error) { return Distinct(types, b) },
		"group by text": func(b *Budget) (Sink, error) {
			return Aggregate([]expr.Expr{long}, []*expr.Agg{agg("max", number)}, b)
		},
		"max": func(b *Budget) (Sink, error) {
			return Aggregate([]expr.Expr{number}, []*expr.Agg{agg("max", long)}, b)
		},
		"array_agg": func(b *Budget) (Sink, error) {
			return Aggregate(nil, []*expr.Agg{agg("array_agg", long)}, b)
		},
		"join": func(b *Budget) (Sink, error) {
			j, err := NewJoin(JoinSpec{Probe: []expr.Expr{number}, Build: []expr.Expr{number}, ProbeTypes: types,
				BuildTypes: types, Budget: b})
			return j.Build(), err
		},
	}
	step := func(name string, budget *Budget, step Step) {
		for fed := int64(0); fed <= limit+4*rows*text; {
			b := vector.NewBatch(types...)
			for range rows {
				n := fed/text + int64(b.N)
				b.Cols[0].Append(b.N, vector.ConstInt(types[0], -n), 0, 1)
				b.Cols[1].Append(b.N,
					vector.ConstString(strconv.FormatInt(1e9-n, 10)+string(bytes.Repeat([]byte{'x'}, text))), 0, 1)
				b.N++
			}
			err := step(b)
			if status.Of(err) == status.RuntimeResourcesExhausted {
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if fed += rows * text; budget.Used() < fed-2*rows*text {
				t.Fatalf("%s: counts %d KiB of %d", name, budget.Used()>>10, fed>>10)
			}
		}
		t.Errorf("%s: keeps more than its budget", name)
	}
	for name, make := range sinks {
		budget := NewBudget(limit)
		sink, err := make(budget)
		if err != nil {
			t.Fatal(name, err)
		}
		step(name, budget, sink.Step(0))
	}
	budget := NewBudget(limit)
	first, err := KeepFirst(First{Keys: []expr.Expr{number}, N: 1}, byText, types, budget)
	if err != nil {
		t.Fatal(err)
	}
	step("first of each", budget, first.Step(func(*vector.Batch) error { return nil }))
}

// TestMovesAreCounted: groups take no more for new texts than they say before.
func TestMovesAreCounted(t *testing.T) {
	groups := newGroups([]expr.Expr{&expr.Column{T: vector.StringType}})
	for n := range 40 {
		v := &vector.Vector{Type: vector.StringType}
		v.Append(0, vector.ConstString(strconv.Itoa(n)+string(bytes.Repeat([]byte{'x'}, 1<<20))), 0, 1)
		room, moves := groups.bytes(), groups.moves([]*vector.Vector{v}, 1)
		if _, err := groups.number([]*vector.Vector{v}, 1); err != nil {
			t.Fatal(err)
		}
		if grown := groups.bytes() - room; grown > moves+256<<10 {
			t.Errorf("text %d: the groups grew by %d KiB, %d were asked for", n, grown>>10, moves>>10)
		}
	}
}
