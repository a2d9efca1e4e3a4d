package memtable

import (
	"cmp"
	"math"
	"slices"

	"varve/engine/scan"
)

// Run is a snapshot of a memtable as a scan.Run. Its blocks are chunks: a cursor returns the rows of a block, and the
// blocks, in the order in which they were appended (with Newest: blocks falling by their newest time). Series returns
// all rows in the order of a run, which is computed for the first reader.
type Run struct{ s *snapshot }

// Rows is the number of rows, tombstones included.
func (r *Run) Rows() int { return r.s.rows }

// Span is the smallest and largest time.
func (r *Run) Span() scan.Range {
	lo, hi := span(r.s.chunks)
	return scan.Range{From: lo, To: hi}
}

// Sequences is the smallest and largest sequence number; 0, 0 without rows.
func (r *Run) Sequences() (lo, hi uint64) {
	lo = math.MaxUint64
	for _, c := range r.s.chunks {
		if c.seqs == nil {
			lo, hi = min(lo, c.oneSeq), max(hi, c.oneSeq)
			continue
		}
		for _, q := range c.seqs {
			lo, hi = min(lo, q), max(hi, q)
		}
	}
	if r.s.rows == 0 {
		return 0, 0
	}
	return lo, hi
}

// Blocks is the number of chunks.
func (r *Run) Blocks() int { return len(r.s.chunks) }

// Block returns rows and span of a chunk.
func (r *Run) Block(i int) (int, scan.Range) {
	c := r.s.chunks[i]
	return c.n, scan.Range{From: c.min, To: c.max}
}

// Scan returns a cursor over the chunks that spec.Pieces names.
func (r *Run) Scan(spec *scan.Spec) (scan.Cursor, error) {
	chunks := r.s.chunks
	if p := spec.Pieces; p != nil {
		chunks = chunks[min(p.From, len(chunks)):min(p.To, len(chunks))]
	}
	if spec.Newest {
		chunks = slices.Clone(chunks)
		slices.SortStableFunc(chunks, func(a, b *chunk) int { return cmp.Compare(b.max, a.max) })
	}
	if st := spec.Stats; st != nil {
		st.BlocksTotal.Add(int64(len(chunks)))
	}
	return newCursor(r.s, chunks, spec)
}

var _ scan.Run = (*Run)(nil)
