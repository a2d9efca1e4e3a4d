package expr

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"varve/engine/vector"
)

// everyAggregate does what is to be done with each aggregate of a text and of a number, with DISTINCT and ordered,
// too. Further arguments are what it takes.
func everyAggregate(do func(a *Agg)) (called int) {
	text, number := &Column{T: str, Null: true}, &Column{Index: 1, T: f64, Null: true}
	half, two := &Const{Value: vector.ConstFloat(f64, 0.5)}, Int(2)
	var lists [][]Expr
	for _, first := range []Expr{text, number} {
		lists = append(lists, []Expr{first}, []Expr{first, half}, []Expr{first, two}, []Expr{first, number})
	}
	lists = append(lists, []Expr{text, text}, []Expr{number, number, half}, []Expr{two, half, number},
		[]Expr{two, half, text})
	for name := range aggregates {
		seen := map[string]bool{}
		for _, args := range lists {
			for _, distinct := range []bool{false, true} {
				for _, order := range [][]SortKey{nil, {{Expr: text, Desc: true}}} {
					a, err := (&Context{}).Aggregate(name, append([]Expr(nil), args...), distinct, order, nil)
					if err != nil || len(a.Inputs()) == 0 {
						continue
					}
					if key := fmt.Sprint(a, a.T, len(a.Order)); !seen[key] {
						seen[key] = true
						called++
						do(a)
					}
				}
			}
		}
	}
	return called
}

// held returns how many bytes of the heap are in use beyond those before. Garbage counts where all is within the
// bound: to collect it after each aggregate would take most of the time.
func held(before, bound int64) int64 {
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); int64(m.HeapAlloc) > before+bound {
		runtime.GC()
		runtime.ReadMemStats(&m)
	}
	return int64(m.HeapAlloc) - before
}

// TestEveryAggregateCountsWhatItKeeps: whatever an aggregate is, with DISTINCT and ordered, of one group or of many,
// what it holds of long texts that JSON escapes, of many short ones and of numbers is taken from the memory before,
// and so is its result.
func TestEveryAggregateCountsWhatItKeeps(t *testing.T) {
	const slack = 768 << 10
	for _, c := range []struct {
		name           string
		batches, rows  int
		size, groups   int
		letter         string
		distinctValues int
	}{
		{"long texts of groups", 4, 8, 8 << 10, 32, "\x01", 32},
		{"equal texts", 2, 64, 2 << 10, 1, "\x01", 1},
		{"short texts", 6, vector.Size / 4, 12, 1, "x", 10 << 10},
		{"numbers of groups", 3, vector.Size / 4, 0, 1 << 10, "x", 10 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			batches, groups := make([]*vector.Batch, c.batches), make([][]uint32, c.batches)
			letters := strings.Repeat(c.letter, c.size)
			for k := range batches {
				b := vector.NewBatch(str, f64)
				for row := k * c.rows; row < (k+1)*c.rows; row++ {
					value := row % c.distinctValues
					b.Cols[0].PushBytes([]byte(letters + strconv.Itoa(value)))
					b.Cols[1].Floats = append(b.Cols[1].Floats, float64(value))
					groups[k] = append(groups[k], uint32(row%c.groups))
				}
				b.N, batches[k] = c.rows, b
			}
			before := held(0, 0)
			check := func(a *Agg, memory *smallMemory, when string) {
				counted := memory.used.Load()
				if bytes := held(before, counted*5/4+slack); bytes > counted*5/4+slack {
					t.Errorf("%s%s holds %d KiB and has taken %d", a, when, bytes>>10, counted>>10)
				}
			}
			everyAggregate(func(a *Agg) {
				program, err := Compile(a.Inputs())
				if err != nil {
					t.Fatal(err)
				}
				memory := &smallMemory{limit: 1 << 40}
				state := a.Within(memory)
				state.Grow(c.groups)
				args := make([]*vector.Vector, len(a.Inputs()))
				for k, b := range batches {
					if err := program.Eval(b, args); err != nil {
						return // texts that are no numbers
					}
					if err := state.Add(b.N, groups[k], args, nil); err != nil {
						return // texts that are no states
					}
				}
				if err := state.Count(); err != nil {
					t.Fatal(err)
				}
				clear(args)
				program = nil
				check(a, memory, "")
				result, err := state.Result(c.groups)
				if err != nil {
					t.Fatal(a, err)
				}
				check(a, memory, " with its result")
				runtime.KeepAlive(result)
				if state.Free(); memory.used.Load() != 0 {
					t.Errorf("%s does not give back %d bytes", a, memory.used.Load())
				}
			})
		})
	}
}

// TestNoAggregateGrowsPastTheMemory: each aggregate that has no room ends before it has allocated a few times the
// memory, also where one text is too long.
func TestNoAggregateGrowsPastTheMemory(t *testing.T) {
	const limit = 4 << 20
	for name, size := range map[string]int{"one text": 4 << 20, "long texts": 64 << 10, "short texts": 512} {
		t.Run(name, func(t *testing.T) {
			texts, numbers := &vector.Vector{Type: str}, &vector.Vector{Type: f64}
			rows := min(16<<20/size, vector.Size)
			for i := range rows {
				texts.PushBytes([]byte(fmt.Sprintf("%s%d", strings.Repeat("\x01", size), i)))
				numbers.Floats = append(numbers.Floats, float64(i))
			}
			b, groups := &vector.Batch{N: rows, Cols: []*vector.Vector{texts, numbers}}, make([]uint32, rows)
			everyAggregate(func(a *Agg) {
				program, err := Compile(a.Inputs())
				if err != nil {
					t.Fatal(err)
				}
				args := make([]*vector.Vector, len(a.Inputs()))
				if err := program.Eval(b, args); err != nil {
					return
				}
				state := a.Within(&smallMemory{limit: limit})
				state.Grow(1)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err = state.Add(rows, groups, args, nil)
				if err == nil {
					_, err = state.Result(1)
				}
				runtime.ReadMemStats(&after)
				if grown := after.TotalAlloc - before.TotalAlloc; grown > 8*limit {
					t.Errorf("%s allocates %d MiB where there are %d (%.80v)", a, grown>>20, limit>>20, err)
				}
			})
		})
	}
}
