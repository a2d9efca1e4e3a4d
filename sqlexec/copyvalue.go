package sqlexec

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/plan"
	"varve/sqlexec/rowfile"
)

// converter makes values of a column's type from a file's values, a batch at a time. What does not convert is NULL.
type converter struct {
	to      vector.Type
	times   rowfile.Times
	context *expr.Context

	from    vector.Type // of program
	program *expr.Program
	out     vector.Vector
	result  [1]*vector.Vector
}

// run converts n values of the column src.
func (c *converter) run(src *vector.Vector, n int) (*vector.Vector, error) {
	text := src.Type.IsText() || src.Type.ID == vector.TypeBinary && c.to.ID != vector.TypeBinary
	switch {
	case text && c.to.IsText():
		return c.utf8(src, n), nil
	case src.Type == c.to:
		return src, nil
	case text && c.to.IsTimestamp():
		return c.ints(src, n, c.timestamp), nil
	case text && c.to.ID == vector.TypeDate:
		return c.ints(src, n, c.date), nil
	case text && c.to.ID == vector.TypeBinary:
		return c.binary(src, n), nil
	}
	return c.cast(src, n)
}

// cast converts by the rules of TRY_CAST; times without a zone are in UTC, whatever the zone of the request.
func (c *converter) cast(src *vector.Vector, n int) (*vector.Vector, error) {
	if c.program == nil || c.from != src.Type {
		context := *c.context
		context.Zone = time.UTC
		e, err := context.Cast(&expr.Column{Name: "value", T: src.Type, Null: true}, c.to, true)
		if err != nil {
			return nil, err
		}
		if c.program, err = expr.Compile([]expr.Expr{e}); err != nil {
			return nil, err
		}
		c.from = src.Type
	}
	err := c.program.Eval(&vector.Batch{N: n, Cols: []*vector.Vector{src}}, c.result[:])
	return c.result[0], err
}

// utf8 returns the texts that are UTF-8.
func (c *converter) utf8(src *vector.Vector, n int) *vector.Vector {
	c.out = *src
	c.out.Type = c.to
	copied := false
	for i := range n {
		if src.IsNull(i) || utf8.Valid(src.Bytes(i)) {
			continue
		}
		if !copied {
			valid := vector.MakeBitmap(n)
			if valid.Fill(n); src.Valid != nil {
				valid.And(src.Valid)
			}
			c.out.Valid, copied = valid, true
		}
		c.out.Valid.Clear(i)
	}
	return &c.out
}

// ints reads texts as values of an Int64 kind.
func (c *converter) ints(src *vector.Vector, n int, one func(text string) (int64, bool)) *vector.Vector {
	c.out.Reset(c.to)
	c.out.Valid = vector.MakeBitmap(n)
	for i := range n {
		var x int64
		if !src.IsNull(i) {
			var ok bool
			if x, ok = one(src.Str(i)); ok {
				c.out.Valid.Set(i)
			}
		}
		c.out.Ints = append(c.out.Ints, x)
	}
	return &c.out
}

// timestamp reads a time by the statement's layout, else as SQL does, in UTC; a whole number counts the column's unit.
func (c *converter) timestamp(text string) (int64, bool) {
	var sec int64
	var nanos int32
	var err error
	if layout := c.times.Timestamp; layout != nil {
		sec, nanos, _, err = layout.ParseSeconds(text, time.UTC)
	} else if n, ok := wholeNumber(text); ok {
		return n, true
	} else {
		sec, nanos, err = timefmt.ParseTimestamp(text, time.UTC)
	}
	if err != nil {
		return 0, false
	}
	return plan.Count(sec, int64(nanos), c.to)
}

// date reads a day the same way; a whole number counts days since 1970-01-01.
func (c *converter) date(text string) (int64, bool) {
	var sec int64
	var err error
	if layout := c.times.Date; layout != nil {
		sec, _, _, err = layout.ParseSeconds(text, time.UTC)
	} else if n, ok := wholeNumber(text); ok {
		return n, int64(int32(n)) == n
	} else {
		sec, _, err = timefmt.ParseTimestamp(text, time.UTC)
	}
	days := timefmt.FloorDiv(sec, 86400)
	return days, err == nil && int64(int32(days)) == days
}

// binary reads hex.
func (c *converter) binary(src *vector.Vector, n int) *vector.Vector {
	c.out.Reset(c.to)
	c.out.Valid = vector.MakeBitmap(n)
	for i := range n {
		from := len(c.out.Heap)
		if !src.IsNull(i) {
			if heap, err := hex.AppendDecode(c.out.Heap, src.Bytes(i)); err == nil {
				c.out.Heap = heap
				c.out.Valid.Set(i)
			}
		}
		c.out.Views = append(c.out.Views, vector.View{Off: uint32(from), Len: uint32(len(c.out.Heap) - from)})
	}
	return &c.out
}

// shorten is the text of a value for an error.
func shorten(v *vector.Vector, i int) string {
	text := string(expr.AppendText(nil, v, i))
	if len(text) > 60 {
		text = text[:60] + "..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// wholeNumber reads text that is nothing but an integer of 64 bits.
func wholeNumber(text string) (int64, bool) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
