package memtable

import (
	"fmt"
	"slices"
	"sort"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// found is series of a snapshot that have rows and pass the tests on their tags.
type found struct {
	s    *snapshot
	want *scan.Find
	o    *order
	cols []fieldOf
	puts bool // no chunk has a tombstone
}

// fieldOf is a field by chunk.
type fieldOf struct {
	col    schema.Column
	values []*vector.Vector // Flat or Const
	floats [][]float64      // the same where all chunks hold floats without NULL; nil: they do not
}

// Find returns the series of some tables whose tags pass and that have rows in chunks of the time range.
func (r *Run) Find(want *scan.Find) (scan.Found, error) {
	f := &found{s: r.s, want: want}
	var numbers []uint32 // rising
	var byKey [][]uint32
	for _, id := range want.Tables {
		some, err := r.s.series.passing(id, want)
		if err != nil {
			return nil, err
		}
		if len(some) > 0 {
			byKey = append(byKey, r.s.series.inKeyOrder(id, some))
			numbers = append(numbers, some...)
		}
	}
	if len(byKey) > 1 {
		slices.Sort(numbers)
	}
	if err := cancelled(want); err != nil {
		return nil, err
	}
	f.o = &order{}
	if len(numbers) == 1 {
		r.s.orderOne(f.o, numbers[0], want.Time)
	} else {
		in := slotsIn(numbers)
		counts, rows := r.s.count(in, want.Time)
		if want.Reserve != nil {
			if err := want.Reserve(int64(len(numbers))*foundSeries + int64(rows)*foundRow); err != nil {
				return nil, err
			}
		}
		r.s.rank(f.o, in, counts, byKey...)
		f.o.times = []int64{}
		r.s.arrange(f.o, in, counts, want.Time)
	}
	return f, f.open()
}

// foundSeries and foundRow are about the memory of a series that is found, and of each of its rows: numbers, keys in
// order, places, times.
const (
	foundSeries = 32
	foundRow    = 24
)

// orderOne makes o the rows of one series, if there are any: a look at each row's number is all that others cost.
func (s *snapshot) orderOne(o *order, n uint32, time scan.Range) {
	in := &slots{lo: n, hi: n}
	for k, c := range s.chunks {
		if !c.mayHave(in, time) {
			continue
		}
		for r := range c.n {
			if c.series == nil || c.series[r] == n {
				o.rows, o.times = append(o.rows, rowRef(k)<<32|rowRef(r)), append(o.times, c.times[r])
			}
		}
	}
	if len(o.rows) > 0 {
		o.ranks, o.starts = []uint32{n}, []int{0, len(o.rows)}
		s.sortEach(o)
	}
}

// TagValues calls f with the values of a tag.
func (r *Run) TagValues(tables []schema.TableID, tag schema.Column, cancelled func() error, f func(val []byte)) error {
	for _, id := range tables {
		if cancelled != nil {
			if err := cancelled(); err != nil {
				return err
			}
		}
		if len(r.s.series.of(id)) == 0 {
			continue
		}
		t, err := r.s.series.tag(id, tag)
		if err != nil {
			return err
		}
		for i := range t.keys.Len() {
			f(t.keys.Bytes(i))
		}
	}
	return nil
}

func cancelled(want *scan.Find) error {
	if want.Cancelled == nil {
		return nil
	}
	return want.Cancelled()
}

// passing returns the numbers of a table's series whose tags pass, rising. They are not to be changed.
func (v *seriesSnapshot) passing(id schema.TableID, want *scan.Find) ([]uint32, error) {
	numbers := v.of(id)
	if len(numbers) == 0 || len(want.Tests) == 0 {
		return numbers, nil
	}
	ranks, done, err := v.named(id, want)
	if err != nil {
		return nil, err
	}
	for i := range want.Tests {
		if i == done {
			continue
		}
		if ranks != nil && len(ranks) == 0 {
			return nil, nil
		}
		tag, err := v.tag(id, want.Tests[i].Column)
		if err != nil {
			return nil, err
		}
		if ranks == nil {
			ranks = make([]uint32, len(numbers))
			for rank := range ranks {
				ranks[rank] = uint32(rank)
			}
		}
		if ranks, err = tag.keep(ranks, &want.Tests[i], want); err != nil {
			return nil, err
		}
	}
	for i, rank := range ranks {
		ranks[i] = numbers[rank]
	}
	return ranks, nil
}

// named finds the test with named values that leaves the fewest series, and returns these series. ranks is nil if there
// is no such test.
func (v *seriesSnapshot) named(id schema.TableID, want *scan.Find) (ranks []uint32, test int, err error) {
	test = -1
	for i := range want.Tests {
		t := &want.Tests[i]
		if t.Values == nil || t.Passes(schema.InitialTag(t.Column.Default)) {
			continue // or the series that do not name the tag pass
		}
		some, err := v.having(id, t.Column.ID, t.Values)
		if err != nil {
			return nil, -1, err
		}
		if test < 0 || len(some) < len(ranks) {
			ranks, test = some, i
		}
	}
	return ranks, test, nil
}

// keep leaves the series that pass a test, in place. Each value is tested once.
func (t *tagColumn) keep(ranks []uint32, test *scan.TagTest, want *scan.Find) ([]uint32, error) {
	n := t.keys.Len()
	tested, passes := vector.MakeBitmap(1+n), vector.MakeBitmap(1+n)
	tested.Set(0)
	if test.Null {
		passes.Set(0)
	}
	kept := ranks[:0]
	for i, rank := range ranks {
		if i%askValues == 0 {
			if err := cancelled(want); err != nil {
				return nil, err
			}
		}
		code := int(t.codes[rank])
		if !tested.Get(code) {
			tested.Set(code)
			if test.Passes(t.keys.Bytes(code - 1)) {
				passes.Set(code)
			}
		}
		if passes.Get(code) {
			kept = append(kept, rank)
		}
	}
	return kept, nil
}

// askValues is the number of series after which a test checks for cancellation.
const askValues = 4096

// inKeyOrder returns some series of a table, whose numbers rise, by rising key.
func (v *seriesSnapshot) inKeyOrder(id schema.TableID, numbers []uint32) []uint32 {
	if len(numbers) <= fewSeries {
		sorted := slices.Clone(numbers)
		slices.SortFunc(sorted, v.compare)
		return sorted
	}
	wanted := vector.MakeBitmap(v.len())
	for _, n := range numbers {
		wanted.Set(int(n))
	}
	sorted := make([]uint32, 0, len(numbers))
	for _, n := range v.sorted(id) {
		if int(n) < v.len() && wanted.Get(int(n)) {
			sorted = append(sorted, n)
		}
	}
	return sorted
}

// open finds the fields in the chunks.
func (f *found) open() error {
	chunks := f.s.chunks
	f.puts = !slices.ContainsFunc(chunks, func(c *chunk) bool { return c.kinds != nil || c.oneKind != schema.KindPut })
	for _, c := range f.want.Columns {
		field := fieldOf{col: c, values: make([]*vector.Vector, len(chunks)), floats: make([][]float64, len(chunks))}
		for i, ch := range chunks {
			v := ch.vector(c, vector.ConstNull(c.Type))
			if v.Type.Kind() != c.Type.Kind() {
				return fmt.Errorf("column %s is %s in memory and %s in the schema", c.Name, v.Type, c.Type)
			}
			field.values[i] = v
			if v.Type.Kind() != vector.Float64 || v.Form != vector.Flat || v.Valid != nil {
				field.floats = nil
			}
			if field.floats != nil {
				field.floats[i] = v.Floats
			}
		}
		f.cols = append(f.cols, field)
	}
	return nil
}

// Len is the number of series.
func (f *found) Len() int { return len(f.o.ranks) }

// Bytes is the memory of the order of the rows.
func (f *found) Bytes() int64 {
	return int64(cap(f.o.rows)+cap(f.o.times)+cap(f.o.starts))*8 + int64(cap(f.o.ranks))*4
}

// Rows bounds the rows of the i'th series.
func (f *found) Rows(i int) int { return f.o.starts[i+1] - f.o.starts[i] }

// Keys walks the keys of the series.
func (f *found) Keys() (scan.Keys, error) { return &foundKeys{f: f}, nil }

type foundKeys struct {
	f    *found
	next int
}

// Next returns the next key.
func (k *foundKeys) Next() ([]byte, error) {
	k.next++
	return k.f.s.series.key(k.f.o.ranks[k.next-1]), nil
}

// Reader reads rows of the series.
func (f *found) Reader() (scan.Rows, error) {
	return &foundRows{f: f, own: make([]vector.Vector, len(f.cols))}, nil
}

// foundRows gathers the rows of series, some at a time.
type foundRows struct {
	f     *found
	next  int // rows of the order that are not given yet
	to    int
	given []rowRef
	own   []vector.Vector

	seqs, kinds vector.Vector
}

// Begin goes to the rows of the i'th series in a range of times.
func (w *foundRows) Begin(i int, time scan.Range) error {
	from, to := w.f.o.starts[i], w.f.o.starts[i+1]
	times := w.f.o.times[from:to]
	w.next = from + sort.Search(len(times), func(k int) bool { return times[k] >= time.From })
	if times[len(times)-1] > time.To {
		to = from + sort.Search(len(times), func(k int) bool { return times[k] > time.To })
	}
	w.to = max(w.next, to)
	return nil
}

// Next gathers the next rows.
func (w *foundRows) Next(s *scan.Stretch) (bool, error) {
	n := min(w.to-w.next, vector.Size)
	if n == 0 {
		return false, nil
	}
	if st := w.f.want.Stats; st != nil {
		st.RowsScanned.Add(int64(n))
	}
	o := w.f.o
	w.given = o.rows[w.next : w.next+n]
	s.From, s.To, s.Times, s.Cols = 0, n, o.times[w.next:w.next+n], s.Cols[:0]
	w.next += n
	for i := range w.f.cols {
		w.f.cols[i].gather(&w.own[i], w.given)
		s.Cols = append(s.Cols, &w.own[i])
	}
	return true, nil
}

// gather makes dst the values of some rows.
func (c *fieldOf) gather(dst *vector.Vector, rows []rowRef) {
	dst.Reset(c.col.Type)
	if c.floats != nil {
		for _, x := range rows {
			dst.Floats = append(dst.Floats, c.floats[x>>32][uint32(x)])
		}
		return
	}
	for i, x := range rows {
		v, row := c.values[x>>32], int(uint32(x))
		dst.Append(i, v, row, row+1)
	}
}

// Kinds returns the kinds of the rows that Next gave.
func (w *foundRows) Kinds(*scan.Stretch) (*vector.Vector, error) {
	if w.f.puts {
		return allPuts, nil
	}
	w.kinds.Reset(schema.KindColumn.Type)
	for _, x := range w.given {
		w.kinds.Uints = append(w.kinds.Uints, uint64(w.f.s.chunks[x>>32].kindOf(int(uint32(x)))))
	}
	return &w.kinds, nil
}

var allPuts = vector.ConstUint(schema.KindColumn.Type, schema.KindPut)

// Sequences returns the sequence numbers of the rows that Next gave.
func (w *foundRows) Sequences(*scan.Stretch) (*vector.Vector, error) {
	w.seqs.Reset(schema.SequenceColumn.Type)
	for _, x := range w.given {
		w.seqs.Uints = append(w.seqs.Uints, w.f.s.chunks[x>>32].seqOf(int(uint32(x))))
	}
	return &w.seqs, nil
}

// Close ends the reading.
func (w *foundRows) Close() {}

var _ scan.Found = (*found)(nil)
