package scantest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// Conform holds a run against the rows that it was made of. rounds is the number of random readers of each kind.
func Conform(t *testing.T, r *rand.Rand, d *Data, run scan.Run, rounds int) {
	t.Helper()
	t.Run("shape", func(t *testing.T) { d.shape(t, run) })
	for i := range rounds {
		spec := d.spec(r)
		want := d.passing(t, spec)
		t.Run(fmt.Sprint("scan ", i), func(t *testing.T) { d.scans(t, r, run, spec, want) })
		t.Run(fmt.Sprint("series ", i), func(t *testing.T) { d.series(t, r, run, spec, want) })
		t.Run(fmt.Sprint("bounds ", i), func(t *testing.T) { d.bounds(t, r, run, spec, want) })
		t.Run(fmt.Sprint("find ", i), func(t *testing.T) { d.finds(t, r, run) })
	}
}

// shape holds what a run says of itself without reading rows.
func (d *Data) shape(t *testing.T, run scan.Run) {
	if run.Rows() != len(d.rows) {
		t.Errorf("%d rows, want %d", run.Rows(), len(d.rows))
	}
	lo, hi := d.rows[0].time(), d.rows[0].time()
	for _, w := range d.rows {
		lo, hi = min(lo, w.time()), max(hi, w.time())
	}
	if got := run.Span(); got != (scan.Range{From: lo, To: hi}) {
		t.Errorf("times are in %v, want %d to %d", got, lo, hi)
	}
	rows := 0
	for i := range run.Blocks() {
		n, span := run.Block(i)
		if rows += n; n <= 0 || span.From > span.To || span.From < lo || span.To > hi {
			t.Errorf("block %d has %d rows in %v", i, n, span)
		}
	}
	if rows != len(d.rows) {
		t.Errorf("the blocks have %d rows, want %d", rows, len(d.rows))
	}
	for _, c := range []schema.Column{Time, Float, Text, Int} {
		d.stat(t, run, c)
	}
	d.tagValues(t, run, Host)
	d.tagValues(t, run, Shard)
}

// tagValues holds that each value of a tag is told, and no other.
func (d *Data) tagValues(t *testing.T, run scan.Run, tag schema.Column) {
	want, got := map[string]bool{}, map[string]bool{}
	for _, w := range d.rows {
		if x := w.value(tag); x != nil {
			want[string(schema.AppendTag(nil, vectorOf(tag, x), 0))] = true
		}
	}
	tables := []schema.TableID{Table.ID - 1, Table.ID, Table.ID + 1}
	if err := run.TagValues(context.Background(), tables, tag,
		func(val []byte) { got[string(val)] = true }); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		t.Errorf("tag %s has values %q, want %q", tag.Name, slices.Sorted(maps.Keys(got)),
			slices.Sorted(maps.Keys(want)))
	}
	if err := run.TagValues(context.Background(), tables[2:], tag,
		func(val []byte) { t.Errorf("another table has value %q", val) }); err != nil {
		t.Fatal(err)
	}
}

// stat holds that statistics are exact where there are any.
func (d *Data) stat(t *testing.T, run scan.Run, c schema.Column) {
	s, ok, err := run.Stat(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return
	}
	count := 0
	for _, w := range d.rows {
		x := w.value(c)
		if x == nil {
			continue
		}
		count++
		one := vectorOf(c, x)
		if filter.Compare(one, 0, s.Min, 0) < 0 || filter.Compare(one, 0, s.Max, 0) > 0 {
			t.Errorf("column %s: %v lies outside of the bounds", c.Name, x)
		}
	}
	if s.Count != count {
		t.Errorf("column %s has %d values, want %d", c.Name, s.Count, count)
	}
}

// spec draws what a reader wants.
func (d *Data) spec(r *rand.Rand) *scan.Spec {
	all := []schema.Column{Time, Host, Shard, Float, Text, Int, Late, schema.SequenceColumn, schema.KindColumn}
	s := &scan.Spec{TimeColumn: Time, Time: scan.All, FilterColumns: all[:7], Newest: r.IntN(3) == 0,
		Stats: &scan.Stats{}}
	for _, c := range all {
		if r.IntN(3) > 0 {
			s.Columns = append(s.Columns, c)
		}
	}
	s.Columns = append(s.Columns, Time, schema.SequenceColumn) // they tell rows apart
	if r.IntN(2) == 0 {
		s.Time.From = r.Int64N(2000)
		s.Time.To = s.Time.From + r.Int64N(500)
	}
	if r.IntN(2) == 0 {
		s.Memo = &scan.Memo{}
	}
	switch r.IntN(4) {
	case 0:
		s.KeyPrefix = schema.KeyPrefix(Table.ID)
	case 1:
		s.KeyPrefix = schema.AppendKeyTag(schema.KeyPrefix(Table.ID), Host.ID, fmt.Append(nil, "h", r.IntN(4)))
	}
	for range r.IntN(3) {
		s.Filter = append(s.Filter, condition(r, true))
	}
	return s
}

// condition draws a condition; deep: it may be a choice among others.
func condition(r *rand.Rand, deep bool) filter.Cond {
	with := func(c schema.Column, op filter.Op, x any) filter.Cond {
		return filter.Cond{Column: c.ID, Op: op, Args: vectorOf(c, x), NArgs: 1}
	}
	switch k := r.IntN(9); {
	case k == 0 && deep:
		return filter.Cond{Op: filter.AnyOf,
			Any: []filter.And{{condition(r, false)}, {condition(r, false), condition(r, false)}}}
	case k <= 1:
		return with(Host, []filter.Op{filter.Equal, filter.NotEqual, filter.Prefix}[r.IntN(3)],
			fmt.Sprint("h", r.IntN(4)))
	case k == 2:
		return with(Shard, []filter.Op{filter.Equal, filter.Less, filter.GreaterEqual}[r.IntN(3)], r.Int64N(10)-5)
	case k == 3:
		return filter.Cond{Column: []schema.Column{Host, Shard, Float, Text}[r.IntN(4)].ID,
			Op: []filter.Op{filter.IsNull, filter.IsNotNull}[r.IntN(2)]}
	case k == 4:
		return with(Float, []filter.Op{filter.Less, filter.LessEqual, filter.Greater}[r.IntN(3)],
			float64(r.IntN(100))/4)
	case k == 5:
		return with(Text, []filter.Op{filter.Equal, filter.Contains, filter.Term, filter.NotContains}[r.IntN(4)],
			fmt.Sprint(r.IntN(30)))
	case k == 6:
		return with(Late, filter.Equal, r.Int64N(2)+41)
	}
	return with(Int, []filter.Op{filter.Less, filter.GreaterEqual, filter.NotEqual}[r.IntN(3)], r.Int64N(1000))
}

// vectorOf is a value as a Const vector; nil: NULL.
func vectorOf(c schema.Column, x any) *vector.Vector {
	switch x := x.(type) {
	case int64:
		return vector.ConstInt(c.Type, x)
	case uint64:
		return vector.ConstUint(c.Type, x)
	case float64:
		return vector.ConstFloat(c.Type, x)
	case string:
		return vector.ConstBytes(c.Type, []byte(x))
	}
	return vector.ConstNull(c.Type)
}

// passing returns the rows that a reader must get.
func (d *Data) passing(t *testing.T, s *scan.Spec) (rows []row) {
	t.Helper()
	for _, w := range d.rows {
		keep := vector.Bitmap{1}
		err := s.Filter.Eval(1, func(id schema.ColumnID) *vector.Vector {
			c := s.FilterColumns[slices.IndexFunc(s.FilterColumns, func(c schema.Column) bool { return c.ID == id })]
			return vectorOf(c, w.value(c))
		}, keep)
		if err != nil {
			t.Fatal(err)
		}
		if keep[0] == 1 && s.Time.Holds(w.time()) && bytes.HasPrefix(w.key, s.KeyPrefix) {
			rows = append(rows, w)
		}
	}
	return rows
}

// line prints a row as a reader's batch has it.
func (w row) line(columns []schema.Column) string {
	var b strings.Builder
	for _, c := range columns {
		fmt.Fprintf(&b, "%v|", w.value(c))
	}
	return b.String()
}

func lines(rows []row, columns []schema.Column) (out []string) {
	for _, w := range rows {
		out = append(out, w.line(columns))
	}
	return out
}

// appendLines prints the rows of a batch after a look at its form.
func appendLines(t *testing.T, dst []string, b *vector.Batch, columns []schema.Column) []string {
	t.Helper()
	if b.N == 0 || b.N > vector.Size || len(b.Cols) != len(columns) {
		t.Fatalf("a batch of %d rows and %d columns, want %d", b.N, len(b.Cols), len(columns))
	}
	for i := range b.N {
		var s strings.Builder
		for k, v := range b.Cols {
			if v.Type != columns[k].Type {
				t.Fatalf("column %s is %s, want %s", columns[k].Name, v.Type, columns[k].Type)
			}
			fmt.Fprintf(&s, "%v|", valueOf(v, i))
		}
		dst = append(dst, s.String())
	}
	return dst
}

func valueOf(v *vector.Vector, i int) any {
	if v.IsNull(i) {
		return nil
	}
	switch v.Type.Kind() {
	case vector.Int64:
		return v.Int(i)
	case vector.Uint64:
		return v.Uint(i)
	case vector.Float64:
		return v.Float(i)
	}
	return string(v.Bytes(i))
}

// same fails unless the lines are equal.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: row %d is %s, want %s", what, i, got[i], want[i])
		}
	}
}

// scans reads a run by cursors: one over everything, and many over its pieces at the same time. Order between rows is
// the run's.
func (d *Data) scans(t *testing.T, r *rand.Rand, run scan.Run, spec *scan.Spec, want []row) {
	wanted := lines(want, spec.Columns)
	slices.Sort(wanted)
	got := d.drain(t, run, spec)
	slices.Sort(got)
	same(t, "cursor", got, wanted)
	if n := spec.Stats.RowsOut.Load(); n != int64(len(want)) {
		t.Errorf("statistics count %d rows, want %d", n, len(want))
	}
	var mu sync.Mutex
	var wait sync.WaitGroup
	var pieces []string
	for from := 0; from < run.Blocks(); {
		piece := *spec
		piece.Pieces = &scan.Pieces{From: from, To: min(from+1+r.IntN(3), run.Blocks())}
		from = piece.Pieces.To
		wait.Go(func() {
			some := d.drain(t, run, &piece)
			mu.Lock()
			defer mu.Unlock()
			pieces = append(pieces, some...)
		})
	}
	wait.Wait()
	slices.Sort(pieces)
	same(t, "pieces", pieces, wanted)
}

func (d *Data) drain(t *testing.T, run scan.Run, spec *scan.Spec) (out []string) {
	c, err := run.Scan(spec)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer c.Close()
	var b vector.Batch
	for {
		ok, err := c.Next(&b)
		if err != nil {
			t.Error(err)
		}
		if err != nil || !ok {
			return out
		}
		out = appendLines(t, out, &b, spec.Columns)
	}
}

// series walks a run by series: whole, and cut by Split into ranges of keys.
func (d *Data) series(t *testing.T, r *rand.Rand, run scan.Run, spec *scan.Spec, want []row) {
	wanted := lines(want, spec.Columns)
	same(t, "walk", d.walk(t, run, spec), wanted)
	n := 1 + r.IntN(6)
	cuts, err := run.Split(context.Background(), spec.KeyPrefix, n)
	if err != nil || len(cuts) > n-1 {
		t.Fatalf("%d cuts for %d ranges, %v", len(cuts), n, err)
	}
	var got []string
	var from []byte
	for i := range len(cuts) + 1 {
		piece := *spec
		piece.Keys.From = from
		if i < len(cuts) {
			piece.Keys.To = cuts[i]
			if from != nil && bytes.Compare(from, cuts[i]) >= 0 {
				t.Fatalf("cut %x behind %x", cuts[i], from)
			}
			from = cuts[i]
		}
		got = append(got, d.walk(t, run, &piece)...)
	}
	same(t, "ranges of keys", got, wanted)
}

func (d *Data) walk(t *testing.T, run scan.Run, spec *scan.Spec) (out []string) {
	t.Helper()
	w, err := run.Series(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var last []byte
	var b vector.Batch
	for {
		key, ok, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return out
		}
		if last != nil && bytes.Compare(last, key) >= 0 || !bytes.HasPrefix(key, spec.KeyPrefix) ||
			!spec.Keys.Holds(key) {
			t.Fatalf("series %x comes behind %x", key, last)
		}
		last = bytes.Clone(key)
		before := len(out)
		for {
			ok, err := w.Rows(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			out = appendLines(t, out, &b, spec.Columns)
		}
		if len(out) == before {
			t.Fatalf("series %x comes without rows", key)
		}
	}
}

// finds finds series by random tests of their tags and reads them in reverse.
func (d *Data) finds(t *testing.T, r *rand.Rand, run scan.Run) {
	want := &scan.Find{Tables: []schema.TableID{Table.ID - 1, Table.ID, Table.ID + 1}, Time: scan.All, TimeColumn: Time,
		Columns: []schema.Column{Float, Late, Text}, Presence: r.IntN(3) == 0}
	if r.IntN(2) == 0 {
		want.Time.From = r.Int64N(2000)
		want.Time.To = want.Time.From + r.Int64N(500)
	}
	for range r.IntN(3) {
		want.Tests = append(want.Tests, tagTest(r))
	}
	f, err := run.Find(want)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := f.Keys()
	if err != nil {
		t.Fatal(err)
	}
	found := make([]string, f.Len())
	for i := range found {
		key, err := keys.Next()
		if err != nil || i > 0 && string(key) <= found[i-1] {
			t.Fatalf("key %x comes behind %x, %v", key, found[max(i-1, 0)], err)
		}
		found[i] = string(key)
	}
	read := d.readFound(t, f, want)
	for from := 0; from < len(d.rows); {
		to := from + 1
		for to < len(d.rows) && bytes.Equal(d.rows[to].key, d.rows[from].key) {
			to++
		}
		rows := slices.Clone(d.rows[from:to])
		rows = slices.DeleteFunc(rows, func(w row) bool { return !want.Time.Holds(w.time()) })
		if want.Presence {
			for i := range rows {
				rows[i].values = maps.Clone(rows[i].values)
				rows[i].values[Float.ID] = presence(rows[i].values[Float.ID])
			}
		}
		i, ok := slices.BinarySearch(found, string(d.rows[from].key))
		switch pass := passes(want.Tests, d.rows[from]); {
		case ok && !pass:
			t.Fatalf("series %x was found and does not pass", d.rows[from].key)
		case !ok && pass && len(rows) > 0:
			t.Fatalf("series %x with %d rows was not found", d.rows[from].key, len(rows))
		case ok:
			same(t, "rows of a series", read[i],
				lines(rows, []schema.Column{Time, Float, Late, Text, schema.SequenceColumn, schema.KindColumn}))
		}
		from = to
	}
}

// presence is what is left of a float where no more than its presence is wanted.
func presence(x any) any {
	if f, ok := x.(float64); ok && !math.IsNaN(f) {
		return 0.0
	}
	return x
}

// readFound reads series in reverse.
func (d *Data) readFound(t *testing.T, f scan.Found, want *scan.Find) [][]string {
	t.Helper()
	rows, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := make([][]string, f.Len())
	for i := f.Len() - 1; i >= 0; i-- {
		if err := rows.Begin(i, want.Time); err != nil {
			t.Fatal(err)
		}
		var s scan.Stretch
		for {
			ok, err := rows.Next(&s)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			kinds, err := rows.Kinds(&s)
			if err != nil {
				t.Fatal(err)
			}
			seqs, err := rows.Sequences(&s)
			if err != nil {
				t.Fatal(err)
			}
			for k := s.From; k < s.To; k++ {
				line := fmt.Sprintf("%v|", s.Times[k-s.From])
				for c, v := range append(slices.Clone(s.Cols), seqs, kinds) {
					x := valueOf(v, k)
					if c == 0 && want.Presence {
						x = presence(x)
					}
					line += fmt.Sprintf("%v|", x)
				}
				out[i] = append(out[i], line)
			}
		}
		if len(out[i]) > f.Rows(i) {
			t.Fatalf("%d rows of a series, the bound is %d", len(out[i]), f.Rows(i))
		}
	}
	return out
}

// tagTest draws a test of a tag.
func tagTest(r *rand.Rand) scan.TagTest {
	test := scan.TagTest{Column: Host, Null: r.IntN(2) == 0,
		Values: [][]byte{[]byte("h1"), []byte("h3"), []byte("nowhere")}}
	if r.IntN(2) == 0 {
		test.Column, test.Values = Shard, [][]byte{schema.AppendKeyInt(nil, -4), schema.AppendKeyInt(nil, 0)}
	}
	switch r.IntN(3) {
	case 0:
		test.Values, test.Match = nil, func(val []byte) bool { return val[len(val)-1]%2 == 0 }
	case 1:
		test.Null = false
	}
	return test
}

// passes reports whether the series of a row passes all tests.
func passes(tests []scan.TagTest, w row) bool {
	return !slices.ContainsFunc(tests, func(test scan.TagTest) bool {
		x := w.value(test.Column)
		if x == nil {
			return !test.Null
		}
		return !test.Passes(schema.AppendTag([]byte{}, vectorOf(test.Column, x), 0))
	})
}
