package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// jsonShape draws values of a JSON column. What most rows of a stretch have in common changes from stretch to stretch,
// as the blocks of a part are kept in the form that suits them.
type jsonShape struct {
	r    *rand.Rand
	keys []string // that objects draw theirs from
	most int      // keys of an object
	odd  int      // one of so many values is no object, or is one that nothing else resembles
	same bool     // objects have nearly the same keys, and each key values of one kind
}

func newJSONShape(r *rand.Rand) *jsonShape {
	s := &jsonShape{r: r, most: 1 + r.IntN(12), odd: []int{2, 20, 1000}[r.IntN(3)], same: r.IntN(2) == 0}
	for i := range []int{1, 7, 40, 90}[r.IntN(4)] { // past 63 they share a stream
		s.keys = append(s.keys, fmt.Sprintf("%s%d",
			[]string{"k", "a.b", "", "größe ", "q\"\\ ", "<&>\u2028"}[r.IntN(6)], i/2*2))
	}
	return s
}

// text is a value as JSON text, in the form that columns have: compact, keys in byte order.
func (s *jsonShape) text() string {
	var v any = s.object(3)
	if s.r.IntN(s.odd) == 0 {
		v = []any{nil, true, -1.5, "text", []any{}, map[string]any{}, []any{map[string]any{"a": 1}, "}"},
			map[string]any{s.word(): s.word()}, "{\"a\":1}",
			map[string]any{"": strings.Repeat("x", s.r.IntN(5000))}}[s.r.IntN(10)]
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if s.r.IntN(10*s.odd) == 0 { // numbers are kept as they were written
		return fmt.Sprintf(`{"n":%s}`, []string{"1e5", "-0", "1.0", "12345678901234567890123", "1E-400"}[s.r.IntN(5)])
	}
	return string(b)
}

func (s *jsonShape) object(depth int) map[string]any {
	o := map[string]any{}
	if s.same {
		for i, k := range s.keys {
			if i%4 > 0 || s.r.IntN(20) > 0 {
				o[k] = s.valueOf(i, depth)
			}
		}
		return o
	}
	for range s.r.IntN(s.most + 1) {
		o[s.keys[s.r.IntN(len(s.keys))]] = s.value(depth)
	}
	return o
}

func (s *jsonShape) value(depth int) any {
	return s.valueOf(s.r.IntN(12), depth)
}

// valueOf is a value of a kind.
func (s *jsonShape) valueOf(kind, depth int) any {
	switch k := kind % 12; {
	case k == 0:
		return nil
	case k == 1:
		return s.r.IntN(2) == 0
	case k < 4:
		return s.r.IntN(1000)
	case k == 4:
		return s.r.NormFloat64()
	case k == 5 && depth > 0:
		return (&jsonShape{r: s.r, keys: s.keys[:1], most: s.most, same: s.same}).object(depth - 1)
	case k == 6 && depth > 0:
		return []any{s.value(depth - 1), s.value(depth - 1)}
	case k == 7:
		return fmt.Sprintf("/shop/%d/items?page=%d", s.r.IntN(1e4), s.r.IntN(9))
	case k == 8:
		return fmt.Sprintf("10.0.%d.%d", s.r.IntN(256), s.r.IntN(256))
	}
	return s.word()
}

func (s *jsonShape) word() string {
	return []string{"", "GET", "error", "a \"quoted\" text", "back\\slash", "lines\nand\ttabs", "\x00\x1f",
		"größe 错误 😀", "{\"a\":1}", "]},", fmt.Sprintf("%x", s.r.Uint64())}[s.r.IntN(11)]
}

// jsonConditions are conditions on a JSON column beside what they mean for its text.
var jsonConditions = []struct {
	op   filter.Op
	arg  string
	pass func(text, arg string) bool
}{
	{filter.Contains, "error", strings.Contains},
	{filter.Contains, `":"`, strings.Contains},
	{filter.Contains, `,"k1`, strings.Contains},
	{filter.Contains, "/items?page=3", strings.Contains},
	{filter.NotContains, "GET", func(text, arg string) bool { return !strings.Contains(text, arg) }},
	{filter.Prefix, `{"`, strings.HasPrefix},
	{filter.Equal, "{}", func(text, arg string) bool { return text == arg }},
	{filter.NotEqual, "null", func(text, arg string) bool { return text != arg }},
	{filter.Term, "GET", func(text, arg string) bool { return filter.NewTerm([]byte(arg)).Match([]byte(text)) }},
	{filter.Like, `%"10.0.7%`, func(text, _ string) bool { return strings.Contains(text, `"10.0.7`) }},
}

// TestJSONColumn: what was written to a JSON column is read, and is found, as it was written: from memory, from parts,
// from both, and from parts that merges wrote or took over, before and after a start.
func TestJSONColumn(t *testing.T) {
	for seed := range effort(1, 2, 15) {
		for _, kind := range []modelKind{appendOnly, lastRow, lastNonNull, noTags} {
			for _, state := range []string{"memory", "half", "parts", "merged"} {
				r := rand.New(rand.NewPCG(uint64(seed), 21))
				o := testOptions(vfs.NewMem())
				e := mustOpen(t, o)
				model := &modelTable{kind: kind, keys: map[string]modelRow{}}
				shape := newJSONShape(r)
				for batch := range 6 {
					if r.IntN(3) == 0 {
						shape = newJSONShape(r)
					}
					rows := jsonRows(r, shape, kind, 100+r.IntN(700))
					if err := put(e, "t", kind, rows); err != nil {
						t.Fatal(err)
					}
					model.put(rows)
					if state == "parts" || state == "merged" || state == "half" && batch == 3 {
						if err := e.Flush(ctx, public("t")); err != nil {
							t.Fatal(err)
						}
					}
				}
				if state == "merged" {
					if err := e.Compact(ctx, public("t")); err != nil {
						t.Fatal(err)
					}
				}
				where := fmt.Sprintf("seed %d, kind %d, %s", seed, kind, state)
				checkJSON(t, e, model, where)
				mustClose(t, e)
				e = mustOpen(t, o)
				checkJSON(t, e, model, where+", after a start")
				mustClose(t, e)
				if t.Failed() {
					return
				}
			}
		}
	}
}

// jsonRows draws rows of which some replace others and some have no value.
func jsonRows(r *rand.Rand, s *jsonShape, kind modelKind, n int) (rows []modelRow) {
	for range n {
		row := modelRow{"ts": r.Int64N(3000), "v": r.Int64N(100)}
		if r.IntN(12) > 0 {
			row["j"] = s.text()
		}
		if kind == lastRow || kind == lastNonNull {
			row["host"] = fmt.Sprint("h", r.IntN(3))
		}
		rows = append(rows, row)
	}
	return rows
}

// checkJSON compares what scans find with the model.
func checkJSON(t *testing.T, e *Engine, model *modelTable, where string) {
	t.Helper()
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	j := tab.Schema.Columns[tab.Schema.Column("j")]
	check := func(what string, q query) {
		t.Helper()
		var want []string
		for _, row := range model.all() {
			if at := row["ts"].(int64); q.time.Holds(at) && q.test(row) {
				want = append(want, row.String())
			}
		}
		slices.Sort(want)
		got, err := scanTable(e, public("t"), q)
		if err != nil {
			t.Errorf("%s: %s: %v", where, what, err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s: %d rows, want %d: %.600s", where, what, len(got), len(want),
				difference(strings.Join(got, "\n"), strings.Join(want, "\n")))
		}
	}
	check("all", everything)
	check("a few", query{time: scan.Range{From: 1000, To: 1003}, test: everything.test})
	check("newest first", query{time: scan.All, test: everything.test, newest: true})
	for _, c := range jsonConditions {
		cond := filter.Cond{Column: j.ID, Op: c.op, Args: vector.ConstBytes(j.Type, []byte(c.arg)), NArgs: 1}
		check(fmt.Sprint("condition ", c.op, " ", c.arg),
			query{time: scan.All, filter: filter.And{cond}, test: func(row modelRow) bool {
				text, ok := row["j"].(string)
				return ok && c.pass(text, c.arg)
			}})
	}
}
