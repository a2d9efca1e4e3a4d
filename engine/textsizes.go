package engine

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst"
)

// SizeRequest asks for the bytes of a column of texts, by groups of series. The table keeps all rows, and the column is
// a field.
type SizeRequest struct {
	Table  *Table
	Column schema.ColumnID
	Time   scan.Range
	// Bucket is a number of a time, which does not fall as times rise. Bytes of different buckets are apart.
	Bucket func(t int64) int64
	// Group is the number of the group of a series; below zero: it is not wanted. Tags are in the order of the schema's
	// tags and in the form of series keys; nil: NULL. They are valid during the call.
	Group func(tags [][]byte) (group int, err error)
	// Add adds rows of a group and bucket: those whose text is not NULL, and the bytes of these texts.
	Add func(group int, bucket, rows, texts, bytes int64) error
	// Reserve, when not nil, learns the memory that readers hold: see scan.Spec.
	Reserve func(bytes int64) error
	// Stats counts what was read; may be nil.
	Stats *scan.Stats
}

// TextSizes sums up the bytes of texts. Parts know those of most of their blocks; the rows of other blocks, and of
// memtables, are read. Functions of the request are called by one goroutine at a time.
func (e *Engine) TextSizes(ctx context.Context, r SizeRequest) error {
	at := r.Table.Schema.ByID(r.Column)
	s, err := e.Scan(ctx, Request{Table: r.Table, Columns: []schema.ColumnID{r.Table.Schema.TimeColumn().ID, r.Column},
		Time: r.Time, Stats: r.Stats, Reserve: r.Reserve})
	if err != nil {
		return err
	}
	defer s.Close()
	m := &measuring{SizeRequest: r, s: s, stored: at >= 0 && s.t.Columns[at].Type.IsText()}
	m.tags = make([][]byte, len(s.t.Tags))
	var rest []*scanRun
	for _, run := range s.all {
		more, err := m.known(run)
		if err != nil {
			return err
		}
		rest = append(rest, more...)
	}
	return m.readAll(rest)
}

// measuring is a TextSizes under way.
type measuring struct {
	SizeRequest
	s      *Scan
	stored bool // the column is text by now

	mu   sync.Mutex // protects what follows, and the functions of the request
	tags [][]byte
}

// known adds what a run knows and returns the runs that are to be read.
func (m *measuring) known(run *scanRun) ([]*scanRun, error) {
	if run.part == nil || !m.stored {
		return []*scanRun{run}, nil
	}
	file := run.part.file
	blocks, err := file.Measure(m.s.ctx, &sst.Measure{Column: m.Column, Time: m.s.spec.Time, Bucket: m.Bucket,
		Group: m.group, Add: func(group int, bucket, rows, bytes int64) error {
			return m.Add(group, bucket, rows, rows, bytes)
		}})
	if err != nil {
		return nil, m.s.from.damages.met(m.s.r, run.part, err)
	}
	rest := make([]*scanRun, len(blocks))
	for i, b := range blocks {
		rest[i] = &scanRun{file.Blocks(b, b+1), run.part}
	}
	return rest, nil
}

// group is the group of the series with a key.
func (m *measuring) group(key []byte) (int, error) {
	t := m.s.t
	for i, at := range t.Tags {
		m.tags[i] = schema.InitialTag(t.Columns[at].Initial)
	}
	_, err := schema.ParseSeriesKey(key, func(c schema.ColumnID, val []byte) {
		for i, at := range t.Tags {
			if t.Columns[at].ID == c {
				m.tags[i] = nil
				if val != nil {
					m.tags[i] = append([]byte{}, val...)
				}
			}
		}
	})
	if err != nil {
		return 0, err
	}
	return m.Group(m.tags)
}

// readAll reads runs, as many at a time as there are processors.
func (m *measuring) readAll(runs []*scanRun) error {
	var next atomic.Int64
	errs := make([]error, min(len(runs), runtime.GOMAXPROCS(0)))
	var wait sync.WaitGroup
	for w := range errs {
		wait.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(runs) && errs[w] == nil; i = next.Add(1) - 1 {
				errs[w] = m.read(m.s.guard(runs[i : i+1])[0])
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// read adds the rows of a run.
func (m *measuring) read(run scan.Run) error {
	spec := *m.s.spec
	spec.Memo = nil
	w, err := run.Series(&spec)
	if err != nil {
		return err
	}
	defer w.Close()
	var b vector.Batch
	for {
		key, ok, err := w.Next()
		if err != nil || !ok {
			return err
		}
		m.mu.Lock()
		group, err := m.group(key)
		m.mu.Unlock()
		if err != nil {
			return err
		}
		for group >= 0 {
			if ok, err = w.Rows(&b); err != nil {
				return err
			}
			if !ok {
				break
			}
			if err := m.addRows(group, &b); err != nil {
				return err
			}
		}
	}
}

// addRows adds the rows of a batch: times and texts.
func (m *measuring) addRows(group int, b *vector.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	times, texts := b.Cols[0], b.Cols[1]
	for from := 0; from < b.N; {
		bucket := m.Bucket(times.Int(from))
		to, count, bytes := from, int64(0), int64(0)
		for ; to < b.N && m.Bucket(times.Int(to)) == bucket; to++ {
			if !texts.IsNull(to) {
				count, bytes = count+1, bytes+int64(len(texts.Bytes(to)))
			}
		}
		if err := m.Add(group, bucket, int64(to-from), count, bytes); err != nil {
			return err
		}
		from = to
	}
	return nil
}
