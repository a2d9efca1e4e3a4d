package sst

import (
	"sync"

	"varve/engine/vector"
)

// projector makes batches of rows of the selector's block. Its columns are prepared with the first row that passes: of
// a needle's scan most pieces have none.
type projector struct {
	sel    *selector
	out    []*source
	window []vector.Vector // slices of blocks
	gather []vector.Vector // copied rows; nil: none yet
	rows   []uint32        // of the block to give, neighbours among those that pass; nil: all from first on
	first  int
	n, at  int // how many rows there are to give, and how many are given
	pane   pane
	list   []uint32 // of following
}

// pane is copies of some rows of a block that is too large to be held: of those that pass, numbers from to to.
type pane struct {
	cols     []vector.Vector
	block    int
	from, to int
	bytes    int64
	rows     int  // that the next one has; 0: blocks are held whole
	small    bool // it holds all rows of its block, and they are few bytes
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
	return nil
}

// begin has n rows of the selector's block given: those of a list or, if it is nil, those from first on, while all of
// the block pass.
func (j *projector) begin(rows []uint32, first, n int) {
	j.rows, j.first, j.n, j.at = rows, first, n, 0
}

// end leaves out what is not given yet.
func (j *projector) end() { j.begin(nil, 0, 0) }

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
	if j.at == 0 && j.sel.p.file.Far() {
		if err := j.requestWanted(); err != nil {
			return false, err
		}
	}
	if j.pane.small && j.pane.block != j.sel.reader.block {
		j.pane = pane{}
	}
	b.Cols = b.Cols[:0]
	if j.pane.rows == 0 {
		if err := j.nextOfBlock(b); err != nil {
			return false, err
		}
	}
	if j.pane.rows > 0 {
		if err := j.nextOfPane(b); err != nil {
			return false, err
		}
	}
	j.at += b.N
	if st := j.sel.spec.Stats; st != nil {
		st.RowsOut.Add(int64(b.N))
	}
	return true, nil
}

// nextOfBlock fills b with rows of columns that are loaded whole, unless these become too many bytes: then it lets go
// of them, and rows come from panes.
func (j *projector) nextOfBlock(b *vector.Batch) error {
	from, to := j.at, min(j.at+vector.Size, j.n)
	b.N = to - from
	for i, s := range j.out {
		v, err := j.sel.loadPassing(s)
		if err != nil {
			return err
		}
		if j.sel.reader.crowded() && j.at == 0 {
			j.sel.reader.shed()
			j.pane.rows, b.Cols = j.sel.passing, b.Cols[:0]
			return nil
		}
		switch {
		case s.sparse: // some of the passing rows, in order
			at := j.sel.passingBefore(j.rows[from])
			if v.Valid != nil && at&63 != 0 {
				b.Cols = append(b.Cols, j.gathered(i, v, j.following(at, b.N)))
				continue
			}
			window(&j.window[i], v, at, at+b.N)
		case j.rows == nil:
			window(&j.window[i], v, j.first+from, j.first+to)
		default:
			b.Cols = append(b.Cols, j.gathered(i, v, j.rows[from:to]))
			continue
		}
		b.Cols = append(b.Cols, &j.window[i])
	}
	return nil
}

// gathered is rows of column i.
func (j *projector) gathered(i int, v *vector.Vector, rows []uint32) *vector.Vector {
	if j.gather == nil {
		j.gather = make([]vector.Vector, len(j.out))
	}
	j.gather[i].Gather(v, rows)
	return &j.gather[i]
}

// following returns n consecutive numbers of rows.
func (j *projector) following(from, n int) []uint32 {
	j.list = j.list[:0]
	for i := range n {
		j.list = append(j.list, uint32(from+i))
	}
	return j.list
}

// nextOfPane fills b with rows of a pane.
func (j *projector) nextOfPane(b *vector.Batch) error {
	p := &j.pane
	at := j.first + j.at // among the rows that pass
	if j.rows != nil {
		at = j.sel.passingBefore(j.rows[0]) + j.at
	}
	if p.block != j.sel.reader.block || at < p.from || at >= p.to {
		if err := j.fill(at); err != nil {
			return err
		}
	}
	from := at - p.from
	b.N = min(j.n-j.at, p.to-at, vector.Size)
	list := j.following(from, b.N)
	for i, s := range j.out {
		switch {
		case s.from == fixed:
			b.Cols = append(b.Cols, s.fixed)
		case from&63 == 0:
			window(&j.window[i], &p.cols[i], from, from+b.N)
			b.Cols = append(b.Cols, &j.window[i])
		default:
			b.Cols = append(b.Cols, j.gathered(i, &p.cols[i], list))
		}
	}
	return nil
}

// scratches are the memory of panes: one block of one column at a time.
var scratches = sync.Pool{New: func() any { return &memory{} }}

// fill makes a pane of the rows that pass from number from on: as many as may be held, one at the least.
func (j *projector) fill(from int) error {
	p, r := &j.pane, j.sel.reader
	j.drop()
	scratch := scratches.Get().(*memory)
	defer scratches.Put(scratch)
	most := r.allowance()
	for n := min(p.rows, j.sel.passing-from); ; n = (n + 1) / 2 {
		p.cols = make([]vector.Vector, len(j.out))
		bytes, err := j.copyRows(scratch, from, n, most)
		if err != nil {
			return err
		}
		if bytes > most && n > 1 {
			continue
		}
		if p.rows = n; bytes < most/4 {
			p.rows = 2 * n
		}
		p.block, p.from, p.to, p.bytes = r.block, from, from+n, bytes
		p.small = from == 0 && n == j.sel.passing && bytes < most/2
		return r.hold(bytes)
	}
}

// copyRows copies n of the rows that pass, from number from on, of all columns; it stops where they are more than so
// many bytes.
func (j *projector) copyRows(scratch *memory, from, n int, most int64) (bytes int64, err error) {
	r := j.sel.reader
	all := j.sel.passing == r.p.blocks[r.block].rows
	for i, s := range j.out {
		if s.from == fixed {
			continue
		}
		v, err := r.read(s, scratch, false)
		if err != nil {
			return 0, err
		}
		c := &j.pane.cols[i]
		c.Type = v.Type
		if all {
			c.Append(0, v, from, from+n)
		} else {
			c.AppendRows(0, v, j.sel.passingRows()[from:from+n])
		}
		if bytes += c.Bytes64(n); bytes > most && n > 1 {
			break
		}
	}
	return bytes, nil
}

// drop lets go of the pane.
func (j *projector) drop() {
	if j.pane.cols != nil && j.pane.block == j.sel.reader.block {
		j.sel.reader.let(j.pane.bytes)
	}
	j.pane.cols, j.pane.block, j.pane.bytes = nil, -1, 0
}
