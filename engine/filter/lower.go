package filter

import (
	"bytes"
	"fmt"
)

// compileLower makes the condition one on the lower-cased values of its column, as SQL's lower() gives them. Bounds of
// the values tell nothing about those, so it counts as a search whatever the operator.
func (c *condition) compileLower(cancelled func() error) error {
	switch c.op {
	case Equal, Prefix, Contains, Term, Regex, Like:
	default:
		return fmt.Errorf("condition %d on column %d does not take lower-cased text", c.Op, c.Column)
	}
	arg := bytes.Clone(c.Args.Bytes(0))
	c.lowered = c.op
	if c.op == Equal {
		c.match = &matcher{check: func(row []byte) bool { return bytes.Equal(row, arg) }, anchored: true, start: arg}
	} else {
		m, err := newMatcher(c.op, arg, cancelled)
		if err != nil {
			return err
		}
		c.match = m
	}
	if c.match.lower = true; c.match.raw { // an expression in any case: checked on lower-cased rows one by one
		c.match = &matcher{check: c.match.check, lower: true, anchored: true}
	}
	if c.op != Regex {
		c.op = Contains
	}
	return nil
}

// appendToLower appends what bytes.ToLower makes of s.
func appendToLower(dst, s []byte) []byte {
	if ascii(s) {
		return appendLower(dst, s)
	}
	return append(dst, bytes.ToLower(s)...)
}
