package exec

import (
	"context"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// TestRowsTogether keeps rows of several lists, over the ends of chunks, and puts them together: values, NULLs and
// texts that share their bytes come back in the order of the lists.
func TestRowsTogether(t *testing.T) {
	specs := []spec{{vector.Int64Type, 1000, true}, {vector.StringType, 300, true}, {vector.StringType, 20, false},
		{vector.BoolType, 2, true}}
	types := typesOf(specs)
	for _, sizes := range [][]int{{0}, {1}, {100, 0, 70}, {chunkRows, 1}, {chunkRows - 1, 2*chunkRows + 3},
		{3, chunkRows + 65, 64}} {
		var lists []*Rows
		want := vector.NewBatch(types...)
		for at, n := range sizes {
			table := randomTable(newRand(uint64(at)), n, specs...)
			l := NewRows(types)
			r := Values(table).Reader(0)
			for b := (vector.Batch{}); ; {
				ok, err := r.Next(&b)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				b.Cols[2] = dictionaryOf(b.Cols[2], b.N)
				l.Add(&b, 0, b.N)
			}
			if l.n != n {
				t.Fatalf("%d rows are kept of %d", l.n, n)
			}
			lists = append(lists, l)
			want.Append(table, 0, n)
		}
		got, err := Together(context.Background(), lists, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.N != want.N {
			t.Fatalf("%v: %d rows, want %d", sizes, got.N, want.N)
		}
		for c := range want.Cols {
			for i := range want.N {
				if expr.Compare(got.Cols[c], i, want.Cols[c], i) != 0 ||
					got.Cols[c].IsNull(i) != want.Cols[c].IsNull(i) {
					t.Fatalf("%v: row %d of column %d differs", sizes, i, c)
				}
			}
		}
	}
}

// dictionaryOf returns a vector of texts as a dictionary.
func dictionaryOf(v *vector.Vector, n int) *vector.Vector {
	out := &vector.Vector{Type: v.Type, Form: vector.Dict, Values: &vector.Vector{Type: v.Type}}
	codes := map[string]uint32{}
	for i := range n {
		code, ok := codes[v.Str(i)]
		if !ok {
			code = uint32(len(codes))
			codes[string(v.Bytes(i))] = code
			out.Values.Append(int(code), v, i, i+1)
		}
		out.Codes = append(out.Codes, code)
	}
	return out
}

// TestTogetherStops ends with the query after each chunk.
func TestTogetherStops(t *testing.T) {
	l := NewRows([]vector.Type{vector.Int64Type})
	for range 5 {
		l.Add(&vector.Batch{N: chunkRows,
			Cols: []*vector.Vector{{Type: vector.Int64Type, Ints: make([]int64, chunkRows)}}}, 0, chunkRows)
	}
	ctx := doom(3)
	if _, err := Together(ctx, []*Rows{l}, 1, nil); err != context.Canceled || ctx.after.Load() != 1 {
		t.Errorf("%v, asked %d times after the end", err, ctx.after.Load())
	}
}
