package exec

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"varve/engine/convert"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }

// spec describes a random column: its type, how many distinct values it has and whether some are NULL.
type spec struct {
	t        vector.Type
	distinct int
	nulls    bool
}

// keyTypes are types that rows are grouped, joined and sorted by, one of each kind and each comparison of its own.
var keyTypes = []vector.Type{vector.Int64Type, vector.Uint64Type, vector.FloatType, vector.BoolType, vector.StringType,
	vector.Timestamp(3), {ID: vector.TypeDate}, {ID: vector.TypeDecimal, Precision: 10, Scale: 2}, vector.Interval,
	vector.BinaryType}

// oddFloats are the floats with rules of their own: NaN is greater than every number and equal to itself, -0 equals 0.
var oddFloats = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, math.MaxFloat64,
	-math.MaxFloat64, math.SmallestNonzeroFloat64}

// constant is value k of a type, as a Const vector. Different k may give equal floats, intervals and booleans.
func constant(t vector.Type, k int) *vector.Vector {
	switch t.ID {
	case vector.TypeInterval: // 1 month, 30 days and 720 hours are equal
		m, d, ns := int32(0), int32(0), int64(k/3)*720*3600e9
		switch k % 3 {
		case 1:
			m, ns = int32(k/3), 0
		case 2:
			d, ns = int32(k/3)*30, 0
		}
		return vector.ConstBytes(t, convert.AppendIntervalBytes(nil, m, d, ns))
	case vector.TypeDecimal:
		b := make([]byte, 16)
		x := int64(k*7919%2003) - 1000
		for i := range b {
			b[i] = byte(x >> (8 * min(i, 7)))
			if i > 7 && x < 0 {
				b[i] = 0xff
			} else if i > 7 {
				b[i] = 0
			}
		}
		return vector.ConstBytes(t, b)
	}
	switch t.Kind() {
	case vector.Bool:
		return vector.ConstBool(k&1 == 1)
	case vector.Int64:
		return vector.ConstInt(t, int64(k)*7919-int64(k%5)*1e9)
	case vector.Uint64:
		return vector.ConstUint(t, uint64(k)<<40)
	case vector.Float64:
		if k < len(oddFloats) {
			return vector.ConstFloat(t, oddFloats[k])
		}
		return vector.ConstFloat(t, float64(k-500)/3)
	}
	text := []byte("client " + strconv.Itoa(k))
	switch k % 7 {
	case 0:
		text = text[:0] // the empty text, again and again
	case 1:
		text = append([]byte{0, 1, 0, 0}, text...)
	case 2:
		text = append(text[:6], 0)
	}
	return vector.ConstBytes(t, text)
}

// randomTable makes n rows, Flat.
func randomTable(r *rand.Rand, n int, specs ...spec) *vector.Batch {
	b := &vector.Batch{N: n}
	for _, s := range specs {
		values := make([]*vector.Vector, s.distinct)
		for k := range values {
			values[k] = constant(s.t, k)
		}
		v := &vector.Vector{Type: s.t}
		for i := range n {
			if s.nulls && r.IntN(5) == 0 {
				v.AppendNulls(i, 1)
			} else {
				v.Append(i, values[r.IntN(s.distinct)], 0, 1)
			}
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

// mixed is a source that gives the rows of a batch in small pieces, whose columns are Flat, Dict and, where all rows of
// a piece are equal, Const.
type mixed struct {
	pieces []*vector.Batch
	next   atomic.Int64
}

// newMixed cuts a batch; step is the number of rows of a piece.
func newMixed(b *vector.Batch, step int) *mixed {
	m := &mixed{}
	for from := 0; from < b.N; from += step {
		to := min(from+step, b.N)
		p := &vector.Batch{N: to - from}
		for c, whole := range b.Cols {
			v := &vector.Vector{Type: whole.Type}
			v.Append(0, whole, from, to)
			if (from/step+c)%2 == 1 {
				v = coded(v, p.N)
			}
			p.Cols = append(p.Cols, v)
		}
		m.pieces = append(m.pieces, p)
	}
	return m
}

// coded is a Flat vector as Dict, or as Const when it has one row.
func coded(v *vector.Vector, n int) *vector.Vector {
	if n == 1 {
		c := &vector.Vector{Type: v.Type}
		c.Append(0, v, 0, 1)
		c.Form = vector.Const
		return c
	}
	d := &vector.Vector{Type: v.Type, Form: vector.Dict, Values: &vector.Vector{Type: v.Type}, Codes: make([]uint32, n)}
	at := map[string]uint32{}
	for i := range n {
		if v.IsNull(i) {
			if d.Valid == nil {
				d.Valid = vector.MakeBitmap(n)
				d.Valid.Fill(n)
			}
			d.Valid.Clear(i)
			continue
		}
		key := string(expr.AppendJSON(expr.AppendKey(nil, v, i), v, i))
		if v.Type.Kind() == vector.Bytes { // equal intervals are different values
			key = string(v.Bytes(i))
		}
		code, ok := at[key]
		if !ok {
			code = uint32(len(at))
			at[key] = code
			d.Values.Append(int(code), v, i, i+1)
		}
		d.Codes[i] = code
	}
	return d
}

func (m *mixed) Reader(int) Reader { return &mixedReader{m: m} }

// mixedReader gives each piece in memory of its own, and spoils that at the next call: whoever keeps rows longer than a
// batch is valid reads what was never there.
type mixedReader struct {
	m    *mixed
	last []*vector.Vector
}

func (r *mixedReader) Next(b *vector.Batch) (bool, error) {
	r.spoil()
	i := int(r.m.next.Add(1)) - 1
	if i >= len(r.m.pieces) {
		return false, nil
	}
	b.N, b.Cols = r.m.pieces[i].N, nil
	for _, v := range r.m.pieces[i].Cols {
		b.Cols = append(b.Cols, cloned(v))
	}
	r.last = slices.Clone(b.Cols)
	return true, nil
}

func (r *mixedReader) Close() { r.spoil() }

func (r *mixedReader) spoil() {
	for _, v := range r.last {
		spoil(v)
	}
	r.last = nil
}

// cloned is a vector that shares nothing with another.
func cloned(v *vector.Vector) *vector.Vector {
	c := &vector.Vector{Type: v.Type, Form: v.Form, Valid: slices.Clone(v.Valid), Bools: slices.Clone(v.Bools),
		Ints: slices.Clone(v.Ints), Uints: slices.Clone(v.Uints), Floats: slices.Clone(v.Floats),
		Views: slices.Clone(v.Views), Heap: slices.Clone(v.Heap), Codes: slices.Clone(v.Codes)}
	if v.Values != nil {
		c.Values = cloned(v.Values)
	}
	return c
}

// spoil overwrites the values of a vector.
func spoil(v *vector.Vector) {
	for _, bits := range []vector.Bitmap{v.Valid, v.Bools} {
		for i := range bits {
			bits[i] ^= 0x5a5a5a5a5a5a5a5a
		}
	}
	for i := range v.Ints {
		v.Ints[i] ^= 0x5a5a
	}
	for i := range v.Uints {
		v.Uints[i] ^= 0x5a5a
	}
	for i := range v.Floats {
		v.Floats[i] = -123456.75
	}
	for i := range v.Heap {
		v.Heap[i] = 0xa5
	}
	for i := range v.Views {
		v.Views[i] = vector.View{}
	}
	clear(v.Codes)
	if v.Values != nil {
		spoil(v.Values)
	}
}

// show is a value as a text that is the same for equal values, and only for them.
func show(v *vector.Vector, i int) string {
	switch {
	case v.IsNull(i):
		return "NULL"
	case v.Type.ID == vector.TypeInterval:
		m, d, ns := convert.Interval(v.Bytes(i))
		return fmt.Sprint((int64(m)*30+int64(d))*86400e9 + ns)
	case v.Type.Kind() == vector.Float64:
		return fmt.Sprint(v.Float(i) + 0) // -0 + 0 is 0
	case v.Type.Kind() == vector.Bytes:
		return fmt.Sprintf("%q", v.Bytes(i))
	}
	return string(expr.AppendText(nil, v, i))
}

// showRows are the rows of a batch.
func showRows(b *vector.Batch) [][]string {
	rows := make([][]string, b.N)
	for i := range rows {
		for _, v := range b.Cols {
			rows[i] = append(rows[i], show(v, i))
		}
	}
	return rows
}

// readAll reads a source to its end.
func readAll(t testing.TB, s Source) [][]string {
	t.Helper()
	r := s.Reader(0)
	defer r.Close()
	var rows [][]string
	var b vector.Batch
	for {
		ok, err := r.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return rows
		}
		rows = append(rows, showRows(&b)...)
	}
}

// run runs a pipeline and gives its rows.
func run(t testing.TB, p Pipeline, workers int) [][]string {
	t.Helper()
	src, err := p.Run(context.Background(), workers)
	if err != nil {
		t.Fatal(err)
	}
	return readAll(t, src)
}

func sorted(rows [][]string) [][]string {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, slices.Compare[[]string])
	return rows
}

func sameRows(t testing.TB, what string, got, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("%s: row %d is %q, want %q", what, i, got[i], want[i])
		}
	}
}

// collector is a sink that keeps all rows, in the order that one worker brings them.
type collector struct{ all []*vector.Batch }

func (c *collector) Step(int) Step {
	own := &vector.Batch{}
	c.all = append(c.all, own)
	return func(b *vector.Batch) error {
		if len(own.Cols) == 0 {
			for _, v := range b.Cols {
				own.Cols = append(own.Cols, &vector.Vector{Type: v.Type})
			}
		}
		own.Append(b, 0, b.N)
		return nil
	}
}

func (c *collector) Finish(context.Context) (Source, error) {
	out := c.all[0]
	for _, o := range c.all[1:] {
		if len(out.Cols) == 0 {
			out = o
		} else if len(o.Cols) > 0 {
			out.Append(o, 0, o.N)
		}
	}
	return Values(out), nil
}

func (c *collector) String() string { return "Collect" }

func columns(specs ...spec) []expr.Expr {
	list := make([]expr.Expr, len(specs))
	for i, s := range specs {
		list[i] = &expr.Column{Index: i, Name: "c" + strconv.Itoa(i), T: s.t, Null: s.nulls}
	}
	return list
}

func typesOf(specs []spec) []vector.Type {
	list := make([]vector.Type, len(specs))
	for i, s := range specs {
		list[i] = s.t
	}
	return list
}

func call(t testing.TB, name string, args ...expr.Expr) expr.Expr {
	t.Helper()
	e, err := (&expr.Context{}).Call(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
