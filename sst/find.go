package sst

import (
	"context"
	"math"
	"slices"
	"sort"

	"varve/engine/invariant"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// found is series of a part that pass the tests on their tags.
type found struct {
	p       *Part
	ctx     context.Context // of want
	table   *seriesTable
	want    *scan.Find
	ranges  []seriesRange // of the wanted tables, rising
	numbers []uint32      // rising
}

// fewKeys is the number of series up to which the keys are tested one by one, because otherwise the tags of all of them
// would be read. A variable for the tests.
var fewKeys = invariant.Limit(512, 1)

// find returns the series of some tables whose tags pass.
func (r *run) find(want *scan.Find) (_ scan.Found, err error) {
	f := &found{p: r.p, ctx: want.Context, want: want}
	if f.ctx == nil {
		f.ctx = r.p.ctx
	}
	if f.table, err = r.p.seriesTable(f.ctx); err != nil {
		return nil, err
	}
	total := 0
	if f.ranges, total, err = f.table.ofTables(want.Tables); err != nil {
		return nil, r.p.corrupt(err, "series")
	}
	if total == 0 {
		return f, nil
	}
	tests := want.Tests
	if total > fewKeys {
		if tests, err = f.named(tests); err != nil {
			return nil, err
		}
	}
	if f.numbers == nil {
		f.numbers = make([]uint32, 0, total)
		for _, of := range f.ranges {
			for n := of.from; n < of.to; n++ {
				f.numbers = append(f.numbers, uint32(n))
			}
		}
	}
	if len(f.numbers) <= fewKeys {
		return f, f.testKeys(tests)
	}
	return f, f.testColumns(tests)
}

// ofTables returns the series of some tables, whose ids rise, and their number.
func (t *seriesTable) ofTables(tables []schema.TableID) (ranges []seriesRange, total int, err error) {
	for _, id := range tables {
		from, to, err := t.prefix(schema.KeyPrefix(id))
		if err != nil {
			return nil, 0, err
		}
		if last := len(ranges) - 1; last >= 0 && ranges[last].to == from {
			ranges[last].to = to
		} else if from < to {
			ranges = append(ranges, seriesRange{from, to})
		}
		total += to - from
	}
	return ranges, total, nil
}

// tagValues calls f with the values of a tag.
func (r *run) tagValues(ctx context.Context, tables []schema.TableID, tag schema.Column, f func(val []byte)) error {
	table, err := r.p.seriesTable(ctx)
	if err != nil {
		return err
	}
	ranges, _, err := table.ofTables(tables)
	if err != nil {
		return r.p.corrupt(err, "series")
	}
	for _, of := range ranges {
		for _, step := range r.p.tagSteps(table, of) {
			t, err := r.p.tag(ctx, &tag, step, nil)
			if err != nil {
				return err
			}
			for code := range t.byKey.Len() {
				f(t.byKey.Bytes(code))
			}
		}
	}
	return nil
}

// named finds the series of the test that leaves the fewest, of those that name values, and gives the other tests. It
// reads nothing but these values in the tag index; without one no series are found and all tests are left.
func (f *found) named(tests []scan.TagTest) ([]scan.TagTest, error) {
	x, err := f.p.tagIndex(f.ctx)
	if err != nil || x == nil {
		return tests, err
	}
	best := -1
	for i := range tests {
		t := &tests[i]
		if t.Values == nil || t.Passes(schema.InitialTag(t.Column.Default)) {
			continue // or the series that do not name the tag pass
		}
		numbers := []uint32{}
		if tag := x.tags[t.Column.ID]; tag != nil {
			if numbers, err = f.having(numbers, tag, t.Values); err != nil {
				return nil, err
			}
		}
		if best < 0 || len(numbers) < len(f.numbers) {
			best, f.numbers = i, numbers
		}
	}
	if best < 0 {
		return tests, nil
	}
	return slices.Delete(slices.Clone(tests), best, best+1), nil
}

// having appends the wanted tables' series with some values of a tag, rising.
func (f *found) having(dst []uint32, tag *indexedTag, values [][]byte) (_ []uint32, err error) {
	of := seriesRange{f.ranges[0].from, f.ranges[len(f.ranges)-1].to}
	for _, v := range values {
		if dst, err = tag.appendSeries(f.ctx, dst, f.p, v, of); err != nil {
			return nil, err
		}
	}
	if len(values) > 1 {
		slices.Sort(dst)
	}
	if len(f.ranges) == 1 {
		return dst, nil
	}
	at := 0
	return slices.DeleteFunc(dst, func(n uint32) bool {
		for f.ranges[at].to <= int(n) {
			at++
		}
		return int(n) < f.ranges[at].from
	}), nil
}

// testColumns tests the distinct values of each tag and leaves the series whose values pass. Tests that name values
// come first: they leave few.
func (f *found) testColumns(tests []scan.TagTest) error {
	of := seriesRange{f.ranges[0].from, f.ranges[len(f.ranges)-1].to}
	for _, named := range []bool{true, false} {
		for i := range tests {
			if (tests[i].Values != nil) != named {
				continue
			}
			if err := f.testColumn(of, &tests[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *found) testColumn(of seriesRange, t *scan.TagTest) error {
	if len(f.numbers) == 0 {
		return nil
	}
	kept, rest := f.numbers[:0], f.numbers
	for _, step := range f.p.tagSteps(f.table, of) {
		n, _ := slices.BinarySearch(rest, uint32(step.to))
		numbers := rest[:n]
		rest = rest[n:]
		if len(numbers) == 0 {
			continue
		}
		tag, err := f.p.tag(f.ctx, &t.Column, step, nil)
		if err != nil {
			return err
		}
		passes, err := f.passing(tag, t, numbers)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			ok := t.Null
			if tag.has(int(n)) {
				ok = passes.Get(int(tag.code(int(n))))
			}
			if ok {
				kept = append(kept, n)
			}
		}
	}
	f.numbers = kept
	return nil
}

// passing reports which of a tag's values pass: of those alone that the series with some numbers have, where these are
// few.
func (f *found) passing(tag *tagColumn, t *scan.TagTest, numbers []uint32) (vector.Bitmap, error) {
	n := tag.values.Len()
	passes := vector.MakeBitmap(n)
	switch {
	case t.Values != nil:
		for _, v := range t.Values {
			if code, ok := tag.byKey.Find(v); ok {
				passes.Set(int(code))
			}
		}
	case len(numbers) < n:
		tested := vector.MakeBitmap(n)
		for _, s := range numbers {
			if code := int(tag.code(int(s))); tag.has(int(s)) && !tested.Get(code) {
				tested.Set(code)
				if t.Match(tag.byKey.Bytes(code)) {
					passes.Set(code)
				}
			}
		}
	default:
		for code := range n {
			if code%readStep == 0 {
				if err := f.ctx.Err(); err != nil {
					return nil, err
				}
			}
			if t.Match(tag.byKey.Bytes(code)) {
				passes.Set(code)
			}
		}
	}
	return passes, nil
}

// testKeys reads the keys of the series that are left and keeps those that pass.
func (f *found) testKeys(tests []scan.TagTest) error {
	initial := make([][]byte, len(tests))
	for i := range tests {
		initial[i] = schema.InitialTag(tests[i].Column.Default)
	}
	w := &keyWalk{t: f.table}
	var scratch []byte
	kept := f.numbers[:0]
	for _, n := range f.numbers {
		err := w.seek(int(n))
		if err == nil {
			err = w.step()
		}
		ok := true
		for i := 0; i < len(tests) && ok && err == nil; i++ {
			var val []byte
			var named bool
			if val, named, err = schema.TagOf(w.key, tests[i].Column.ID, scratch); !named {
				val = initial[i]
			}
			ok = tests[i].Passes(val)
		}
		if err != nil {
			return f.p.corrupt(err, "series")
		}
		if ok {
			kept = append(kept, n)
		}
	}
	f.numbers = kept
	return nil
}

// Len is the number of series.
func (f *found) Len() int { return len(f.numbers) }

// Bytes is the memory of the list.
func (f *found) Bytes() int64 { return int64(cap(f.numbers)) * 4 }

// Rows is the number of rows of the i'th series.
func (f *found) Rows(i int) int {
	from, to := f.table.rows(int(f.numbers[i]))
	return to - from
}

// Keys walks the keys of the series.
func (f *found) Keys() (scan.Keys, error) {
	return &foundKeys{f: f, walk: keyWalk{t: f.table}}, nil
}

type foundKeys struct {
	f    *found
	walk keyWalk
	next int
}

// step returns the next key.
func (k *foundKeys) step() ([]byte, error) {
	err := k.walk.seek(int(k.f.numbers[k.next]))
	if err == nil {
		err = k.walk.step()
	}
	if err != nil {
		return nil, k.f.p.corrupt(err, "series")
	}
	k.next++
	return k.walk.key, nil
}

// foundRows reads the rows of series. It opens a block when a row of it is wanted.
type foundRows struct {
	f      *found
	dec    *encoding.Decoder
	reader *reader
	time   *source
	cols   []*source
	span   scan.Range
	row    int // rows of the series not looked at yet
	to     int
	flat   vector.Vector // scratch: times of rows in a block whose times are not Flat
	first  timeGuess     // of the first row that is wanted
	behind timeGuess     // of the first row behind them, counted from the first
}

// rows reads rows of the series.
func (f *found) rows() (_ scan.Rows, err error) {
	dec := decoders.Get().(*encoding.Decoder)
	spec := &scan.Spec{Columns: f.want.Columns, TimeColumn: f.want.TimeColumn, Stats: f.want.Stats,
		Context: f.ctx}
	w := &foundRows{f: f, dec: dec, reader: f.p.reader(spec, dec)}
	if w.time, err = w.reader.source(&spec.TimeColumn); err != nil {
		return nil, err
	}
	for i := range spec.Columns {
		s, err := w.reader.source(&spec.Columns[i])
		if err != nil {
			return nil, err
		}
		w.cols = append(w.cols, s)
	}
	return w, nil
}

// Begin goes to the i'th series.
func (w *foundRows) Begin(i int, time scan.Range) error {
	w.row, w.to = w.f.table.rows(int(w.f.numbers[i]))
	w.span = time
	return nil
}

// step returns the rows of the next block in which the series has any in the range.
func (w *foundRows) step(s *scan.Stretch) (bool, error) {
	p := w.f.p
	for w.row < w.to {
		number := p.blockOf(w.row, w.reader.block)
		b := &p.blocks[number]
		from, to := w.row-b.first, min(w.to-b.first, b.rows)
		if p.isAside(number) || !w.time.cast && !w.span.Overlaps(b.minTime, b.maxTime) {
			w.row = b.first + to
			continue
		}
		w.open(number)
		t, err := w.reader.load(w.time)
		if err != nil {
			return false, err
		}
		if from, to = w.narrow(t, from, to); from >= to {
			w.row = b.first + to
			continue
		}
		w.row = b.first + to
		s.From, s.To, s.Times, s.Cols = from, to, w.timesOf(t, from, to), s.Cols[:0]
		for _, c := range w.cols {
			if w.f.want.Presence {
				if err := w.standIn(c); err != nil {
					return false, err
				}
			}
			v, err := w.reader.load(c)
			if err != nil {
				return false, err
			}
			s.Cols = append(s.Cols, v)
		}
		return true, nil
	}
	return false, nil
}

// standIn puts the least float of the block at hand in the place of all, where its zone says that each row has one and
// none is NaN: the page is not read.
func (w *foundRows) standIn(c *source) error {
	if c.loaded != nil || c.from != stored || c.cast || c.col.typ.Kind() != vector.Float64 {
		return nil
	}
	x, err := w.f.p.index(w.reader.ctx, c.col)
	if err != nil {
		return err
	}
	block := w.reader.block
	if x.zones.Nulls[block] > 0 || math.IsNaN(x.zones.Max.Float(block)) {
		return nil
	}
	if c.typed == nil {
		c.typed = &vector.Vector{}
	}
	c.typed.Reset(c.col.typ)
	c.typed.Form, c.typed.Floats = vector.Const, append(c.typed.Floats[:0], x.zones.Min.Float(block))
	c.loaded = c.typed
	return nil
}

// open moves to a block.
func (w *foundRows) open(block int) {
	if block == w.reader.block {
		return
	}
	w.reader.open(block)
	rows := int64(w.f.p.blocks[block].rows)
	if st := w.f.want.Stats; st != nil {
		st.BlocksRead.Add(1)
		st.RowsScanned.Add(rows)
	}
	w.f.p.metrics.RowsScanned.Add(rows)
}

// narrow cuts rows [from, to) of a block to the first stretch whose times lie in the range. An empty stretch
// ends at the place where no further rows follow. The times of a series rise.
func (w *foundRows) narrow(t *vector.Vector, from, to int) (int, int) {
	end := to
	if t.Valid != nil { // a type before may distinguish times that the wanted type cannot
		for from < to && t.IsNull(from) {
			from++
		}
		for end = from; end < to && !t.IsNull(end); end++ {
		}
	}
	lo := w.first.seek(t, from, end, w.span.From)
	hi := end
	if lo < hi && t.Int(hi-1) > w.span.To {
		hi = w.behind.seek(t, lo, hi, w.span.To+1)
		w.to = w.row // those after it are greater still
	}
	if lo >= hi {
		return end, end
	}
	return lo, hi
}

// timeGuess is where the series before had a time, counted from its first row: series that are scraped together have it
// at the same place.
type timeGuess int

// seek is the first of rows [from, to) whose time is not before x; to: all are. Times rise.
func (g *timeGuess) seek(t *vector.Vector, from, to int, x int64) int {
	if from == to || t.Int(from) >= x {
		return from
	}
	if k := from + int(*g); k > from && k < to && t.Int(k-1) < x && t.Int(k) >= x {
		return k
	}
	k := from + sort.Search(to-from, func(i int) bool { return t.Int(from+i) >= x })
	*g = timeGuess(k - from)
	return k
}

// timesOf returns the times of rows [from, to).
func (w *foundRows) timesOf(t *vector.Vector, from, to int) []int64 {
	if t.Form == vector.Flat {
		return t.Ints[from:to]
	}
	w.flat.Type, w.flat.Valid, w.flat.Ints = t.Type, nil, w.flat.Ints[:0]
	w.flat.Append(0, t, from, to)
	return w.flat.Ints
}

func (w *foundRows) hiddenColumn(c *schema.Column) (*vector.Vector, error) {
	s, err := w.reader.source(c)
	if err != nil {
		return nil, err
	}
	return w.reader.load(s)
}

// Close ends the reading.
func (w *foundRows) Close() {
	if w.dec != nil {
		decoders.Put(w.dec)
		w.dec = nil
	}
}
