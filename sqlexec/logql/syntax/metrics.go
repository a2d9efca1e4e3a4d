package syntax

import (
	"math"
	"slices"
	"time"
)

// rangeOps are the range aggregations: which take samples, lines or both, and whether a clause may follow.
var rangeOps = map[RangeOp]struct{ lines, samples, clause bool }{
	OpCountOverTime:    {lines: true},
	OpRate:             {lines: true, samples: true},
	OpRateCounter:      {samples: true},
	OpBytesOverTime:    {lines: true},
	OpBytesRate:        {lines: true},
	OpSumOverTime:      {samples: true},
	OpAvgOverTime:      {samples: true, clause: true},
	OpMaxOverTime:      {samples: true, clause: true},
	OpMinOverTime:      {samples: true, clause: true},
	OpFirstOverTime:    {samples: true, clause: true},
	OpLastOverTime:     {samples: true, clause: true},
	OpStddevOverTime:   {samples: true, clause: true},
	OpStdvarOverTime:   {samples: true, clause: true},
	OpQuantileOverTime: {samples: true, clause: true},
	OpAbsentOverTime:   {lines: true, samples: true},
}

// vectorOps are the vector aggregations: which need a parameter, and whether a clause may stand.
var vectorOps = map[VectorOp]struct{ param, clause bool }{
	OpSum: {clause: true}, OpAvg: {clause: true}, OpCount: {clause: true}, OpMax: {clause: true}, OpMin: {clause: true},
	OpStddev: {clause: true}, OpStdvar: {clause: true},
	OpTopK: {true, true}, OpBottomK: {true, true}, OpApproxTopK: {param: true},
	OpSort: {}, OpSortDesc: {},
}

// metric reads an expression that computes numbers.
func (p *parser) metric() (Expr, error) {
	start := p.peek()
	q, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	e, ok := q.(Expr)
	if !ok {
		if w := p.peek(); w.kind != kindEnd {
			start = w
		}
		return nil, unexpected(start, nil)
	}
	return e, nil
}

// modifiers reads bool, matching and group behind an operator.
func (p *parser) modifiers(e *Binary) error {
	e.Bool = p.accept("bool")
	w := p.peek()
	if w.kind != "on" && w.kind != "ignoring" {
		return nil
	}
	p.take()
	m := &Matching{On: w.kind == "on"}
	var err error
	if m.Names, err = p.names(); err != nil {
		return err
	}
	switch w := p.peek(); w.kind {
	case "group_left", "group_right":
		p.take()
		m.Group = Group(w.kind)
		// A parenthesis opens a list of names, or the right side.
		if p.peek().kind == "(" && p.namesFollow() {
			if m.Include, err = p.names(); err != nil {
				return err
			}
		}
	}
	e.Matching = m
	return nil
}

// namesFollow reports whether the parenthesis that is next holds nothing or names.
func (p *parser) namesFollow() bool {
	switch p.after().kind {
	case ")", kindIdentifier:
		return true
	}
	return false
}

// combine makes the node of an operator. Two numbers become one.
func (p *parser) combine(e *Binary, left, right Query) (Query, error) {
	var ok bool
	if e.Left, ok = left.(Expr); !ok {
		return nil, Invalid("unexpected type for left leg of binary operation (%s): %s", e.Op, typeName(left))
	}
	if e.Right, ok = right.(Expr); !ok {
		return nil, Invalid("unexpected type for right leg of binary operation (%s): %s", e.Op, typeName(right))
	}
	set := e.Op == OpOr || e.Op == OpAnd || e.Op == OpUnless
	l, leftNumber := e.Left.(*Literal)
	r, rightNumber := e.Right.(*Literal)
	switch {
	case set && leftNumber:
		return nil, Invalid("unexpected literal for left leg of logical/set binary operation (%s): %f", e.Op, l.Value)
	case set && rightNumber:
		return nil, Invalid("unexpected literal for right leg of logical/set binary operation (%s): %f", e.Op, r.Value)
	case leftNumber && rightNumber:
		return &Literal{Value: fold(e.Op, l.Value, r.Value)}, nil
	}
	e.withoutIdle(set, leftNumber || rightNumber)
	return e, p.count()
}

// withoutIdle takes modifiers out that may be written and change nothing: bool of an operator that does not compare, a
// group of a set operator, matching with a number, and labels to include that are equal on both sides.
func (e *Binary) withoutIdle(set, number bool) {
	e.Bool = e.Bool && priorities[kind(e.Op)] == priorities["=="]
	m := e.Matching
	switch {
	case m == nil:
	case number:
		e.Matching = nil
	case set:
		m.Group, m.Include = GroupNone, nil
	case m.On:
		m.Include = slices.DeleteFunc(m.Include, func(n string) bool { return slices.Contains(m.Names, n) })
	}
}

// typeName names a query in errors of operators.
func typeName(q Query) string {
	if log, ok := q.(*LogQuery); ok && len(log.Stages) == 0 {
		return "*syntax.MatchersExpr"
	}
	return "*syntax.PipelineExpr"
}

// fold computes an operator over two numbers. A comparison yields 1 or 0; division by zero yields NaN.
func fold(op BinaryOp, l, r float64) float64 {
	truth := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	switch op {
	case OpAdd:
		return l + r
	case OpSub:
		return l - r
	case OpMul:
		return l * r
	case OpDiv:
		if r == 0 {
			return math.NaN()
		}
		return l / r
	case OpMod:
		return math.Mod(l, r)
	case OpPow:
		return math.Pow(l, r)
	case OpEq:
		return truth(l == r)
	case OpNe:
		return truth(l != r)
	case OpGt:
		return truth(l > r)
	case OpGe:
		return truth(l >= r)
	case OpLt:
		return truth(l < r)
	}
	return truth(l <= r)
}

// vectorCall reads vector(n).
func (p *parser) vectorCall() (Query, error) {
	p.take()
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	v, err := p.signedNumber()
	if err != nil {
		return nil, err
	}
	_, err = p.expect(")")
	return &Vector{Value: v}, err
}

// labelReplace reads label_replace(expr, dst, replacement, src, regex).
func (p *parser) labelReplace() (Query, error) {
	p.take()
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	inner, err := p.metric()
	if err != nil {
		return nil, err
	}
	e := &LabelReplace{Expr: inner}
	for _, to := range []*string{&e.Dst, &e.Replacement, &e.Source, &e.Regex} {
		if _, err := p.expect(","); err != nil {
			return nil, err
		}
		w, err := p.expect(kindString)
		if err != nil {
			return nil, err
		}
		*to = w.text
	}
	if _, err := p.expect(")"); err != nil {
		return nil, err
	}
	return e, checkLabelReplace(e)
}

// grouping reads a clause if one is next.
func (p *parser) grouping() (*Grouping, error) {
	w := p.peek()
	if w.kind != "by" && w.kind != "without" {
		return nil, nil
	}
	p.take()
	names, err := p.names()
	return &Grouping{Without: w.kind == "without", Names: names}, err
}

// vectorAggregation reads a call with its clause before or behind the arguments.
func (p *parser) vectorAggregation() (Query, error) {
	op := VectorOp(p.take().kind)
	a := &VectorAggregation{Op: op}
	var err error
	if a.Grouping, err = p.grouping(); err != nil {
		return nil, err
	}
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	var param *float64
	if p.peek().kind == kindNumber && p.after().kind == "," {
		param = new(float64)
		*param = p.take().num
		p.take()
	}
	if a.Expr, err = p.metric(); err != nil {
		return nil, err
	}
	if _, err := p.expect(")"); err != nil {
		return nil, err
	}
	if a.Grouping == nil {
		if a.Grouping, err = p.grouping(); err != nil {
			return nil, err
		}
	}
	switch rules := vectorOps[op]; {
	case rules.param && param == nil:
		return nil, Invalid("parameter required for operation %s", op)
	case !rules.param && param != nil:
		return nil, Invalid("unsupported parameter for operation %s(%s,", op, quoteFloat(*param))
	case rules.param && (*param != math.Trunc(*param) || *param > math.MaxInt32):
		return nil, Invalid("invalid parameter %s(%s,", op, quoteFloat(*param))
	case rules.param && *param < 1:
		return nil, Invalid("invalid parameter (must be greater than 0) %s(%s", op, quoteFloat(*param))
	case (op == OpSort || op == OpSortDesc) && a.Grouping != nil:
		return nil, Invalid("sort and sort_desc doesn't allow grouping by")
	case !rules.clause && a.Grouping != nil:
		return nil, Invalid("grouping not allowed for %s aggregation", op)
	case param != nil:
		a.Param = int(*param)
	}
	return a, nil
}

// rangeAggregation reads a call with its clause behind the arguments.
func (p *parser) rangeAggregation() (Query, error) {
	op := RangeOp(p.take().kind)
	a := &RangeAggregation{Op: op}
	if _, err := p.expect("("); err != nil {
		return nil, err
	}
	quantile := op == OpQuantileOverTime
	if w := p.peek(); w.kind == kindNumber || (w.kind == "-" || w.kind == "+") && quantile {
		v, err := p.signedNumber()
		if err != nil {
			return nil, err
		}
		if _, err := p.expect(","); err != nil {
			return nil, err
		}
		if !quantile {
			return nil, Invalid("parameter %s not supported for operation %s", quoteFloat(v), op)
		}
		a.Param = v
	} else if w.kind != "{" && w.kind != "(" {
		return nil, unexpected(w, []kind{kindNumber, "{", "("})
	} else if quantile {
		return nil, Invalid("parameter required for operation %s", op)
	}
	r, err := p.logRange(false)
	if err != nil {
		return nil, err
	}
	a.Range = *r
	if _, err := p.expect(")"); err != nil {
		return nil, err
	}
	if a.Grouping, err = p.grouping(); err != nil {
		return nil, err
	}
	rules := rangeOps[op]
	switch {
	case a.Grouping != nil && !rules.clause:
		return nil, Invalid("grouping not allowed for %s aggregation", op)
	case r.Unwrap != nil && !rules.samples:
		return nil, Invalid("invalid aggregation %s with unwrap", op)
	case r.Unwrap == nil && !rules.lines:
		return nil, Invalid("invalid aggregation %s without unwrap", op)
	}
	return a, p.count()
}

// logRange reads a log query with its range: behind the selector, the pipeline or unwrap. Parentheses may stand around
// all of it, or around the part before the range: inside is true for such a part.
func (p *parser) logRange(inside bool) (*LogRange, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	r := &LogRange{}
	switch w := p.peek(); w.kind {
	case "(":
		p.take()
		inner, err := p.logRange(true)
		if err != nil {
			return nil, err
		}
		if _, err := p.expect(")"); err != nil {
			return nil, err
		}
		r = inner
	case "{":
		matchers, err := p.selector()
		if err != nil {
			return nil, err
		}
		r.Query = &LogQuery{Matchers: matchers}
		if err := checkMatchers(matchers); err != nil {
			return nil, err
		}
	default:
		return nil, unexpected(w, []kind{"{", "("})
	}
	if err := p.rangeParts(r); err != nil {
		return nil, err
	}
	if r.Interval == 0 && !inside {
		return nil, unexpected(p.peek(), nil)
	}
	return r, nil
}

// rangeParts reads stages, unwrap, range and offset in the orders that are allowed.
func (p *parser) rangeParts(r *LogRange) error {
	for {
		w := p.peek()
		switch {
		case w.kind == kindRange && r.Interval == 0:
			r.Interval = p.take().dur
			if p.peek().kind == "offset" {
				if err := p.offset(r); err != nil {
					return err
				}
			}
		case w.kind == "|" && p.after().kind == "unwrap" && r.Unwrap == nil:
			var err error
			if r.Unwrap, err = p.unwrap(); err != nil {
				return err
			}
		case r.Unwrap == nil:
			before := len(r.Query.Stages)
			stages, err := p.pipeline(r.Query.Stages)
			if err != nil {
				return err
			}
			if r.Query.Stages = stages; len(stages) == before {
				return nil
			}
		default:
			return nil
		}
	}
}

// offset reads "offset" and its duration.
func (p *parser) offset(r *LogRange) error {
	p.take()
	w, err := p.expect(kindDuration)
	if err != nil {
		return err
	}
	if w.dur == math.MinInt64 || w.dur > 100*365*24*time.Hour || w.dur < -100*365*24*time.Hour {
		return &Error{Line: w.line, Col: w.col, Message: "offset is too long: " + w.text}
	}
	r.Offset = w.dur
	return nil
}
