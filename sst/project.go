package sst

import "varve/engine/vector"

// projector gives rows of the block at hand as batches.
type projector struct {
	*picker
	out    []*source
	window []vector.Vector // slices of blocks
	gather []vector.Vector // copied rows
	rows   []uint32        // rows of the block to give; nil: all
	at     int             // rows given
}

func (j *projector) project() error {
	for i := range j.spec.Columns {
		s, err := j.source(&j.spec.Columns[i])
		if err != nil {
			return err
		}
		j.out = append(j.out, s)
	}
	j.window = make([]vector.Vector, len(j.out))
	j.gather = make([]vector.Vector, len(j.out))
	return nil
}

// give fills b with the next rows of the block; false: none are left. n is the number of rows of the block to give.
func (j *projector) give(b *vector.Batch, rows []uint32, n int) (bool, error) {
	if j.at >= n {
		return false, nil
	}
	from, to := j.at, min(j.at+vector.Size, n)
	j.at = to
	b.N, b.Cols = to-from, b.Cols[:0]
	for i, s := range j.out {
		v, err := j.loadPicked(s)
		if err != nil {
			return false, err
		}
		if s.picked {
			at := j.pickedBefore(rows[from]) // rows are some of those that were picked, one after the other
			window(&j.window[i], v, at, at+b.N)
			b.Cols = append(b.Cols, &j.window[i])
			continue
		}
		if rows == nil {
			window(&j.window[i], v, from, to)
			b.Cols = append(b.Cols, &j.window[i])
			continue
		}
		j.gather[i].Gather(v, rows[from:to])
		b.Cols = append(b.Cols, &j.gather[i])
	}
	if st := j.spec.Stats; st != nil {
		st.RowsOut.Add(int64(b.N))
	}
	return true, nil
}
