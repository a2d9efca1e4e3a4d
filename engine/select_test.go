package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"varve/engine/invariant"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// labelsOf are the tags of the tables of the model.
func labelsOf(kind modelKind) []string {
	switch kind {
	case metric:
		return labels
	case appendOnly:
		return nil
	}
	return []string{"host"}
}

// modelSeries are samples by labels, column and time, as text.
type modelSeries map[string]map[int64]string

// compareSeries holds what Select and Read give for random matchers, tables, columns and times against the model.
func compareSeries(t *testing.T, e *Engine, m model, r *rand.Rand, when string) {
	t.Helper()
	req := SelectRequest{From: math.MinInt64, To: math.MaxInt64, Presence: r.IntN(3) == 0}
	if r.IntN(2) == 0 {
		req.From = r.Int64N(5000)
		req.To = req.From + r.Int64N(2000)
	}
	var tests []func(modelRow) bool
	for range r.IntN(3) {
		matcher, test := randomMatcher(r)
		req.Matchers = append(req.Matchers, matcher)
		tests = append(tests, test)
	}
	want := modelSeries{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if r.IntN(3) == 0 {
			continue
		}
		table, err := e.Table(public(name))
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		one := SelectTable{Table: table}
		for _, c := range table.Schema.Columns {
			if c.Semantic == schema.Field && r.IntN(4) > 0 {
				one.Columns = append(one.Columns, c.ID)
			}
		}
		want.add(m[name], len(req.Tables), table.Schema, one.Columns, req, tests)
		req.Tables = append(req.Tables, one)
	}
	got, err := readSeries(e, req, 1+r.IntN(100))
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if got, want := got.dump(), want.dump(); got != want {
		t.Fatalf("%s: series of %v from %d to %d:\n%s", when, req.Matchers, req.From, req.To, difference(got, want))
	}
}

func randomMatcher(r *rand.Rand) (Matcher, func(modelRow) bool) {
	label := append(slices.Clone(labels), "nosuch")[r.IntN(len(labels)+1)]
	value := [...]string{"h1", "h2", "h9", "", "h[12]", "h1|h3|", "h.", "h1|h2|h0", ".*", ".+"}[r.IntN(10)]
	op := MatchOp(1 + r.IntN(4))
	return Matcher{label, op, value}, func(row modelRow) bool {
		have, _ := row[label].(string)
		switch op {
		case MatchEqual:
			return have == value
		case MatchNotEqual:
			return have != value
		}
		return regexp.MustCompile("^(?:"+value+")$").MatchString(have) == (op == MatchRegex)
	}
}

// add adds the rows of a table that the tests let pass.
func (s modelSeries) add(m *modelTable, number int, t *schema.Table, columns []schema.ColumnID, req SelectRequest,
	tests []func(modelRow) bool) {
	for _, row := range m.all() {
		at := row["ts"].(int64)
		if at < req.From || at > req.To ||
			slices.ContainsFunc(tests, func(f func(modelRow) bool) bool { return !f(row) }) {
			continue
		}
		var key strings.Builder
		fmt.Fprint(&key, number)
		for _, l := range slices.Sorted(slices.Values(labelsOf(m.kind))) {
			if v, ok := row[l]; ok {
				fmt.Fprintf(&key, " %s=%s", l, v)
			}
		}
		for _, id := range columns {
			name := t.Columns[t.ByID(id)].Name
			if v, ok := row[name]; ok {
				if x, ok := v.(float64); ok && req.Presence && !math.IsNaN(x) {
					v = 0
				}
				s.put(key.String()+": "+name, at, fmt.Sprint(v))
			}
		}
	}
}

func (s modelSeries) put(key string, at int64, v string) {
	if s[key] == nil {
		s[key] = map[int64]string{}
	}
	s[key][at] = v
}

func (s modelSeries) dump() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s:", k)
		for _, at := range slices.Sorted(maps.Keys(s[k])) {
			fmt.Fprintf(&b, " %d=%s", at, s[k][at])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// cutSeries cuts the series into ranges of at most so many rows, or of one series: borders from 0 to Len.
func cutSeries(s *Selection, rows int) []int {
	borders := []int{0}
	sum := 0
	for i := range s.Len() {
		n := s.Rows(i, i+1)
		if sum > 0 && sum+n > rows {
			borders = append(borders, i)
			sum = 0
		}
		sum += max(n, 1)
	}
	if s.Len() > 0 {
		borders = append(borders, s.Len())
	}
	return borders
}

// readSeries reads a selection in ranges of about so many rows, in reverse, and holds it against what its comment
// promises.
func readSeries(e *Engine, req SelectRequest, rows int) (modelSeries, error) {
	reserved := int64(0)
	req.Reserve = func(n int64) error { reserved += n; return nil }
	sel, err := e.Select(ctx, req)
	if err != nil {
		return nil, err
	}
	defer sel.Close()
	out := modelSeries{}
	cut := cutSeries(sel, rows)
	b := BorrowSampleBlock()
	defer b.GiveBack()
	for k := len(cut) - 2; k >= 0; k-- {
		if err := sel.Read(cut[k], cut[k+1], b); err != nil {
			return nil, err
		}
		for i := cut[k]; i < cut[k+1]; i++ {
			if err := out.series(sel, b, req, i); err != nil {
				return nil, err
			}
		}
	}
	if sel.Len() > 0 && (reserved == 0 || len(cut) < 2 || cut[len(cut)-1] != sel.Len()) {
		return nil, fmt.Errorf("%d series, %d bytes reserved, cut at %v", sel.Len(), reserved, cut)
	}
	return out, nil
}

func (s modelSeries) series(sel *Selection, b *SampleBlock, req SelectRequest, i int) error {
	table := req.Tables[sel.Table(i)]
	key := fmt.Sprint(sel.Table(i))
	last := ""
	for _, l := range sel.Labels(i) {
		name := sel.Symbols().String(l.Name)
		if l.Value == 0 || name <= last {
			return fmt.Errorf("label %q after %q with value %d", name, last, l.Value)
		}
		last = name
		key += " " + name + "=" + sel.Symbols().String(l.Value)
	}
	for c, id := range table.Columns {
		column := table.Table.Schema.Columns[table.Table.Schema.ByID(id)]
		name := key + ": " + column.Name
		if s[name] != nil {
			return fmt.Errorf("series %s comes twice", name)
		}
		var times []int64
		if column.Type.Kind() == vector.Bytes {
			at, values := b.Bytes(i, c)
			if times = at; values.Len() != len(at) {
				return fmt.Errorf("series %s has %d times and %d values", name, len(at), values.Len())
			}
			for k, at := range at {
				s.put(name, at, string(values.At(k)))
			}
		} else {
			at, values := b.Floats(i, c)
			if times = at; len(values) != len(at) {
				return fmt.Errorf("series %s has %d times and %d values", name, len(at), len(values))
			}
			for k, at := range at {
				if column.Type.Kind() == vector.Float64 && req.Presence && !math.IsNaN(values[k]) {
					values[k] = 0
				}
				s.put(name, at, fmt.Sprint(values[k]))
			}
		}
		if !slices.IsSortedFunc(times, func(a, b int64) int { return cmp.Or(cmp.Compare(a, b), 1) }) {
			return fmt.Errorf("times of series %s do not rise: %v", name, times)
		}
	}
	return nil
}

// states does f with a store whose rows are in memory, in a part, and merged with others.
func inStates(t *testing.T, e *Engine, name schema.Name, f func(t *testing.T)) {
	t.Run("memory", f)
	if err := e.Flush(ctx, name); err != nil {
		t.Fatal(err)
	}
	t.Run("flushed", f)
	if err := e.Compact(ctx, name); err != nil {
		t.Fatal(err)
	}
	t.Run("compacted", f)
}

// selected describes all series of a table: labels, column, and samples as bits where they are no plain numbers.
func selected(t *testing.T, e *Engine, req SelectRequest) (lines []string) {
	t.Helper()
	sel, err := e.Select(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	defer sel.Close()
	b := BorrowSampleBlock()
	defer b.GiveBack()
	if err := sel.Read(0, sel.Len(), b); err != nil {
		t.Fatal(err)
	}
	for i := range sel.Len() {
		table := req.Tables[sel.Table(i)]
		for c, id := range table.Columns {
			column := table.Table.Schema.Columns[table.Table.Schema.ByID(id)]
			line := column.Name
			for _, l := range sel.Labels(i) {
				line += fmt.Sprintf(" %s=%q", sel.Symbols().String(l.Name), sel.Symbols().String(l.Value))
			}
			line += ":"
			if column.Type.Kind() == vector.Bytes && column.Type.ID != vector.TypeDecimal {
				times, values := b.Bytes(i, c)
				for k, at := range times {
					line += fmt.Sprintf(" %d=%q", at, values.At(k))
				}
			} else {
				times, values := b.Floats(i, c)
				for k, at := range times {
					if line += fmt.Sprintf(" %d=%v", at, values[k]); values[k] != values[k] {
						line += fmt.Sprintf("(%x)", math.Float64bits(values[k]))
					}
				}
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// TestKeptBlock: a block that was given back counts its memory for the next reader and holds nothing of the store; a
// large one is not kept.
func TestKeptBlock(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	list := mustSeries(t, e, named("m", "phys", "l", "1"))
	var set WriteSet
	for at := range 100 {
		set.Samples(list[0], &sampleNames).Float(int64(at), 1)
	}
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
	var b SampleBlock
	req := everyField(t, e, public("m"))
	req.From, req.To = 0, 100
	for range 2 {
		reserved := int64(0)
		req.Reserve = func(n int64) error { reserved += n; return nil }
		sel, err := e.Select(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		found := reserved
		if err := sel.Read(0, sel.Len(), &b); err != nil {
			t.Fatal(err)
		}
		if reserved-found < 1600 || reserved-found > b.bytes() {
			t.Errorf("%d bytes are counted for 100 samples in a block of %d", reserved-found, b.bytes())
		}
		b.empty()
		sel.Close()
		for _, v := range b.stretch.Cols[:cap(b.stretch.Cols)] {
			if v != nil {
				t.Error("the block holds columns of the store")
			}
		}
	}
	if b.times = make([]int64, 0, keptBlock/8); b.empty() {
		t.Errorf("a block of %d bytes is kept", b.bytes())
	}
}

// everyField asks for all samples of a table.
func everyField(t *testing.T, e *Engine, name schema.Name) SelectRequest {
	t.Helper()
	table, err := e.Table(name)
	if err != nil {
		t.Fatal(err)
	}
	one := SelectTable{Table: table}
	for _, c := range table.Schema.Columns {
		if c.Semantic == schema.Field {
			one.Columns = append(one.Columns, c.ID)
		}
	}
	return SelectRequest{Tables: []SelectTable{one}, From: math.MinInt64, To: math.MaxInt64}
}

// writeRows writes rows of columns of given types; tags and the time index are named by the hint.
func writeRows(t *testing.T, e *Engine, name schema.Name, h Hint, types map[string]vector.Type,
	rows ...map[string]any) {
	t.Helper()
	var set WriteSet
	b := set.Rows(name, h)
	for _, row := range rows {
		for _, k := range slices.Sorted(maps.Keys(row)) {
			c, err := b.Column(k, types[k])
			if err != nil {
				t.Fatal(err)
			}
			switch v := row[k].(type) {
			case int:
				c.SetInt(int64(v))
			case uint64:
				c.SetUint(v)
			case float64:
				c.SetFloat(v)
			case bool:
				c.SetBool(v)
			case string:
				c.SetBytes([]byte(v))
			}
		}
		b.EndRow()
	}
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(want, "\n "))
	}
}

// TestSelectUnits: times of every unit come as milliseconds, the range holds in milliseconds, and of rows that share
// one the last counts: the one of the latest instant or, in tables that keep all rows, the one of it that was written
// last.
func TestSelectUnits(t *testing.T) {
	for _, c := range []struct {
		precision uint8
		appends   bool
		at        []int // in the unit, in the order of writing
		want      string
	}{
		{0, false, []int{-2, 1, 2, 3}, "1000=1 2000=2"},
		{3, false, []int{999, 1000, 2999, 3000, 1000}, "1000=4 2999=2"},
		{6, false, []int{999_999, 1_000_000, 1_000_900, 1_000_500, 2_999_999, 3_000_000}, "1000=2 2999=4"},
		{9, false, []int{999_999_999, 1_000_000_000, 2_999_999_998, 2_999_999_999, 3_000_000_000}, "1000=1 2999=3"},
		{3, true, []int{999, 1000, 2999, 3000, 1000}, "1000=4 2999=2"},
		{9, true, []int{1_000_000_900, 1_000_000_100, 2_000_000_000, 2_000_000_000}, "1000=0 2000=3"},
	} {
		t.Run(fmt.Sprint(c.precision, c.appends), func(t *testing.T) {
			e := mustOpen(t, testOptions(vfs.NewMem()))
			defer mustClose(t, e)
			h := hintOf(lastRow)
			if c.appends {
				h = hintOf(appendOnly)
				h.Tags = []string{"host"}
			}
			types := map[string]vector.Type{"host": vector.StringType, "ts": vector.Timestamp(c.precision),
				"v": vector.FloatType}
			for i, at := range c.at { // each by itself: the order of writing counts
				writeRows(t, e, public("t"), h, types, map[string]any{"host": "a", "ts": at, "v": float64(i)})
			}
			inStates(t, e, public("t"), func(t *testing.T) {
				req := everyField(t, e, public("t"))
				req.From, req.To = 1000, 2999
				wantLines(t, selected(t, e, req), `v host="a": `+c.want)
			})
		})
	}
}

// TestSelectLabels: a label that is absent, NULL or empty is the same to matchers and makes the same series; tags of
// other types are their text, also in matchers; rows older than a tag have what the tag was added with.
func TestSelectLabels(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	h := hintOf(lastRow)
	h.Tags = []string{"z", "n", "b"}
	types := map[string]vector.Type{"z": vector.StringType, "n": vector.Int64Type, "b": vector.BoolType,
		"ts": vector.Timestamp(3), "v": vector.FloatType}
	writeRows(t, e, public("t"), h, types,
		map[string]any{"z": "a", "n": -5, "b": true, "ts": 1, "v": 1.0},
		map[string]any{"z": "a\x00b", "n": 7, "ts": 1, "v": 2.0},
		map[string]any{"z": "", "ts": 1, "v": 3.0},
		map[string]any{"ts": 2, "v": 4.0})
	writeRows(t, e, public("t"), h, types, map[string]any{"ts": 1, "v": 5.0})
	if err := e.Alter(ctx, public("t"), func(old *schema.Table) (*schema.Table, error) {
		return old.Evolve([]schema.Column{{Name: "added", Type: vector.StringType, Semantic: schema.Tag, Nullable: true,
			Default: vector.ConstString("first")},
			{Name: "later", Type: vector.StringType, Semantic: schema.Tag, Nullable: true}})
	}); err != nil {
		t.Fatal(err)
	}
	types["added"], types["later"] = vector.StringType, vector.StringType
	h.Tags = append(h.Tags, "added", "later")
	writeRows(t, e, public("t"), h, types,
		map[string]any{"z": "a", "n": -5, "b": true, "added": "first", "later": "x", "ts": 2, "v": 6.0},
		map[string]any{"z": "a", "n": -5, "b": true, "added": "first", "ts": 2, "v": 7.0},
		map[string]any{"z": "c", "added": "", "ts": 2, "v": 8.0})
	a := `v added="first" b="true" n="-5" z="a": 1=1 2=7`
	ab := `v added="first" n="7" z="a\x00b": 1=2`
	none := `v added="first": 1=5 2=4`
	x := `v added="first" b="true" later="x" n="-5" z="a": 2=6`
	c := `v z="c": 2=8`
	inStates(t, e, public("t"), func(t *testing.T) {
		for _, q := range []struct {
			matchers []Matcher
			want     []string
		}{
			{nil, []string{a, ab, none, x, c}},
			{[]Matcher{{"z", MatchEqual, ""}}, []string{none}},
			{[]Matcher{{"z", MatchNotEqual, ""}}, []string{a, ab, x, c}},
			{[]Matcher{{"n", MatchEqual, "-5"}}, []string{a, x}},
			{[]Matcher{{"n", MatchRegex, "[0-9]*"}}, []string{ab, none, c}},
			{[]Matcher{{"b", MatchEqual, "true"}, {"later", MatchEqual, ""}}, []string{a}},
			{[]Matcher{{"z", MatchRegex, "a.b"}}, []string{ab}},
			{[]Matcher{{"z", MatchRegex, "a|c"}}, []string{a, x, c}},
			{[]Matcher{{"z", MatchNotRegex, "a.*"}}, []string{none, c}},
			{[]Matcher{{"added", MatchEqual, ""}}, []string{c}},
			{[]Matcher{{"added", MatchEqual, "first"}, {"z", MatchRegex, "a+"}}, []string{a, x}},
			{[]Matcher{{"nosuch", MatchEqual, "x"}}, nil},
			{[]Matcher{{"nosuch", MatchRegex, "x*"}, {"later", MatchEqual, "x"}}, []string{x}},
		} {
			req := everyField(t, e, public("t"))
			req.Matchers = q.matchers
			wantLines(t, selected(t, e, req), q.want...)
		}
	})
}

// TestSelectWantedLabels: series have no labels but those that are wanted, unless keys of a table may have the same
// ones: then they are one series, as they are with all labels.
func TestSelectWantedLabels(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	h := hintOf(lastRow)
	h.Tags = []string{"host", "zone", "n"}
	types := map[string]vector.Type{"host": vector.StringType, "zone": vector.StringType, "n": vector.Int64Type,
		"ts": vector.Timestamp(3), "v": vector.FloatType}
	writeRows(t, e, public("t"), h, types, map[string]any{"host": "a", "zone": "z", "n": 1, "ts": 1, "v": 1.0},
		map[string]any{"host": "b", "zone": "z", "n": 1, "ts": 1, "v": 2.0})
	writeRows(t, e, public("empty"), h, types, map[string]any{"host": "a", "zone": "", "n": 1, "ts": 1, "v": 1.0},
		map[string]any{"host": "a", "n": 1, "ts": 2, "v": 2.0},
		map[string]any{"host": "b", "n": 1, "ts": 2, "v": 3.0})
	for _, c := range []struct {
		table  string
		labels []string
		want   []string
	}{
		{"t", nil, []string{`v host="a" n="1" zone="z": 1=1`, `v host="b" n="1" zone="z": 1=2`}},
		{"t", []string{"zone", "nosuch"}, []string{`v n="1" zone="z": 1=1`, `v n="1" zone="z": 1=2`}},
		{"t", []string{}, []string{`v n="1": 1=1`, `v n="1": 1=2`}}, // numbers are named whatever is wanted
		{"empty", []string{"n"}, []string{`v host="a" n="1": 1=1 2=2`, `v host="b" n="1": 2=3`}},
	} {
		inStates(t, e, public(c.table), func(t *testing.T) {
			req := everyField(t, e, public(c.table))
			req.Labels = c.labels
			wantLines(t, selected(t, e, req), c.want...)
			req.Matchers = []Matcher{{"host", MatchEqual, "a"}}
			wantLines(t, selected(t, e, req), c.want[0])
		})
	}
}

// TestLabelValues: values of a label come out of all parts and memtables, of several tables at once, in the form that
// labels have.
func TestLabelValues(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	for _, name := range []string{"cpu", "mem"} {
		if err := put(e, name, metric, []modelRow{{"ts": int64(1), "host": name, "zone": "z", "value": 1.0},
			{"ts": int64(1), "host": "", "value": 1.0}}); err != nil {
			t.Fatal(err)
		}
	}
	h := hintOf(lastRow)
	h.Tags = []string{"host", "n"}
	types := map[string]vector.Type{"host": vector.StringType, "n": vector.Int64Type, "ts": vector.Timestamp(3),
		"v": vector.FloatType}
	writeRows(t, e, public("t"), h, types, map[string]any{"host": "t", "n": -7, "ts": 1, "v": 1.0})
	if err := e.Flush(ctx, public("t")); err != nil {
		t.Fatal(err)
	}
	writeRows(t, e, public("t"), h, types, map[string]any{"host": "cpu", "n": 12, "ts": 1, "v": 1.0})
	inStates(t, e, public("phys"), func(t *testing.T) {
		for _, c := range []struct{ tables, label, want string }{
			{"cpu mem t", "host", "cpu mem t"}, {"cpu t", "host", "cpu t"}, {"mem", "host", "mem"},
			{"mem t", "zone", "z"}, {"t cpu", "n", "-7 12"},
			{"phys", "host", "cpu mem"}, {"t", "nosuch", ""},
		} {
			var tables []*Table
			for _, name := range strings.Fields(c.tables) {
				table, err := e.Table(public(name))
				if err != nil {
					t.Fatal(err)
				}
				tables = append(tables, table)
			}
			got, err := e.LabelValues(ctx, tables, c.label, nil)
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("label %s of %s: %q, %v; want %s", c.label, c.tables, got, err, c.want)
			}
		}
	})
}

// TestSelectValues: numbers of all kinds come as floats, NaN with their bits, and NULL is no sample.
func TestSelectValues(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	types := map[string]vector.Type{"ts": vector.Timestamp(3), "host": vector.StringType, "f": vector.FloatType,
		"f32": vector.Float32Type, "i": vector.Int8Type,
		"u": vector.Uint64Type, "b": vector.BoolType, "d": {ID: vector.TypeDecimal, Precision: 10, Scale: 2},
		"t": vector.Timestamp(3), "x": vector.BinaryType}
	const stale = 0x7ff0000000000002
	decimal := append([]byte{0x85, 0xff}, strings.Repeat("\xff", 14)...) // -1.23
	writeRows(t, e, public("t"), hintOf(lastRow), types,
		map[string]any{"host": "a", "ts": 1, "f": 1.5, "f32": 0.5, "i": -3, "u": uint64(math.MaxUint64), "b": true,
			"d": string(decimal), "t": 77, "x": "\x00\x01"},
		map[string]any{"host": "a", "ts": 2, "f": math.Float64frombits(stale), "b": false},
		map[string]any{"host": "a", "ts": 3, "x": "", "i": 4})
	inStates(t, e, public("t"), func(t *testing.T) {
		wantLines(t, selected(t, e, everyField(t, e, public("t"))), `f host="a": 1=1.5 2=NaN(7ff0000000000002)`,
			`f32 host="a": 1=0.5`, `i host="a": 1=-3 3=4`,
			`u host="a": 1=1.8446744073709552e+19`, `b host="a": 1=1 2=0`, `d host="a": 1=-1.23`, `t host="a": 1=77`,
			`x host="a": 1="\x00\x01" 3=""`)
	})
}

// TestSelectPresence: where values do not count, each sample is there all the same, and NaN has its bits.
func TestSelectPresence(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	types := map[string]vector.Type{"ts": vector.Timestamp(3), "host": vector.StringType, "v": vector.FloatType,
		"n": vector.FloatType, "gaps": vector.FloatType}
	const stale = 0x7ff0000000000002
	writeRows(t, e, public("t"), hintOf(lastRow), types,
		map[string]any{"host": "a", "ts": 1, "v": 1.0, "n": math.Float64frombits(stale), "gaps": 1.0},
		map[string]any{"host": "a", "ts": 2, "v": 2.0, "n": 2.0},
		map[string]any{"host": "b", "ts": 2, "v": math.Inf(1), "n": math.Inf(-1), "gaps": 3.0})
	inStates(t, e, public("t"), func(t *testing.T) {
		req := everyField(t, e, public("t"))
		req.Presence = true
		number := regexp.MustCompile(`=[-+]?(Inf|[0-9.]+)( |$)`)
		var got []string
		for _, line := range selected(t, e, req) {
			got = append(got, number.ReplaceAllString(number.ReplaceAllString(line, "=x$2"), "=x$2"))
		}
		wantLines(t, got, `v host="a": 1=x 2=x`, `v host="b": 2=x`, `n host="a": 1=NaN(7ff0000000000002) 2=x`,
			`n host="b": 2=x`, `gaps host="a": 1=x`, `gaps host="b": 2=x`)
	})
}

// TestSelectPhysical: a physical table shows the series of all its logical ones.
func TestSelectPhysical(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	for i, name := range []string{"cpu", "mem"} {
		if err := put(e, name, metric, []modelRow{{"ts": int64(i), "host": "h", "value": float64(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	cpu, err := e.Table(public("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	hash := schema.KeyHash(schema.AppendSeriesKey(nil, cpu.Schema.ID,
		[]schema.ColumnID{cpu.Schema.Columns[cpu.Schema.Column("host")].ID}, [][]byte{[]byte("h")}))
	inStates(t, e, public("phys"), func(t *testing.T) {
		req := everyField(t, e, public("phys"))
		lines := selected(t, e, req)
		line := fmt.Sprintf(`service_value __table_id="%d" __tsid="%d" host="h": 0=0`, cpu.Schema.ID, hash)
		if len(lines) != 2 || !slices.Contains(lines, line) {
			t.Errorf("got\n%s\nwant one of them %s", strings.Join(lines, "\n"), line)
		}
		req.Matchers = []Matcher{{"__table_id", MatchEqual, fmt.Sprint(cpu.Schema.ID)}, {"host", MatchEqual, "h"}}
		wantLines(t, selected(t, e, req), line)
	})
}

// TestSelectEnds: a selection ends with its request, with what its budget says, and a bad expression is the caller's
// fault.
func TestSelectEnds(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	var rows []modelRow
	for i := range 100 {
		rows = append(rows, modelRow{"ts": int64(i), "host": fmt.Sprint(i % 10), "v": int64(i)})
	}
	if err := put(e, "last", lastRow, rows); err != nil {
		t.Fatal(err)
	}
	inStates(t, e, public("last"), func(t *testing.T) {
		req := everyField(t, e, public("last"))
		over, cancel := context.WithCancel(ctx)
		sel, err := e.Select(over, req)
		if err != nil {
			t.Fatal(err)
		}
		defer sel.Close()
		cancel()
		var b SampleBlock
		defer b.Release()
		for i := 0; err == nil; i++ {
			if err = sel.Read(0, sel.Len(), &b); i > 1000 {
				t.Fatal("reading goes on after the request has ended")
			}
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("reading ends with %v", err)
		}
		if _, err := e.Select(over, req); !errors.Is(err, context.Canceled) {
			t.Errorf("finding ends with %v", err)
		}
		full := errors.New("full")
		for limit := int64(0); ; limit += 512 {
			used := int64(0)
			req.Reserve = func(n int64) error {
				if used += n; used > limit {
					return full
				}
				return nil
			}
			sel, err := e.Select(ctx, req)
			if err == nil {
				err = sel.Read(0, sel.Len(), &b)
				sel.Close()
			}
			if err == nil {
				if limit < 1600 {
					t.Errorf("100 samples take %d bytes", limit)
				}
				break
			}
			if !errors.Is(err, full) {
				t.Fatal(err)
			}
			b.Release()
			b = SampleBlock{}
		}
		req.Matchers = []Matcher{{"host", MatchRegex, "("}}
		if _, err := e.Select(ctx, req); status.Of(err) != status.InvalidArguments {
			t.Errorf("a bad expression is %v", err)
		}
	})
	if n := e.reading.open.Load(); n != 0 {
		t.Errorf("%d scans are under way", n)
	}
}

// TestSelectCountsRowsInMemory: what a selection keeps of the rows of memtables is reserved before it is made.
func TestSelectCountsRowsInMemory(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	list := mustSeries(t, e, named("m", "phys", "l", "1"), named("m", "phys", "l", "2"))
	var set WriteSet
	const rows = 10_000
	for at := range rows { // rows of a series that lie together would take no memory of their own
		for i, x := range list {
			set.Samples(x, &sampleNames).Float(int64(at), float64(i))
		}
	}
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
	tab, err := e.Table(public("m"))
	if err != nil {
		t.Fatal(err)
	}
	reserved, full := int64(0), errors.New("full")
	req := SelectRequest{Tables: []SelectTable{{Table: tab}}, From: 0, To: rows,
		Reserve: func(n int64) error { reserved += n; return nil }}
	sel, err := e.Select(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	sel.Close()
	least := int64(16 * len(list) * rows)
	if invariant.On {
		least = 256 // few rows may be sorted as they come; those of a series then lie together
	}
	if reserved < least {
		t.Errorf("%d bytes are reserved for %d rows", reserved, len(list)*rows)
	}
	req.Reserve = func(n int64) error {
		if n > 200 {
			return full
		}
		return nil
	}
	if _, err := e.Select(ctx, req); !errors.Is(err, full) {
		t.Errorf("without memory: %v", err)
	}
}
