package engine

import (
	"slices"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/memtable"
)

// Samples are the samples of a request for the series of one region, series after series. They go into the log and the
// memtable as one batch: a request with one sample for each of ten thousand tables costs as much as a request with ten
// thousand samples for one table. One goroutine at a time.
type Samples struct {
	region *region
	names  SampleColumns

	series []*Series
	refs   []*memtable.Ref
	ends   []int // rows [ends[i-1], ends[i]) are of series[i]; ends[-1] stands for 0

	times  []int64 // ms
	values []float64

	// What few samples have is held apart, by rising row.
	starts     []int64
	startRows  []uint32
	histograms vector.Vector
	histRows   []uint32
	wants      []want
}

// want is a series whose table may lack columns.
type want struct {
	series *Series
	column sampleColumnID
}

// sampleColumnID is a column that tables get when the first sample needs it.
type sampleColumnID uint32

const (
	histogramColumn sampleColumnID = 1 << iota
	startColumn
)

// Samples returns the samples of the region that holds a series. The following calls add to this series.
func (s *WriteSet) Samples(x *Series, names *SampleColumns) *Samples {
	for _, g := range s.samples {
		if g.region == x.home.region {
			g.begin(x)
			return g
		}
	}
	var g *Samples
	if k := len(s.spareSamples); k > 0 {
		g, s.spareSamples = s.spareSamples[k-1], s.spareSamples[:k-1]
	} else {
		g = &Samples{histograms: vector.Vector{Type: vector.BinaryType}}
	}
	g.region, g.names = x.home.region, *names
	s.samples = append(s.samples, g)
	g.begin(x)
	return g
}

func (g *Samples) begin(x *Series) {
	if n := len(g.ends); n > 0 && g.ends[n-1] == g.from(n-1) { // the one before had none
		g.series[n-1], g.refs[n-1] = x, &x.ref
		return
	}
	g.series, g.refs, g.ends = append(g.series, x), append(g.refs, &x.ref), append(g.ends, len(g.times))
}

// from is the first row of series i of the request.
func (g *Samples) from(i int) int {
	if i == 0 {
		return 0
	}
	return g.ends[i-1]
}

// Float adds a sample.
func (g *Samples) Float(ms int64, value float64) {
	g.times, g.values = append(g.times, ms), append(g.values, value)
	g.ends[len(g.ends)-1] = len(g.times)
}

// Histogram adds a sample that is a histogram in its binary form, which is copied. The error says why the table takes
// none.
func (g *Samples) Histogram(ms int64, binary []byte) error {
	if err := g.want(histogramColumn); err != nil {
		return err
	}
	h := &g.histograms
	h.Views = append(h.Views, vector.View{Off: uint32(len(h.Heap)), Len: uint32(len(binary))})
	h.Heap = append(h.Heap, binary...)
	g.histRows = append(g.histRows, uint32(len(g.times)))
	g.Float(ms, 0)
	return nil
}

// Started says since when the last sample counts, ms since the epoch. A table that cannot have such times does without.
func (g *Samples) Started(ms int64) {
	if g.want(startColumn) == nil {
		g.starts, g.startRows = append(g.starts, ms), append(g.startRows, uint32(len(g.times)-1))
	}
}

// want notes that the table of the series at hand needs a column. The error says why it cannot have it.
func (g *Samples) want(c sampleColumnID) error {
	x := g.series[len(g.series)-1]
	if !slices.Contains(g.wants[max(len(g.wants)-2, 0):], want{x, c}) { // those of a series follow each other
		if err := x.takes(c, &g.names); err != nil {
			return err
		}
		g.wants = append(g.wants, want{x, c})
	}
	return nil
}

// takes says why the table of a series cannot have a column of samples.
func (s *Series) takes(c sampleColumnID, names *SampleColumns) error {
	t := s.home.schema()
	typ, name := c.of(names)
	switch at := t.Column(name); {
	case sampleColumn(t, t.Physical != 0, typ, name) >= 0:
		return nil
	case at >= 0:
		return errSampleColumn(t, &t.Columns[at], typ)
	case len(t.Columns) >= schema.MaxColumns:
		return status.New(status.InvalidArguments, "table %s has %d columns, which is the limit: column %s cannot be added", t.Name.Table,
			len(t.Columns), name)
	}
	return nil
}

// errSampleColumn is the error for a column that has the name, but not the type or the role, of one of samples.
func errSampleColumn(t *schema.Table, c *schema.Column, typ vector.Type) error {
	return status.New(status.InvalidArguments,
		"table %s does not take these samples: its column %s is a %s of type %s, but they need a FIELD of type %s",
		t.Name.Table, c.Name, c.Semantic, c.Type, typ)
}

// Rows is the number of samples.
func (g *Samples) Rows() int { return len(g.times) }

func (g *Samples) reset() {
	clear(g.series)
	clear(g.refs)
	g.region, g.series, g.refs, g.ends, g.wants = nil, g.series[:0], g.refs[:0], g.ends[:0], g.wants[:0]
	g.times, g.values = g.times[:0], g.values[:0]
	g.starts, g.startRows, g.histRows = g.starts[:0], g.startRows[:0], g.histRows[:0]
	g.histograms.Reset(vector.BinaryType)
}

func (g *Samples) held() int64 {
	return int64(8*(cap(g.series)+cap(g.refs)+cap(g.ends)+cap(g.times)+cap(g.values)+cap(g.starts)+
		cap(g.histograms.Views)+2*cap(g.wants)) +
		4*(cap(g.startRows)+cap(g.histRows)) + cap(g.histograms.Heap))
}

// write begins to write samples.
func (g *Samples) write() *tableWrite {
	return &tableWrite{writeEntry: &writeEntry{hint: Hint{AutoCreate: true}}, batch: &vector.Batch{N: len(g.times)},
		samples: g}
}

// alignSamples makes the record of samples, with no value longer than longestValue; lacking: a table lacks a column
// that they need. Rows of a region that is gone are gone with it.
func (w *tableWrite) alignSamples(c *catalog, longestValue int, now time.Time) (lacking bool, err error) {
	g := w.samples
	w.rec = nil
	if c.regions[g.region.id] != g.region {
		return false, nil
	}
	w.at = home{region: g.region}
	w.schema = w.at.schema()
	if err := g.current(); err != nil {
		return false, err
	}
	if w.schema.Options.ReadOnly { // since the series were found: sent again, each of them is refused
		return false, errSeriesAltered(w.schema)
	}
	if g.lacking() || w.lacksColumns() {
		return true, nil
	}
	w.rec = &record{kind: recordSeries, table: w.schema.ID, batch: w.batch, refs: g.refs, ends: g.ends}
	w.batch.Cols = w.batch.Cols[:0]
	set := make([]bool, len(w.schema.Columns))
	put := func(at int, v *vector.Vector) {
		set[at] = true
		w.rec.add(&w.schema.Columns[at], v)
	}
	values := &vector.Vector{Type: vector.FloatType, Floats: g.values}
	put(w.schema.Time, &vector.Vector{Type: w.schema.TimeColumn().Type, Ints: g.times})
	if len(g.histRows) > 0 {
		values.Valid = rowsBut(len(g.times), g.histRows)
		put(w.column(histogramColumn), scattered(&g.histograms, g.histRows, len(g.times)))
	}
	put(w.column(0), values)
	if len(g.startRows) > 0 {
		put(w.column(startColumn),
			scattered(&vector.Vector{Type: vector.Timestamp(3), Ints: g.starts}, g.startRows, len(g.times)))
	}
	if err := w.rec.fillIn(w.schema, set, now); err != nil {
		return false, err
	}
	return false, w.rec.checkBounds(longestValue)
}

// current returns an error if a table was altered after the labels of a series were found in it, or is gone although it
// would need another column. When the sender repeats the samples, they find the table as it is then.
func (g *Samples) current() error {
	for _, x := range g.series {
		if t := x.home.schema(); !x.in(t) {
			return errSeriesAltered(t)
		}
	}
	for _, w := range g.wants {
		if w.series.home.dropped() {
			return errSeriesAltered(w.series.home.schema())
		}
	}
	return nil
}

func errSeriesAltered(t *schema.Table) error {
	return status.New(status.RegionBusy, "table %s was altered while samples were written to it: send them again",
		t.Name.Table)
}

// lacksColumns reports whether the region's schema does not have all columns of its tables yet that the samples need.
func (w *tableWrite) lacksColumns() bool {
	g := w.samples
	return len(g.histRows) > 0 && w.column(histogramColumn) < 0 || len(g.startRows) > 0 && w.column(startColumn) < 0
}

// logical reports whether the samples are of logical tables.
func (w *tableWrite) logical() bool { return w.schema.Shared() }

// column is the position of a column of samples in the region's schema; 0: that of floats.
func (w *tableWrite) column(c sampleColumnID) int {
	typ, name := c.of(&w.samples.names)
	return sampleColumn(w.schema, w.logical(), typ, name)
}

// of is the type and the name of a column of samples.
func (c sampleColumnID) of(names *SampleColumns) (vector.Type, string) {
	switch c {
	case histogramColumn:
		return vector.BinaryType, names.Histogram
	case startColumn:
		return vector.Timestamp(3), names.Start
	}
	return vector.FloatType, names.Value
}

// lacking reports whether a table lacks a column that its samples need.
func (g *Samples) lacking() bool {
	return slices.ContainsFunc(g.wants, func(w want) bool {
		t := w.series.home.schema()
		typ, name := w.column.of(&g.names)
		return sampleColumn(t, t.Physical != 0, typ, name) < 0
	})
}

// addSampleColumns adds the columns that samples need and their tables lack.
func (d *definition) addSampleColumns(g *Samples) error {
	for _, w := range g.wants {
		t := d.table(w.series.home.schema().Name)
		if t == nil || w.series.home.dropped() {
			continue
		}
		typ, name := w.column.of(&g.names)
		if sampleColumn(t, t.Physical != 0, typ, name) >= 0 {
			continue
		}
		// it took the column a moment ago
		if err := d.evolve(t, []schema.Column{{Name: name, Type: typ, Nullable: true}}); err != nil {
			return status.Wrap(err, status.RegionBusy,
				"table %s cannot have the column %s for now: send the samples again: %v", t.Name.Table, name, err)
		}
	}
	return nil
}

// rowsBut is all of n rows but some.
func rowsBut(n int, rows []uint32) vector.Bitmap {
	b := vector.MakeBitmap(n)
	b.Fill(n)
	for _, r := range rows {
		b.Clear(int(r))
	}
	return b
}

// scattered returns a vector of n rows. Some rows have the values of v, in order; the others are NULL.
func scattered(v *vector.Vector, rows []uint32, n int) *vector.Vector {
	if len(rows) == n {
		return v
	}
	out := &vector.Vector{Type: v.Type, Heap: v.Heap, Valid: vector.MakeBitmap(n)}
	if v.Type.Kind() == vector.Int64 {
		out.Ints = make([]int64, n)
	} else {
		out.Views = make([]vector.View, n)
	}
	for i, r := range rows {
		out.Valid.Set(int(r))
		if out.Ints != nil {
			out.Ints[r] = v.Ints[i]
		} else {
			out.Views[r] = v.Views[i]
		}
	}
	return out
}
