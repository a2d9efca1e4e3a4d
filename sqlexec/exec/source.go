package exec

import (
	"sync/atomic"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/vector"
)

// ScanSource reads the pieces of a scan in whatever order workers get to them. The scan stays the caller's.
func ScanSource(s *engine.Scan) Source { return &pieceSource{s} }

type pieceSource struct{ scan *engine.Scan }

// Reader hands a worker its share of the pieces.
func (s *pieceSource) Reader(int) Reader { return &scanReader{scan: s.scan} }

type scanReader struct {
	scan *engine.Scan
	c    scan.Cursor
}

func (r *scanReader) Next(b *vector.Batch) (bool, error) {
	for {
		if r.c == nil {
			c, _, ok, err := r.scan.Cursor()
			if err != nil || !ok {
				return false, err
			}
			r.c = c
		}
		ok, err := r.c.Next(b)
		if ok || err != nil {
			return ok, err
		}
		r.c.Close()
		r.c = nil
	}
}

func (r *scanReader) Close() {
	if r.c != nil {
		r.c.Close()
		r.c = nil
	}
}

// Values returns the rows of a batch of any size in streaming batches. Its columns are Flat or Const and not changed.
func Values(b *vector.Batch) Source { return &valuesSource{b: b} }

type valuesSource struct {
	b    *vector.Batch
	next atomic.Int64
}

// Reader hands a worker its share of the batches; batches are handed out in order.
func (v *valuesSource) Reader(int) Reader { return &valuesReader{v} }

type valuesReader struct{ v *valuesSource }

func (r *valuesReader) Next(b *vector.Batch) (bool, error) {
	from := int(r.v.next.Add(vector.Size)) - vector.Size
	if from >= r.v.b.N {
		return false, nil
	}
	to := min(from+vector.Size, r.v.b.N)
	b.N = to - from
	b.Cols = make([]*vector.Vector, len(r.v.b.Cols)) // the former ones may be in use upstream
	for i, c := range r.v.b.Cols {
		b.Cols[i] = c.Slice(from, to)
	}
	return true, nil
}

func (r *valuesReader) Close() {}
