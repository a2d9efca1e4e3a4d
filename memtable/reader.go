package memtable

import (
	"fmt"
	"slices"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// reader is the common part of cursors and walks: the sources of columns, the series that may pass, and the conditions
// on rows.
type reader struct {
	s       *snapshot
	chunks  []*chunk
	spec    *scan.Spec
	out     []source        // by spec.Columns
	prog    *filter.Program // conditions that look at other columns than tags
	conds   []source        // what conditions look at
	bounds  scan.Narrowing
	wanted  scan.Range      // by the bounds
	bounded *filter.Program // conditions of the bounds; nil: none
	table   schema.TableID  // whose series are read
	few     []uint32        // the only series that the key prefix leaves, rising; nil: they are not few
	allowed vector.Bitmap   // series that pass the key prefix and the conditions on tags; nil: all do
	nulls   map[vector.Type]*vector.Vector
	keep    vector.Bitmap // scratch
	rows    []uint32      // scratch
	long    bool          // rows of a chunk are long in the mean: a batch of many would be large

	vectorOf func(*source) *vector.Vector // the rows in hand of a column
	lookup   func(schema.ColumnID) *vector.Vector
}

// newReader finds the columns of a scan and decides on its series; vectorOf returns the rows in hand of a column.
func newReader(s *snapshot, chunks []*chunk, spec *scan.Spec, vectorOf func(*source) *vector.Vector) (*reader, error) {
	r := &reader{s: s, chunks: chunks, spec: spec, keep: vector.MakeBitmap(vector.Size), bounds: spec.Narrowing.Begin(),
		wanted: scan.All, vectorOf: vectorOf,
		nulls: map[vector.Type]*vector.Vector{}}
	r.long = slices.ContainsFunc(chunks, func(c *chunk) bool { return c.bytes > longRow*int64(c.n) })
	if r.table = s.series.only; len(spec.KeyPrefix) > 0 {
		r.table = schema.KeyTable(spec.KeyPrefix)
	}
	if len(spec.KeyPrefix) > len(schema.KeyPrefix(r.table)) {
		if numbers := s.series.begin(r.table, spec.KeyPrefix); len(numbers) <= fewSeries {
			r.few = append([]uint32{}, numbers...)
		}
	}
	var onTags, onRows filter.And
	for i := range spec.Filter {
		c := &spec.Filter[i]
		tags, err := r.describe(c)
		switch {
		case err != nil:
			return nil, err
		case tags:
			onTags = append(onTags, *c)
		default:
			onRows = append(onRows, *c)
		}
	}
	var err error
	if r.prog, err = filter.Compile(onRows); err != nil {
		return nil, err
	}
	if err := r.allow(onTags); err != nil {
		return nil, err
	}
	r.lookup = func(id schema.ColumnID) *vector.Vector { return r.vectorOf(r.condSource(id)) }
	r.out = make([]source, len(spec.Columns))
	for i, c := range spec.Columns {
		if r.out[i], err = r.source(c); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// heed consults the bounds of the scan.
func (r *reader) heed() error {
	if !r.bounds.Heed() {
		return nil
	}
	var and filter.And
	r.wanted, and = r.bounds.Wanted()
	for i := range and {
		if _, err := r.describe(&and[i]); err != nil {
			return err
		}
	}
	var err error
	r.bounded, err = filter.Compile(and)
	return err
}

// eval removes from keep those of the n current rows that fail a condition or are outside of a bound.
func (r *reader) eval(n int, keep vector.Bitmap) {
	r.prog.Eval(n, r.lookup, keep)
	if r.bounded != nil {
		r.bounded.Eval(n, r.lookup, keep)
	}
}

// describe makes the sources of a condition's columns; tags: it looks at tags alone.
func (r *reader) describe(c *filter.Cond) (tags bool, err error) {
	tags = true
	for _, id := range c.AppendColumns(nil) {
		i := slices.IndexFunc(r.spec.FilterColumns, func(f schema.Column) bool { return f.ID == id })
		if i < 0 {
			return false, fmt.Errorf("filter column %d is not described", id)
		}
		tags = tags && r.spec.FilterColumns[i].Semantic == schema.Tag
		if slices.ContainsFunc(r.conds, func(s source) bool { return s.col.ID == id }) {
			continue
		}
		src, err := r.source(r.spec.FilterColumns[i])
		if err != nil {
			return false, err
		}
		r.conds = append(r.conds, src)
	}
	return tags, nil
}

// condSource is the source of a column that conditions look at.
func (r *reader) condSource(id schema.ColumnID) *source {
	return &r.conds[slices.IndexFunc(r.conds, func(s source) bool { return s.col.ID == id })]
}

// null is the vector of rows that are all NULL: columns of a type share it.
func (r *reader) null(t vector.Type) *vector.Vector {
	if r.nulls[t] == nil {
		r.nulls[t] = vector.ConstNull(t)
	}
	return r.nulls[t]
}

// source makes the source of a column.
func (r *reader) source(c schema.Column) (source, error) {
	src := source{col: c, table: r.table, few: r.few, series: &r.s.series}
	if c.Semantic == schema.Tag {
		if r.table == 0 && r.s.rows > 0 {
			return src, fmt.Errorf("tag %s is asked for of all tables in a region at once", c.Name)
		}
		var err error
		if r.few != nil {
			src.tag, err = (&tagDicts{}).column(c, &r.s.series.seriesKeys, r.few)
		} else {
			src.tag, err = r.s.series.tag(r.table, c)
		}
		return src, err
	}
	src.values, src.null = make([]*vector.Vector, len(r.chunks)), r.null(c.Type)
	for i, ch := range r.chunks {
		v := ch.vector(c, src.null)
		if v.Type.Kind() != c.Type.Kind() {
			return src, fmt.Errorf("column %s is %s in memory and %s in the schema", c.Name, v.Type, c.Type)
		}
		src.values[i] = v
	}
	return src, nil
}

// allowedKey is what is found out once for all pieces of a scan: the series of a snapshot that pass a key prefix and
// the conditions on tags.
type allowedKey struct {
	s      *snapshot
	prefix string
}

// allow decides on the series: once for each, not for each row.
func (r *reader) allow(onTags filter.And) (err error) {
	if len(onTags) == 0 && len(r.spec.KeyPrefix) == 0 {
		return nil
	}
	r.allowed, err = scan.Once(r.spec.Memo, allowedKey{r.s, string(r.spec.KeyPrefix)}, func() (vector.Bitmap, error) {
		prog, err := filter.Compile(onTags)
		if err != nil {
			return nil, err
		}
		numbers := r.few
		if numbers == nil {
			numbers = r.s.series.begin(r.table, r.spec.KeyPrefix)
		}
		keep := vector.MakeBitmap(len(numbers))
		keep.Fill(len(numbers))
		if len(numbers) > 0 {
			prog.Eval(len(numbers), func(id schema.ColumnID) *vector.Vector {
				src := r.condSource(id)
				return src.bySeries(numbers)
			}, keep)
		}
		allowed := vector.MakeBitmap(r.s.series.len())
		for i, n := range numbers {
			if keep.Get(i) {
				allowed.Set(int(n))
			}
		}
		return allowed, nil
	})
	return err
}
