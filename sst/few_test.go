package sst

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// TestFewRows: tests of texts see the few rows of a block that passed the tests before, and the rows that come out are
// those that a look at each row finds, with their texts.
func TestFewRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	const n = 6 * 2048
	texts := make([]string, n)
	for i := range texts {
		switch i % 3 {
		case 0:
			texts[i] = fmt.Sprintf("GET /orders/%d took %d ms", r.IntN(1000), r.IntN(90))
		case 1:
			texts[i] = fmt.Sprintf(`{"method":"POST","status":%d,"id":"%016x"}`, 200+r.IntN(9), r.Uint64())
		default:
			texts[i] = fmt.Sprintf("user u%d left after %d tries", r.IntN(50), r.IntN(7))
		}
	}
	p := oneColumn(t, messageColumn, n, func(b *vector.ColumnBuilder, i int) { b.SetString(texts[i]) })
	defer p.Close()
	one := func(part string) filter.Cond {
		return filter.Cond{Column: messageColumn.ID, Op: filter.Contains, Args: vector.ConstString(part), NArgs: 1}
	}
	for range 60 {
		from := int64(r.IntN(n))
		span := scan.Range{From: from, To: from + int64(r.IntN(150))}
		a, b := []string{"1", "POST", "tries", "took 7", "nothing"}[r.IntN(5)], []string{"u3", "20", "GET"}[r.IntN(3)]
		and, either := filter.And{one(a)}, r.IntN(2) == 0
		if either {
			and = filter.And{{Op: filter.AnyOf, Any: []filter.And{{one(a)}, {one(b)}}}}
		} else if r.IntN(2) == 0 {
			and = append(and, one(b))
		}
		var want []string
		for i, text := range texts {
			passes := strings.Contains(text, a)
			if either {
				passes = passes || strings.Contains(text, b)
			} else if len(and) == 2 {
				passes = passes && strings.Contains(text, b)
			}
			if passes && span.Holds(int64(i)) {
				want = append(want, text)
			}
		}
		got := textsOf(t, p, span, and)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%v, %q, %q, either %t:\n got %q\nwant %q", span, a, b, either, got, want)
		}
	}
}

// textsOf are the messages of the rows of a span that pass.
func textsOf(t *testing.T, p *Part, span scan.Range, and filter.And) (list []string) {
	t.Helper()
	cur, err := p.Run().Scan(&scan.Spec{Columns: []schema.Column{tsColumn, messageColumn}, TimeColumn: tsColumn,
		Time: span, FilterColumns: []schema.Column{messageColumn}, Filter: and})
	if err != nil {
		t.Fatal(err)
	}
	defer cur.Close()
	var b vector.Batch
	for {
		ok, err := cur.Next(&b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return list
		}
		for i := range b.N {
			if !span.Holds(b.Cols[0].Int(i)) {
				t.Fatalf("a row at %d", b.Cols[0].Int(i))
			}
			list = append(list, string(b.Cols[1].Bytes(i)))
		}
	}
}

// TestFewKept: rows that the cache keeps of a block are those of the block, whatever rows were asked for before, in
// blocks of templates and of plain strings.
func TestFewKept(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	const n, block = 3 * 2048, 2048
	for _, form := range []string{"user u%d took %d ms", "%x%x"} {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprintf(form, r.IntN(50), r.IntN(90))
			if form == "%x%x" { // of letters and lengths that have nothing in common
				b := make([]byte, 5+r.IntN(60))
				for k := range b {
					b[k] = byte(' ' + r.IntN(90))
				}
				texts[i] = string(b)
			}
		}
		p := oneColumn(t, messageColumn, n, func(b *vector.ColumnBuilder, i int) { b.SetString(texts[i]) })
		p.cache = NewCache(64 << 20)
		for range 300 {
			from := r.IntN(3)*block + block - 1 - r.IntN(1<<(1+r.IntN(8)))
			span := scan.Range{From: int64(from), To: int64(from + r.IntN(1<<(1+r.IntN(8))))}
			part := []string{"1", "u3", "took 7", "Q", ""}[r.IntN(5)]
			and := filter.And{{Column: messageColumn.ID, Op: filter.Contains, Args: vector.ConstString(part), NArgs: 1}}
			if part == "" {
				and = nil
			}
			var want []string
			for i := span.From; i <= min(span.To, n-1); i++ {
				if strings.Contains(texts[i], part) {
					want = append(want, texts[i])
				}
			}
			if got := textsOf(t, p, span, and); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s, %v, %q:\n got %q\nwant %q", form, span, part, got, want)
			}
		}
		if p.cache.Hits.Load() == 0 {
			t.Errorf("%s: the cache had nothing", form)
		}
		p.Close()
	}
}

// TestTagOfRows: a tag of some rows of a block is that of the whole block in these rows.
func TestTagOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	const rows = 500
	for range 200 {
		table := &seriesTable{first: []uint32{0}}
		for at := 0; at < rows; {
			at = min(rows, at+1+r.IntN(1<<(1+r.IntN(9))))
			table.first = append(table.first, uint32(at))
		}
		values := &vector.Vector{Type: vector.StringType}
		for i := range 3 {
			values.Append(i, vector.ConstString(fmt.Sprint("v", i)), 0, 1)
		}
		c := &tagColumn{of: seriesRange{0, table.len()}, values: values, codes: make([]uint32, table.len())}
		if r.IntN(2) == 0 {
			c.valid = vector.MakeBitmap(table.len())
		}
		for i := range c.codes {
			if c.codes[i] = uint32(r.IntN(3)); c.valid != nil && r.IntN(2) == 0 {
				c.valid.Set(i)
			}
		}
		first := r.IntN(rows)
		n := 1 + r.IntN(rows-first)
		var some []uint32
		for i := range uint32(n) {
			if r.IntN(9) == 0 {
				some = append(some, i)
			}
		}
		if len(some) == 0 {
			some = []uint32{uint32(r.IntN(n))}
		}
		var whole, got vector.Vector
		c.block(&whole, table, first, n)
		c.rows(&got, table, first, some)
		for i, row := range some {
			null := whole.IsNull(int(row))
			if got.IsNull(i) != null || !null && string(got.Bytes(i)) != string(whole.Bytes(int(row))) {
				t.Fatalf("series at %v, rows %d to %d, row %d: null %t, want %t", table.first, first, first+n, row,
					got.IsNull(i), null)
			}
		}
	}
}
