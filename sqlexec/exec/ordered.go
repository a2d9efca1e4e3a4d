package exec

import (
	"varve/engine"
	"varve/engine/scan"
	"varve/engine/vector"
)

// OrderedSource reads a scan in the table's natural order: series by series, rows by time. It has one reader and serves
// plain scans, whose order shows in the answer. The caller remains the owner of the scan.
func OrderedSource(s *engine.Scan, types []vector.Type) Source {
	return &ordered{scan: s, types: types}
}

type ordered struct {
	scan  *engine.Scan
	types []vector.Type
}

// Reader hands the one reader to worker 0.
func (o *ordered) Reader(worker int) Reader {
	if worker > 0 {
		return empty{}
	}
	return &orderedReader{o: o}
}

// orderedReader walks the series. Series of few rows are gathered into one batch: a metric table has many of them.
type orderedReader struct {
	o      *ordered
	series scan.Series
	in     bool // inside a series
	done   bool
	own    *vector.Batch // gathered rows
	held   vector.Batch  // the batch that came after them
	has    bool
}

// smallBatch is where rows are passed on as they are instead of being gathered: so many of them, or so many bytes.
const (
	smallBatch = 512
	smallBytes = 256 << 10
)

func (r *orderedReader) Next(b *vector.Batch) (bool, error) {
	if r.series == nil {
		series, err := r.o.scan.Series(0, 1)
		if err != nil { // what comes with it is nothing to close
			return false, err
		}
		r.series = series
		r.own = vector.NewBatch(r.o.types...)
	}
	if r.has {
		r.has = false
		*b = r.held
		return true, nil
	}
	r.own.Reset()
	gathered := int64(0)
	for r.own.N < vector.Size-smallBatch && gathered < smallBytes && !r.done {
		ok, err := r.rows()
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		bytes := BatchBytes(&r.held)
		if r.held.N >= smallBatch || bytes >= smallBytes {
			if r.own.N == 0 {
				*b = r.held
				return true, nil
			}
			r.has = true
			break
		}
		gathered += bytes
		r.own.Append(&r.held, 0, r.held.N)
	}
	*b = *r.own
	return b.N > 0, nil
}

// rows reads the next rows of whatever series into held.
func (r *orderedReader) rows() (bool, error) {
	for {
		if !r.in {
			_, ok, err := r.series.Next()
			if err != nil || !ok {
				r.done = true
				return false, err
			}
			r.in = true
		}
		ok, err := r.series.Rows(&r.held)
		if err != nil || ok {
			return ok, err
		}
		r.in = false
	}
}

func (r *orderedReader) Close() {
	if r.series != nil {
		r.series.Close()
	}
}
