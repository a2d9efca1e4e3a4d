package exec

import (
	"context"
	"slices"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// Build is the sink for the build side. Its source is empty: the rows are in the join, or in its files.
func (j *Join) Build() Sink { return (*joinBuild)(j) }

// Probe is the operator for the probe side.
func (j *Join) Probe() Operator { return (*joinProbe)(j) }

// Empty reports, after the build, that no probe row can find a partner.
func (j *Join) Empty() bool {
	if s := j.spill.Load(); s != nil {
		return s.found.Load() == 0
	}
	return j.rows.N == 0 || j.table != nil && j.table.filled == 0
}

type joinBuild Join

func (j *joinBuild) String() string { return "JoinBuild: " + texts(j.spec.Build, ", ") }

// measure has the join take down what goes to files.
func (j *joinBuild) measure(f *Figures) { j.figures = f }

// Step keeps rows, or writes them to files once they do not fit.
func (j *joinBuild) Step(int) Step {
	if j.share == 0 {
		j.share = j.spec.Budget.Left() / 4 * 3
	}
	w := &joinKeeper{j: (*Join)(j), own: NewRows(j.spec.BuildTypes)}
	j.keepers = append(j.keepers, w)
	return w.step
}

// Finish indexes the rows by key, or ends the files.
func (j *joinBuild) Finish(ctx context.Context) (Source, error) {
	join := (*Join)(j)
	if join.spill.Load() == nil {
		err := join.index(ctx)
		if err == nil || !join.spills(err) {
			return Values(&vector.Batch{}), err
		}
		join.divide()
	}
	return Values(&vector.Batch{}), join.finishFiles(ctx)
}

// spills reports whether an error says that the rows do not fit, and they may go to files.
func (j *Join) spills(err error) bool {
	return status.Of(err) == status.RuntimeResourcesExhausted && j.toDisk()
}

// toDisk reports whether rows may go to files. Those of a block came from there because nothing divides them.
func (j *Join) toDisk() bool { return j.block == nil && j.spec.Budget.space() != nil }

// reserve takes memory for the build side.
func (j *Join) reserve(bytes int64) error {
	err := j.spec.Budget.Reserve(bytes)
	if err == nil {
		j.held.Add(bytes)
	}
	return err
}

// release gives back memory of the build side, as far as there is any.
func (j *Join) release(bytes int64) { j.spec.Budget.Release(j.takeHeld(bytes)) }

// takeHeld takes over up to so many of the bytes that are reserved for the build side.
func (j *Join) takeHeld(bytes int64) int64 {
	for {
		held := j.held.Load()
		taken := min(held, bytes)
		if j.held.CompareAndSwap(held, held-taken) {
			return taken
		}
	}
}

// errShare says that the build rows have their share of memory.
var errShare = status.New(status.RuntimeResourcesExhausted, "the build side of a join has its share of memory")

func tooManyJoined() error {
	return status.New(status.RuntimeResourcesExhausted, "a join keeps more than %d rows", maxRows/2)
}

// joinKeeper is a worker's part of the build side.
type joinKeeper struct {
	j        *Join
	own      *Rows
	reserved int64       // bytes for own
	out      *joinWriter // nil: nothing went to files
}

func (w *joinKeeper) step(b *vector.Batch) error {
	if w.j.spill.Load() == nil {
		err := w.keep(b)
		if err == nil || !w.j.spills(err) {
			return err
		}
		w.j.divide()
	}
	if err := w.spill(); err != nil {
		return err
	}
	return w.out.build(b)
}

// keep keeps the rows of a batch in memory.
func (w *joinKeeper) keep(b *vector.Batch) error {
	if w.own.n+b.N > maxRows/2 {
		return tooManyJoined()
	}
	bytes := BatchBytes(b) + int64(b.N)*joinRowBytes
	if w.j.held.Load()+bytes > w.j.share && (w.j.toDisk() || w.j.block != nil && w.own.n > 0) {
		return errShare
	}
	if err := w.j.reserve(bytes); err != nil {
		return err
	}
	w.own.Add(b, 0, b.N)
	w.reserved += bytes
	return nil
}

// spill writes the rows that the worker has kept to files.
func (w *joinKeeper) spill() error {
	if w.out != nil {
		return nil
	}
	var err error
	if w.out, err = w.j.spill.Load().build.writer(w.j, w.j.spec.Build, len(w.j.keepers)); err != nil {
		return err
	}
	chunks, n := w.own.chunks, int64(w.own.n)
	w.own = NewRows(w.j.spec.BuildTypes)
	var part vector.Batch
	for i, c := range chunks {
		for from := 0; from < c.N; from += vector.Size {
			slice(&part, c, from, min(from+vector.Size, c.N))
			if err := inPortions(w.out.build)(&part); err != nil {
				return err
			}
		}
		chunks[i] = nil
		w.j.release(w.reserved / n * int64(c.N))
	}
	return nil
}

// index puts the rows together and finds them by key. Where the rows do not fit, they are the first worker's.
func (j *Join) index(ctx context.Context) error {
	workers, parts := len(j.keepers), make([]*Rows, len(j.keepers))
	for i, w := range j.keepers {
		parts[i] = w.own
	}
	twice, err := togetherBytes(parts, workers)
	if err != nil {
		return err
	}
	if err := j.reserve(twice); err != nil {
		return err
	}
	if j.rows, err = Together(ctx, parts, workers, nil); err != nil { // twice is counted
		return err
	}
	j.release(twice)
	if len(j.spec.Build) > 0 {
		if err := j.evalKeys(ctx, workers); err != nil {
			j.keepers = []*joinKeeper{{j: j, own: &Rows{types: j.spec.BuildTypes, chunks: []*vector.Batch{j.rows},
				n: j.rows.N}, reserved: j.held.Load()}}
			j.rows, j.keys = nil, nil
			return err
		}
		if j.table, err = newJoinTable(ctx, j.keys, j.rows.N, workers, j.spec.NullEqual); err != nil {
			return err
		}
	}
	j.keepers = nil
	return j.code(ctx, workers)
}

// togetherBytes is the memory that putting lists together takes besides their rows: so many columns at a time are there
// twice.
func togetherBytes(lists []*Rows, columns int) (bytes int64, err error) {
	rows, chunks := 0, 0
	sizes := make([]int64, len(lists[0].types))
	for _, l := range lists {
		rows, chunks = rows+l.n, chunks+len(l.chunks)
		for _, b := range l.chunks {
			for c, v := range b.Cols {
				sizes[c] += int64(len(v.Heap))
			}
		}
	}
	if rows > maxRows/2 {
		return 0, tooManyJoined()
	}
	if chunks < 2 {
		return 0, nil
	}
	slices.Sort(sizes)
	if n := len(sizes); n > 0 && sizes[n-1] > maxTexts {
		return 0, tooManyTexts(sizes[n-1])
	}
	for _, s := range sizes[max(0, len(sizes)-columns):] {
		bytes += s + int64(rows)*8
	}
	return bytes, nil
}

// evalKeys creates the key columns: columns of the rows, or computed columns.
func (j *Join) evalKeys(ctx context.Context, workers int) error {
	j.keys = make([]*vector.Vector, len(j.spec.Build))
	var list []expr.Expr
	var types []vector.Type
	var at []int
	for k, e := range j.spec.Build {
		if c, ok := e.(*expr.Column); ok {
			j.keys[k] = j.rows.Cols[c.Index]
			continue
		}
		j.keys[k] = &vector.Vector{Type: e.Type()}
		list, types, at = append(list, e), append(types, e.Type()), append(at, k)
	}
	if len(list) == 0 {
		return nil
	}
	parts := make([]*Rows, (j.rows.N+chunkRows-1)/chunkRows)
	err := Spread(ctx, len(parts), workers, func(i int) error {
		parts[i] = NewRows(types)
		return j.evalPart(ctx, list, parts[i], i*chunkRows, min((i+1)*chunkRows, j.rows.N))
	})
	if err != nil || len(parts) == 0 {
		return err
	}
	all, err := Together(ctx, parts, workers, j.spec.Budget)
	if err != nil {
		return err
	}
	for i, k := range at {
		j.keys[k] = all.Cols[i]
	}
	return nil
}

// evalPart computes keys of rows [from, to).
func (j *Join) evalPart(ctx context.Context, list []expr.Expr, keys *Rows, from, to int) error {
	program, out := mustCompile(list, j.spec.Budget), vector.Batch{Cols: make([]*vector.Vector, len(list))}
	var part vector.Batch
	for ; from < to; from += vector.Size {
		if err := ctx.Err(); err != nil {
			return err
		}
		slice(&part, j.rows, from, min(from+vector.Size, to))
		if err := program.Eval(&part, out.Cols); err != nil {
			return err
		}
		out.N = part.N
		keys.Add(&out, 0, out.N)
		if err := j.reserve(BatchBytes(&out)); err != nil {
			return err
		}
	}
	return nil
}

// slice makes part rows [from, to) of b.
func slice(part, b *vector.Batch, from, to int) {
	part.N, part.Cols = to-from, append(part.Cols[:0], cut(b.Cols, from, to)...)
}
