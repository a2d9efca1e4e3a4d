package lineproto

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/web"
)

// version3 is the end of the path to which clients of version 3 write.
const version3 = "/api/v3/write_lp"

// guess stands for a unit that is guessed by the size of each time.
const guess = 0

// units3 are the units of times by their names in version 3.
var units3 = map[string]time.Duration{
	"": guess, "auto": guess, "nanosecond": 1, "ns": 1, "n": 1, "microsecond": time.Microsecond, "us": time.Microsecond,
	"u":           time.Microsecond,
	"millisecond": time.Millisecond, "ms": time.Millisecond, "second": time.Second, "s": time.Second,
}

// guessed is the unit in which a time lies within 158 years of 1970, as version 3 guesses it.
func guessed(x int64) int64 {
	switch far := max(x/int64(time.Second), -(x / int64(time.Second))); {
	case far < 5:
		return int64(time.Second)
	case far < 5e3:
		return int64(time.Millisecond)
	case far < 5e6:
		return int64(time.Microsecond)
	}
	return 1
}

// maxLeftOut bounds the lines of a request that can be left out. A request with more is refused as a whole.
const maxLeftOut = 1000

// leftOut are the lines of a request that cannot be stored, while the others are.
type leftOut struct {
	lines []*lineError
	// number is the number, from 1, of the line that begins at counted.
	number, counted int
	begins          []uint32 // where the lines that became rows begin
	body            []byte
}

// begin notes a line that becomes a row, and gives the number by which refuse knows it.
func (l *leftOut) begin(body []byte, p int) int {
	l.body, l.begins = body, append(l.begins, uint32(p))
	return len(l.begins)
}

// refuse notes a line that its table did not take.
func (l *leftOut) refuse(n int, why error) {
	if len(l.lines) == maxLeftOut {
		return // the answer names no more
	}
	p := int(l.begins[n-1])
	l.lines = append(l.lines, explain(l.body, p, bytes.Count(l.body[:p], []byte{'\n'})+1, why))
}

// fault returns the error of a line that begins at p, or leaves the line out: then the next line begins at end or
// behind.
func (d *decoder) fault(body []byte, p int, err error) (end int, _ error) {
	if d.left == nil {
		return 0, explain(body, p, bytes.Count(body[:p], []byte{'\n'})+1, err)
	}
	l := d.left
	l.number += bytes.Count(body[l.counted:p], []byte{'\n'})
	l.counted = p
	if len(l.lines) == maxLeftOut {
		return 0, status.New(status.InvalidArguments, "more than %d lines cannot be stored, and so none was: %v",
			maxLeftOut, l.lines[0])
	}
	l.lines = append(l.lines, explain(body, p, l.number, err))
	if d.columns > 0 {
		d.before.leaveOut(d.columns)
	}
	if end = bytes.IndexByte(body[p:], '\n'); end < 0 {
		return len(body), nil
	}
	return p + end, nil
}

// leaveOut undoes the line that was begun last: its values, and the columns that it added to the first columns.
func (t *table) leaveOut(columns int) {
	for _, c := range t.cols[columns:] {
		delete(t.byKey, c.values.Name())
		if c.kind == tag {
			t.hint.Tags = t.hint.Tags[:len(t.hint.Tags)-1]
		}
	}
	t.cols = t.cols[:columns]
	for i := range t.cols {
		c := &t.cols[i]
		if c.row > t.rows.Rows() {
			c.row = 0
		}
		if int(c.next) >= columns {
			c.next = 0
		}
	}
	built := columns - 1
	if t.time != nil {
		built++
	}
	t.rows.Unpin(built)
	t.rows.AbandonRow()
	t.rows.Pin()
}

// WriteV3 answers POST /v1/lineproto/api/v3/write_lp: a line that cannot be stored is left out, and the answer names
// it; with accept_partial=false nothing is stored then. Lines are stored before the answer, whatever no_sync says.
func (h *Handler) WriteV3(c *web.Ctx) error {
	p, err := c.LastQuery("db", "precision", "accept_partial")
	if err != nil {
		return err
	}
	unit, err := precision(units3, p.String("precision"))
	if err != nil {
		return err
	}
	r := &request{unit: int64(unit), now: c.Start.Truncate(unit).UnixNano()}
	switch text := p.String("accept_partial"); text {
	case "", "true":
		r.left = &leftOut{number: 1}
	case "false":
	default:
		return status.New(status.InvalidArguments, "parameter 'accept_partial': %.40q is neither true nor false", text)
	}
	err = h.store(c, r, p.String("db"))
	var bad *lineError
	switch {
	case r.left == nil && errors.As(err, &bad):
		c.JSON(400, append(bad.append([]byte(`{"error":"parsing failed for write_lp endpoint","data":`)), '}'))
		return nil
	case err != nil:
		return err
	case r.left != nil && len(r.left.lines) > 0:
		slices.SortFunc(r.left.lines, func(a, b *lineError) int { return cmp.Compare(a.number, b.number) })
		c.JSON(400, r.left.append([]byte(`{"error":"partial write of line protocol occurred","data":`)))
		return nil
	}
	c.Empty(204)
	return nil
}

// append appends the lines as a list, and the closing brace of the answer.
func (l *leftOut) append(dst []byte) []byte {
	for i, line := range l.lines {
		dst = line.append(append(dst, "[,"[min(i, 1)]))
	}
	return append(dst, "]}"...)
}

// append appends the line as an object.
func (e *lineError) append(dst []byte) []byte {
	dst = jsontext.AppendString(append(dst, `{"original_line":`...), e.line)
	dst = strconv.AppendInt(append(dst, `,"line_number":`...), int64(e.number), 10)
	return append(jsontext.AppendString(append(dst, `,"error_message":`...), e.reason), '}')
}
