package promql

import (
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"varve/engine/status"
)

// Plan is a query that is compiled. It never changes, so that queries with equal texts can share it unless it depends
// on their times.
type Plan struct {
	text  string // of the query
	root  node
	timed bool // numbers in it come from the times of the query, such as step() or @ start()
	steps int  // of the regular expressions, see patterns
}

// Compile makes a plan of a query. The error is of code InvalidSyntax or InvalidArguments.
func (q *Query) Compile() (*Plan, error) {
	var p Parser
	x, err := p.parse(q.Expr)
	if err != nil {
		return nil, err
	}
	if err := q.check(x.Type()); err != nil {
		return nil, err
	}
	c := compiler{q: q}
	root, err := c.compile(x, wants{})
	if err != nil {
		return nil, err
	}
	shareCommon(root)
	foldGroups(root)
	return &Plan{text: q.Expr, root: root, timed: c.timed, steps: p.patterns.steps}, nil
}

// compiler makes nodes of the parser's, which stay as they are.
type compiler struct {
	q     *Query
	timed bool // the times of the query were used
}

// wants is what the nodes around a node use of its samples.
type wants struct {
	counts, buckets bool // of histograms, counts and sums; buckets
	presence        bool // of floats, whether they are there, and whether they are NaN; said by the next node alone
}

// countsOnly reports that a query reads the histograms of a selector for counts and sums alone, never for buckets: it
// is below a function that takes these and below nothing that needs buckets, or looks at the series again. Such
// selectors tell of counter resets that they see; others leave those to whoever compares, as the reference does, so
// that warnings of resets that collide come where it gives them.
func (w wants) countsOnly() bool { return w.counts && !w.buckets }

// compile makes the node of an expression.
func (c *compiler) compile(x parser.Expr, w wants) (node, error) {
	x = unwrap(x)
	own := facts{pos: x.PositionRange(), kind: x.Type()}
	presence := w.presence
	w.presence = false
	switch n := x.(type) {
	case *parser.NumberLiteral:
		own.same = true
		return &numberNode{own, n.Val}, nil
	case *parser.StringLiteral:
		own.same = true
		return &textNode{own, n.Val}, nil
	case *parser.VectorSelector:
		w.presence = presence
		return c.selector(own, n, w)
	case *parser.MatrixSelector:
		w.presence = presence
		return c.windows(own, n, w)
	case *parser.SubqueryExpr:
		w.buckets = true
		return c.subquery(own, n, w)
	case *parser.UnaryExpr:
		of, err := c.compile(n.Expr, w)
		if err != nil {
			return nil, err
		}
		own.same = of.base().same
		return &unaryNode{own, of, n.Op == parser.SUB}, nil
	case *parser.BinaryExpr:
		return c.binary(own, n, w)
	case *parser.AggregateExpr:
		return c.aggregate(own, n, w)
	case *parser.Call:
		return c.call(own, n, w)
	}
	return nil, execution("%s cannot be evaluated", x)
}

func (c *compiler) selector(own facts, n *parser.VectorSelector, w wants) (node, error) {
	out := &selectorNode{facts: own, anchored: n.Anchored, smoothed: n.Smoothed, counts: w.countsOnly(),
		presence: w.presence && !n.Anchored && !n.Smoothed}
	var err error
	if out.when, err = c.when(n.OriginalOffset, n.OriginalOffsetExpr, n.Timestamp, n.StartOrEnd); err != nil {
		return nil, err
	}
	out.same = out.at != nil
	out.matchers, err = matchers(n.LabelMatchers)
	return out, err
}

func (c *compiler) windows(own facts, n *parser.MatrixSelector, w wants) (node, error) {
	length, err := c.duration(n.RangeExpr, n.Range, false)
	if err != nil {
		return nil, err
	}
	of, err := c.compile(n.VectorSelector, w)
	if err != nil {
		return nil, err
	}
	own.same = of.base().same
	return &rangeNode{own, of.(*selectorNode), length.Milliseconds()}, nil
}

func (c *compiler) subquery(own facts, n *parser.SubqueryExpr, w wants) (node, error) {
	at, err := c.when(n.OriginalOffset, n.OriginalOffsetExpr, n.Timestamp, n.StartOrEnd)
	if err != nil {
		return nil, err
	}
	step, err := c.duration(n.StepExpr, n.Step, false)
	if err != nil {
		return nil, err
	}
	length, err := c.duration(n.RangeExpr, n.Range, false)
	if err != nil {
		return nil, err
	}
	of, err := c.compile(n.Expr, w)
	if err != nil {
		return nil, err
	}
	own.same = at.at != nil
	return &subqueryNode{own, at, of, length.Milliseconds(), step.Milliseconds()}, nil
}

func (c *compiler) binary(own facts, n *parser.BinaryExpr, w wants) (node, error) {
	w.buckets = w.buckets || n.Op == parser.TRIM_LOWER || n.Op == parser.TRIM_UPPER
	left, err := c.compile(n.LHS, w)
	if err != nil {
		return nil, err
	}
	right, err := c.compile(n.RHS, w)
	if err != nil {
		return nil, err
	}
	own.same = left.base().same && right.base().same
	return &binaryNode{own, n.Op, left, right, n.VectorMatching, n.ReturnBool, kernels[n.Op]}, nil
}

func (c *compiler) aggregate(own facts, n *parser.AggregateExpr, w wants) (node, error) {
	out := &aggregateNode{facts: own, op: n.Op, names: slices.Clone(n.Grouping), without: n.Without}
	if n.Without {
		out.names = append(out.names, NameLabel)
	}
	slices.Sort(out.names)
	below := w
	below.presence = n.Op == parser.COUNT || n.Op == parser.GROUP
	var err error
	if out.of, err = c.compile(n.Expr, below); err != nil {
		return nil, err
	}
	out.same = out.of.base().same
	if n.Param == nil {
		return out, nil
	}
	if out.param, err = c.compile(n.Param, w); err != nil {
		return nil, err
	}
	out.same = out.same && out.param.base().same
	return out, nil
}

// call makes the node of a call, or of the number that it stands for.
func (c *compiler) call(own facts, n *parser.Call, w wants) (node, error) {
	f := functionOf(n)
	switch {
	case f == nil:
		return nil, execution("function %s is not known", n.Func.Name)
	case f.setting != nil:
		c.timed = true
		own.same = true
		return &numberNode{own, f.setting(c.q)}, nil
	}
	w.counts, w.buckets = w.counts || f.counts, w.buckets || f.buckets
	out := &callNode{facts: own, function: f, name: n.Func.Name, args: make([]node, len(n.Args)), window: -1}
	out.argsPos = n.Args.PositionRange()
	same, selectors := true, true
	for i, arg := range n.Args {
		below := w
		below.presence = i == 0 && f.presence
		var err error
		if out.args[i], err = c.compile(arg, below); err != nil {
			return nil, err
		}
		switch out.args[i].(type) {
		case *rangeNode, *subqueryNode:
			out.window = i
		}
		if f.matchers && i == 1 {
			continue // no value
		}
		same = same && out.args[i].base().same
		_, isSelector := out.args[i].(*selectorNode)
		selectors = selectors && isSelector
	}
	if k := len(out.args); k > 0 { // without the parentheses around arguments
		out.argsPos.Start, out.argsPos.End = out.args[0].base().pos.Start, out.args[k-1].base().pos.End
	}
	switch {
	case f.matchers:
		_, uniform := reference(out.args[0])
		out.same = same && uniform
	case f.steps == unlessSelector:
		out.same = same && selectors
	default:
		out.same = same && f.steps == steady
	}
	return out, nil
}

// foldGroups finds the aggregations whose rows are added as series are read: those that take rows one by one, of series
// that nobody else needs. Such series need no other labels than those that the groups have.
func foldGroups(x node) {
	for _, part := range x.operands() {
		foldGroups(part)
	}
	n, ok := x.(*aggregateNode)
	if !ok || n.of.base().shared {
		return
	}
	switch n.op {
	case parser.COUNT_VALUES, parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO, parser.QUANTILE:
		return
	}
	var from *selectorNode
	switch of := n.of.(type) {
	case *selectorNode:
		from, n.folds = of, true
	case *callNode:
		if of.over == nil || of.function.eval != nil {
			return
		}
		n.folds = true
		if windows, ok := of.args[of.window].(*rangeNode); ok {
			from = windows.selector
		}
	}
	if from != nil && !n.without {
		from.labels = append([]string{}, n.names...) // not nil, which means all
	}
}

// unwrap takes parentheses off.
func unwrap(x parser.Expr) parser.Expr {
	for {
		p, ok := x.(*parser.ParenExpr)
		if !ok {
			return x
		}
		x = p.Expr
	}
}

// invalid is an error of the numbers of a query.
func invalid(err error) error { return status.Wrap(err, status.InvalidArguments, "%s", err) }
