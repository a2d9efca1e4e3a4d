package plan

import (
	"slices"

	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// Compile makes the graph of an optimized plan. It looks at the sizes of tables, to choose the side that a join keeps,
// and runs nothing.
func Compile(n Node) *Graph {
	c := &compiler{g: &Graph{}}
	c.end(c.pipeline(n), Stage{Kind: Answer})
	return c.g
}

// compiler makes a graph. What it has of pipelines without a sink is not in the graph yet.
type compiler struct {
	g      *Graph
	unless []int // the build sides above the node at hand, without whose rows it is not wanted
}

// end ends a pipeline with a sink and puts it into the graph.
func (c *compiler) end(p *Pipeline, sink Stage) int {
	at := len(c.g.Pipelines)
	p.Sink = sink
	p.Unless = slices.Clone(c.unless)
	p.Serial = p.Serial || stageKinds[sink.Kind].serial
	wait := slices.Clone(p.Unless)
	for _, s := range append([]Stage{p.Source}, p.Operators...) {
		p.Serial = p.Serial || stageKinds[s.Kind].serial
		for _, i := range s.Reads {
			if in := &c.g.Pipelines[i]; in.Sink.Kind == Feed {
				in.Sink.Into = at
				wait = append(wait, in.After...)
			} else {
				wait = append(wait, i)
			}
		}
	}
	slices.Sort(wait)
	p.After = slices.Compact(wait)
	c.g.Pipelines = append(c.g.Pipelines, *p)
	return at
}

// feed ends the pipeline of a node whose rows a source of another pipeline asks for. serial: as they come.
func (c *compiler) feed(n Node, serial bool) int {
	p := c.pipeline(n)
	p.Serial = serial
	return c.end(p, Stage{Kind: Feed})
}

// result begins a pipeline that reads what the sink of another one has made for a node.
func (c *compiler) result(n Node, of int) *Pipeline {
	return from(Stage{Kind: ReadResult, Node: n, For: n, Reads: []int{of}})
}

// from begins a pipeline.
func from(source Stage) *Pipeline { return &Pipeline{Source: source} }

// with puts an operator over a pipeline. The stage belongs to the node that it does, unless it says so itself.
func (p *Pipeline) with(kind StageKind, n, of Node) *Pipeline {
	p.Operators = append(p.Operators, Stage{Kind: kind, Node: n, For: of})
	return p
}

// pipeline makes the pipeline whose rows are those of a node.
func (c *compiler) pipeline(n Node) *Pipeline {
	switch n := n.(type) {
	case *Scan:
		return c.scan(n)
	case *Values:
		return from(Stage{Kind: ReadValues, Node: n, For: n})
	case *Series:
		return from(Stage{Kind: ReadSeries, Node: n, For: n})
	case *Aggregate:
		return c.breaker(n, Stage{Kind: GroupRows, Statistics: n.statistics()})
	case *Distinct:
		return c.breaker(n, Stage{Kind: DistinctRows})
	case *FillSlots:
		return c.breaker(n, Stage{Kind: FillSlotRows})
	case *Sort:
		return c.sort(n)
	case *Union:
		s := Stage{Kind: ReadBranches, Node: n, For: n}
		for _, in := range n.Inputs {
			s.Reads = append(s.Reads, c.feed(in, false))
		}
		return from(s)
	case *Join:
		return c.join(n)
	case *AsofJoin:
		l := c.feed(n.L, true)
		return from(Stage{Kind: ReadAsof, Node: n, For: n, Reads: []int{l, c.feed(n.R, true)}})
	case *Window:
		return from(Stage{Kind: ReadWindow, Node: n, For: n, Reads: []int{c.feed(n.Input, true)}})
	}
	return c.pipeline(n.inputs()[0]).with(operatorOf(n), n, n)
}

// operatorOf is the operator that is all of a node.
func operatorOf(n Node) StageKind {
	switch n.(type) {
	case *Filter:
		return FilterRows
	case *Project:
		return ProjectRows
	case *Limit:
		return LimitRows
	case *DistinctOn:
		return FirstOfRun
	case *Expand:
		return MakeSlots
	case *Unnest:
		return UnnestLists
	case *Unpivot:
		return UnpivotColumns
	}
	panic("plan: a node without a physical form")
}

// breaker ends the pipeline of a node's input in a sink and reads its result.
func (c *compiler) breaker(n Node, sink Stage) *Pipeline {
	in := c.pipeline(n.inputs()[0])
	sink.Node, sink.For = n, n
	return c.result(n, c.end(in, sink))
}

// scan reads a table. Without an order that counts, its pieces are read by several workers.
func (c *compiler) scan(n *Scan) *Pipeline {
	s := Stage{Node: n, For: n}
	switch {
	case n.Never:
		s.Kind = ReadNothing
		return from(s)
	case n.Rel.Virtual != nil:
		s.Kind = ReadVirtual
	case n.Ordered:
		s.Kind = ReadOrdered
	default:
		s.Kind = ReadPieces
	}
	p := from(s)
	if len(n.Residual) > 0 {
		p.with(FilterRows, &Filter{Input: n, Conds: n.Residual}, n)
	}
	return p
}

// statistics reports whether statistics may know the answer: count, min and max of plain columns over a whole table.
func (n *Aggregate) statistics() bool {
	s, ok := n.Input.(*Scan)
	if !ok || len(n.Keys) > 0 || !s.wholeTable() || len(n.Aggs) == 0 {
		return false
	}
	for _, a := range n.Aggs {
		if a.Distinct || a.Filter != nil || !a.Counts && !a.Least && !a.Greatest || len(a.Args) > 1 {
			return false
		}
		if len(a.Args) == 1 {
			if _, ok := a.Args[0].(*expr.Column); !ok {
				return false
			}
		}
	}
	return true
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

// sort runs ORDER BY; with a limit only the first rows are kept. The newest rows of a table come from its newest
// pieces, and reading stops when no remaining piece can hold a newer one.
func (c *compiler) sort(n *Sort) *Pipeline {
	sink, cut := Stage{Kind: SortRows, Node: n, For: n}, n.Limit >= 0 || n.Offset > 0
	in := c.pipeline(n.Input)
	switch {
	case n.first():
		sink.Kind, cut = TopRows, n.Offset > 0
		sink.Bounds, sink.Newest, sink.Oldest = n.bounds()
	case n.First.N > 0:
		in.with(KeepFirst, n, n)
	}
	out := c.result(n, c.end(in, sink))
	if cut {
		out.with(LimitRows, &Limit{Input: n, Limit: n.Limit, Offset: n.Offset}, n)
	}
	return out
}

// join keeps one side and probes with the other: the left side streams, unless the right side is much larger.
func (c *compiler) join(n *Join) *Pipeline {
	kind := joinKinds[n.Kind]
	if !n.keepsLeft() {
		return c.hashJoin(n, kind.keepsRight, n)
	}
	x, to := n.exchanged()
	p := c.hashJoin(x, kind.keepsLeft, n)
	if n.Kind.semi() {
		return p
	}
	list := make([]expr.Expr, len(n.Cols))
	for i, col := range n.Cols {
		list[i] = &expr.Column{Index: to[i], Name: col.Name, T: col.Type, Null: true}
	}
	return p.with(ProjectRows, &Project{Input: n, Exprs: list, Cols: n.Cols}, n)
}

// hashJoin keeps the right side of n and streams the left side, for a node of the plan.
func (c *compiler) hashJoin(n *Join, kind exec.JoinKind, of Node) *Pipeline {
	sink := Stage{Kind: BuildJoin, Node: n, For: of, Join: kind}
	if kind.NeedsPartner() {
		sink.Bounds = n.bounds()
	}
	build := c.end(c.pipeline(n.R), sink)
	above := c.unless
	if kind.NeedsPartner() {
		c.unless = append(slices.Clone(above), build)
	}
	p := c.pipeline(n.L)
	c.unless = above
	p.Operators = append(p.Operators, Stage{Kind: ProbeJoin, Node: n, For: of, Join: kind, Reads: []int{build}})
	return p
}
