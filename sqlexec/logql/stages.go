package logql

import (
	"bytes"
	"slices"
	"strconv"
	"sync"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/logql/stage"
	"varve/sqlexec/logql/syntax"
)

// worker runs stages over rows; one goroutine at a time.
type worker struct {
	rows   rowReader
	p      *stage.Pipeline
	e      *stage.Entry
	stream []stage.Label // of the entry
	begun  bool
}

func newWorker(s *source, p *stage.Pipeline, also derived) *worker {
	return &worker{rows: rowReader{s: s, also: also}, p: p, e: p.NewEntry()}
}

// run runs the stages over row i; false: the line does not pass. The entry is valid until the next row.
func (w *worker) run(i int) bool {
	r := &w.rows
	r.load(i)
	if !w.begun || !sameStream(w.stream, r.stream) {
		w.begun = true
		w.stream = w.stream[:0]
		for _, l := range r.stream {
			w.stream = append(w.stream, stage.Label{Name: l.Name, Value: bytes.Clone(l.Value)})
		}
		w.e.SetStream(w.stream)
	}
	return w.p.Run(w.e, r.at, r.line, r.metadata)
}

// sameStream reports whether two sets of labels are the same.
func sameStream(a, b []stage.Label) bool {
	return slices.EqualFunc(a, b, func(a, b stage.Label) bool {
		return a.Name == b.Name && string(a.Value) == string(b.Value)
	})
}

// filters reports whether a stage may not let a line pass.
func filters(list []syntax.Stage) bool {
	return slices.ContainsFunc(list, func(s syntax.Stage) bool {
		switch s.(type) {
		case *syntax.LineFilter, *syntax.LabelFilter:
			return true
		}
		return false
	})
}

// changesLine reports whether a stage may change the line.
func changesLine(list []syntax.Stage) bool {
	return slices.ContainsFunc(list, func(s syntax.Stage) bool {
		switch s.(type) {
		case *syntax.LineFormat, *syntax.Decolorize, *syntax.Unpack:
			return true
		}
		return false
	})
}

// keeper is the private function that says which rows pass the stages.
type keeper struct {
	pool  sync.Pool
	stats *Stats
}

// keepName is the name of the function in statements.
const keepName = "logql_keep"

// keep makes a private function of stages.
func keep(s *source, p *stage.Pipeline, also derived, stats *Stats) *expr.Private {
	k := &keeper{stats: stats}
	k.pool.New = func() any { return &keptRows{k: k, w: newWorker(s, p, also)} }
	return expr.NewPrivate(keepName, vector.BoolType, func() expr.PrivateRows { return k.pool.Get().(*keptRows) })
}

// keptRows computes keeper over the rows of a batch.
type keptRows struct {
	k            *keeper
	w            *worker
	lines, bytes int64
}

// Begin takes the rows of a batch.
func (r *keptRows) Begin(n int, args []*vector.Vector) error {
	r.lines, r.bytes = int64(n), 0
	return r.w.rows.begin(args)
}

// Row runs the stages over a row.
func (r *keptRows) Row(i int) ([]byte, bool, error) {
	ok := r.w.run(i)
	r.bytes += int64(len(r.w.rows.line))
	return nil, ok, nil
}

// End counts the rows and gives the worker back.
func (r *keptRows) End() {
	r.k.stats.Lines.Add(r.lines)
	r.k.stats.Bytes.Add(r.bytes)
	r.w.rows.cols = nil
	r.k.pool.Put(r)
}

func quote(text string) string { return strconv.Quote(text) }
