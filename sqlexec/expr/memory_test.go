package expr

import (
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"varve/engine/status"
	"varve/engine/vector"
)

// smallMemory is a memory of a few bytes.
type smallMemory struct {
	limit int64
	used  atomic.Int64
}

func (m *smallMemory) Err() error { return nil }

func (m *smallMemory) Left() int64 { return max(0, m.limit-m.used.Load()) }

func (m *smallMemory) Reserve(bytes int64) error {
	if m.used.Add(bytes) > m.limit {
		m.used.Add(-bytes)
		return status.New(status.RuntimeResourcesExhausted, "more than %d bytes", m.limit)
	}
	return nil
}

func (m *smallMemory) Release(bytes int64) { m.used.Add(-bytes) }

// Every function that can make more than it is given is counted before it grows: whatever is called with long texts, lists of
// many elements and large numbers, in any place, allocates no more than a few times what there is.
func TestNoFunctionGrowsPastTheMemory(t *testing.T) {
	const rows, length, limit = 16, 2 << 10, 4 << 20
	texts, lists := &vector.Vector{Type: str}, &vector.Vector{Type: vector.List(str)}
	numbers, items := &vector.Vector{Type: i64}, "["+strings.TrimSuffix(strings.Repeat(`"",`, length/3), ",")+"]"
	for i := range rows {
		texts.PushBytes([]byte(strings.Repeat("x", length-i)))
		lists.PushBytes([]byte(items))
		numbers.Ints = append(numbers.Ints, 1<<20+int64(i))
	}
	b := &vector.Batch{N: rows, Cols: []*vector.Vector{texts, lists, numbers}}
	kinds := make([]Expr, len(b.Cols))
	for i, v := range b.Cols {
		kinds[i] = &Column{Index: i, T: v.Type}
	}
	one := &Const{Value: vector.ConstString("x")}
	kinds = append(kinds, one)
	called := 0
	try := func(name string, args []Expr) {
		e, err := (&Context{}).Call(name, append([]Expr(nil), args...)...)
		if err != nil {
			return // not an overload
		}
		memory := &smallMemory{limit: limit}
		p, err := CompileWithin([]Expr{e}, memory)
		if err != nil {
			t.Fatal(name, err)
		}
		called++
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out := make([]*vector.Vector, 1)
		err = p.Eval(b, out)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 16*limit {
			t.Errorf("%s of %d arguments allocates %d MiB where there are %d (%v)", name, len(args), grown>>20, limit>>20, err)
		}
		if err == nil && heldBytes(out[0]) > limit {
			t.Errorf("%s of %d arguments makes %d MiB where there are %d", name, len(args), heldBytes(out[0])>>20, limit>>20)
		}
	}
	for _, name := range Names() {
		f := functions[name]
		most := f.max
		if most < 0 || most > 3 {
			most = max(f.min, 3)
		}
		for n := max(f.min, 1); n <= most; n++ {
			for choice := range pow(len(kinds)-n/3, n) {
				args := make([]Expr, n)
				for k := range args {
					args[k] = kinds[choice%(len(kinds)-n/3)]
					choice /= len(kinds) - n/3
				}
				try(name, args)
			}
		}
		if f.max >= 0 {
			continue
		}
		for _, kind := range kinds {
			args := make([]Expr, 400)
			for k := range args {
				args[k] = kind
			}
			try(name, args)
		}
	}
	if called < 500 {
		t.Errorf("only %d calls were bound", called)
	}
}

func pow(x, n int) int {
	all := 1
	for range n {
		all *= x
	}
	return all
}

func TestVectorsOfAProgramAreCounted(t *testing.T) {
	col := &Column{T: str}
	v := &vector.Vector{Type: str}
	for range 64 {
		v.PushBytes([]byte(strings.Repeat("x", 32<<10)))
	}
	e := Expr(col)
	for i := range 8 { // eight texts of 2 MiB
		var err error
		if e, err = (&Context{}).Call("concat", e, Text(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	b := &vector.Batch{N: 64, Cols: []*vector.Vector{v}}
	for _, c := range []struct {
		limit int64
		fits  bool
	}{{64 << 20, true}, {8 << 20, false}} {
		p, err := CompileWithin([]Expr{e}, &smallMemory{limit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		if err = p.Eval(b, make([]*vector.Vector, 1)); (err == nil) != c.fits {
			t.Errorf("with %d MiB: %v", c.limit>>20, err)
		}
	}
}

func TestConstantsCountAsMemoryOfTheStatement(t *testing.T) {
	memory := &smallMemory{limit: 50 << 20}
	c := &Context{Memory: memory}
	for i := range 3 {
		_, err := c.Call("repeat", Text("x"), Int(12<<20+int64(i)))
		if (err == nil) != (i < 1) {
			t.Errorf("constant %d: %v", i+1, err)
		}
		if used := memory.used.Load(); used < 12<<20 || used > 16<<20 {
			t.Errorf("after constant %d of 12 MiB, of which one fits, %d bytes are counted", i+1, used)
		}
	}
}
