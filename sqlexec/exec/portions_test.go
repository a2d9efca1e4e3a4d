package exec

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// longTable has texts of a size, every eighth of them NULL, of a form; each text begins with its row's number.
func longTable(form vector.Form, rows, size int) *vector.Batch {
	flat := vector.NewBatch(vector.Int64Type, vector.StringType)
	for i := range rows {
		text := vector.ConstNull(vector.StringType)
		if i%8 > 0 {
			text = vector.ConstString(string(rune('a'+i%26)) + strings.Repeat("x", size))
		}
		flat.Cols[0].Append(i, vector.ConstInt(vector.Int64Type, int64(i)), 0, 1)
		flat.Cols[1].Append(i, text, 0, 1)
		flat.N++
	}
	switch form {
	case vector.Const:
		flat.Cols[1] = vector.ConstString(strings.Repeat("x", size))
	case vector.Dict:
		values := &vector.Vector{Type: vector.StringType}
		codes := make([]uint32, rows)
		for i := range 3 {
			values.PushBytes([]byte(strings.Repeat(string(rune('a'+i)), size)))
		}
		for i := range codes {
			codes[i] = uint32(i * 3 / rows)
		}
		flat.Cols[1] = &vector.Vector{Type: vector.StringType, Form: vector.Dict, Values: values, Codes: codes,
			Valid: flat.Cols[1].Valid}
	}
	return flat
}

// TestPortions: the rows of a batch come in their order, few of them at a time where their texts are long, and as they
// are where they are not.
func TestPortions(t *testing.T) {
	for _, form := range []vector.Form{vector.Flat, vector.Const, vector.Dict} {
		for _, size := range []int{10, 20_000, 400_000, 2 << 20} {
			table := longTable(form, 70, size)
			for name, in := range map[string]struct {
				wrap func(Step) Step
				size rowSize
			}{"shared": {inPortions, rowTexts},
				"copied": {func(s Step) Step { return inPortions(inCopies(s)) }, copiedTexts}} {
				n, calls := 0, 0
				step := in.wrap(func(b *vector.Batch) error {
					calls++
					total := int64(0)
					for i := range b.N {
						if i > 0 || form != vector.Dict || name == "copied" { // the first row's text is there once
							total += in.size(b.Cols, i)
						}
						null := table.Cols[1].IsNull(n)
						if b.Cols[0].Int(i) != int64(n) || b.Cols[1].IsNull(i) != null ||
							!null && !bytes.Equal(b.Cols[1].Bytes(i), table.Cols[1].Bytes(n)) {
							t.Fatalf("%v of %d, %s: row %d is another", form, size, name, n)
						}
						n++
					}
					if b.N > 1 && total > portionBytes {
						t.Errorf("%v of %d, %s: %d rows with %d bytes together", form, size, name, b.N, total)
					}
					return nil
				})
				if err := step(table); err != nil {
					t.Fatal(err)
				}
				if whole := int64(70*size) <= portionBytes; whole != (calls == 1) && form == vector.Flat {
					t.Errorf("%v of %d, %s: %d portions", form, size, name, calls)
				}
				if n != table.N {
					t.Errorf("%v of %d, %s: %d rows", form, size, name, n)
				}
			}
		}
	}
}

// TestOperatorsShareLongTexts: what repeats a row with a long text passes it on once, not in each row, and no batch has
// more of different ones than a portion, whatever the next step makes of it.
func TestOperatorsShareLongTexts(t *testing.T) {
	const rows, size, times = 20, 300 << 10, 5000
	types := []vector.Type{vector.Int64Type, vector.StringType}
	number := &expr.Column{Index: 0, T: types[0]}
	list := call(t, "range", expr.Int(times))
	wide, many := longTable(vector.Flat, rows, size), longTable(vector.Flat, times, 1)
	cross := func(build *vector.Batch) Operator {
		j, err := NewJoin(JoinSpec{ProbeTypes: types, BuildTypes: types})
		if err != nil {
			t.Fatal(err)
		}
		run(t, Pipeline{Stream{Source: Values(build)}, j.Build()}, 1)
		return j.Probe()
	}
	for name, c := range map[string]struct {
		op  Operator
		in  *vector.Batch
		out int
	}{
		"unnest":      {Unnest(UnnestSpec{Lists: []expr.Expr{list}}, nil), wide, rows * times},
		"cross":       {cross(many), wide, rows * times},
		"cross build": {cross(wide), many, rows * times},
		"unpivot": {Unpivot(UnpivotSpec{Passed: []int{0}, Names: longTable(vector.Flat, 3, 1).Cols[1],
			Sets: [][]int{{1, 1, 1}}, Nulls: true}, nil),
			wide, rows * 3},
		"filter": {must(Filter([]expr.Expr{call(t, ">=", number, expr.Int(0))}, nil)), wide, rows},
	} {
		n, copied := 0, int64(0)
		steps := Chain([]Operator{c.op}, func(b *vector.Batch) error {
			n += b.N
			bytes := int64(0)
			for i := range b.N {
				bytes += rowTexts(b.Cols, i)
			}
			if b.N > 1 && bytes > portionBytes {
				t.Fatalf("%s: %d rows with %d bytes", name, b.N, bytes)
			}
			copied += BatchBytes(b)
			return nil
		})
		r := Values(c.in).Reader(0)
		for b := (vector.Batch{}); ; {
			ok, err := r.Next(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if err := steps[0](&b); err != nil {
				t.Fatal(err)
			}
		}
		if n != c.out {
			t.Errorf("%s: %d rows, want %d", name, n, c.out)
		}
		if most := int64(rows*size)*8 + int64(c.out)*40; copied > most {
			t.Errorf("%s: a copy takes %d MiB, at most %d expected", name, copied>>20, most>>20)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestHalves: what expressions make of all rows of a batch may be more than the budget has where some rows are not.
func TestHalves(t *testing.T) {
	table := longTable(vector.Const, 1000, 100<<10)
	text := &expr.Column{Index: 1, T: vector.StringType}
	budget := NewBudget(32 << 20)
	p := must(Project([]expr.Expr{call(t, "length",
		call(t, "concat", &expr.Column{Index: 0, T: vector.Int64Type}, text))}, budget))
	n, sum := 0, int64(0)
	step := p.Step(func(b *vector.Batch) error {
		n += b.N
		for i := range b.N {
			sum += b.Cols[0].Int(i)
		}
		return nil
	})
	if err := step(table); err != nil {
		t.Fatal(err)
	}
	if want := int64(1000*(100<<10) + 10 + 90*2 + 900*3); n != 1000 || sum != want {
		t.Errorf("%d rows with %d characters, want %d", n, sum, want)
	}
}

// TestTopOfLongRows: the first few rows in the order of long texts need room for few of them.
func TestTopOfLongRows(t *testing.T) {
	types := []vector.Type{vector.Int64Type, vector.StringType}
	budget := NewBudget(16 << 20)
	top := must(TopK([]expr.SortKey{{Expr: &expr.Column{Index: 1, T: types[1], Null: true}}}, 3, types, nil, budget))
	table := longTable(vector.Flat, 200, 200<<10)
	p := Pipeline{Stream{Source: Values(table)}, top}
	if _, err := p.Run(context.Background(), 1); err != nil {
		t.Error(err)
	}
}

// TestLongestRow: no row of a batch has more bytes of texts, whatever form they have, and of one column some row has as
// many.
func TestLongestRow(t *testing.T) {
	for _, form := range []vector.Form{vector.Flat, vector.Const, vector.Dict} {
		for _, rows := range []int{1, 2, 70} { // a dictionary of three values is larger or smaller than that
			b := longTable(form, rows, 1000)
			most := int64(0)
			for i := range rows {
				most = max(most, copiedTexts(b.Cols, i))
			}
			if got := longestRow(b); got < most || got > most && most > 0 {
				t.Errorf("%v, %d rows: %d bytes, the longest has %d", form, rows, got, most)
			}
		}
	}
}

// TestSortedPortions: rows that were sorted come in batches of at most a portion where some are long, and in full ones
// where none is.
func TestSortedPortions(t *testing.T) {
	const rows = 3 * vector.Size
	for name, c := range map[string]struct {
		size func(i int) int
		full bool
	}{
		"none has a text": {func(int) int { return 0 }, true},
		"all fit":         {func(int) int { return portionBytes / vector.Size }, true},
		"all are longer":  {func(int) int { return portionBytes/vector.Size + 1 }, false},
		"few are long":    {func(i int) int { return 900 << 10 / (1 + i*i) }, false},
	} {
		b := &vector.Batch{N: rows, Cols: []*vector.Vector{{Type: vector.StringType}}}
		for i := range rows {
			b.Cols[0].PushBytes(bytes.Repeat([]byte("x"), c.size(i)))
		}
		types := []vector.Type{vector.StringType}
		s := newSorter([]expr.SortKey{{Expr: call(t, "length", &expr.Column{T: types[0]})}}, 1, types, nil)
		for from := 0; from < rows; from += vector.Size {
			batch := sliceOf(b, from, from+vector.Size)
			if err := errors.Join(s.eval.Eval(batch, s.out), s.add(batch)); err != nil {
				t.Fatal(err)
			}
		}
		order, err := s.sorted(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		n, full := 0, true
		var part vector.Batch
		for r := (&reorder{rows: s, order: order}).Reader(0); ; n += part.N {
			if ok, err := r.Next(&part); err != nil {
				t.Fatal(err)
			} else if !ok {
				break
			}
			full = full && part.N == vector.Size
			if got := lengths(part.Cols[0].Views[:part.N]); part.N > 1 && got > portionBytes {
				t.Errorf("%s: %d rows with %d bytes together", name, part.N, got)
			}
		}
		if n != rows || full != c.full {
			t.Errorf("%s: %d rows, all batches full: %v", name, n, full)
		}
	}
}
