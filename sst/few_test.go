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
