package exec

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// maxRows bounds the rows that one sink keeps: row numbers are 32 bits.
const maxRows = 1<<31 - 1

// sorter keeps rows with their sort keys as bytes that compare like the order, in chunks. Row numbers are those of its
// chunks times chunkRows, and the row in the chunk: there are gaps. One goroutine at a time.
type sorter struct {
	types  []vector.Type
	chunks []*sortChunk
	n      int // rows
	eval   *expr.Program
	order  []expr.SortKey // of the keys
	out    []*vector.Vector
	later  []expr.SortKey // keys that are computed only for rows with equal keys of order
	budget *Budget

	common   int   // bytes that all keys begin with, as sorted found them
	full     int64 // bytes of the chunks but the last
	reserved int64 // bytes, as far as the budget knows
	light    bool  // the texts of any vector.Size rows are no more than a portion
}

// sortChunk is up to chunkRows rows with their keys.
type sortChunk struct {
	rows *vector.Batch
	keys []byte
	ends []int // keys[ends[i-1]:ends[i]] is the key of row i
}

// newSorter makes a sorter whose rows have keys of the first lead expressions of an order.
func newSorter(order []expr.SortKey, lead int, types []vector.Type, budget *Budget) *sorter {
	s := &sorter{types: types, order: order[:lead], later: order[lead:], budget: budget}
	s.eval, s.out = mustCompile(expr.KeyExprs(s.order), budget), make([]*vector.Vector, lead)
	return s
}

// key is the key of row i of a chunk.
func (c *sortChunk) key(i int) []byte {
	from := 0
	if i > 0 {
		from = c.ends[i-1]
	}
	return c.keys[from:c.ends[i]]
}

// key is the key of row i.
func (s *sorter) key(i int) []byte { return s.chunks[i/chunkRows].key(i % chunkRows) }

// room is a chunk with room for rows, as many as a batch has at most.
func (s *sorter) room(rows int) (*sortChunk, error) {
	if rows > chunkRows {
		return nil, fmt.Errorf("exec: a batch of %d rows is sorted", rows)
	}
	if n := len(s.chunks); n > 0 {
		if last := s.chunks[n-1]; len(last.ends)+rows <= chunkRows && !full(last.rows) && len(last.keys) < fullBytes {
			return last, nil
		}
		if n == maxRows/chunkRows {
			return nil, status.New(status.RuntimeResourcesExhausted, "ORDER BY over more than %d rows", maxRows)
		}
	}
	if n := len(s.chunks); n > 0 {
		s.full += s.chunks[n-1].bytes()
	}
	s.chunks = append(s.chunks, &sortChunk{rows: vector.NewBatch(s.types...)})
	return s.chunks[len(s.chunks)-1], nil
}

// bytes is the memory of a chunk with the spare room of its slices, and the memory to sort its rows.
func (c *sortChunk) bytes() int64 {
	return roomBytes(c.rows) + int64(cap(c.keys)) + int64(len(c.ends))*sortBytes
}

// held is the bytes of rows and keys, and what sorting them takes.
func (s *sorter) held() int64 {
	if len(s.chunks) == 0 {
		return 0
	}
	return s.full + s.chunks[len(s.chunks)-1].bytes()
}

// appendKey appends the key of row i of the batch that was evaluated last.
func (s *sorter) appendKey(c *sortChunk, i int) {
	for k, v := range s.out {
		c.keys = expr.AppendSortKey(c.keys, v, i, s.order[k].Desc, s.order[k].NullsFirst)
	}
	c.ends = append(c.ends, len(c.keys))
}

// growth is the approximate memory of the rows of a batch, whose keys were evaluated, once they are kept.
func (s *sorter) growth(b *vector.Batch) int64 {
	bytes := BatchBytes(b) + int64(b.N)*sortBytes
	for _, v := range s.out {
		bytes += keyBytes(v, b.N)
	}
	return bytes
}

// keyBytes is the memory of n rows of a key. It ignores that a zero in a text takes two bytes.
func keyBytes(v *vector.Vector, n int) int64 {
	if v.Type.Kind() != vector.Bytes {
		return int64(n) * numberKey
	}
	bytes := int64(n) * 3
	switch v.Form {
	case vector.Const:
		return bytes + int64(n)*int64(len(v.Bytes(0)))
	case vector.Dict:
		return bytes + codedBytes(v, n)
	}
	return bytes + lengths(v.Views[:n])
}

// add keeps all rows of a batch whose keys were evaluated.
func (s *sorter) add(b *vector.Batch) error {
	c, err := s.room(b.N)
	if err != nil {
		return err
	}
	for i := range b.N {
		s.appendKey(c, i)
	}
	c.rows.Append(b, 0, b.N)
	s.n += b.N
	return nil
}

// gather makes to the rows with the given numbers; to's vectors are its own and are reused.
func (s *sorter) gather(to *vector.Batch, rows []uint32) {
	s.gatherColumns(to, rows, nil)
}

// gatherColumns makes to the columns of rows that are needed, nil: all; the others have no values.
func (s *sorter) gatherColumns(to *vector.Batch, rows []uint32, need []bool) {
	picks := make([]vector.Pick, len(rows))
	for i, r := range rows {
		picks[i] = vector.Pick{Src: r / chunkRows, Row: r % chunkRows}
	}
	for len(to.Cols) < len(s.types) {
		to.Cols = append(to.Cols, &vector.Vector{})
	}
	to.N = len(rows)
	from := make([]*vector.Vector, len(s.chunks))
	for k, v := range to.Cols[:len(s.types)] {
		if need != nil && !need[k] {
			continue
		}
		for i, c := range s.chunks {
			from[i] = c.rows.Cols[k]
		}
		v.Reset(s.types[k])
		v.Interleave(0, from, picks)
	}
}

// weigh finds out whether any rows make a portion. It sums the lengths of texts in memory order, 0.5 ns each; portion
// takes 20 ns for the texts of a row, which are scattered.
func (s *sorter) weigh() {
	longest := int64(0)
	for _, c := range s.chunks {
		longest = max(longest, longestRow(c.rows))
	}
	s.light = longest*vector.Size <= portionBytes
}

// portion returns the end of the rows that are gathered into one batch, the first of which is at from in the order.
func (s *sorter) portion(order []uint32, from int) int {
	if s.light {
		return min(from+vector.Size, len(order))
	}
	texts := func(i int) int64 {
		row := order[i]
		return rowTexts(s.chunks[row/chunkRows].rows.Cols, int(row%chunkRows))
	}
	to := from + 1
	for bytes := texts(from); to < min(from+vector.Size, len(order)); to++ {
		if bytes += texts(to); bytes > portionBytes {
			break
		}
	}
	return to
}

// sortBytes is the memory of a row besides its values and its key: the key's end, two entries, its place in the order.
const sortBytes = 8 + 2*16 + 4

// entry is a row while it is sorted: the 8 bytes of its key after what all keys begin with decide most comparisons.
type entry struct {
	prefix uint64
	row    uint32
}

// fill makes the entries of the rows of a chunk.
func (s *sorter) fill(list []entry, chunk int) {
	c := s.chunks[chunk]
	for i := range list {
		list[i] = entry{word(c.key(i)[s.common:]), uint32(chunk*chunkRows + i)}
	}
}

// askChunks is the number of chunks whose keys are looked at in order before the query is asked whether it still runs.
const askChunks = 64

// findCommon finds how many bytes all keys begin with: the marks of values that are not NULL and the high bytes of
// integers, so that the low ones, which differ, are in the prefixes of entries.
func (s *sorter) findCommon(ctx context.Context) error {
	s.common = 0
	var first []byte // all that the keys so far begin with
	if k := slices.IndexFunc(s.chunks, func(c *sortChunk) bool { return len(c.ends) > 0 }); k >= 0 {
		first = s.chunks[k].key(0)
	}
	for k, c := range s.chunks {
		if k%askChunks == askChunks-1 && ctx.Err() != nil {
			return ctx.Err()
		}
		for i := 0; i < len(c.ends) && len(first) > 0; i++ {
			first = first[:commonPrefix(first, c.key(i))]
		}
	}
	s.common = len(first)
	return nil
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

// runChunks is the number of chunks that are sorted together: sorting entries by the words of their keys looks at each
// key a few times, and each round of merging once more.
const runChunks = 16

// sorted returns the row numbers in order. Runs of chunks are sorted by as many goroutines as given, then merged pair
// by pair.
func (s *sorter) sorted(ctx context.Context, workers int) ([]uint32, error) {
	list := make([]entry, s.n)
	ranked, err := s.rank(ctx, list, workers)
	if err == nil && !ranked {
		err = s.findCommon(ctx)
	}
	if err != nil {
		return nil, err
	}
	if !ranked && s.n >= wholeRows && s.prefixesRepeat() {
		if err := s.sortWhole(ctx, list, workers); err != nil {
			return nil, err
		}
		return s.rowsOf(ctx, list, workers)
	}
	per := max(1, min(runChunks, len(s.chunks)/max(1, workers))) // chunks of a run
	bounds := []int{0}                                           // run i is list[bounds[i]:bounds[i+1]]
	for from := 0; from < len(s.chunks); from += per {
		end := bounds[len(bounds)-1]
		for _, c := range s.chunks[from:min(from+per, len(s.chunks))] {
			end += len(c.ends)
		}
		bounds = append(bounds, end)
	}
	err = Spread(ctx, len(bounds)-1, workers, func(i int) error {
		at := bounds[i]
		for k := i * per; k < min((i+1)*per, len(s.chunks)) && !ranked; k++ {
			n := len(s.chunks[k].ends)
			s.fill(list[at:at+n], k)
			at += n
		}
		return s.sortEntries(list[bounds[i]:bounds[i+1]], ctx.Err)
	})
	if err != nil {
		return nil, err
	}
	var other []entry
	for len(bounds) > 2 {
		if other == nil {
			other = make([]entry, len(list))
		}
		if bounds, err = s.mergeRuns(ctx, other, list, bounds, workers); err != nil {
			return nil, err
		}
		list, other = other, list
	}
	return s.rowsOf(ctx, list, workers)
}

// rowsOf is the row numbers of sorted entries, in the order of all keys.
func (s *sorter) rowsOf(ctx context.Context, list []entry, workers int) ([]uint32, error) {
	rows := make([]uint32, len(list))
	for i, e := range list {
		rows[i] = e.row
	}
	return rows, s.settle(ctx, rows, workers)
}

// mergeSpan is the number of entries that one goroutine merges at a time: a few milliseconds, after which the query may
// have been cancelled.
const mergeSpan = 1 << 14

// mergeRuns merges neighbouring sorted runs of list into out, two into one, and gives the bounds of the new runs. Two
// runs are cut into spans where the merged ones are, so that all goroutines take part in each merge.
func (s *sorter) mergeRuns(ctx context.Context, out, list []entry, bounds []int, workers int) ([]int, error) {
	type span struct{ run, from, to int } // entries [from, to) of what runs run and run+1 give
	var spans []span
	merged := []int{0}
	for run := 0; run+1 < len(bounds); run += 2 {
		end := bounds[min(run+2, len(bounds)-1)]
		merged = append(merged, end)
		for from, n := 0, end-bounds[run]; from < n; from += mergeSpan {
			spans = append(spans, span{run, from, min(from+mergeSpan, n)})
		}
	}
	return merged, Spread(ctx, len(spans), workers, func(i int) error {
		p := spans[i]
		a, b := list[bounds[p.run]:bounds[p.run+1]], []entry(nil)
		if p.run+2 < len(bounds) {
			b = list[bounds[p.run+1]:bounds[p.run+2]]
		}
		begin := s.split(a, b, p.from)
		end := s.split(a, b, p.to)
		at := bounds[p.run] + p.from
		s.mergeInto(out[at:at+p.to-p.from], a[begin:end], b[p.from-begin:p.to-end])
		return nil
	})
}

// split is how many of the first n entries of two merged runs are of a.
func (s *sorter) split(a, b []entry, n int) int {
	low := max(0, n-len(b))
	return low + sort.Search(min(n, len(a))-low, func(i int) bool {
		at := low + i // does a's entry at come after the first n? Then b[n-at-1] is before it
		return s.compare(b[n-at-1], a[at]) < 0
	})
}

// mergeInto merges two sorted runs into out, which has room for both.
func (s *sorter) mergeInto(out, a, b []entry) {
	for n := range out {
		switch {
		case len(b) == 0 || len(a) > 0 && s.compare(a[0], b[0]) < 0:
			out[n], a = a[0], a[1:]
		default:
			out[n], b = b[0], b[1:]
		}
	}
}

// take appends the rows of other sorters to the rows of this one.
func (s *sorter) take(others []*sorter) {
	for _, o := range others {
		s.chunks, s.n = append(s.chunks, o.chunks...), s.n+o.n
	}
}

// reorder is a source that gives the rows of a sorter in a given order. One reader.
type reorder struct {
	rows  *sorter
	order []uint32
}

// Reader hands the rows to worker 0.
func (r *reorder) Reader(worker int) Reader {
	if worker > 0 {
		return empty{}
	}
	return &reorderReader{r: r}
}

type reorderReader struct {
	r    *reorder
	next int
	b    vector.Batch
}

func (r *reorderReader) Next(b *vector.Batch) (bool, error) {
	if r.next >= len(r.r.order) {
		return false, nil
	}
	if r.next == 0 && len(r.r.order) > vector.Size {
		r.r.rows.weigh()
	}
	to := r.r.rows.portion(r.r.order, r.next)
	r.r.rows.gather(&r.b, r.r.order[r.next:to])
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

// Step keeps rows; rows that do not fit into memory go to a file, sorted. The memory of a batch is counted before the
// batch is kept.
func (s *sortSink) Step(int) Step {
	w := newSorter(s.order, leading(s.order), s.types, s.budget)
	s.workers = append(s.workers, w)
	return inCopies(func(b *vector.Batch) error {
		if err := w.eval.Eval(b, w.out); err != nil {
			return err
		}
		if err := s.reserve(w, w.growth(b)); err != nil {
			return err
		}
		if err := w.add(b); err != nil {
			return err
		}
		return s.reserve(w, 0)
	})
}

// reserve counts the memory that a worker keeps and the bytes that it is about to keep. If there is no room for them,
// the kept rows go to a file.
func (s *sortSink) reserve(w *sorter, more int64) error {
	spills, held := s.budget.space() != nil && w.n > 0, w.held()+more
	if !spills || held < s.share() {
		err := s.budget.Reserve(held - w.reserved)
		if err == nil {
			w.reserved = held
			return nil
		}
		if !spills || w.n < minRun {
			return err
		}
	}
	if err := s.spill(w); err != nil {
		return err
	}
	err := s.budget.Reserve(more)
	if err == nil {
		w.reserved = more
	}
	return err
}

// Finish sorts.
func (s *sortSink) Finish(ctx context.Context) (Source, error) {
	all := s.workers[0]
	if len(s.runs) > 0 {
		return s.merge(ctx)
	}
	all.take(s.workers[1:])
	order, err := all.sorted(ctx, len(s.workers))
	return &reorder{all, order}, err
}
