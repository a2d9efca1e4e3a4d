package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// The model is what the store must hold: rows by table as plain maps. The tests drive a store and the model with the
// same random operations and compare.

// cell values are int64, float64 or string; a missing name is NULL.
type modelRow map[string]any

func (r modelRow) String() string {
	names := make([]string, 0, 16)
	for k := range r {
		names = append(names, k)
	}
	slices.Sort(names)
	var s []byte
	for _, k := range names {
		s = append(append(append(s, ' '), k...), '=')
		switch v := r[k].(type) {
		case int64:
			s = strconv.AppendInt(s, v, 10)
		case float64:
			s = strconv.AppendFloat(s, v, 'g', -1, 64)
		case string:
			s = append(s, v...)
		}
	}
	return string(s)
}

// kind of table: how equal keys are treated.
type modelKind int

const (
	appendOnly modelKind = iota
	lastRow
	lastNonNull
	metric // a logical table of the physical table "phys"
	noTags // lastRow of one series
)

type modelTable struct {
	kind modelKind
	rows []modelRow          // appendOnly: all rows
	keys map[string]modelRow // otherwise: the row of each key
}

func (t *modelTable) clone() *modelTable {
	c := &modelTable{kind: t.kind, rows: slices.Clone(t.rows), keys: map[string]modelRow{}}
	for k, r := range t.keys {
		c.keys[k] = maps.Clone(r)
	}
	return c
}

// rowKey is the key of a row: host and time, of metrics all labels and time.
func (t *modelTable) rowKey(r modelRow) string {
	key := fmt.Sprint(r["host"], "|", r["ts"])
	if t.kind == metric {
		for _, l := range labels {
			key += fmt.Sprint("|", r[l])
		}
	}
	return key
}

// labels are the tags of metrics.
var labels = []string{"host", "zone", "l0", "l1", "l2", "l3"}

func (t *modelTable) put(rows []modelRow) {
	for _, r := range rows {
		switch old, ok := t.keys[t.rowKey(r)]; {
		case t.kind == appendOnly:
			t.rows = append(t.rows, r)
		case t.kind != lastNonNull || !ok:
			t.keys[t.rowKey(r)] = maps.Clone(r)
		default:
			maps.Copy(old, r)
		}
	}
}

func (t *modelTable) all() []modelRow {
	if t.kind == appendOnly {
		return t.rows
	}
	return slices.Collect(maps.Values(t.keys))
}

// model is the state of a store by table name.
type model map[string]*modelTable

func (m model) clone() model {
	c := model{}
	for n, t := range m {
		c[n] = t.clone()
	}
	return c
}

func (m model) dump() string {
	var s strings.Builder
	for _, n := range slices.Sorted(maps.Keys(m)) {
		var lines []string
		for _, r := range m[n].all() {
			lines = append(lines, r.String())
		}
		slices.Sort(lines)
		fmt.Fprintf(&s, "%s:\n", n)
		for _, l := range lines {
			fmt.Fprintf(&s, "  %s\n", l)
		}
	}
	return s.String()
}

// op is one operation on both sides. change is nil when it changes no rows.
type op struct {
	name   string
	run    func(e *Engine) error
	change func(m model)
	// first is what may have happened of it when it failed: nil when nothing.
	first func(m model)
}

// outcomes are the states that the store may be in after the operation failed.
func (o op) outcomes(before model) []model {
	all := []model{before}
	for _, f := range []func(model){o.first, o.change} {
		if f != nil {
			m := before.clone()
			f(m)
			all = append(all, m)
		}
	}
	return all
}

var ctx = context.Background()

func public(table string) schema.Name { return schema.Name{DB: "public", Table: table} }

func hintOf(kind modelKind) Hint {
	given := map[string]string{"compaction.twcs.time_window": "1010ms"} // cuts clusters of times, see rows
	h := Hint{AutoCreate: true, TimeIndex: "ts"}
	switch kind {
	case appendOnly:
		given["append_mode"] = "true"
	case lastNonNull:
		given["merge_mode"] = "last_non_null"
	case metric:
		given = map[string]string{"physical_table": "phys"}
	}
	switch kind {
	case lastRow, lastNonNull:
		h.Tags = []string{"host"}
	case metric:
		h.Tags = labels
	}
	var err error
	if h.Options, err = schema.ParseOptions(given); err != nil {
		panic(err)
	}
	return h
}

func typeOf(name string) vector.Type {
	switch {
	case name == "ts":
		return vector.Timestamp(3)
	case slices.Contains(labels, name) || strings.HasPrefix(name, "s"):
		return vector.StringType
	case strings.HasPrefix(name, "j"):
		return vector.JSONType
	case name == "value":
		return vector.FloatType
	}
	return vector.Int64Type
}

// fill puts rows into a builder; the time index is the first column.
func fill(b *vector.Builder, rows []modelRow) error {
	if _, err := b.Column("ts", typeOf("ts")); err != nil {
		return err
	}
	b.Pin()
	for _, r := range rows {
		for _, k := range slices.Sorted(maps.Keys(r)) {
			c, err := b.Column(k, typeOf(k))
			if err != nil {
				return err
			}
			switch v := r[k].(type) {
			case int64:
				c.SetInt(v)
			case float64:
				c.SetFloat(v)
			case string:
				c.SetString(v)
			}
		}
		b.EndRow()
	}
	return nil
}

func put(e *Engine, table string, kind modelKind, rows []modelRow) error {
	var set WriteSet
	if err := fill(set.Rows(public(table), hintOf(kind)), rows); err != nil {
		return err
	}
	out, err := e.Write(ctx, &set)
	if err == nil && (len(out) != 1 || out[0].Rows != len(rows)) {
		err = fmt.Errorf("%d rows written, answer %v", len(rows), out)
	}
	return err
}

func (t *modelTable) remove(keys []modelRow) {
	for _, k := range keys {
		delete(t.keys, t.rowKey(k))
	}
}

func remove(e *Engine, table string, keys []modelRow) error {
	t, err := e.Table(public(table))
	if err != nil {
		return err
	}
	b := vector.NewBatch(append(t.Schema.Types(t.Schema.Tags), vector.Timestamp(3))...)
	for _, k := range keys {
		row := &vector.Batch{N: 1}
		for _, p := range t.Schema.Tags {
			tag := vector.ConstNull(vector.StringType)
			if s, ok := k[t.Schema.Columns[p].Name].(string); ok {
				tag = vector.ConstString(s)
			}
			row.Cols = append(row.Cols, tag)
		}
		row.Cols = append(row.Cols, vector.ConstInt(vector.Timestamp(3), k["ts"].(int64)))
		b.Append(row, 0, 1)
	}
	_, err = e.Delete(ctx, t.Schema, b)
	return err
}

// query is what a scan asks for.
type query struct {
	time   scan.Range
	filter filter.And
	test   func(modelRow) bool // the same filter on the model's side
	newest bool
}

var everything = query{time: scan.All, test: func(modelRow) bool { return true }}

// scanTable reads all columns of a table and gives its rows, sorted as text.
func scanTable(e *Engine, name schema.Name, q query) ([]string, error) {
	t, err := e.Table(name)
	if err != nil {
		return nil, err
	}
	r := Request{Table: t, Time: q.time, Filter: q.filter, Newest: q.newest}
	for _, c := range t.Schema.Columns {
		r.Columns = append(r.Columns, c.ID)
	}
	s, err := e.Scan(ctx, r)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var lines []string
	last := int64(math.MaxInt64)
	for {
		c, span, ok, err := s.Cursor()
		if err != nil || !ok {
			slices.Sort(lines)
			return lines, err
		}
		if q.newest && span.To > last {
			return nil, fmt.Errorf("newest first: a piece up to %d after one up to %d", span.To, last)
		}
		last = span.To
		if lines, err = appendRows(lines, t.Schema, c, span); err != nil {
			return nil, err
		}
	}
}

// appendRows reads a cursor to its end and closes it.
func appendRows(lines []string, t *schema.Table, c scan.Cursor, span scan.Range) ([]string, error) {
	defer c.Close()
	var b vector.Batch
	for {
		ok, err := c.Next(&b)
		if err != nil || !ok {
			return lines, err
		}
		if b.N == 0 || b.N > vector.Size || len(b.Cols) != len(t.Columns) {
			return nil, fmt.Errorf("batch of %d rows and %d columns, want %d columns", b.N, len(b.Cols), len(t.Columns))
		}
		for i := range b.N {
			row := modelRow{}
			for k, v := range b.Cols {
				col := t.Columns[k]
				if t.Shared() { // by the names that its logical tables use
					col.Name = strings.NewReplacer(physicalTime, "ts", physicalValue, "value").Replace(col.Name)
				}
				switch {
				case v.IsNull(i):
				case col.Type.Kind() == vector.Int64:
					row[col.Name] = v.Int(i)
				case col.Type.Kind() == vector.Float64:
					row[col.Name] = v.Float(i)
				case col.ID == schema.TableTagID: // the model does not know ids
				case col.ID == schema.SeriesTagID:
				default:
					row[col.Name] = string(v.Bytes(i))
				}
			}
			if at := row["ts"].(int64); at < span.From || at > span.To {
				return nil, fmt.Errorf("row %s lies outside the span %v of its piece", row, span)
			}
			lines = append(lines, row.String())
		}
	}
}

// dump reads the whole store in the model's form.
func dump(e *Engine) (string, error) {
	tables, err := e.Tables("public")
	if err != nil {
		return "", err
	}
	var s strings.Builder
	var view, logical []string // rows of the physical table, and of those that lie in it
	for _, t := range tables {
		lines, err := scanTable(e, t.Schema.Name, everything)
		if err != nil {
			return "", fmt.Errorf("%s: %w", t.Schema.Name, err)
		}
		if t.Schema.Shared() {
			view = lines
			continue
		}
		if t.Schema.Physical != 0 {
			logical = append(logical, lines...)
		}
		fmt.Fprintf(&s, "%s:\n", t.Schema.Name.Table)
		for _, l := range lines {
			fmt.Fprintf(&s, "  %s\n", l)
		}
	}
	if slices.Sort(logical); !slices.Equal(view, logical) {
		return "", fmt.Errorf("the physical table shows other rows than the logical ones:\n%s",
			difference(strings.Join(view, "\n"), strings.Join(logical, "\n")))
	}
	return s.String(), nil
}

// workload draws random operations.
type workload struct {
	r     *rand.Rand
	batch int64
	model model
	kinds map[string]modelKind
}

func newWorkload(r *rand.Rand) *workload {
	return &workload{r: r, model: model{},
		kinds: map[string]modelKind{"log": appendOnly, "last": lastRow, "fields": lastNonNull, "cpu": metric,
			"mem": metric}}
}

// rows draws a batch of a table. Times cluster, so that keys meet again and runs overlap.
func (w *workload) rows(kind modelKind) []modelRow {
	w.batch++
	n := 1 + w.r.IntN(20)
	if w.r.IntN(40) == 0 {
		n = 500 + w.r.IntN(2500)
	}
	rows := make([]modelRow, n)
	base := w.r.Int64N(5) * 1000
	for i := range rows {
		if kind == metric {
			rows[i] = w.sample(base)
			continue
		}
		row := modelRow{"ts": base + w.r.Int64N(40), "batch": w.batch, "row": int64(i)}
		if kind != appendOnly && (i == 0 || w.r.IntN(10) > 0) {
			row["host"] = fmt.Sprint("h", w.r.IntN(4))
		}
		if w.r.IntN(3) > 0 {
			row["s1"] = fmt.Sprint("text ", w.r.IntN(50))
		}
		if w.r.IntN(3) > 0 {
			row["v"] = w.r.Int64N(100)
		}
		if w.batch > 30 && w.r.IntN(4) == 0 { // the schema grows
			row[fmt.Sprint("x", w.r.Int64N(w.batch/30))] = w.r.Int64N(10)
		}
		rows[i] = row
	}
	return rows
}

// sample draws a row of a metric: any of its labels may be absent, and new ones come with time.
func (w *workload) sample(base int64) modelRow {
	row := modelRow{"ts": base + w.r.Int64N(40), "value": float64(w.r.IntN(1000)) / 8}
	for i, l := range labels[:min(2+int(w.batch/40), len(labels))] {
		if w.r.IntN(3+i) > i {
			row[l] = fmt.Sprint("h", w.r.IntN(4))
		}
	}
	return row
}

// next draws an operation that can be done in the model's present state.
func (w *workload) next() op {
	names := slices.Sorted(maps.Keys(w.kinds))
	name := names[w.r.IntN(len(names))]
	kind, there := w.kinds[name], w.model[name] != nil
	switch k := w.r.IntN(100); {
	case !there || k < 60:
		return w.write(name, kind)
	case k < 72 && kind != appendOnly:
		return w.delete(name)
	case k < 84:
		return op{name: "flush " + name, run: func(e *Engine) error { return e.Flush(ctx, public(name)) }}
	case k < 90:
		return op{name: "merge " + name, run: func(e *Engine) error { return mergeEach(e, name) }}
	case k < 95:
		return op{name: "compact " + name, run: func(e *Engine) error { return e.Compact(ctx, public(name)) }}
	case k < 97:
		return op{name: "truncate " + name, run: func(e *Engine) error { return e.Truncate(ctx, public(name)) },
			change: func(m model) { m[name] = &modelTable{kind: kind, keys: map[string]modelRow{}} }}
	case k < 98:
		return op{name: "drop " + name, run: func(e *Engine) error {
			return e.DropTables(ctx, []schema.Name{public(name)})
		},
			change: func(m model) { delete(m, name) }}
	}
	return w.write(name, kind)
}

// mergeEach does what the loops of the merger do with a table.
func mergeEach(e *Engine, name string) error {
	tab, err := e.Table(public(name))
	for again := true; again && err == nil; {
		if again, err = mergeKind(e, tab.region, freshParts); !again && err == nil {
			again, err = mergeKind(e, tab.region, mergedParts)
		}
	}
	return err
}

// mergeKind merges what a loop of the merger would merge of a table, once, when the loops are done with it; false:
// there is nothing to merge.
func mergeKind(e *Engine, r *region, k kind) (bool, error) {
	return e.compactor.mergeChosen(ctx, r, e.merger.choose(&job{kind: k, region: r}))
}

func (w *workload) write(name string, kind modelKind) op {
	rows := w.rows(kind)
	create := func(m model) {
		if m[name] == nil {
			m[name] = &modelTable{kind: kind, keys: map[string]modelRow{}}
		}
	}
	return op{fmt.Sprintf("write %d rows into %s", len(rows), name),
		func(e *Engine) error { return put(e, name, kind, rows) },
		func(m model) { create(m); m[name].put(rows) }, create}
}

func (w *workload) delete(name string) op {
	var keys []modelRow
	for range 1 + w.r.IntN(10) {
		keys = append(keys, modelRow{"host": fmt.Sprint("h", w.r.IntN(4)), "ts": w.r.Int64N(5)*1000 + w.r.Int64N(40)})
		if all := w.model[name].all(); w.kinds[name] == metric && len(all) > 0 { // of many keys few would be met
			keys[len(keys)-1] = slices.MinFunc(all,
				func(a, b modelRow) int { return cmp.Compare(a.String(), b.String()) })
		}
	}
	return op{name: fmt.Sprintf("delete %d keys of %s", len(keys), name),
		run:    func(e *Engine) error { return remove(e, name, keys) },
		change: func(m model) { m[name].remove(keys) }}
}

// testOptions are options that make small tests meet many files.
func testOptions(fs vfs.FS) Options {
	return Options{FS: fs, Dir: "/data", WALFileSize: 16 << 10, FlushBytes: 8 << 10, NoBackground: true, MinFree: 1,
		mergedRows: 100, spliceRows: 2, mergeParts: 2,
		Now: func() time.Time { return time.Unix(1_700_000_000, 0) }}
}

func mustOpen(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := Open(o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return e
}

func mustClose(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.Close(ctx, false); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// compare fails unless the store holds what the model says.
func compare(t *testing.T, e *Engine, m model, when string) {
	t.Helper()
	got, err := dump(e)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if want := m.dump(); got != want {
		t.Fatalf("%s:\n%s", when, difference(got, want))
	}
}

// difference shows the lines that are not in both texts.
func difference(got, want string) string {
	count := map[string]int{}
	for _, l := range strings.Split(got, "\n") {
		count[l]++
	}
	for _, l := range strings.Split(want, "\n") {
		count[l]--
	}
	var s strings.Builder
	for _, l := range slices.Sorted(maps.Keys(count)) {
		if n := count[l]; n > 0 {
			fmt.Fprintf(&s, "unexpected %dx %s\n", n, l)
		} else if n < 0 {
			fmt.Fprintf(&s, "missing %dx %s\n", -n, l)
		}
		if s.Len() > 2000 {
			s.WriteString("...\n")
			break
		}
	}
	return s.String()
}

// randomQuery draws a time range and a conjunction over tag and fields.
func randomQuery(r *rand.Rand, t *schema.Table) query {
	q := query{time: scan.All, newest: r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		from := r.Int64N(5000)
		q.time = scan.Range{From: from, To: from + r.Int64N(2000)}
	}
	var tests []func(modelRow) bool
	add := func(name string, o filter.Op, args *vector.Vector, n int, test func(modelRow) bool) {
		if p := t.Column(name); p >= 0 {
			q.filter = append(q.filter, filter.Cond{Column: t.Columns[p].ID, Op: o, Args: args, NArgs: n})
			tests = append(tests, test)
		}
	}
	if r.IntN(2) == 0 {
		x := r.Int64N(100)
		add("v", filter.GreaterEqual, &vector.Vector{Type: vector.Int64Type, Ints: []int64{x}}, 1,
			func(m modelRow) bool { v, ok := m["v"].(int64); return ok && v >= x })
	}
	if r.IntN(3) == 0 {
		h := fmt.Sprint("h", r.IntN(5))
		add("host", filter.Equal, vector.ConstString(h), 1, func(m modelRow) bool { return m["host"] == h })
	}
	if r.IntN(3) == 0 {
		x := float64(r.IntN(125))
		add("value", filter.Less, &vector.Vector{Type: vector.FloatType, Floats: []float64{x}}, 1,
			func(m modelRow) bool { v, ok := m["value"].(float64); return ok && v < x })
	}
	if r.IntN(3) == 0 {
		add("zone", filter.IsNull, nil, 0, func(m modelRow) bool { return m["zone"] == nil })
	}
	if r.IntN(4) == 0 {
		add("s1", filter.IsNull, nil, 0, func(m modelRow) bool { return m["s1"] == nil })
	}
	if r.IntN(4) == 0 {
		add("s1", filter.Contains, vector.ConstString("t 1"), 1,
			func(m modelRow) bool { s, ok := m["s1"].(string); return ok && strings.Contains(s, "t 1") })
	}
	if n := len(q.filter); n > 1 && r.IntN(2) == 0 { // the same as a choice: the first, or all others
		q.filter = filter.And{{Op: filter.AnyOf, Any: []filter.And{q.filter[:1], q.filter[1:]}}}
		one, others := tests[0], tests[1:]
		tests = []func(modelRow) bool{func(m modelRow) bool {
			return one(m) || !slices.ContainsFunc(others, func(f func(modelRow) bool) bool { return !f(m) })
		}}
	}
	q.test = func(m modelRow) bool {
		at := m["ts"].(int64)
		if !q.time.Holds(at) {
			return false
		}
		for _, f := range tests {
			if !f(m) {
				return false
			}
		}
		return true
	}
	return q
}

// compareQueries holds random queries against the model.
func compareQueries(t *testing.T, e *Engine, m model, r *rand.Rand, when string) {
	t.Helper()
	for name, table := range m {
		handle, err := e.Table(public(name))
		if err != nil {
			t.Fatal(err)
		}
		q := randomQuery(r, handle.Schema)
		got, err := scanTable(e, public(name), q)
		if err != nil {
			t.Fatalf("%s: %s: %v", when, name, err)
		}
		want := []string{}
		for _, row := range table.all() {
			if q.test(row) {
				want = append(want, row.String())
			}
		}
		slices.Sort(want)
		if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
			t.Fatalf("%s: %s: time %v filter %+v:\n%s", when, name, q.time, q.filter, difference(g, w))
		}
		compareBounds(t, e, handle, table.all(), rand.New(rand.NewPCG(uint64(len(want)), uint64(len(table.all())))),
			when)
	}
}
