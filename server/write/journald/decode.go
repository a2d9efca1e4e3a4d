package journald

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"unicode/utf8"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/write/rows/tagged"
)

// realtime is the field that holds the time of an entry, us since 1970.
const realtime = "__REALTIME_TIMESTAMP"

// tags are the fields that become tags: where an entry comes from.
var tags = []string{"_MACHINE_ID", "_HOSTNAME", "_SYSTEMD_UNIT"}

// decoder reads a body in the export format. An entry is fields, one behind the other, and an empty line:
//
//	KEY=value\n
//	KEY\n<length 8B, little endian><value>\n     for values with line ends or other control characters
type decoder struct {
	table *tagged.Table
	now   int64

	columns []column // in the order in which the fields of the last entry came
	at      int      // of the field that comes next
	entries int
	size    int                        // of the values of the entry in hand, bytes
	from    int                        // where that entry begins in the body
	texts   [][]byte                   // of all entries
	refuse  func(entry int, why error) // takes entries that cannot be stored; nil: they are errors of the body
	bad     error                      // why the entry in hand cannot be stored
	ns      int64                      // time of the entry in hand
}

type column struct {
	key    string
	values *tagged.Column
}

func (d *decoder) malformed(format string, args ...any) error {
	return status.New(status.InvalidArguments, "entry %d: "+format, append([]any{d.entries + 1}, args...)...)
}

// read makes rows of the entries of a body.
func (d *decoder) read(body []byte) error {
	d.begin()
	open := false
	for p := 0; p < len(body); {
		n := bytes.IndexByte(body[p:], '\n')
		if n < 0 {
			return d.malformed("the last line does not end")
		}
		line := body[p : p+n]
		p += n + 1
		if len(line) == 0 {
			if open {
				if err := d.end(body, p); err != nil {
					return err
				}
			}
			open, d.from = false, p
			continue
		}
		key, value, ok := bytes.Cut(line, []byte{'='})
		if !ok {
			var err error
			if value, p, err = d.binary(body, p, key); err != nil {
				return err
			}
		}
		if err := d.field(key, value); err != nil {
			if d.refuse == nil || status.Of(err) != status.InvalidArguments {
				return err
			}
			if d.bad == nil {
				d.bad = err
			}
		}
		open = true
	}
	if open {
		return d.end(body, len(body))
	}
	return nil
}

// binary takes a value with its length in front.
func (d *decoder) binary(body []byte, p int, key []byte) (value []byte, next int, err error) {
	if len(body)-p < 8 {
		return nil, 0, d.malformed("field %.40q has neither = nor a length", key)
	}
	size := binary.LittleEndian.Uint64(body[p:])
	p += 8
	if size >= uint64(len(body)-p) {
		return nil, 0, d.malformed("field %.40q is said to have %d bytes, %d are left", key, size, len(body)-p)
	}
	value, p = body[p:p+int(size)], p+int(size)
	if body[p] != '\n' {
		return nil, 0, d.malformed("field %.40q has no line end behind its %d bytes", key, size)
	}
	return value, p + 1, nil
}

// begin begins an entry.
func (d *decoder) begin() { d.at, d.size, d.ns, d.bad = 0, 0, d.now, nil }

// field sets a field of the entry in hand. If a field comes again, the last value counts.
func (d *decoder) field(key, value []byte) error {
	if string(key) == realtime {
		us, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || us > maxMicros || us < -maxMicros {
			return d.malformed("%s=%.40q is not a time in microseconds", key, value)
		}
		d.ns = us * 1000
	}
	if d.at == len(d.columns) || d.columns[d.at].key != string(key) {
		c, err := d.column(key)
		if err != nil {
			return err
		}
		if d.at == len(d.columns) {
			d.columns = append(d.columns, column{})
		}
		d.columns[d.at] = column{string(key), c}
	}
	c := d.columns[d.at].values
	if d.at++; d.at > schema.MaxColumns {
		return d.malformed("more than %d fields", schema.MaxColumns)
	}
	if !utf8.Valid(value) {
		value = bytes.ToValidUTF8(value, []byte("\uFFFD"))
	}
	c.SetBytes(value)
	d.size += len(value)
	return nil
}

// maxMicros is the last microsecond whose nanoseconds fit 64 bits.
const maxMicros = (1<<63 - 1) / 1000

// column finds or adds the column of a field.
func (d *decoder) column(key []byte) (*tagged.Column, error) {
	if !utf8.Valid(key) {
		return nil, d.malformed("the name of a field is not UTF-8: %.40q", key)
	}
	role := schema.Field
	if slices.Contains(tags, string(key)) {
		role = schema.Tag
	}
	return d.table.Column(key, vector.StringType, role)
}

// end makes the row of the entry in hand, which ends at at in the body.
func (d *decoder) end(body []byte, at int) error {
	d.table.SetTime(d.ns)
	d.entries++
	d.texts = append(d.texts, body[d.from:at])
	if d.bad != nil {
		d.table.DropRow()
		d.columns = d.columns[:0]
		d.refuse(d.entries, d.bad)
		d.begin()
		return nil
	}
	d.table.From(d.entries)
	err := d.table.EndRow(d.size, int64(len(body)))
	d.begin()
	return err
}

// readable is read for bodies that may be broken behind their first entry: the entries before that place are stored,
// and the rest is refused as one entry.
func (d *decoder) readable(body []byte) error {
	err := d.read(body)
	if err == nil || d.refuse == nil || d.entries == 0 || status.Of(err) != status.InvalidArguments {
		return err
	}
	d.bad = err
	return d.end(body, len(body))
}
