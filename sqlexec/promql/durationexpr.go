package promql

import (
	"math"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"varve/engine/status"
)

// when is the time that a selector or a subquery looks at: an offset, which may be an expression, and what is behind @.
func (c *compiler) when(offset time.Duration, x *parser.DurationExpr, at *int64,
	startOrEnd parser.ItemType) (when, error) {
	offset, err := c.duration(x, offset, true)
	if err != nil {
		return when{}, err
	}
	switch startOrEnd {
	case parser.START:
		at, c.timed = &c.q.Start, true
	case parser.END:
		at, c.timed = &c.q.End, true
	}
	return when{offset.Milliseconds(), at}, nil
}

// duration is the value of a duration expression; without one it is the known duration.
func (c *compiler) duration(x *parser.DurationExpr, known time.Duration, negative bool) (time.Duration, error) {
	if x == nil {
		return known, nil
	}
	d, err := c.durationOf(x, negative)
	if err != nil {
		return 0, invalid(err)
	}
	return d, nil
}

// durationOf is the value of a duration expression.
func (c *compiler) durationOf(x parser.Expr, negative bool) (time.Duration, error) {
	seconds, err := c.seconds(x)
	if err != nil {
		return 0, err
	}
	pos := x.PositionRange()
	switch {
	case math.IsNaN(seconds) || math.IsInf(seconds, 0):
		return 0, durationError(pos.Start, pos.End, "duration is NaN or infinite")
	case seconds <= 0 && !negative:
		return 0, durationError(pos.Start, pos.End, "duration must be greater than 0")
	case math.Abs(seconds) > math.MaxInt64/1e9:
		return 0, durationError(pos.Start, pos.End, "duration is out of range")
	}
	return time.Duration(seconds*1000) * time.Millisecond, nil
}

func durationError[P ~int](start, end P, what string) error {
	return status.New(status.InvalidArguments, "%d:%d: %s", int(start), int(end), what)
}

// seconds is the value in seconds.
func (c *compiler) seconds(x parser.Expr) (float64, error) {
	switch n := x.(type) {
	case *parser.NumberLiteral:
		return n.Val, nil
	case *parser.DurationExpr:
		return c.operation(n)
	}
	return 0, status.New(status.InvalidArguments, "%s is not a duration", x)
}

func (c *compiler) operation(n *parser.DurationExpr) (left float64, err error) {
	if n.LHS != nil {
		if left, err = c.seconds(n.LHS); err != nil {
			return 0, err
		}
	}
	right := 0.0
	if n.RHS != nil {
		if right, err = c.seconds(n.RHS); err != nil {
			return 0, err
		}
	}
	pos := n.PositionRange()
	switch n.Op {
	case parser.STEP:
		c.timed = true
		return float64(c.q.Step) / 1000, nil
	case parser.RANGE:
		c.timed = true
		return float64(c.q.End-c.q.Start) / 1000, nil
	case parser.MIN_OF:
		return math.Min(left, right), nil
	case parser.MAX_OF:
		return math.Max(left, right), nil
	case parser.ADD:
		return left + right, nil
	case parser.SUB:
		return left - right, nil
	case parser.MUL:
		return left * right, nil
	case parser.DIV:
		if right == 0 {
			return 0, durationError(pos.Start, pos.End, "division by zero")
		}
		return left / right, nil
	case parser.MOD:
		if right == 0 {
			return 0, durationError(pos.Start, pos.End, "modulo by zero")
		}
		return math.Mod(left, right), nil
	case parser.POW:
		return math.Pow(left, right), nil
	}
	return 0, status.New(status.InvalidArguments, "%d:%d: %s is not an operator of durations", pos.Start, pos.End, n.Op)
}
