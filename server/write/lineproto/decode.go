// Package lineproto accepts points in line protocol, whose text form is
//
//	measurement[,tag=value...] field=value[,field=value...] [time]
//
// Each line becomes a row of the table that the measurement names. The decoder reads a body in one pass, straight into
// the columns of the tables. Lines of one kind have the same keys in the same order, so the decoder compares each key
// with the one that followed in the line before, and looks a key up by name only where it differs.
package lineproto

import (
	"bytes"
	"math"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/server/write/rows"
	"varve/server/write/rows/tagged"
)

// request is what is the same for all lines of a body.
type request struct {
	db     string
	tables rows.Tables
	// hint is the hint of all tables, but without their tags, and without the time index of tables that exist.
	hint engine.Hint
	// unit is the unit of times, ns, or guess; now is the time of points without one, ns.
	unit, now int64
	// left, if not nil, takes the lines that cannot be stored. Without it such a line is the error of the request.
	left *leftOut
	// most bounds the memory of the rows, about, in bytes; hold, if not nil, is called with the bytes so far.
	most int64
	hold func(bytes int64) error
}

// decoder reads the lines of one body. One goroutine at a time.
type decoder struct {
	*request
	set    *engine.WriteSet
	byName map[string]*table
	before *table // of the last line; its next is where the next line is expected to go
	buf    []byte // scratch: text without escapes
	text   []byte // of the value that was read last, where it is text
	any    bool   // a line was read

	held    int64 // bytes that the rows take
	told    int64 // held up to which hold need not be called again
	columns int   // of the table before the line that was begun last, cols[0] among them; 0: the line has no table
}

// Bytes that a table and a column take besides their values, and that rows grow by before hold is called again.
const (
	tableBytes  = 4 << 10
	columnBytes = 1 << 10
	holdStep    = 1 << 20
)

// table is where the lines of a measurement go.
type table struct {
	raw    string // the measurement as lines write it
	rows   *vector.Builder
	hint   *engine.Hint
	schema *schema.Table // nil: there is none yet
	cols   []column      // cols[0] stands for the beginning of a line
	byKey  map[string]int32
	next   *table // of the line behind this table's

	time *vector.ColumnBuilder // nil: no line was read to its end yet
	unit int64                 // of its values, ns
}

// column is a tag or a field.
type column struct {
	raw    string // the key as lines write it, with = behind it
	values *vector.ColumnBuilder
	kind   kind
	row    int   // the last row that has a value, from 1
	next   int32 // the column that came behind this one in the line before; 0: none
}

// kind is what the values of a column are.
type kind uint8

const (
	tag kind = iota
	floats
	integers
	unsigned
	booleans
	text
)

var kindTypes = [...]vector.Type{tag: vector.StringType, floats: vector.FloatType, integers: vector.Int64Type,
	unsigned: vector.Uint64Type, booleans: vector.BoolType, text: vector.StringType}

func (k kind) semantic() schema.Semantic {
	if k == tag {
		return schema.Tag
	}
	return schema.Field
}

// newDecoder makes a decoder into a set.
func newDecoder(r *request, set *engine.WriteSet) *decoder {
	d := &decoder{request: r, set: set, byName: map[string]*table{}, before: &table{}}
	d.before.next = d.before
	return d
}

// decode reads a body, which is UTF-8. Its error names the line.
func (d *decoder) decode(body []byte) error {
	for p := 0; ; {
		for p < len(body) && (body[p] == ' ' || body[p] == '\n' || body[p] == '\r' || body[p] == '\t') {
			p++
		}
		if p == len(body) {
			return d.holdAll(int64(len(body)))
		}
		if body[p] == '#' {
			end := bytes.IndexByte(body[p:], '\n')
			if end < 0 {
				end = len(body) - p
			}
			p += end
			continue
		}
		end, err := d.line(body, p)
		if err != nil {
			if end, err = d.fault(body, p, err); err != nil {
				return err
			}
		}
		p = end
		if d.held > d.told {
			if err := d.holdAll(int64(len(body))); err != nil {
				return err
			}
		}
	}
}

// holdAll calls hold with the bytes that the body and its rows take.
func (d *decoder) holdAll(body int64) error {
	if d.held > d.most {
		return status.New(status.InvalidArguments,
			"the rows of the request take %d bytes, the limit is %d, send fewer lines at a time", d.held, d.most)
	}
	d.told = d.held + holdStep
	if d.hold == nil {
		return nil
	}
	return d.hold(body + d.held)
}

// line reads one line from p on, and returns where it ends.
func (d *decoder) line(in []byte, p int) (int, error) {
	begin := p
	t, p, err := d.measurement(in, p)
	if err != nil {
		d.columns = 0
		return 0, err
	}
	d.columns = len(t.cols)
	at := int32(0)
	for p < len(in) && in[p] == ',' {
		if at, p, err = d.tag(t, at, in, p+1); err != nil {
			return 0, err
		}
	}
	if p = skipSpaces(in, p); atEnd(in, p) {
		return 0, errNoFields
	}
	if d.left != nil {
		t.rows.From(d.left.begin(in, begin))
	}
	for {
		if at, p, err = d.field(t, at, in, p); err != nil {
			return 0, err
		}
		if p == len(in) || in[p] != ',' {
			break
		}
		p++
	}
	moment := timefmt.FloorDiv(d.now, t.unit)
	if p = skipSpaces(in, p); !atEnd(in, p) {
		if moment, p, err = d.moment(t, in, p); err != nil {
			return 0, err
		}
	}
	if t.time == nil {
		if err := d.timeColumn(t); err != nil {
			return 0, err
		}
	}
	t.time.SetInt(moment)
	t.rows.EndRow()
	d.held += 8*int64(len(t.cols)) + int64(p-begin)
	d.any = true
	return p, nil
}

// measurement finds the table of a line.
func (d *decoder) measurement(in []byte, p int) (*table, int, error) {
	t := d.before.next
	if end := p + len(t.raw); t.raw != "" && end < len(in) && (in[end] == ',' || in[end] == ' ') &&
		string(in[p:end]) == t.raw {
		d.before = t
		return t, end, nil
	}
	raw, name, end := d.token(in, p, inMeasurement)
	switch {
	case len(name) == 0:
		return nil, 0, errNoMeasurement
	case end == len(in) || in[end] == '\n':
		return nil, 0, errNoFields
	}
	t, ok := d.byName[string(name)]
	if !ok {
		t = d.open(string(raw), string(name))
	}
	d.before.next, d.before = t, t
	return t, end, nil
}

// open makes the rows of a measurement that no line had before.
func (d *decoder) open(raw, name string) *table {
	t := &table{raw: raw, cols: make([]column, 1, 16), byKey: map[string]int32{}, unit: 1}
	full, hint := schema.Name{DB: d.db, Table: name}, d.hint
	// a table that is absent is made, or refused, when the rows are written
	if there, err := d.tables.Table(full); err == nil {
		t.schema = there.Schema
		index := &t.schema.Columns[t.schema.Time]
		hint.TimeIndex, t.unit = index.Name, int64(time.Second)/index.Type.UnitsPerSecond()
	}
	t.rows, t.hint = d.set.Table(full, hint)
	t.next = t
	d.byName[name] = t
	d.held += tableBytes
	return t
}

// tag reads a tag, whose key begins at p. It expects the column that came behind column at in the line before. It
// returns the tag's column and where the tag ends.
func (d *decoder) tag(t *table, at int32, in []byte, p int) (int32, int, error) {
	n := t.cols[at].next
	if raw := t.cols[n].raw; n != 0 && len(in)-p >= len(raw) && string(in[p:p+len(raw)]) == raw &&
		t.cols[n].kind == tag {
		p += len(raw)
	} else {
		raw, name, end := d.token(in, p, inKey)
		switch {
		case end == len(in) || in[end] != '=':
			return 0, 0, errNoTagValue
		case len(name) == 0:
			return 0, 0, errNoTagKey
		}
		var err error
		if n, err = d.column(t, raw, name, tag); err != nil {
			return 0, 0, err
		}
		t.cols[at].next = n
		p = end + 1
	}
	c := &t.cols[n]
	if c.row > t.rows.Rows() {
		return 0, 0, clash("duplicate tag '%s'", c.values.Name())
	}
	c.row = t.rows.Rows() + 1
	end := skipOrdinary(in, p, inKey)
	value := in[p:end]
	if end < len(in) && in[end] == '\\' {
		_, value, end = d.token(in, p, inKey)
	}
	switch {
	case len(value) == 0:
		return 0, 0, errEmptyTag
	case end < len(in) && in[end] == '=':
		return 0, 0, errEquals
	}
	c.values.SetBytes(value)
	return n, end, nil
}

// field reads a field as tag reads a tag.
func (d *decoder) field(t *table, at int32, in []byte, p int) (int32, int, error) {
	n := t.cols[at].next
	raw := t.cols[n].raw
	if n != 0 && len(in)-p >= len(raw) && string(in[p:p+len(raw)]) == raw {
		p += len(raw)
	} else {
		key, name, end := d.token(in, p, inKey)
		switch {
		case end == len(in) || in[end] != '=':
			return 0, 0, errNoFieldValue
		case len(name) == 0:
			return 0, 0, errNoFieldKey
		}
		if n = t.byKey[string(name)]; n == 0 {
			name := bytes.Clone(name) // the value may need the buffer
			k, _, _, err := d.value(in, end+1)
			if err != nil {
				return 0, 0, err
			}
			if n, err = d.column(t, key, name, k); err != nil {
				return 0, 0, err
			}
		}
		t.cols[at].next = n
		p = end + 1
	}
	k, bits, end, err := d.value(in, p)
	if err != nil {
		return 0, 0, err
	}
	c := &t.cols[n]
	if c.kind != k {
		if k, bits = c.asNumber(k, bits, t.hint.StrictNumbers); c.kind != k {
			return 0, 0, c.conflict(k)
		}
	}
	switch k {
	case floats:
		c.values.SetFloat(math.Float64frombits(bits))
	case integers:
		c.values.SetInt(int64(bits))
	case unsigned:
		c.values.SetUint(bits)
	case booleans:
		c.values.SetBool(bits != 0)
	default:
		c.values.SetBytes(d.text)
	}
	return n, end, nil
}

// asNumber converts a value to the kind of its column: integers become floats in a column of floats. A column of
// integers that meets a float becomes one of floats.
func (c *column) asNumber(k kind, bits uint64, strict bool) (kind, uint64) {
	switch {
	case strict:
	case c.kind == floats && k == integers:
		return floats, math.Float64bits(float64(int64(bits)))
	case c.kind == floats && k == unsigned:
		return floats, math.Float64bits(float64(bits))
	case k == floats && (c.kind == integers || c.kind == unsigned):
		c.values.Widen()
		c.kind = floats
	}
	return k, bits
}

// column finds the column of a key, or adds it behind the others.
func (d *decoder) column(t *table, raw, name []byte, k kind) (int32, error) {
	if n := t.byKey[string(name)]; n != 0 {
		if t.cols[n].kind != k {
			return 0, t.cols[n].conflict(k)
		}
		return n, nil
	}
	key := string(name)
	if err := schema.CheckColumnName(key); err != nil {
		return 0, err
	}
	if len(t.cols) >= schema.MaxColumns {
		return 0, clash("column '%.80s': a request can have at most %d columns of a table", key, schema.MaxColumns)
	}
	typ, err := tagged.Agree(t.schema, t.hint, key, kindTypes[k], k.semantic())
	if err != nil {
		return 0, err
	}
	values, err := t.rows.Column(key, typ)
	if err != nil {
		return 0, err
	}
	t.rows.Pin()
	n := int32(len(t.cols))
	t.cols = append(t.cols, column{raw: string(raw) + "=", values: values, kind: k})
	t.byKey[key] = n
	if k == tag {
		t.hint.Tags = append(t.hint.Tags, key)
	}
	d.held += columnBytes + 8*int64(t.rows.Rows())
	return n, nil
}

// conflict is the error for a value of another kind than the column has.
func (c *column) conflict(k kind) error {
	if (c.kind == tag) != (k == tag) {
		return clash("Column: %s, semantic_type incompatible, expected: %s, actual: %s", c.values.Name(),
			c.kind.semantic(), k.semantic())
	}
	return clash("Column: %s, datatype incompatible, expected: %s, actual: %s", c.values.Name(), kindTypes[c.kind],
		kindTypes[k])
}

// timeColumn adds the time index, behind the columns of the first line.
func (d *decoder) timeColumn(t *table) (err error) {
	typ := vector.Timestamp(9)
	if t.schema != nil {
		typ = t.schema.Columns[t.schema.Time].Type
	}
	t.time, err = t.rows.Column(t.hint.TimeIndex, typ)
	t.rows.Pin()
	return err
}

// moment reads the time at the end of a line, in the unit of the table.
func (d *decoder) moment(t *table, in []byte, p int) (int64, int, error) {
	begin := p
	if in[p] == '-' {
		p++
	}
	for p < len(in) && in[p]-'0' <= 9 {
		p++
	}
	digits := in[begin:p]
	if p = skipSpaces(in, p); !atEnd(in, p) || len(digits) == 0 {
		return 0, 0, errTime
	}
	x, ok := parseInt(digits)
	if !ok {
		if len(digits) < 19 {
			return 0, 0, errTime
		}
		return 0, 0, clash("Timestamp overflow: %.40s", digits)
	}
	unit := d.unit
	if unit == guess {
		unit = guessed(x)
	}
	if unit <= t.unit {
		return timefmt.FloorDiv(x, t.unit/unit), p, nil
	}
	factor := unit / t.unit
	if x > math.MaxInt64/factor || x < math.MinInt64/factor {
		return 0, 0, clash("Timestamp overflow: %d of %v each", x, time.Duration(unit))
	}
	return x * factor, p, nil
}
