package sst

import (
	"context"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// Parts are read where they are mapped, so a file that was cut, or a disk that fails, shows as a fault of memory. All
// calls from outside that use bytes of a part stand in this file and go through use, which makes such a fault an error
// like any other damage, in every goroutine. What lies below need not know of faults. Results contain no bytes of the
// file, so no other code can meet such a fault. Check, Verify, Dump and Writer.Splice call use themselves.

// use calls f, which uses bytes of the part. A fault of them is damage of the part.
func (p *Part) use(f func() error) error {
	fault, err := vfs.Guard(f)
	if fault == nil {
		return err
	}
	u := p.file.Unreadable(fault)
	if u == nil {
		panic(fault) // of another part, or none
	}
	return p.unreadable(u)
}

// using is use with a result.
func using[T any](p *Part, f func() (T, error)) (v T, err error) {
	err = p.use(func() (err error) {
		v, err = f()
		return err
	})
	return v, err
}

// ColumnMetas is what the part says of its columns.
func (p *Part) ColumnMetas() ([]ColumnMeta, error) { return using(p, p.columnMetas) }

// TypeOf is the type that the part stores a column in; false when it has no such column.
func (p *Part) TypeOf(id schema.ColumnID) (t vector.Type, ok bool, err error) {
	err = p.use(func() (err error) {
		t, ok, err = p.typeOf(id)
		return err
	})
	return t, ok, err
}

// KeyBytes bounds the bytes of all series keys, each whole, from above; closely where they are many.
func (p *Part) KeyBytes() (int64, error) { return using(p, p.keyBytes) }

// EachKey calls f with the key of each series, which is valid during the call.
func (p *Part) EachKey(f func(key []byte)) error {
	return p.use(func() error { return p.eachKey(f) })
}

// Tables calls f with the tables that have series in the part and their rows, by rising id, until f says false.
func (p *Part) Tables(f func(id schema.TableID, rows int) bool) error {
	return p.use(func() error { return p.eachTable(f) })
}

// Extent returns the blocks that hold rows of series whose keys begin with prefix.
func (p *Part) Extent(ctx context.Context, prefix []byte) (scan.Pieces, error) {
	return using(p, func() (scan.Pieces, error) { return p.extent(ctx, prefix) })
}

// SoleSeries is the key of the part's series when it has one only, else nil.
func (p *Part) SoleSeries(ctx context.Context) ([]byte, error) {
	return using(p, func() ([]byte, error) { return p.soleSeries(ctx) })
}

// Origin is what the part says of itself; nil: nothing, as parts before version 3.
func (p *Part) Origin() ([]byte, error) { return using(p, p.originBytes) }

// readFilter returns the filter of a block that has one after checking it. A fault costs the filter alone, whoever asks
// for it.
func (p *Part) readFilter(ctx context.Context, c *column, f *filterIndex, block int) (lent, error) {
	return using(p, func() (lent, error) { return p.checkedFilter(ctx, c, f, block) })
}

// Stat answers for stored columns of unchanged type; not when a string bound was cut.
func (r *run) Stat(ctx context.Context, c schema.Column) (s scan.ColumnStat, ok bool, err error) {
	err = r.p.use(func() (err error) {
		s, ok, err = r.stat(ctx, c)
		return err
	})
	return s, ok && err == nil, err
}

// Split cuts by the series section.
func (r *run) Split(ctx context.Context, prefix []byte, n int) ([][]byte, error) {
	return using(r.p, func() ([][]byte, error) { return r.split(ctx, prefix, n) })
}

// Scan returns a cursor over the blocks that spec.Pieces names.
func (r *run) Scan(spec *scan.Spec) (scan.Cursor, error) {
	return using(r.p, func() (scan.Cursor, error) { return r.scan(spec) })
}

// Series returns a walk over the series with rows that pass. Pieces and Newest are not regarded.
func (r *run) Series(spec *scan.Spec) (scan.Series, error) {
	w, err := r.walk(spec)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (r *run) walk(spec *scan.Spec) (*seriesWalk, error) {
	return using(r.p, func() (*seriesWalk, error) { return r.begin(spec) })
}

// Find returns the series of some tables whose tags pass.
func (r *run) Find(want *scan.Find) (scan.Found, error) {
	return using(r.p, func() (scan.Found, error) { return r.find(want) })
}

// TagValues calls f with the values of a tag.
func (r *run) TagValues(ctx context.Context, tables []schema.TableID, tag schema.Column, f func(val []byte)) error {
	return r.p.use(func() error { return r.tagValues(ctx, tables, tag, f) })
}

// Next fills b with up to vector.Size rows.
func (c *cursor) Next(b *vector.Batch) (bool, error) {
	return using(c.p, func() (bool, error) { return c.fill(b) })
}

// Next moves to the next series with matching rows. The key is valid until the following Next.
func (w *seriesWalk) Next() (key []byte, ok bool, err error) {
	err = w.p.use(func() (err error) {
		key, ok, err = w.find()
		return err
	})
	return key, ok, err
}

// Rows fills b with the next rows of the current series.
func (w *seriesWalk) Rows(b *vector.Batch) (bool, error) {
	return using(w.p, func() (bool, error) { return w.fill(b) })
}

// Next returns the next key.
func (k *foundKeys) Next() ([]byte, error) { return using(k.f.p, k.step) }

// Reader reads rows of the series.
func (f *found) Reader() (scan.Rows, error) { return using(f.p, f.rows) }

// Next returns the rows of the next block in which the series has any in the range.
func (w *foundRows) Next(s *scan.Stretch) (bool, error) {
	return using(w.f.p, func() (bool, error) { return w.step(s) })
}

// Kinds returns the kinds of the block at hand.
func (w *foundRows) Kinds(*scan.Stretch) (*vector.Vector, error) {
	return using(w.f.p, func() (*vector.Vector, error) { return w.hiddenColumn(&schema.KindColumn) })
}

// Sequences returns the sequence numbers of the block at hand.
func (w *foundRows) Sequences(*scan.Stretch) (*vector.Vector, error) {
	return using(w.f.p, func() (*vector.Vector, error) { return w.hiddenColumn(&schema.SequenceColumn) })
}
