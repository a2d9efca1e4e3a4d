package exec

import (
	"context"
	"fmt"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

const benchRows = 200 * vector.Size

// benchTable has a code, a number, a text and a value in each row.
func benchTable(distinct int) (*vector.Batch, []spec) {
	specs := []spec{{vector.StringType, 50, false}, {vector.Int64Type, distinct, false},
		{vector.StringType, distinct, false}, {vector.Int64Type, 1000, false}}
	return randomTable(newRand(uint64(distinct)), benchRows, specs...), specs
}

func benchRun(b *testing.B, src func() Source, ops []Operator, sink func() (Sink, error), workers int) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := sink()
		if err != nil {
			b.Fatal(err)
		}
		p := Pipeline{Stream{Source: src(), Ops: ops}, s}
		if _, err := p.Run(context.Background(), workers); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

func BenchmarkGroupBy(b *testing.B) {
	for _, distinct := range []int{100, 100_000} {
		table, specs := benchTable(distinct)
		cols := columns(specs...)
		dict := newMixed(&vector.Batch{N: table.N,
			Cols: []*vector.Vector{table.Cols[3], table.Cols[0], table.Cols[3], table.Cols[3]}}, table.N)
		codes := &vector.Batch{N: table.N, Cols: dict.pieces[0].Cols}
		for _, c := range []struct {
			name  string
			keys  []expr.Expr
			table *vector.Batch
		}{
			{"code", []expr.Expr{&expr.Column{Index: 1, T: vector.StringType}}, codes},
			{"int", cols[1:2], table}, {"string", cols[2:3], table}, {"two", cols[:2], table},
		} {
			for workers := 1; workers <= 2; workers++ {
				b.Run(fmt.Sprintf("by=%s/distinct=%d/workers=%d", c.name, distinct, workers), func(b *testing.B) {
					aggs := []*expr.Agg{aggregateOf(b, "count", false, nil), aggregateOf(b, "sum", false, nil, cols[3])}
					benchRun(b, func() Source { return Values(c.table) }, nil,
						func() (Sink, error) { return Aggregate(c.keys, aggs, nil) }, workers)
				})
			}
		}
	}
}

func BenchmarkTopK(b *testing.B) {
	table, specs := benchTable(100_000)
	for _, k := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			order := []expr.SortKey{{Expr: columns(specs...)[1], Desc: true}}
			benchRun(b, func() Source { return Values(table) }, nil,
				func() (Sink, error) { return TopK(order, k, typesOf(specs), nil, nil) }, 2)
		})
	}
}

func BenchmarkSort(b *testing.B) {
	table, specs := benchTable(100_000)
	for _, by := range []int{1, 2} {
		b.Run("by="+specs[by].t.String(), func(b *testing.B) {
			order := []expr.SortKey{{Expr: columns(specs...)[by]}}
			benchRun(b, func() Source { return Values(table) }, nil,
				func() (Sink, error) { return Sort(order, typesOf(specs), nil) }, 2)
		})
	}
}

func BenchmarkHashJoin(b *testing.B) {
	table, specs := benchTable(100_000)
	cols := columns(specs...)
	small, _ := benchTable(100_000)
	small.N = 10_000
	for i, v := range small.Cols {
		small.Cols[i] = v.Slice(0, small.N)
	}
	for _, by := range []int{1, 2} {
		b.Run("by="+specs[by].t.String(), func(b *testing.B) {
			j, err := NewJoin(JoinSpec{Kind: Semi, Probe: cols[by : by+1], Build: cols[by : by+1],
				ProbeTypes: typesOf(specs), BuildTypes: typesOf(specs)})
			if err != nil {
				b.Fatal(err)
			}
			p := Pipeline{Stream{Source: Values(small)}, j.Build()}
			if _, err := p.Run(context.Background(), 1); err != nil {
				b.Fatal(err)
			}
			drop := func() (Sink, error) { return each{func(*vector.Batch) error { return nil }}, nil }
			benchRun(b, func() Source { return Values(table) }, []Operator{j.Probe()}, drop, 2)
		})
	}
}
