package exec

import (
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// Series produces the values of a series on demand, in order, for one worker: a column of the values and, if there are
// two types, a column of their numbers from 1.
func Series(s expr.Series, types []vector.Type) (Source, error) {
	values, err := s.Read()
	return seriesSource{types, values}, err
}

type seriesSource struct {
	types  []vector.Type
	values expr.SeriesReader
}

// Reader hands all rows to worker 0.
func (s seriesSource) Reader(worker int) Reader {
	if worker > 0 {
		return empty{}
	}
	r := &seriesReader{values: s.values}
	for _, t := range s.types {
		r.cols = append(r.cols, &vector.Vector{Type: t, Ints: make([]int64, vector.Size)})
	}
	return r
}

type seriesReader struct {
	values expr.SeriesReader
	cols   []*vector.Vector // the values and, if requested, their numbers
	given  int64
}

// Next makes a batch.
func (r *seriesReader) Next(b *vector.Batch) (bool, error) {
	x, n := r.cols[0].Ints[:vector.Size], 0
	for ; n < len(x); n++ {
		var ok bool
		if x[n], ok = r.values.Next(); !ok {
			break
		}
	}
	if len(r.cols) > 1 {
		number := r.cols[1].Ints[:n]
		for i := range number {
			number[i] = r.given + int64(i) + 1
		}
	}
	r.given += int64(n)
	b.N, b.Cols = n, make([]*vector.Vector, len(r.cols)) // the former ones may be in use upstream
	for i, c := range r.cols {
		b.Cols[i] = c.Slice(0, n)
	}
	return n > 0, nil
}

func (r *seriesReader) Close() {}
