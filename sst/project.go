package sst

import "varve/engine/vector"

// projector makes batches of rows of the selector's block. Its columns are prepared with the first row that passes: of a needle's scan most pieces have none.
type projector struct {
	sel    *selector
	out    []*source
	window []vector.Vector // slices of blocks
	gather []vector.Vector // copied rows
	rows   []uint32        // of the block to give; nil: all
	n, at  int             // how many rows there are to give, and how many are given
}

// prepare finds the columns that the scan wants.
func (j *projector) prepare() error {
	columns := j.sel.spec.Columns
	j.out = make([]*source, 0, len(columns))
	for i := range columns {
		s, err := j.sel.reader.source(&columns[i])
		if err != nil {
			return err
		}
		j.out = append(j.out, s)
	}
	j.window = make([]vector.Vector, len(j.out))
	j.gather = make([]vector.Vector, len(j.out))
	return nil
}

// begin has n rows of the selector's block given: those of a list or, if it is nil, all.
func (j *projector) begin(rows []uint32, n int) { j.rows, j.n, j.at = rows, n, 0 }

// end leaves out what is not given yet.
func (j *projector) end() { j.begin(nil, 0) }

// next fills b with the next rows; false: none are left.
func (j *projector) next(b *vector.Batch) (bool, error) {
	if j.at >= j.n {
		return false, nil
	}
	if j.out == nil {
		if err := j.prepare(); err != nil {
			return false, err
		}
	}
	from, to := j.at, min(j.at+vector.Size, j.n)
	j.at = to
	b.N, b.Cols = to-from, b.Cols[:0]
	for i, s := range j.out {
		v, err := j.sel.loadPassing(s)
		if err != nil {
			return false, err
		}
		switch {
		case s.sparse: // the rows are some of those that pass, one after the other
			at := j.sel.passingBefore(j.rows[from])
			window(&j.window[i], v, at, at+b.N)
		case j.rows == nil:
			window(&j.window[i], v, from, to)
		default:
			j.gather[i].Gather(v, j.rows[from:to])
			b.Cols = append(b.Cols, &j.gather[i])
			continue
		}
		b.Cols = append(b.Cols, &j.window[i])
	}
	if st := j.sel.spec.Stats; st != nil {
		st.RowsOut.Add(int64(b.N))
	}
	return true, nil
}
