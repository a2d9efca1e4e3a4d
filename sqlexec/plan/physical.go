package plan

import (
	"context"
	"slices"

	"varve/engine"
	"varve/engine/filter"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// Physical is what running a plan needs.
type Physical struct {
	Engine  *engine.Engine
	Context *expr.Context
	Workers int         // goroutines of one pipeline; 0: one per processor
	Memory  *exec.Pool  // what queries may keep; nil: exec's default
	Spill   *spill.Disk // where rows go that do not fit; nil: nowhere
	// Analysis, if not nil, takes down what each node does.
	Analysis *Analysis
}

// Run starts an optimized plan: everything below the last breaker runs now, the rest as the rows are read. The caller
// closes the reader.
func Run(ctx context.Context, p Physical, n Node) (exec.Reader, error) {
	if p.Memory == nil {
		p.Memory = exec.NewPool(0, nil)
	}
	r := &runner{ctx: ctx, p: p, budget: p.Memory.Budget(ctx)}
	if p.Spill != nil {
		r.budget.SpillTo(p.Spill.Space())
	}
	built := false
	defer func() { // a panic, too, gives back what was taken
		if !built {
			r.close()
		}
	}()
	s, err := r.build(n)
	if err != nil {
		return nil, err
	}
	built = true
	if !s.serial && !s.several {
		if in, ok := exec.InOrder(ctx, s.src, s.ops, exec.Workers(p.Workers)); ok {
			s = stream{src: reading{in}}
		}
	}
	return newPull(ctx, s, r.close), nil
}

// reading is the source of rows that are being read already, by one worker.
type reading struct{ in exec.Reader }

// Reader gives the rows.
func (r reading) Reader(int) exec.Reader { return r.in }

// stream is a source and the operators over it that have not run yet.
type stream struct {
	src exec.Source
	ops []exec.Operator
	// several tells that an operator may give several batches per input batch: a join, the slots of a range query.
	several bool
	// serial sources give their rows in an order that counts: one worker.
	serial bool
}

func (s stream) with(op exec.Operator) stream {
	s.ops = append(s.ops[:len(s.ops):len(s.ops)], op)
	return s
}

// runner runs one plan and holds its scans open until the end.
type runner struct {
	ctx    context.Context
	p      Physical
	budget *exec.Budget
	scans  []*engine.Scan
	// replaced has the source of a scan that its consumer has opened itself.
	replaced map[*Scan]exec.Source
	// bounds has what joins know about the columns of the scans that probe them.
	bounds map[*Scan][]keyBounds
	at     Node // the node that is built, for the analysis
}

func (r *runner) close() {
	for _, s := range r.scans {
		s.Close()
	}
	r.scans = nil
	r.budget.Close()
}

// filter puts conditions over a stream.
func (r *runner) filter(s stream, conds []expr.Expr) (stream, error) {
	if len(conds) == 0 {
		return s, nil
	}
	op, err := exec.Filter(conds, r.budget)
	return s.with(op), err
}

// finish runs a stream into a sink and gives what came of it.
func (r *runner) finish(s stream, sink exec.Sink, serial bool) (stream, error) {
	if a := r.p.Analysis; a != nil {
		_, keeps := r.at.(*Join)
		sink = exec.MeasureSink(sink, a.of(r.at), r.budget, keeps)
	}
	workers := exec.Workers(r.p.Workers)
	if s.serial || serial {
		workers = 1
	}
	src, err := (&exec.Pipeline{Source: s.src, Ops: s.ops, Sink: sink}).Run(r.ctx, workers)
	return stream{src: src, serial: true}, err
}

// build makes the stream of a node; breakers below it run.
func (r *runner) build(n Node) (stream, error) {
	if r.p.Analysis == nil {
		return r.buildNode(n)
	}
	above := r.at
	r.at = n
	s, err := r.buildNode(n)
	r.at = above
	if err != nil {
		return s, err
	}
	return r.p.Analysis.measured(n, s), nil
}

func (r *runner) buildNode(n Node) (stream, error) {
	switch n := n.(type) {
	case *Scan:
		return r.scan(n)
	case *Values:
		return stream{src: exec.Values(n.Batch), serial: true}, nil
	case *Filter:
		s, err := r.build(n.Input)
		if err != nil {
			return s, err
		}
		return r.filter(s, n.Conds)
	case *Project:
		s, err := r.build(n.Input)
		if err != nil {
			return s, err
		}
		op, err := exec.Project(n.Exprs, r.budget)
		return s.with(op), err
	case *Limit:
		s, err := r.build(n.Input)
		if err != nil {
			return s, err
		}
		return r.limit(s, n.Limit, n.Offset)
	case *Aggregate:
		return r.aggregate(n)
	case *Sort:
		return r.sort(n)
	case *Distinct:
		s, err := r.build(n.Input)
		if err != nil {
			return s, err
		}
		sink, err := exec.Distinct(types(n.Columns()), r.budget)
		if err != nil {
			return s, err
		}
		return r.finish(s, sink, false)
	case *DistinctOn:
		return r.distinctOn(n)
	case *Union:
		return r.union(n)
	case *Join:
		return r.join(n)
	case *AsofJoin:
		return r.asof(n)
	case *Window:
		return r.window(n)
	case *Expand:
		s, err := r.build(n.Input)
		s.several = true
		return s.with(&slotsOf{n, r.budget.Err}), err
	case *Unnest:
		s, err := r.build(n.Input)
		s.several = true
		return s.with(&unnester{n, r.budget}), err
	case *FillSlots:
		s, err := r.build(n.Input)
		if err != nil {
			return s, err
		}
		return r.finish(s, newWhole(line(n), n.Input.Columns(), r.budget.Reserve, func(ctx context.Context, b *vector.Batch) (exec.Source, error) {
			return n.fillSlots(ctx, b, r.budget.Reserve)
		}), true)
	}
	panic("plan: a node without a physical form")
}

// limit counts rows, which needs one worker.
func (r *runner) limit(s stream, limit, offset int64) (stream, error) {
	s.serial = true
	return s.with(exec.Limit(offset, limit)), nil
}

func (r *runner) distinctOn(n *DistinctOn) (stream, error) {
	s, err := r.build(n.Input)
	if err != nil {
		return s, err
	}
	keys := make([]int, len(n.Keys))
	for i, k := range n.Keys {
		keys[i] = k.(*expr.Column).Index
	}
	return s.with(&firstOfRun{keys}), nil
}

// scan opens a table. Without an order that counts, its pieces are read by several workers.
func (r *runner) scan(n *Scan) (stream, error) {
	if n.Never {
		return stream{src: exec.Values(vector.NewBatch(types(n.Cols)...)), serial: true}, nil
	}
	if n.Rel.Virtual != nil {
		return r.virtual(n)
	}
	if src, ok := r.replaced[n]; ok {
		return r.filter(stream{src: src}, n.Residual)
	}
	sc, err := r.open(n, false)
	if err != nil {
		return stream{}, err
	}
	s := stream{src: exec.ScanSource(sc)}
	if n.Ordered {
		s = stream{src: &ordered{scan: sc, types: types(n.Cols)}, serial: true}
	}
	return r.filter(s, n.Residual)
}

func (r *runner) open(n *Scan, newest bool) (*engine.Scan, error) {
	if err := r.budget.Admit(); err != nil {
		return nil, err
	}
	if len(r.scans) == 0 {
		if err := r.budget.Begin(); err != nil {
			return nil, err
		}
	}
	columns := make([]schema.ColumnID, len(n.Positions))
	for i, p := range n.Positions {
		columns[i] = n.Rel.Table.Schema.Columns[p].ID
	}
	times, and := r.narrowed(n)
	sc, err := r.p.Engine.Scan(r.ctx, engine.Request{
		Table: n.Rel.Table, Columns: columns, Time: times, Filter: and, Newest: newest, Stats: r.p.Analysis.scan(n),
	})
	if err == nil {
		r.scans = append(r.scans, sc)
	}
	return sc, err
}

// virtual makes the rows of a virtual table and cuts them to the wanted columns.
func (r *runner) virtual(n *Scan) (stream, error) {
	all, err := n.Rel.Virtual.Rows(n.Equal)
	if err != nil {
		return stream{}, err
	}
	b := &vector.Batch{N: all.N}
	for _, p := range n.Positions {
		b.Cols = append(b.Cols, all.Cols[p])
	}
	return r.filter(stream{src: exec.Values(b), serial: true}, n.Residual)
}

// aggregate answers from statistics where that is exact, else runs the aggregation.
func (r *runner) aggregate(n *Aggregate) (stream, error) {
	if b, ok, err := r.fromStats(n); ok || err != nil {
		return stream{src: exec.Values(b), serial: true}, err
	}
	s, err := r.build(n.Input)
	if err != nil {
		return s, err
	}
	sink, err := exec.Aggregate(n.Keys, n.Aggs, r.budget)
	if err != nil {
		return s, err
	}
	return r.finish(s, sink, false)
}

// fromStats answers count, min and max of plain columns over a whole table without reading it.
func (r *runner) fromStats(n *Aggregate) (*vector.Batch, bool, error) {
	s, ok := n.Input.(*Scan)
	if !ok || len(n.Keys) > 0 || !s.wholeTable() || len(n.Aggs) == 0 {
		return nil, false, nil
	}
	for _, a := range n.Aggs {
		if a.Distinct || a.Filter != nil || a.Name != "count" && a.Name != "min" && a.Name != "max" || len(a.Args) > 1 {
			return nil, false, nil
		}
		if len(a.Args) == 1 {
			if _, ok := a.Args[0].(*expr.Column); !ok {
				return nil, false, nil
			}
		}
	}
	sc, err := r.open(s, false)
	if err != nil {
		return nil, false, err
	}
	table := s.Rel.Table.Schema
	out := &vector.Batch{N: 1}
	for _, a := range n.Aggs {
		at := table.Time // count(*) counts the time index, which is never NULL
		if len(a.Args) == 1 {
			at = s.Positions[a.Args[0].(*expr.Column).Index]
		}
		st, ok := sc.Stat(table.Columns[at].ID)
		if !ok {
			return nil, false, nil
		}
		v := vector.ConstInt(vector.Int64Type, int64(st.Count))
		if a.Name == "min" {
			v = st.Min
		} else if a.Name == "max" {
			v = st.Max
		}
		if v == nil {
			v = vector.ConstNull(a.Type())
		}
		one := &vector.Vector{Type: a.Type()}
		one.Append(0, v, 0, 1)
		out.Cols = append(out.Cols, one)
	}
	return out, true, nil
}

// sort runs ORDER BY; with a limit only the first rows are kept. The newest rows of a table come from its newest
// pieces, and reading stops when no remaining piece can hold a newer one.
func (r *runner) sort(n *Sort) (stream, error) {
	if n.Limit >= 0 && n.Limit <= maxTop && n.Offset <= maxTop {
		return r.top(n)
	}
	s, err := r.build(n.Input)
	if err != nil {
		return s, err
	}
	if n.First.N > 0 {
		first, err := exec.KeepFirst(n.First, n.Keys, types(n.Columns()), r.budget)
		if err != nil {
			return s, err
		}
		s = s.with(first)
	}
	sink, err := exec.Sort(n.Keys, types(n.Columns()), r.budget)
	if err != nil {
		return s, err
	}
	s, err = r.finish(s, sink, false)
	if err == nil && (n.Limit >= 0 || n.Offset > 0) {
		s = s.with(exec.Limit(n.Offset, n.Limit))
	}
	return s, err
}

// top keeps the first rows of an order.
func (r *runner) top(n *Sort) (stream, error) {
	s, bound, err := r.topInput(n)
	if err != nil {
		return s, err
	}
	sink, err := exec.BoundedTopK(n.Keys, int(n.Limit+n.Offset), types(n.Columns()), bound, r.budget)
	if err != nil {
		return s, err
	}
	s, err = r.finish(s, sink, false)
	if err == nil && n.Offset > 0 {
		s = s.with(exec.Limit(n.Offset, n.Limit))
	}
	return s, err
}

// topInput is the input of a top, read newest first where the order begins with the time index falling, and without most of
// the rows behind the bound where it begins with another column of a table.
// The bound is nil where nobody asks for it.
func (r *runner) topInput(n *Sort) (stream, *exec.Bound, error) {
	table, ok := newestFirst(n)
	if !ok {
		return r.boundedInput(n)
	}
	if table.Never {
		s, err := r.build(n.Input)
		return s, nil, err
	}
	sc, err := r.open(table, true)
	if err != nil {
		return stream{}, nil, err
	}
	w := &newest{scan: sc, n: int(n.Limit + n.Offset), ties: len(n.Keys) > 1, col: n.Keys[0].Expr.(*expr.Column).Index}
	r.replaced = map[*Scan]exec.Source{table: w}
	s, err := r.build(n.Input)
	r.replaced = nil
	return s.with(&watch{w}), nil, err
}

// boundedInput is the input of a top whose scan leaves out rows that the bound refutes.
func (r *runner) boundedInput(n *Sort) (stream, *exec.Bound, error) {
	table, at, ok := firstKey(n)
	if !ok || table.Never || table.Rel.Table == nil || !orderable(table.Cols[at].Type) {
		s, err := r.build(n.Input)
		return s, nil, err
	}
	sc, err := r.open(table, false)
	if err != nil {
		return stream{}, nil, err
	}
	bound := &exec.Bound{}
	sc.Narrow(func() filter.And { return table.within(at, n.Keys[0], bound.Value()) })
	r.replaced = map[*Scan]exec.Source{table: exec.ScanSource(sc)}
	s, err := r.build(n.Input)
	r.replaced = nil
	return s, bound, err
}

// within is the condition that rows whose column at does not lie behind value in an order pass; nil: there is no bound.
func (s *Scan) within(at int, key expr.SortKey, value *vector.Vector) filter.And {
	if value == nil {
		return nil
	}
	id := s.Rel.Table.Schema.Columns[s.Positions[at]].ID
	c := filter.Cond{Column: id, Op: filter.LessEqual, Args: value, NArgs: 1}
	if key.Desc {
		c.Op = filter.GreaterEqual
	}
	if !key.NullsFirst || !s.Cols[at].Nullable {
		return filter.And{c}
	}
	return filter.And{{Op: filter.AnyOf, Any: []filter.And{{c}, {{Column: id, Op: filter.IsNull}}}}}
}

// maxTop is the largest limit for which the first rows are kept instead of sorting all.
const maxTop = 100_000

func (r *runner) union(n *Union) (stream, error) {
	u := &unionSource{ctx: r.ctx}
	for _, in := range n.Inputs {
		s, err := r.build(in)
		if err != nil {
			return s, err
		}
		if slices.ContainsFunc(s.ops, exec.Ends) {
			s.serial = true // what such an operator gives at the end is of the rows of all workers
		}
		u.inputs = append(u.inputs, s)
	}
	return stream{src: u}, nil
}

// unionSource gives the rows of its inputs, one input after the other. Workers share the rows of an input that several may
// read; the others are worker 0's.
type unionSource struct {
	ctx    context.Context
	inputs []stream
}

// Reader gives a worker its share.
func (u *unionSource) Reader(worker int) exec.Reader {
	return &unionReader{u: u, worker: worker, left: u.inputs}
}

type unionReader struct {
	u      *unionSource
	worker int
	left   []stream
	in     exec.Reader
}

func (r *unionReader) Next(b *vector.Batch) (bool, error) {
	for {
		if r.in == nil {
			if len(r.left) == 0 {
				return false, nil
			}
			s := r.left[0]
			if r.left = r.left[1:]; s.serial && r.worker > 0 {
				continue
			}
			r.in = pullAs(r.u.ctx, s, r.worker, nil)
		}
		ok, err := r.in.Next(b)
		if ok || err != nil {
			return ok, err
		}
		r.in.Close()
		r.in = nil
	}
}

func (r *unionReader) Close() {
	if r.in != nil {
		r.in.Close()
	}
}

// chain reads sources one after the other.
type chain struct{ sources []exec.Source }

// Reader gives all rows to worker 0.
func (c *chain) Reader(worker int) exec.Reader {
	if worker > 0 {
		return empty{}
	}
	return &chainReader{sources: c.sources}
}

type chainReader struct {
	sources []exec.Source
	in      exec.Reader
}

func (r *chainReader) Next(b *vector.Batch) (bool, error) {
	for {
		if r.in == nil {
			if len(r.sources) == 0 {
				return false, nil
			}
			r.in, r.sources = r.sources[0].Reader(0), r.sources[1:]
		}
		ok, err := r.in.Next(b)
		if ok || err != nil {
			return ok, err
		}
		r.in.Close()
		r.in = nil
	}
}

func (r *chainReader) Close() {
	if r.in != nil {
		r.in.Close()
	}
}

func (r *runner) window(n *Window) (stream, error) {
	var keys []expr.SortKey
	for _, e := range n.Partition {
		keys = append(keys, expr.SortKey{Expr: e})
	}
	in := Node(n.Input)
	if keys = append(keys, n.Order...); len(keys) > 0 {
		sort := &Sort{Input: n.Input, Keys: keys, Limit: -1}
		sort.First = n.First
		in = sort
		r.p.Analysis.insert(n, in)
	}
	s, err := r.build(in)
	if err != nil {
		return s, err
	}
	return r.finish(s, newWindowSink(n, exec.Workers(r.p.Workers), r.budget), true)
}
