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
	asked atomic.Int64 // all that was ever reserved
}

func (m *smallMemory) Err() error { return nil }

func (m *smallMemory) Left() int64 { return max(0, m.limit-m.used.Load()) }

func (m *smallMemory) Reserve(bytes int64) error {
	if m.used.Add(bytes) > m.limit {
		m.used.Add(-bytes)
		return status.New(status.RuntimeResourcesExhausted, "more than %d bytes", m.limit)
	}
	m.asked.Add(bytes)
	return nil
}

func (m *smallMemory) Release(bytes int64) { m.used.Add(-bytes) }

// Every function that can make more than it is given is counted before it grows: whatever is called with long texts,
// lists of many elements and large numbers, in any place, allocates no more than a few times what there is.
func TestNoFunctionGrowsPastTheMemory(t *testing.T) {
	for name, letter := range map[string]string{"letters": "x", "control characters": "\x01"} {
		t.Run(name, func(t *testing.T) { noFunctionGrows(t, letter) })
	}
}

// noFunctionGrows calls functions with texts of a letter, which JSON may escape.
func noFunctionGrows(t *testing.T, letter string) {
	const rows, length, limit = 16, 2 << 10, 4 << 20
	texts, lists := &vector.Vector{Type: str}, &vector.Vector{Type: vector.List(str)}
	numbers, items := &vector.Vector{Type: i64}, "["+strings.TrimSuffix(strings.Repeat(`"",`, length/3), ",")+"]"
	for i := range rows {
		texts.PushBytes([]byte(strings.Repeat(letter, length-i)))
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
	called := everyCall(kinds, 400, func(name string, e Expr) {
		memory := &smallMemory{limit: limit}
		out, grown, err := allocates(t, e, memory, b)
		if grown > 16*limit {
			t.Errorf("%s allocates %d MiB where there are %d (%v)", name, grown>>20, limit>>20, err)
		}
		if err == nil && heldBytes(out) > limit {
			t.Errorf("%s makes %d MiB where there are %d", name, heldBytes(out)>>20, limit>>20)
		}
	})
	if called < 500 {
		t.Errorf("only %d calls were bound", called)
	}
}

// Every function reserves what it allocates for a long text, old and new heap of one that grows and what it works
// with. What is allocated is more than what there is at a time: a heap that grows by a quarter is made anew several
// times, and functions that look for all matches of an expression keep none of them.
func TestEveryFunctionReservesWhatItAllocates(t *testing.T) {
	for name, text := range map[string]string{"letters": "1x", "control characters": "\x01\x02"} {
		t.Run(name, func(t *testing.T) { everyFunctionReserves(t, text) })
	}
}

// everyFunctionReserves calls functions with a long text, which JSON may escape.
func everyFunctionReserves(t *testing.T, text string) {
	const length, limit, slack = 512 << 10, 1 << 30, tellBytes + 512<<10
	texts, lists := &vector.Vector{Type: str}, &vector.Vector{Type: vector.List(str)}
	texts.PushBytes([]byte(strings.Repeat(text, length/2)))
	lists.PushBytes([]byte("[" + strings.TrimSuffix(strings.Repeat(`"1234567",`, length/10), ",") + "]"))
	b := &vector.Batch{N: 1, Cols: []*vector.Vector{texts, lists}}
	kinds := []Expr{&Column{T: str}, &Column{Index: 1, T: lists.Type}, &Const{Value: vector.ConstString("x")}, Int(2)}
	called := everyCall(kinds, 40, func(name string, e Expr) {
		memory := &smallMemory{limit: limit}
		_, grown, err := allocates(t, e, memory, b)
		if strings.Contains(name, "regex") {
			grown /= 3
		}
		if grown > uint64(memory.asked.Load())*3/2+slack {
			t.Errorf("%s allocates %d KiB and reserves %d (%.80v)", name, grown>>10, memory.asked.Load()>>10, err)
		}
	})
	if called < 300 {
		t.Errorf("only %d calls were bound", called)
	}
}

// allocates computes an expression within a memory: what it gives and how many bytes were allocated meanwhile.
func allocates(t *testing.T, e Expr, memory Memory, b *vector.Batch) (*vector.Vector, uint64, error) {
	t.Helper()
	p, err := CompileWithin([]Expr{e}, memory)
	if err != nil {
		t.Fatal(e, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := make([]*vector.Vector, 1)
	err = p.Eval(b, out)
	runtime.ReadMemStats(&after)
	return out[0], after.TotalAlloc - before.TotalAlloc, err
}

// everyCall calls do with each function of up to three of some arguments, in any place, and of many arguments where
// it takes so many. It returns the number of such calls.
func everyCall(kinds []Expr, many int, do func(name string, e Expr)) (called int) {
	try := func(name string, args []Expr) {
		e, err := (&Context{}).Call(name, append([]Expr(nil), args...)...)
		if err != nil {
			return // not an overload
		}
		called++
		types := make([]string, len(args))
		for i, a := range args {
			types[i] = a.Type().String()
		}
		do(name+"("+strings.Join(types[:min(3, len(types))], ", ")+")", e)
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
			args := make([]Expr, many)
			for k := range args {
				args[k] = kind
			}
			try(name, args)
		}
	}
	return called
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

// TestManyFunctionsAreCounted: thousands of functions of a statement take memory before they have made anything, and
// for what they read: constants and dictionaries with a value for each row.
func TestManyFunctionsAreCounted(t *testing.T) {
	const functions = 2000
	flat := &vector.Vector{Type: vector.Int64Type, Ints: make([]int64, vector.Size)}
	dict := &vector.Vector{Type: vector.Int64Type, Form: vector.Dict,
		Values: &vector.Vector{Type: vector.Int64Type, Ints: make([]int64, vector.Size)},
		Codes:  make([]uint32, vector.Size)}
	for i := range dict.Codes {
		dict.Codes[i] = uint32(i % 2)
	}
	for name, v := range map[string]*vector.Vector{"constants": flat, "dictionaries": dict} {
		var list []Expr
		for i := range functions {
			args := []Expr{&Column{T: vector.Int64Type}, Int(int64(i))}
			if v == dict {
				args[1] = &Column{Index: 1, T: vector.Int64Type}
			}
			e, err := (&Context{}).Call("+", args...)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
		memory := &smallMemory{limit: 1 << 30}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := CompileWithin(list, memory)
		if err != nil {
			t.Fatal(err)
		}
		b := &vector.Batch{N: vector.Size, Cols: []*vector.Vector{flat, v}}
		if err := p.Eval(b, make([]*vector.Vector, functions)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if grown, asked := after.TotalAlloc-before.TotalAlloc,
			uint64(memory.asked.Load()); grown > asked*5/4+tellBytes {
			t.Errorf("%s: %d KiB are allocated and %d reserved", name, grown>>10, asked>>10)
		}
		runtime.KeepAlive(p)
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

// A batch of which too much would be made leaves no larger room to the next one: such batches are cut and tried
// again, by every worker.
func TestBatchesThatAreTooLargeDoNotGrow(t *testing.T) {
	const rows, limit = 64, 64 << 20
	numbers, long := &vector.Vector{Type: i64}, vector.ConstString(strings.Repeat("x", 1<<20))
	for i := range rows {
		numbers.Ints = append(numbers.Ints, int64(i))
	}
	e, err := (&Context{}).Call("concat", &Column{T: i64}, &Column{Index: 1, T: str})
	if err != nil {
		t.Fatal(err)
	}
	memory := &smallMemory{limit: limit}
	p, err := CompileWithin([]Expr{e}, memory)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]*vector.Vector, 1)
	for n := range 50 {
		err := p.Eval(&vector.Batch{N: rows, Cols: []*vector.Vector{numbers, long}}, out)
		if status.Of(err) != status.RuntimeResourcesExhausted {
			t.Fatalf("%d texts of 1 MiB where there are %d MiB: %v", rows, limit>>20, err)
		}
		if used := memory.used.Load(); used > limit/roomShare+8<<20 {
			t.Fatalf("after %d such batches %d MiB are held", n+1, used>>20)
		}
	}
	if err := p.Eval(&vector.Batch{N: 1, Cols: []*vector.Vector{numbers, long}}, out); err != nil ||
		len(out[0].Bytes(0)) != 1<<20+1 {
		t.Errorf("one row: %v", err)
	}
}
