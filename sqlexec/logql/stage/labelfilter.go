package stage

import (
	"bytes"
	"strconv"
	"time"

	"varve/engine/automaton"
	"varve/sqlexec/logql/syntax"
)

// labelFilterStep keeps lines whose labels meet a condition.
type labelFilterStep struct{ cond condition }

func (s *labelFilterStep) run(e *Entry) bool { return s.cond.holds(e) }

// condition is a compiled condition on labels. A value that it cannot convert holds, with an error.
type condition interface{ holds(e *Entry) bool }

// condition compiles a condition.
func (c *compiler) condition(cond syntax.Cond) (condition, error) {
	switch cond := cond.(type) {
	case *syntax.And:
		left, err := c.condition(cond.Left)
		if err != nil {
			return nil, err
		}
		right, err := c.condition(cond.Right)
		return &bothCondition{left, right}, err
	case *syntax.Or:
		left, err := c.condition(cond.Left)
		if err != nil {
			return nil, err
		}
		right, err := c.condition(cond.Right)
		return &eitherCondition{left, right}, err
	case *syntax.Matched:
		return c.matched(&cond.Matcher)
	case *syntax.Compared:
		return &comparedCondition{label: c.number(cond.Name), op: cond.Op, unit: cond.Unit, value: cond.Value}, nil
	case *syntax.InNetwork:
		n, err := newNetwork(cond.Pattern)
		return &networkCondition{label: c.number(cond.Name), negate: cond.Op == syntax.MatchNotEqual, network: n}, err
	}
	panic("condition of an unknown kind")
}

type bothCondition struct{ left, right condition }

func (c *bothCondition) holds(e *Entry) bool { return c.left.holds(e) && c.right.holds(e) }

type eitherCondition struct{ left, right condition }

func (c *eitherCondition) holds(e *Entry) bool { return c.left.holds(e) || c.right.holds(e) }

// matcher compares a text with a text or an expression, which must match all of it.
type matcher struct {
	text   []byte
	re     *automaton.Regexp // nil: text must be equal
	negate bool
}

// newMatcher compiles a matcher.
func newMatcher(m *syntax.Matcher) (matcher, error) {
	x := matcher{negate: m.Op == syntax.MatchNotEqual || m.Op == syntax.MatchNotRegexp}
	if m.Op == syntax.MatchEqual || m.Op == syntax.MatchNotEqual {
		x.text = []byte(m.Value)
		return x, nil
	}
	var err error
	x.re, err = automaton.Compile(syntax.Anchored(m.Value))
	return x, err
}

// alwaysCondition holds, or does not, for every line.
type alwaysCondition bool

func (c alwaysCondition) holds(*Entry) bool { return bool(c) }

// matches reports whether a text meets the matcher.
func (m *matcher) matches(text []byte) bool {
	if m.re != nil {
		return m.re.Match(text, nil) != m.negate
	}
	return bytes.Equal(text, m.text) != m.negate
}

// matched compiles a comparison with a text. The empty expression matches any value here, other than in a selector:
// panels whose variable is empty rely on it.
func (c *compiler) matched(m *syntax.Matcher) (condition, error) {
	if m.Value == "" && (m.Op == syntax.MatchRegexp || m.Op == syntax.MatchNotRegexp) {
		return alwaysCondition(m.Op == syntax.MatchRegexp), nil
	}
	x, err := newMatcher(m)
	if err != nil {
		return nil, err
	}
	switch m.Name {
	case syntax.LabelError:
		return &errorCondition{x}, nil
	case syntax.LabelErrorDetails:
		return &detailsCondition{x}, nil
	}
	return &matchedCondition{label: c.number(m.Name), matcher: x}, nil
}

// matchedCondition compares a label, which is empty if it is missing, with a text.
type matchedCondition struct {
	label int32
	matcher
}

func (c *matchedCondition) holds(e *Entry) bool { return c.matches(e.value(c.label)) }

// errorCondition compares __error__. A line with an error that passes is asked for.
type errorCondition struct{ matcher }

func (c *errorCondition) holds(e *Entry) bool {
	if !c.matches([]byte(e.Err)) {
		return false
	}
	if e.Err != "" {
		e.KeepErr = true
	}
	return true
}

// detailsCondition compares __error_details__.
type detailsCondition struct{ matcher }

func (c *detailsCondition) holds(e *Entry) bool { return c.matches([]byte(e.Details)) }

// comparedCondition converts the value of a label and compares it. A line without the label does not pass; a line with
// an error does, since only filters with texts take such lines out.
type comparedCondition struct {
	label int32
	op    syntax.CompareOp
	unit  syntax.Unit
	value float64
}

func (c *comparedCondition) holds(e *Entry) bool {
	if e.Err != "" {
		return true
	}
	l := e.find(c.label)
	if l == nil {
		return false
	}
	v, err := convert(l.Value, c.unit)
	if err != nil {
		e.fail(ErrLabelFilter, err.Error())
		return true
	}
	switch c.op {
	case syntax.Equal:
		return v == c.value
	case syntax.NotEqual:
		return v != c.value
	case syntax.Greater:
		return v > c.value
	case syntax.GreaterEqual:
		return v >= c.value
	case syntax.Less:
		return v < c.value
	}
	return v <= c.value
}

// convert reads a value as a number, as nanoseconds or as bytes.
func convert(value []byte, unit syntax.Unit) (float64, error) {
	switch unit {
	case syntax.UnitDuration:
		d, err := parseDuration(value)
		return float64(d), err
	case syntax.UnitBytes:
		n, err := syntax.ParseBytes(string(value))
		return float64(n), err
	}
	if n, ok := smallNumber(value); ok {
		return n, nil
	}
	return strconv.ParseFloat(string(value), 64)
}

// parseDuration is time.ParseDuration, without memory for durations of whole numbers.
func parseDuration(value []byte) (time.Duration, error) {
	if d, ok := wholeDuration(value); ok {
		return d, nil
	}
	return time.ParseDuration(string(value))
}

// wholeDuration reads whole numbers of at most nine digits with units; ok is false for other texts.
func wholeDuration(value []byte) (d time.Duration, ok bool) {
	for at := 0; at < len(value); {
		begin, n := at, time.Duration(0)
		for at < len(value) && value[at] >= '0' && value[at] <= '9' && at-begin < 9 {
			n, at = n*10+time.Duration(value[at]-'0'), at+1
		}
		unit := at
		for at < len(value) && value[at] >= 'a' && value[at] <= 'z' {
			at++
		}
		if unit == begin {
			return 0, false
		}
		var size time.Duration
		switch string(value[unit:at]) {
		case "ns":
			size = 1
		case "us":
			size = time.Microsecond
		case "ms":
			size = time.Millisecond
		case "s":
			size = time.Second
		case "m":
			size = time.Minute
		case "h":
			size = time.Hour
		default:
			return 0, false
		}
		if n > (1<<61)/size || d > 1<<61 {
			return 0, false
		}
		d += n * size
	}
	return d, len(value) > 0
}

// smallNumber reads digits with at most one point, fifteen digits at most: a number and a power of ten that are both
// exact, so that their quotient is the nearest number.
func smallNumber(value []byte) (float64, bool) {
	if len(value) == 0 || len(value) > 16 {
		return 0, false
	}
	var n, scale int64
	count := 0
	for _, ch := range value {
		switch {
		case ch >= '0' && ch <= '9':
			n, scale, count = n*10+int64(ch-'0'), scale*10, count+1
		case ch == '.' && scale == 0:
			scale = 1
		default:
			return 0, false
		}
	}
	if count == 0 || count > 15 {
		return 0, false
	}
	if scale == 0 {
		return float64(n), true
	}
	return float64(n) / float64(scale), true
}

// networkCondition asks whether the value of a label holds an address of a network. A line without the label does not
// pass; a line with an error does.
type networkCondition struct {
	label   int32
	negate  bool
	network *network
}

func (c *networkCondition) holds(e *Entry) bool {
	if e.Err != "" {
		return true
	}
	l := e.find(c.label)
	return l != nil && c.network.found(l.Value) != c.negate
}

// unwrapStep takes the sample of a line from a label. A line without the label, or with an empty one, has none.
type unwrapStep struct {
	label      int32
	conversion syntax.Conversion
}

func (s *unwrapStep) run(e *Entry) bool {
	value := e.value(s.label)
	if len(value) == 0 {
		return false
	}
	var err error
	switch s.conversion {
	case syntax.ConvertNone:
		e.Value, err = convert(value, syntax.UnitNumber)
	case syntax.ConvertBytes:
		e.Value, err = convert(value, syntax.UnitBytes)
	default:
		var d time.Duration
		d, err = parseDuration(value)
		e.Value = d.Seconds()
	}
	if err != nil {
		e.Value = 0
		e.fail(ErrSample, err.Error())
	}
	return true
}
