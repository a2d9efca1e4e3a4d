package plan

import (
	"context"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// figures are those of a node; nil if none are taken.
func (r *graphRun) figures(n Node) *exec.Figures {
	if r.p.Analysis == nil {
		return nil
	}
	return r.p.Analysis.of(n)
}

// stream makes the stream of a pipeline. Where a probe finds no partners it begins there: nothing below it is read.
func (r *graphRun) stream(i int) (s exec.Stream, err error) {
	p, begins := &r.g.Pipelines[i], -1
	for at, op := range p.Operators {
		if op.Kind == ProbeJoin && op.Join.NeedsPartner() && r.partnerless(op.Reads[0]) {
			begins = at
		}
	}
	if s.Serial = p.Serial || begins >= 0; begins >= 0 {
		s.Source = exec.Values(&vector.Batch{})
	} else if err := r.source(p, &s); err != nil {
		return s, err
	}
	ops, err := r.operators(p, max(begins, 0))
	s.Ops = append(s.Ops, ops...)
	return s, err
}

// source puts the source of a pipeline into its stream.
func (r *graphRun) source(p *Pipeline, s *exec.Stream) (err error) {
	st, f := &p.Source, r.figures(p.Source.For)
	var inputs []exec.Stream
	if st.Kind != ReadResult {
		for _, i := range st.Reads {
			in, err := r.stream(i)
			if err != nil {
				return err
			}
			inputs = append(inputs, in)
		}
	}
	switch st.Kind {
	case ReadBranches:
		if s.Branches = inputs; f != nil {
			s.Ops = append(s.Ops, exec.MeasureBranches(f))
		}
		return nil
	case ReadWindow:
		n := st.Node.(*Window)
		spec := exec.WindowSpec{Partition: n.Partition, Order: n.Order, Funcs: n.Funcs}
		s.Source = exec.Windows(r.ctx, spec, inputs[0], types(n.Input.Columns()), r.workers, r.budget, f)
		return nil // which takes its figures down itself
	case ReadAsof:
		s.Source = exec.Asof(r.ctx, st.Node.(*AsofJoin).spec(), inputs[0], inputs[1], f)
	case ReadResult:
		from := &r.made[st.Reads[0]]
		s.Source, from.rows = from.rows, nil
	case ReadValues:
		s.Source = exec.Values(st.Node.(*Values).Batch)
	case ReadSeries:
		n := st.Node.(*Series)
		s.Source, err = exec.Series(n.Of, types(n.Cols))
	default:
		s.Source, err = r.rowsOf(st)
	}
	if err == nil && f != nil {
		s.Source = exec.MeasureSource(s.Source, f, p.above(0) != st.For)
	}
	return err
}

// rowsOf reads a scan.
func (r *graphRun) rowsOf(st *Stage) (exec.Source, error) {
	n := st.Node.(*Scan)
	switch st.Kind {
	case ReadNothing:
		return exec.Values(vector.NewBatch(types(n.Cols)...)), nil
	case ReadVirtual:
		return n.virtual(r.ctx)
	}
	sc, err := r.open(n)
	if st.Kind == ReadPieces {
		return exec.ScanSource(sc), err
	}
	return exec.OrderedSource(sc, types(n.Cols)), err
}

// open begins to scan a table, within the bounds that there are.
func (r *graphRun) open(n *Scan) (*engine.Scan, error) {
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

// operators makes the operators of a pipeline, from one on.
func (r *graphRun) operators(p *Pipeline, from int) ([]exec.Operator, error) {
	ops := make([]exec.Operator, 0, len(p.Operators)+1)
	for at := from; at < len(p.Operators); at++ {
		op, err := r.operator(&p.Operators[at])
		if err != nil {
			return nil, err
		}
		if f := r.figures(p.Operators[at].For); f != nil {
			first, last := p.counts(at)
			op = exec.MeasureOp(op, f, first, last)
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// operator makes an operator.
func (r *graphRun) operator(s *Stage) (exec.Operator, error) {
	switch n := s.Node.(type) {
	case *Filter:
		return exec.Filter(n.Conds, r.budget)
	case *Project:
		return exec.Project(n.Exprs, r.budget)
	case *Limit:
		return exec.Limit(n.Offset, n.Limit), nil
	case *Join:
		from := &r.made[s.Reads[0]]
		op := from.join.Probe()
		from.join = nil
		return op, nil
	case *Sort:
		return exec.KeepFirst(n.First, n.Keys, types(n.Columns()), r.budget)
	case *DistinctOn:
		keys := make([]int, len(n.Keys))
		for i, k := range n.Keys {
			keys[i] = k.(*expr.Column).Index
		}
		return exec.FirstOfRun(keys), nil
	case *Expand:
		return exec.Slots(exec.SlotsSpec{Time: n.Time, Origin: n.Origin, Step: n.Step, Ranges: n.Ranges,
			Type: n.Cols[n.Time].Type}, r.budget), nil
	case *Unnest:
		return exec.Unnest(exec.UnnestSpec{Lists: n.Lists, Outer: n.Outer, Ordinality: n.Ordinality}, r.budget), nil
	case *Unpivot:
		names := &vector.Vector{Type: vector.StringType}
		for i, name := range n.Names {
			names.Append(i, vector.ConstString(name), 0, 1)
		}
		return exec.Unpivot(exec.UnpivotSpec{Passed: n.Passed, Names: names, Sets: n.Sets, Nulls: n.Nulls}, r.budget),
			nil
	}
	panic("plan: a stage that is no operator")
}

// sink makes the sink of a pipeline.
func (r *graphRun) sink(s *Stage, to *made) (exec.Sink, error) {
	switch n := s.Node.(type) {
	case *Aggregate:
		return exec.Aggregate(n.Keys, n.Aggs, r.budget)
	case *Distinct:
		return exec.Distinct(types(n.Columns()), r.budget)
	case *FillSlots:
		spec := exec.FillSpec{Keys: n.Keys, Step: n.Step, Fills: n.Fills, Types: types(n.Cols)}
		return exec.Fill(spec, types(n.Input.Columns()), r.budget), nil
	case *Sort:
		if s.Kind == TopRows {
			return exec.TopK(n.Keys, int(n.Limit+n.Offset), types(n.Columns()), r.boundTop(n, s), r.budget)
		}
		return exec.Sort(n.Keys, types(n.Columns()), r.budget)
	case *Join:
		j, err := exec.NewJoin(exec.JoinSpec{Kind: s.Join, Probe: n.LKeys, Build: n.RKeys, Residual: n.Residual,
			NullEqual: n.NullEqual, Budget: r.budget, ProbeTypes: types(n.L.Columns()),
			BuildTypes: types(n.R.Columns())})
		if err != nil {
			return nil, err
		}
		to.join = j
		return j.Build(), nil
	}
	panic("plan: a stage that is no sink")
}

// virtual makes the rows of a virtual table and cuts them to the wanted columns.
func (n *Scan) virtual(ctx context.Context) (exec.Source, error) {
	all, err := n.Rel.Virtual.Rows(ctx, n.Equal)
	if err != nil {
		return nil, err
	}
	b := &vector.Batch{N: all.N}
	for _, p := range n.Positions {
		b.Cols = append(b.Cols, all.Cols[p])
	}
	return exec.Values(b), nil
}

// fromStats answers count, min and max of plain columns over a whole table without reading it.
func (n *Aggregate) fromStats(sc *engine.Scan) (*vector.Batch, bool, error) {
	s := n.Input.(*Scan)
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
