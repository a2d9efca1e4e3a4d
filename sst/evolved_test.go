package sst

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestEvolvedScan filters and reads columns whose types changed since the part was written.
func TestEvolvedScan(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	model := newTable(r, 1, 3000, false)
	fs := vfs.NewMem()
	model.write(t, fs, "p", r, WriterOptions{MaxSeq: 99})
	p, err := Open(fs, "p", OpenOptions{Cache: NewCache(8 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	asText := bytesColumn
	asText.Type = vector.StringType
	asFloat := bytesColumn
	asFloat.Type = vector.FloatType
	for _, c := range []struct {
		column schema.Column
		cond   filter.Cond
		want   func(x int64) bool
	}{
		{asText, cond(asText, filter.Prefix, "-4"),
			func(x int64) bool { s := fmt.Sprint(x); return len(s) > 1 && s[:2] == "-4" }},
		{asFloat, cond(asFloat, filter.Greater, 250.5), func(x int64) bool { return x > 250 }},
	} {
		for range 3 {
			cursor, err := p.Run().Scan(&scan.Spec{Columns: []schema.Column{c.column}, TimeColumn: tsColumn,
				Time: scan.All, Filter: filter.And{c.cond}, FilterColumns: []schema.Column{c.column}})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, w := range model.series[0].rows {
				if x := w[5].(int64); c.want(x) {
					want = append(want, fmt.Sprintf("%v|", x))
				}
			}
			compareLines(t, read(t, cursor), want)
		}
	}
	if s, ok, err := p.Run().Stat(ctx, asText); ok || err != nil {
		t.Errorf("statistics under another type: %+v", s)
	}
}
