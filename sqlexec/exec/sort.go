package exec

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// maxRows bounds the rows that one sink keeps: row numbers are 32 bits.
const maxRows = 1<<31 - 1

// sorter keeps rows with their sort keys as bytes that compare like the order.
type sorter struct {
	rows  *vector.Batch
	keys  []byte
	ends  []int // keys[ends[i-1]:ends[i]] is the key of row i
	eval  *expr.Program
	order []expr.SortKey
	out   []*vector.Vector

	held     int64 // bytes of rows and keys, and what sorting them takes
	reserved int64 // of them, as far as the budget knows
}

func newSorter(order []expr.SortKey, types []vector.Type) *sorter {
	list := make([]expr.Expr, len(order))
	for i, k := range order {
		list[i] = k.Expr
	}
	return &sorter{rows: vector.NewBatch(types...), eval: mustCompile(list), order: order, out: make([]*vector.Vector, len(order))}
}

// key is the key of row i.
func (s *sorter) key(i int) []byte {
	from := 0
	if i > 0 {
		from = s.ends[i-1]
	}
	return s.keys[from:s.ends[i]]
}

// appendKey appends the key of row i of the batch that was evaluated last.
func (s *sorter) appendKey(i int) {
	for k, v := range s.out {
		s.keys = expr.AppendSortKey(s.keys, v, i, s.order[k].Desc, s.order[k].NullsFirst)
	}
	s.ends = append(s.ends, len(s.keys))
}

// add keeps all rows of a batch.
func (s *sorter) add(b *vector.Batch) error {
	if s.rows.N+b.N > maxRows {
		return status.New(status.RuntimeResourcesExhausted, "ORDER BY over more than %d rows", maxRows)
	}
	if err := s.eval.Eval(b, s.out); err != nil {
		return err
	}
	before := len(s.keys)
	for i := range b.N {
		s.appendKey(i)
	}
	s.rows.Append(b, 0, b.N)
	s.held += batchBytes(b) + int64(len(s.keys)-before) + int64(b.N)*sortBytes
	return nil
}

// sortBytes is what a row takes besides its values and its key: the key's end, two entries, its place in the order.
const sortBytes = 8 + 2*16 + 4

// entry is a row while it is sorted: the first 8 bytes of its key decide most comparisons.
type entry struct {
	prefix uint64
	row    uint32
}

// entries are the rows in the order they came in.
func (s *sorter) entries() []entry {
	list := make([]entry, s.rows.N)
	s.fill(list, 0)
	return list
}

// fill makes the entries of the rows from first on.
func (s *sorter) fill(list []entry, first int) {
	for i := range list {
		list[i] = entry{word(s.key(first + i)), uint32(first + i)}
	}
}

// compare orders two rows; rows of equal keys keep the order they came in.
func (s *sorter) compare(a, b entry) int {
	if c := cmp.Compare(a.prefix, b.prefix); c != 0 {
		return c
	}
	if c := bytes.Compare(s.key(int(a.row)), s.key(int(b.row))); c != 0 {
		return c
	}
	return cmp.Compare(a.row, b.row)
}

// sortRun is the number of rows that are sorted at a time: a few milliseconds, after which the query may have been cancelled.
const sortRun = 1 << 16

// sorted gives the row numbers in order. Runs are sorted by as many goroutines as given, then merged pair by pair.
func (s *sorter) sorted(ctx context.Context, workers int) ([]uint32, error) {
	list := make([]entry, s.rows.N)
	err := spread(ctx, (len(list)+sortRun-1)/sortRun, workers, func(i int) error {
		run := list[i*sortRun : min((i+1)*sortRun, len(list))]
		s.fill(run, i*sortRun)
		s.sortEntries(run)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var other []entry
	for width := sortRun; width < len(list); width *= 2 {
		if other == nil {
			other = make([]entry, len(list))
		}
		err := spread(ctx, (len(list)+2*width-1)/(2*width), workers, func(i int) error {
			from := 2 * width * i
			middle, to := min(from+width, len(list)), min(from+2*width, len(list))
			return s.mergeRuns(ctx, other[from:to], list[from:middle], list[middle:to])
		})
		if err != nil {
			return nil, err
		}
		list, other = other, list
	}
	rows := make([]uint32, len(list))
	for i, e := range list {
		rows[i] = e.row
	}
	return rows, nil
}

// mergeRuns merges two sorted runs into out, which has room for both.
func (s *sorter) mergeRuns(ctx context.Context, out, a, b []entry) error {
	for n := range out {
		if n%sortRun == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		switch {
		case len(b) == 0 || len(a) > 0 && s.compare(a[0], b[0]) < 0:
			out[n], a = a[0], a[1:]
		default:
			out[n], b = b[0], b[1:]
		}
	}
	return nil
}

// spread calls f for 0..n-1 on several goroutines and gives the first error, or the context's.
func spread(ctx context.Context, n, workers int, f func(i int) error) error {
	var next atomic.Int64
	errs := make([]error, max(1, min(workers, n)))
	work := func(w int) {
		for i := int(next.Add(1)) - 1; i < n && errs[w] == nil; i = int(next.Add(1)) - 1 {
			if errs[w] = ctx.Err(); errs[w] == nil {
				errs[w] = f(i)
			}
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < len(errs); w++ {
		wg.Go(func() { work(w) })
	}
	work(0)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// merge puts the rows of other sorters behind this one's.
func (s *sorter) merge(ctx context.Context, others []*sorter) error {
	for _, o := range others {
		if err := ctx.Err(); err != nil {
			return err
		}
		base := len(s.keys)
		s.keys = append(s.keys, o.keys...)
		for _, e := range o.ends {
			s.ends = append(s.ends, base+e)
		}
		if err := appendRows(ctx, s.rows, o.rows); err != nil {
			return err
		}
	}
	return nil
}

// appendStep is the number of rows that are copied before the query is asked whether it still runs.
const appendStep = 1 << 18

// appendRows appends all rows of a batch to another.
func appendRows(ctx context.Context, to, from *vector.Batch) error {
	for at := 0; at < from.N; at += appendStep {
		if err := ctx.Err(); err != nil {
			return err
		}
		to.Append(from, at, min(at+appendStep, from.N))
	}
	return nil
}

// reorder is a source that gives rows of a batch in a given order. One reader.
type reorder struct {
	rows  *vector.Batch
	order []uint32
}

// Reader gives the rows to worker 0.
func (r *reorder) Reader(worker int) Reader {
	if worker > 0 {
		return nothing{}
	}
	return &reorderReader{r: r}
}

type nothing struct{}

func (nothing) Next(*vector.Batch) (bool, error) { return false, nil }
func (nothing) Close()                           {}

type reorderReader struct {
	r    *reorder
	next int
	b    vector.Batch
}

func (r *reorderReader) Next(b *vector.Batch) (bool, error) {
	if r.next >= len(r.r.order) {
		return false, nil
	}
	to := min(r.next+vector.Size, len(r.r.order))
	gatherRows(&r.b, r.r.rows, r.r.order[r.next:to])
	r.next = to
	b.N, b.Cols = r.b.N, append(b.Cols[:0], r.b.Cols...)
	return true, nil
}

func (r *reorderReader) Close() {}

// Sort orders all rows. Rows of equal keys keep their order when one worker runs.
func Sort(order []expr.SortKey, types []vector.Type, budget *Budget) (Sink, error) {
	if err := compiles(order); err != nil {
		return nil, err
	}
	return &sortSink{order: order, types: types, budget: budget}, nil
}

func compiles(order []expr.SortKey) error {
	for _, k := range order {
		if _, err := expr.Compile([]expr.Expr{k.Expr}); err != nil {
			return err
		}
	}
	return nil
}

type sortSink struct {
	order   []expr.SortKey
	types   []vector.Type
	budget  *Budget
	workers []*sorter

	mu    sync.Mutex // protects runs and block
	runs  []*spill.File
	block int // rows of the smallest full block of the runs
}

func (s *sortSink) String() string { return "Sort: " + orderText(s.order) }

func orderText(order []expr.SortKey) string {
	out := make([]string, len(order))
	for i, k := range order {
		out[i] = k.Expr.String()
		if k.Desc {
			out[i] += " DESC"
		}
	}
	return strings.Join(out, ", ")
}

// Step keeps rows; those that do not fit into memory go to a file, sorted.
func (s *sortSink) Step(int) Step {
	w := newSorter(s.order, s.types)
	s.workers = append(s.workers, w)
	return func(b *vector.Batch) error {
		if err := w.add(b); err != nil {
			return err
		}
		spills := s.budget.space() != nil
		if spills && w.held >= s.share() {
			return s.spill(w)
		}
		err := s.budget.Reserve(w.held - w.reserved)
		if err == nil {
			w.reserved = w.held
		} else if spills && w.rows.N >= minRun {
			return s.spill(w)
		}
		return err
	}
}

// Finish sorts.
func (s *sortSink) Finish(ctx context.Context) (Source, error) {
	all := s.workers[0]
	if len(s.runs) > 0 || s.budget.space() != nil && s.crowded() {
		return s.merge(ctx)
	}
	if err := all.merge(ctx, s.workers[1:]); err != nil {
		return nil, err
	}
	order, err := all.sorted(ctx, len(s.workers))
	return &reorder{all.rows, order}, err
}

// TopK keeps the first k rows of an order.
func TopK(order []expr.SortKey, k int, types []vector.Type, budget *Budget) (Sink, error) {
	if err := compiles(order); err != nil {
		return nil, err
	}
	return &topSink{sortSink: sortSink{order: order, types: types, budget: budget}, k: k}, nil
}

type topSink struct {
	sortSink
	k int
}

func (s *topSink) String() string { return fmt.Sprintf("TopK: %d by %s", s.k, orderText(s.order)) }

// Step keeps the rows that come before the last of the k best so far. When twice as many have gathered, the worse ones
// go.
func (s *topSink) Step(int) Step {
	w := newSorter(s.order, s.types)
	at := len(s.workers)
	s.workers = append(s.workers, w)
	var bound []byte // the key of the k'th row; nil while there are fewer
	var rows []uint32
	var part vector.Batch
	var held, reserved int64 // bytes of the rows that w keeps, and the most they have been
	return func(b *vector.Batch) error {
		if s.k == 0 {
			return ErrStop
		}
		if err := w.eval.Eval(b, w.out); err != nil {
			return err
		}
		rows = rows[:0]
		before := len(w.keys)
		for i := range b.N {
			start := len(w.keys)
			w.appendKey(i)
			if bound != nil && bytes.Compare(w.keys[start:], bound) >= 0 {
				w.keys, w.ends = w.keys[:start], w.ends[:len(w.ends)-1]
				continue
			}
			rows = append(rows, uint32(i))
		}
		if len(rows) == 0 {
			return nil
		}
		gatherRows(&part, b, rows)
		w.rows.Append(&part, 0, part.N)
		held += batchBytes(&part) + int64(len(w.keys)-before) + int64(len(rows))*sortBytes
		if held > reserved {
			if err := s.budget.Reserve(held - reserved); err != nil {
				return err
			}
			reserved = held
		}
		if (w.rows.N-vector.Size)/2 >= s.k {
			w = w.best(s.k)
			s.workers[at] = w
			bound = append(bound[:0], w.key(w.rows.N-1)...)
			held = batchBytes(w.rows) + int64(len(w.keys)) + int64(w.rows.N)*sortBytes
		}
		return nil
	}
}

// best is a sorter of the k first rows, in order.
func (s *sorter) best(k int) *sorter {
	list := s.entries()
	s.sortEntries(list)
	list = list[:min(k, len(list))]
	order := make([]uint32, len(list))
	for i, e := range list {
		order[i] = e.row
	}
	n := &sorter{rows: vector.NewBatch(), eval: s.eval, order: s.order, out: s.out}
	for _, c := range s.rows.Cols {
		n.rows.Cols = append(n.rows.Cols, &vector.Vector{Type: c.Type})
	}
	for _, r := range order {
		n.keys = append(n.keys, s.key(int(r))...)
		n.ends = append(n.ends, len(n.keys))
	}
	var part vector.Batch
	gatherRows(&part, s.rows, order)
	n.rows.Append(&part, 0, part.N)
	return n
}

// Finish sorts what is left and cuts it.
func (s *topSink) Finish(ctx context.Context) (Source, error) {
	all := s.workers[0]
	if err := all.merge(ctx, s.workers[1:]); err != nil {
		return nil, err
	}
	order, err := all.sorted(ctx, len(s.workers))
	return &reorder{all.rows, order[:min(s.k, len(order))]}, err
}
