package plan

import (
	"context"
	"net/netip"
	"slices"

	"varve/engine"
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
	Workers int            // goroutines of one pipeline; 0: one for each processor
	Memory  *exec.Pool     // what queries may keep; nil: exec's default
	Client  netip.Addr     // the network of the client, which shares turns; the zero Addr: no network
	Spill   *spill.Disk    // where rows go that do not fit; nil: nowhere
	Moment  *engine.Moment // what scans see; nil: what is there
	// Analysis, if not nil, takes down what each node does.
	Analysis *Analysis
}

// Run starts an optimized plan: everything below the last breaker runs now, the rest as the rows are read. The caller
// closes the reader.
func Run(ctx context.Context, p Physical, n Node) (exec.Reader, error) {
	if p.Memory == nil {
		p.Memory = exec.NewPool(0)
	}
	r := &planRun{ctx: ctx, p: p, budget: p.Memory.Budget(ctx)}
	r.budget.For(p.Client)
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
	if !s.Serial && !s.Several {
		if in, ok := exec.InOrder(ctx, s.Source, s.Ops, exec.Workers(p.Workers)); ok {
			s = exec.Stream{Source: reading{in}}
		}
	}
	return exec.Pull(ctx, s, 0, r.close), nil
}

// reading is the source of rows that are being read already, by one worker.
type reading struct{ in exec.Reader }

// Reader returns the rows.
func (r reading) Reader(int) exec.Reader { return r.in }

// planRun runs one plan and holds its scans open until the end.
type planRun struct {
	ctx    context.Context
	p      Physical
	budget *exec.Budget
	scans  []*engine.Scan
	// wanted has what operators that are built already know, or will know, of the rows of a scan.
	wanted map[*Scan]*wanted
	at     Node // the node that is built, for the analysis
}

func (r *planRun) close() {
	for _, s := range r.scans {
		s.Close()
	}
	r.scans = nil
	r.budget.Close()
}

// filter puts conditions over a stream.
func (r *planRun) filter(s exec.Stream, conds []expr.Expr) (exec.Stream, error) {
	if len(conds) == 0 {
		return s, nil
	}
	op, err := exec.Filter(conds, r.budget)
	return s.With(op), err
}

// finish runs a stream into a sink and returns the result.
func (r *planRun) finish(s exec.Stream, sink exec.Sink, serial bool) (exec.Stream, error) {
	if a := r.p.Analysis; a != nil {
		_, keeps := r.at.(*Join)
		sink = exec.MeasureSink(sink, a.of(r.at), r.budget, keeps)
	}
	workers := exec.Workers(r.p.Workers)
	if s.Serial || serial {
		workers = 1
	}
	src, err := (&exec.Pipeline{Source: s.Source, Ops: s.Ops, Sink: sink}).Run(r.ctx, workers)
	return exec.Stream{Source: src, Serial: true}, err
}

// build makes the stream of a node; breakers below it run.
func (r *planRun) build(n Node) (exec.Stream, error) {
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

func (r *planRun) buildNode(n Node) (exec.Stream, error) {
	switch n := n.(type) {
	case *Scan:
		return r.scan(n)
	case *Values:
		return exec.Stream{Source: exec.Values(n.Batch), Serial: true}, nil
	case *Series:
		src, err := exec.Series(n.Of, types(n.Cols))
		return exec.Stream{Source: src, Serial: true}, err
	case *Aggregate:
		return r.aggregate(n)
	case *Sort:
		return r.sort(n)
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
	}
	s, err := r.build(n.inputs()[0])
	if err != nil {
		return s, err
	}
	return r.onto(s, n)
}

// onto adds a node with one input to the stream of that input. The node is one that takes rows as they come.
func (r *planRun) onto(s exec.Stream, n Node) (exec.Stream, error) {
	switch n := n.(type) {
	case *Filter:
		return r.filter(s, n.Conds)
	case *Project:
		op, err := exec.Project(n.Exprs, r.budget)
		return s.With(op), err
	case *Limit:
		return r.limit(s, n.Limit, n.Offset)
	case *Distinct:
		sink, err := exec.Distinct(types(n.Columns()), r.budget)
		if err != nil {
			return s, err
		}
		return r.finish(s, sink, false)
	case *FillSlots:
		spec := exec.FillSpec{Keys: n.Keys, Step: n.Step, Fills: n.Fills, Types: types(n.Cols)}
		return r.finish(s, exec.Fill(spec, types(n.Input.Columns()), r.budget), true)
	}
	s.Several = true
	switch n := n.(type) {
	case *Expand:
		return s.With(exec.Slots(exec.SlotsSpec{Time: n.Time, Origin: n.Origin, Step: n.Step, Ranges: n.Ranges,
			Type: n.Cols[n.Time].Type}, r.budget)), nil
	case *Unnest:
		return s.With(exec.Unnest(exec.UnnestSpec{Lists: n.Lists, Outer: n.Outer, Ordinality: n.Ordinality}, r.budget)),
			nil
	case *Unpivot:
		names := &vector.Vector{Type: vector.StringType}
		for i, name := range n.Names {
			names.Append(i, vector.ConstString(name), 0, 1)
		}
		return s.With(exec.Unpivot(exec.UnpivotSpec{Passed: n.Passed, Names: names, Sets: n.Sets, Nulls: n.Nulls},
			r.budget)), nil
	}
	panic("plan: a node without a physical form")
}

// limit counts rows, which needs a single worker.
func (r *planRun) limit(s exec.Stream, limit, offset int64) (exec.Stream, error) {
	s.Serial = true
	return s.With(exec.Limit(offset, limit)), nil
}

func (r *planRun) distinctOn(n *DistinctOn) (exec.Stream, error) {
	s, err := r.build(n.Input)
	if err != nil {
		return s, err
	}
	keys := make([]int, len(n.Keys))
	for i, k := range n.Keys {
		keys[i] = k.(*expr.Column).Index
	}
	return s.With(exec.FirstOfRun(keys)), nil
}

// scan opens a table. Without an order that counts, its pieces are read by several workers.
func (r *planRun) scan(n *Scan) (exec.Stream, error) {
	if n.Never {
		return exec.Stream{Source: exec.Values(vector.NewBatch(types(n.Cols)...)), Serial: true}, nil
	}
	if n.Rel.Virtual != nil {
		return r.virtual(n)
	}
	sc, err := r.open(n)
	if err != nil {
		return exec.Stream{}, err
	}
	s := exec.Stream{Source: exec.ScanSource(sc)}
	if n.Ordered {
		s = exec.Stream{Source: exec.OrderedSource(sc, types(n.Cols)), Serial: true}
	}
	return r.filter(s, n.Residual)
}

// open begins to scan a table, within the bounds that there are.
func (r *planRun) open(n *Scan) (*engine.Scan, error) {
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
	q := engine.Request{Table: n.Rel.Table, Columns: columns, Time: n.Time, Filter: n.Filter,
		Stats: r.p.Analysis.scan(n), Reserve: r.budget.Reserve, Moment: r.p.Moment}
	if w := r.wanted[n]; w != nil {
		q.Bounds, q.Newest, q.Oldest, q.First = w.bounds, w.newest, w.oldest, w.first
	}
	sc, err := r.p.Engine.Scan(r.ctx, q)
	if err == nil {
		r.scans = append(r.scans, sc)
	}
	return sc, err
}

// virtual makes the rows of a virtual table and cuts them to the wanted columns.
func (r *planRun) virtual(n *Scan) (exec.Stream, error) {
	all, err := n.Rel.Virtual.Rows(r.ctx, n.Equal)
	if err != nil {
		return exec.Stream{}, err
	}
	b := &vector.Batch{N: all.N}
	for _, p := range n.Positions {
		b.Cols = append(b.Cols, all.Cols[p])
	}
	return r.filter(exec.Stream{Source: exec.Values(b), Serial: true}, n.Residual)
}

// aggregate answers from statistics where that is exact, else runs the aggregation.
func (r *planRun) aggregate(n *Aggregate) (exec.Stream, error) {
	if b, ok, err := r.fromStats(n); ok || err != nil {
		return exec.Stream{Source: exec.Values(b), Serial: true}, err
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
func (r *planRun) fromStats(n *Aggregate) (*vector.Batch, bool, error) {
	s, ok := n.Input.(*Scan)
	if !ok || len(n.Keys) > 0 || !s.wholeTable() || len(n.Aggs) == 0 {
		return nil, false, nil
	}
	for _, a := range n.Aggs {
		if a.Distinct || a.Filter != nil || !a.Counts && !a.Least && !a.Greatest || len(a.Args) > 1 {
			return nil, false, nil
		}
		if len(a.Args) == 1 {
			if _, ok := a.Args[0].(*expr.Column); !ok {
				return nil, false, nil
			}
		}
	}
	sc, err := r.open(s)
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
		st, ok, err := sc.Stat(table.Columns[at].ID)
		if err != nil || !ok {
			return nil, false, err
		}
		v := vector.ConstInt(vector.Int64Type, int64(st.Count))
		if a.Least {
			v = st.Min
		} else if a.Greatest {
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
func (r *planRun) sort(n *Sort) (exec.Stream, error) {
	if n.first() {
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
		s = s.With(first)
	}
	sink, err := exec.Sort(n.Keys, types(n.Columns()), r.budget)
	if err != nil {
		return s, err
	}
	s, err = r.finish(s, sink, false)
	if err == nil && (n.Limit >= 0 || n.Offset > 0) {
		s = s.With(exec.Limit(n.Offset, n.Limit))
	}
	return s, err
}

// top keeps the first rows of an order. The bound that it has found for the first key narrows the scan of that column.
func (r *planRun) top(n *Sort) (exec.Stream, error) {
	k, tell := int(n.Limit+n.Offset), r.boundTop(n)
	s, err := r.build(n.Input)
	if err != nil {
		return s, err
	}
	sink, err := exec.TopK(n.Keys, k, types(n.Columns()), tell, r.budget)
	if err != nil {
		return s, err
	}
	s, err = r.finish(s, sink, false)
	if err == nil && n.Offset > 0 {
		s = s.With(exec.Limit(n.Offset, n.Limit))
	}
	return s, err
}

// maxTop is the largest limit for which the first rows are kept instead of sorting all; the kept rows have all their
// keys.
const (
	maxTop     = 100_000
	maxTopKeys = 8 * maxTop
)

// first reports whether only the first rows of a sort are kept.
func (n *Sort) first() bool {
	return n.Limit >= 0 && n.Limit <= maxTop && n.Offset <= maxTop &&
		(n.Limit+n.Offset)*int64(len(n.Keys)) <= maxTopKeys
}

func (r *planRun) union(n *Union) (exec.Stream, error) {
	var inputs []exec.Stream
	for _, in := range n.Inputs {
		s, err := r.build(in)
		if err != nil {
			return s, err
		}
		if slices.ContainsFunc(s.Ops, exec.Ends) {
			s.Serial = true // at its end, the operator emits rows from all workers
		}
		inputs = append(inputs, s)
	}
	return exec.Stream{Source: exec.Union(r.ctx, inputs)}, nil
}

func (r *planRun) window(n *Window) (exec.Stream, error) {
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
	var figures *exec.Figures
	if a := r.p.Analysis; a != nil {
		figures = a.of(n)
	}
	spec := exec.WindowSpec{Partition: n.Partition, Order: n.Order, Funcs: n.Funcs}
	return exec.Stream{Source: exec.Windows(r.ctx, spec, s, types(n.Input.Columns()), exec.Workers(r.p.Workers),
		r.budget, figures), Serial: true}, nil
}
