package jsonput

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"varve/engine/jsontext"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/web"
	"varve/server/write/rows/tagged"
)

// decoder reads one body. One goroutine at a time.
type decoder struct {
	r         jsontext.Reader
	rows      *tagged.Rows
	valueName []byte
	keep      bool // a point that cannot be stored is noted and the others are stored; false: it is an error

	success, failed int
	failures        []failure
	tags            []tag
	points          [][]byte // the points that became rows, if keep
}

// failure is a point that cannot be stored.
type failure struct {
	point  []byte // as it was sent: lies in the body
	reason string
}

type tag struct{ name, value []byte }

// point is a point as it was sent.
type point struct {
	metric, timestamp, value []byte
	hasMetric, hasTimestamp  bool
	hasValue, hasTags        bool
	fault                    error // in a value
}

func invalid(format string, args ...any) error {
	return status.New(status.InvalidArguments, "Invalid OpenTSDB Json request: "+format, args...)
}

// read takes the points of a body, an object or an array of them.
func (d *decoder) read(body []byte) error {
	if !utf8.Valid(body) {
		return invalid("the body is not valid UTF-8")
	}
	r := &d.r
	r.Reset(body)
	if r.Peek() == jsontext.Array {
		for r.Enter(jsontext.Array); r.Element(); {
			if err := d.one(); err != nil {
				return err
			}
		}
	} else if err := d.one(); err != nil {
		return err
	}
	if r.End(); r.Err() != nil {
		return invalid("%v", r.Err())
	}
	return nil
}

// one reads a point and makes its row.
func (d *decoder) one() error {
	r := &d.r
	r.Forget()
	r.Peek()
	from := r.Offset()
	var p point
	d.tags = d.tags[:0]
	for r.Enter(jsontext.Object); r.Member(); {
		switch string(r.Key) {
		case "metric":
			p.metric, p.hasMetric = r.String(), true
		case "timestamp":
			p.timestamp, p.hasTimestamp = r.Plain()
		case "value":
			p.value, p.hasValue = r.Plain()
		case "tags":
			p.hasTags = true
			d.readTags(&p)
		default:
			r.Skip()
		}
	}
	if r.Err() != nil {
		return invalid("%v", r.Err())
	}
	text := r.Text()[from:r.Offset()]
	for _, m := range [...]struct {
		name string
		has  bool
	}{{"metric", p.hasMetric}, {"timestamp", p.hasTimestamp}, {"value", p.hasValue}, {"tags", p.hasTags}} {
		if !m.has {
			return invalid("point %d: missing field `%s`", d.success+d.failed+1, m.name)
		}
	}
	err := p.fault
	if err == nil {
		err = d.row(&p, text)
	}
	if err == nil {
		d.success++
		return nil
	}
	if !d.keep || !web.ClientFault(err) {
		return err
	}
	d.note(text, err)
	return nil
}

// maxFailures bounds the failures that an answer lists.
const maxFailures = 10_000

// note notes a point that cannot be stored.
func (d *decoder) note(text []byte, err error) {
	d.failed++
	if len(d.failures) < maxFailures {
		_, reason := web.Message(err)
		d.failures = append(d.failures, failure{text, reason})
	}
}

// reject notes a point that its table did not take.
func (d *decoder) reject(n int, why error) {
	d.success--
	d.note(d.points[n-1], why)
}

// readTags reads the tags of a point: a number or a boolean counts as its text, a null as absent.
func (d *decoder) readTags(p *point) {
	r := &d.r
	for r.Enter(jsontext.Object); r.Member(); {
		name := r.KeptKey()
		kind := r.Peek()
		value, ok := r.Plain()
		if kind == jsontext.Object || kind == jsontext.Array {
			p.fault = invalid("tag %q is %s, expected text", name, kind)
		}
		if ok {
			d.tags = append(d.tags, tag{name, value})
		}
	}
}

// row makes the row of a point with the given text. After an error nothing of the row is left.
func (d *decoder) row(p *point, text []byte) error {
	ms, err := milliseconds(p.timestamp)
	if err != nil {
		return err
	}
	value, err := strconv.ParseFloat(string(p.value), 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || bytes.ContainsAny(p.value, "xX_") {
		return invalid("value %.40q is not a number", p.value)
	}
	t, err := d.rows.Table(p.metric)
	if err != nil {
		return err
	}
	if d.keep {
		d.points = append(d.points, text)
		t.From(len(d.points))
	}
	if err := d.fill(t, ms, value); err != nil {
		t.DropRow()
		if d.keep {
			d.points = d.points[:len(d.points)-1]
		}
		return err
	}
	return t.EndRow(len(text), int64(len(d.r.Text())))
}

func (d *decoder) fill(t *tagged.Table, ms int64, value float64) error {
	if !t.SetMillis(ms) {
		return invalid("timestamp %d ms is out of the range of the table", ms)
	}
	for i := range d.tags {
		c, err := t.Tag(d.tags[i].name)
		if err != nil {
			return err
		}
		c.SetBytes(d.tags[i].value)
	}
	c, err := t.Column(d.valueName, vector.FloatType, schema.Field)
	if err != nil {
		return err
	}
	c.SetFloat(value)
	return nil
}

// milliseconds reads a time: fewer than 13 digits are seconds, more are ms.
func milliseconds(text []byte) (int64, error) {
	x, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, invalid("timestamp %s", fmt.Sprintf("%.40q is not a whole number of seconds or milliseconds", text))
	}
	if x < 1e12 && x > -1e12 {
		x *= 1000
	}
	return x, nil
}
