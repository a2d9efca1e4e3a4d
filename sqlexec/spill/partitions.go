package spill

import (
	"sync"

	"varve/engine/vector"
)

// Partitions are files over which rows are spread, so that each can be read on its own. Workers write through a Spread
// each; their rows are in the file of a partition in the order in which each worker brought them.
type Partitions struct {
	s     *Space
	types []vector.Type
	parts []partition
}

type partition struct {
	mu sync.Mutex
	w  *Writer // nil: no rows were written
}

// Partitions makes n partitions of rows of the given types. A file begins with its first rows.
func (s *Space) Partitions(types []vector.Type, n int) *Partitions {
	return &Partitions{s: s, types: types, parts: make([]partition, n)}
}

// Finish ends the files, when no worker writes any more. A partition without rows has none.
func (p *Partitions) Finish() ([]*File, error) {
	files := make([]*File, len(p.parts))
	for i := range p.parts {
		w := p.parts[i].w
		if w == nil {
			continue
		}
		f, err := w.Finish()
		if err != nil {
			return nil, err
		}
		files[i] = f
	}
	return files, nil
}

// write appends a block to a partition. Workers make their blocks at the same time; only the file waits for the others.
func (p *Partitions) write(at int, m *scratch, b *vector.Batch) error {
	part := &p.parts[at]
	w, err := p.writer(part)
	if err != nil {
		return err
	}
	if err := w.encode(m, b); err != nil {
		return err
	}
	part.mu.Lock()
	defer part.mu.Unlock()
	return w.put(m, b.N)
}

// writer is the file of a partition, which begins with the first block.
func (p *Partitions) writer(part *partition) (*Writer, error) {
	part.mu.Lock()
	defer part.mu.Unlock()
	if part.w == nil {
		w, err := p.s.Create(p.types)
		if err != nil {
			return nil, err
		}
		part.w = w
	}
	return part.w, nil
}

// Spread is a worker's way to the files. It keeps rows until they make blocks. One goroutine at a time.
type Spread struct {
	p     *Partitions
	most  int64           // bytes of rows that are kept
	rows  []*vector.Batch // by partition; nil: there were none
	held  int64           // bytes of the rows that are kept
	order []uint32        // scratch: rows of a batch by partition
	ends  []uint32
	m     scratch
}

// Spread is the way of a worker that keeps about so many bytes of rows.
func (p *Partitions) Spread(most int64) *Spread {
	return &Spread{p: p, most: most, rows: make([]*vector.Batch, len(p.parts)), ends: make([]uint32, len(p.parts)+1)}
}

// Add takes the rows of a batch, of any form: row i goes to partition to[i]. Texts that rows share are copied for each.
func (w *Spread) Add(b *vector.Batch, to []uint32) error {
	w.sort(to[:b.N])
	from := uint32(0)
	for at := range w.rows {
		rows := w.order[from:w.ends[at]]
		from = w.ends[at]
		for len(rows) > 0 {
			some := rows[:min(len(rows), vector.Size)]
			rows = rows[len(some):]
			if err := w.keep(at, b, some); err != nil {
				return err
			}
		}
	}
	if w.held > w.most {
		return w.Flush()
	}
	return nil
}

// sort orders the rows of a batch by partition: those of partition k end at ends[k].
func (w *Spread) sort(to []uint32) {
	clear(w.ends)
	for _, p := range to {
		w.ends[p+1]++
	}
	for p := 1; p < len(w.ends); p++ {
		w.ends[p] += w.ends[p-1]
	}
	w.order = vector.Sized(w.order, len(to))
	for i, p := range to {
		w.order[w.ends[p]] = uint32(i)
		w.ends[p]++
	}
}

// keep copies rows of a batch, at most vector.Size of them, to those of a partition.
func (w *Spread) keep(at int, b *vector.Batch, rows []uint32) error {
	kept := w.rows[at]
	if kept == nil {
		kept = vector.NewBatch(w.p.types...)
		w.rows[at] = kept
	}
	if kept.N+len(rows) > vector.Size {
		if err := w.flush(at); err != nil {
			return err
		}
	}
	before := bytesOf(kept)
	for i, v := range kept.Cols {
		v.AppendRows(kept.N, b.Cols[i], rows)
	}
	kept.N += len(rows)
	grown := bytesOf(kept) - before
	if w.held += grown; heapOf(kept) > w.most {
		return w.flush(at)
	}
	return nil
}

// Flush writes all rows that are kept.
func (w *Spread) Flush() error {
	for at := range w.rows {
		if err := w.flush(at); err != nil {
			return err
		}
	}
	return nil
}

// flush writes the rows of a partition.
func (w *Spread) flush(at int) error {
	kept := w.rows[at]
	if kept == nil || kept.N == 0 {
		return nil
	}
	err := w.p.write(at, &w.m, kept)
	w.held -= bytesOf(kept)
	if heapOf(kept) > w.most/int64(len(w.rows)) { // long texts came once; their room is not kept
		w.rows[at] = nil
		return err
	}
	kept.Reset()
	return err
}

// bytesOf is about the bytes of rows that are kept.
func bytesOf(b *vector.Batch) (bytes int64) {
	for _, v := range b.Cols {
		bytes += int64(8 * b.N)
		bytes += int64(len(v.Heap))
	}
	return bytes
}

// heapOf is the bytes of texts that are kept.
func heapOf(b *vector.Batch) (bytes int64) {
	for _, v := range b.Cols {
		bytes += int64(len(v.Heap))
	}
	return bytes
}
