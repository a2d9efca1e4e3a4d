package vector

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// kinds has one type of every memory layout.
var kinds = []Type{BoolType, Int64Type, Uint64Type, FloatType, StringType}

// randomVector is a vector of n rows and what each row should read as; nil is NULL.
func randomVector(r *rand.Rand, t Type, form Form, n int, nulls bool) (*Vector, []any) {
	switch form {
	case Const:
		v := &Vector{Type: t}
		one := randomFlat(r, v, 1, nulls)
		v.Form = Const
		want := make([]any, n)
		for i := range want {
			want[i] = one[0]
		}
		return v, want
	case Dict:
		values := &Vector{Type: t}
		distinct := randomFlat(r, values, 5, false)
		v := &Vector{Type: t, Form: Dict, Values: values, Codes: make([]uint32, n)}
		want := make([]any, n)
		if nulls {
			v.Valid = MakeBitmap(n)
		}
		for i := range n {
			v.Codes[i] = uint32(r.IntN(5))
			if nulls && r.IntN(3) == 0 {
				continue
			}
			if nulls {
				v.Valid.Set(i)
			}
			want[i] = distinct[v.Codes[i]]
		}
		return v, want
	}
	v := &Vector{Type: t}
	return v, randomFlat(r, v, n, nulls)
}

// randomFlat fills an empty Flat vector through a builder column's primitives.
func randomFlat(r *rand.Rand, v *Vector, n int, nulls bool) []any {
	want := make([]any, n)
	for i := range n {
		if nulls && r.IntN(3) == 0 {
			v.AppendNulls(i, 1)
			continue
		}
		var c *Vector
		switch v.Type.Kind() {
		case Bool:
			x := r.IntN(2) == 0
			c, want[i] = ConstBool(x), x
		case Int64:
			x := r.Int64()
			c, want[i] = ConstInt(v.Type, x), x
		case Uint64:
			x := r.Uint64()
			c, want[i] = ConstUint(v.Type, x), x
		case Float64:
			x := r.Float64()
			c, want[i] = ConstFloat(v.Type, x), x
		default:
			x := fmt.Sprint(r.IntN(1 << r.IntN(30)))
			c, want[i] = ConstString(x), x
		}
		v.Append(i, c, 0, 1)
	}
	return want
}

// values reads n rows back; nil is NULL.
func values(v *Vector, n int) []any {
	got := make([]any, n)
	for i := range n {
		if v.IsNull(i) {
			continue
		}
		switch v.Type.Kind() {
		case Bool:
			got[i] = v.Bool(i)
		case Int64:
			got[i] = v.Int(i)
		case Uint64:
			got[i] = v.Uint(i)
		case Float64:
			got[i] = v.Float(i)
		default:
			got[i] = string(v.Bytes(i))
		}
	}
	return got
}

func checkValues(t *testing.T, what string, v *Vector, want []any) {
	t.Helper()
	got := values(v, len(want))
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: row %d of %d: got %v, want %v", what, i, len(want), got[i], want[i])
		}
	}
}

// forAll runs f over all kinds, forms, with and without NULL, at lengths around the word size.
func forAll(t *testing.T, f func(t *testing.T, r *rand.Rand, v *Vector, want []any)) {
	for _, typ := range kinds {
		for _, form := range []Form{Flat, Const, Dict} {
			for _, nulls := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/form=%d/nulls=%v", typ, form, nulls), func(t *testing.T) {
					r := rand.New(rand.NewPCG(1, uint64(typ.ID)))
					for n := range 131 {
						v, want := randomVector(r, typ, form, n, nulls)
						f(t, r, v, want)
					}
				})
			}
		}
	}
}

func TestAppendKeepsEveryRow(t *testing.T) {
	forAll(t, func(t *testing.T, r *rand.Rand, v *Vector, want []any) {
		dst := &Vector{Type: v.Type}
		head := randomFlat(r, dst, r.IntN(70), r.IntN(2) == 0)
		from := r.IntN(len(want) + 1)
		to := from + r.IntN(len(want)-from+1)
		dst.Append(len(head), v, from, to)
		checkValues(t, fmt.Sprintf("append [%d,%d) after %d", from, to, len(head)), dst, append(head, want[from:to]...))
	})
}

func TestGatherReusesItsTarget(t *testing.T) {
	var dst Vector
	forAll(t, func(t *testing.T, r *rand.Rand, v *Vector, want []any) {
		if len(want) == 0 {
			return
		}
		rows := make([]uint32, r.IntN(100))
		expect := make([]any, len(rows))
		for i := range rows {
			rows[i] = uint32(r.IntN(len(want)))
			expect[i] = want[rows[i]]
		}
		dst.Gather(v, rows)
		checkValues(t, "gather", &dst, expect)
		checkValues(t, "source after gather", v, want)
	})
}

func TestAppendRowsPicks(t *testing.T) {
	forAll(t, func(t *testing.T, r *rand.Rand, v *Vector, want []any) {
		dst := &Vector{Type: v.Type}
		head := randomFlat(r, dst, r.IntN(70), r.IntN(2) == 0)
		var rows []uint32
		for range r.IntN(100) {
			if len(want) > 0 {
				rows = append(rows, uint32(r.IntN(len(want))))
				head = append(head, want[rows[len(rows)-1]])
			}
		}
		dst.AppendRows(len(head)-len(rows), v, rows)
		checkValues(t, "append rows", dst, head)
	})
}

func TestSliceSharesAndCutsTails(t *testing.T) {
	forAll(t, func(t *testing.T, r *rand.Rand, v *Vector, want []any) {
		from := 64 * r.IntN(len(want)/64+1)
		to := from + r.IntN(len(want)-from+1)
		s := v.Slice(from, to)
		checkValues(t, "slice", s, want[from:to])
		if tail := uint(to-from) & 63; s.Form != Const && s.Valid != nil && tail != 0 &&
			s.Valid[len(s.Valid)-1]>>tail != 0 {
			t.Fatalf("slice [%d,%d): tail bits are set", from, to)
		}
		checkValues(t, "flatten", s.Flatten(to-from), want[from:to])
	})
}

func TestBitmapFillAllCount(t *testing.T) {
	for n := range 200 {
		b := MakeBitmap(n)
		b.Fill(n)
		if !b.All(n) || b.Count() != n || len(b.AppendRows(nil)) != n {
			t.Errorf("fill(%d): all=%v count=%d", n, b.All(n), b.Count())
		}
		if n > 0 {
			b.Clear(n - 1)
			if b.All(n) || b.Count() != n-1 {
				t.Errorf("clear(%d): all=%v count=%d", n-1, b.All(n), b.Count())
			}
		}
	}
}

// describe prints a batch as name=value lists, column by column.
func describe(fields []Field, b *Batch) string {
	var s bytes.Buffer
	for i, f := range fields {
		fmt.Fprintf(&s, "%s:%s=%v ", f.Name, f.Type, values(b.Cols[i], b.N))
	}
	return s.String()
}

func column(t *testing.T, b *Builder, name string, typ Type) *ColumnBuilder {
	t.Helper()
	c, err := b.Column(name, typ)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBuilderRows(t *testing.T) {
	b := NewBuilder()
	for round := range 3 { // a reset builder must not remember
		column(t, b, "ts", Int64Type).SetInt(1)
		b.Pin()
		column(t, b, "z", StringType).SetString("first")
		column(t, b, "a", Int64Type).SetInt(7)
		column(t, b, "z", StringType).SetString("last wins")
		b.EndRow()
		column(t, b, "ts", Int64Type).SetInt(2)
		column(t, b, "b", BoolType).SetBool(true)
		b.DropRow()
		column(t, b, "ts", Int64Type).SetInt(3)
		column(t, b, "f", FloatType).SetFloat(0.5)
		c := column(t, b, "z", StringType)
		c.SetHeap(append(c.Heap(), "heap"...))
		b.EndRow()
		column(t, b, "ts", Int64Type).SetInt(4)
		column(t, b, "f", FloatType).SetFloat(1)
		b.Lookup("f").SetNull()
		b.EndRow()
		want := "ts:Int64=[1 3 4] a:Int64=[7 <nil> <nil>] z:String=[last wins heap <nil>] b:Boolean=[<nil> <nil> <nil>] " +
			"f:Float64=[<nil> 0.5 <nil>] "
		if got := describe(b.Finish()); got != want {
			t.Fatalf("round %d:\n got %s\nwant %s", round, got, want)
		}
		b.Reset()
	}
}

func TestBuilderRefusesAnotherType(t *testing.T) {
	b := NewBuilder()
	column(t, b, "score", FloatType).SetFloat(1)
	_, err := b.Column("score", Int64Type)
	want := "Column datatype mismatch. For column: score, expected datatype: Float64, actual datatype: Int64"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestBuilderMoveRow(t *testing.T) {
	b, to := NewBuilder(), NewBuilder()
	column(t, b, "a", Int64Type).SetInt(1)
	b.EndRow()
	column(t, b, "a", Int64Type).SetInt(2)
	column(t, b, "s", StringType).SetString("x")
	if err := b.MoveRow(to); err != nil {
		t.Fatal(err)
	}
	to.EndRow()
	if got, want := describe(b.Finish()), "a:Int64=[1] s:String=[<nil>] "; got != want {
		t.Errorf("left: got %s, want %s", got, want)
	}
	if got, want := describe(to.Finish()), "a:Int64=[2] s:String=[x] "; got != want {
		t.Errorf("moved: got %s, want %s", got, want)
	}
}

func TestWarmBuilderAllocatesNothing(t *testing.T) {
	b := NewBuilder()
	fill := func() {
		ts, _ := b.Column("ts", Int64Type)
		s, _ := b.Column("s", StringType)
		for i := range 1000 {
			ts.SetInt(int64(i))
			if i%3 == 0 {
				s.SetString("some text")
			}
			b.EndRow()
		}
	}
	fill()
	b.Reset()
	ts, _ := b.Column("ts", Int64Type)
	s, _ := b.Column("s", StringType)
	if n := testing.AllocsPerRun(10, func() {
		ts.SetInt(1)
		s.SetString("row")
		b.EndRow()
	}); n != 0 {
		t.Errorf("%v allocations a row", n)
	}
}
