package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"varve/engine/vector"
)

// csvReader reads CSV (RFC 4180) with lines that end in LF or CRLF and a first line of names; another byte
// may stand for the comma.
type csvReader struct {
	lines  *lineReader
	bad    func(int64, error) error
	comma  byte  // between fields
	column []int // column[f] is the wanted column of field f; -1: none
	has    []bool

	buf    []byte  // the record's bytes
	fields []field // of the record
	text   []byte  // what fields point into
	cols   []*vector.Vector
	at     []int64
}

// field is a value of a record: text[off:end]. An empty field without quotes is NULL.
type field struct {
	off, end int
	quoted   bool
}

func newCSVReader(lines *lineReader, names []string, comma byte, bad func(int64, error) error) (*csvReader, error) {
	r := &csvReader{lines: lines, bad: bad, comma: comma, has: make([]bool, len(names)),
		cols: stringColumns(len(names))}
	if err := r.record(); err == io.EOF {
		return nil, errors.New("the file is empty: the first line of a CSV file holds the names of the columns")
	} else if err != nil {
		return nil, err
	}
	for _, f := range r.fields {
		name := string(r.text[f.off:f.end])
		k := -1
		for i := range names {
			if names[i] == name {
				k = i
			}
		}
		if k >= 0 && r.has[k] {
			return nil, fmt.Errorf("line 1: column %q occurs twice", name)
		}
		if k >= 0 {
			r.has[k] = true
		}
		r.column = append(r.column, k)
	}
	return r, nil
}

func stringColumns(n int) []*vector.Vector {
	cols := make([]*vector.Vector, n)
	for k := range cols {
		cols[k] = &vector.Vector{Type: vector.StringType}
	}
	return cols
}

// Has reports whether the first line names wanted column k.
func (r *csvReader) Has(k int) bool { return r.has[k] }

// Close frees the compression.
func (r *csvReader) Close() error { return r.lines.from.Close() }

// Next reads up to vector.Size records.
func (r *csvReader) Next(out *Rows) (bool, error) {
	r.at, r.text = r.at[:0], r.text[:0]
	for _, v := range r.cols {
		v.Heap = nil // of the batch before: it was text
		v.Reset(vector.StringType)
	}
	for len(r.at) < vector.Size && len(r.text) < batchBytes {
		line, mark := r.lines.line+1, len(r.text)
		err := r.record()
		if err == io.EOF {
			break
		}
		if err == nil && len(r.fields) != len(r.column) {
			err = bad{fmt.Errorf("line %d: %d fields, the first line names %d", line, len(r.fields), len(r.column))}
		}
		if err != nil {
			var b bad
			if !errors.As(err, &b) {
				return false, err
			}
			if err := r.bad(line, err); err != nil {
				return false, err
			}
			r.text = r.text[:mark]
			continue
		}
		r.take()
		r.at = append(r.at, line)
	}
	for _, v := range r.cols {
		v.Heap = r.text
	}
	*out = Rows{N: len(r.at), Cols: r.cols, At: r.at}
	return out.N > 0, nil
}

// bad is an error of a record that another record may follow.
type bad struct{ error }

// take appends the record's fields to their columns.
func (r *csvReader) take() {
	n := len(r.at)
	for f, k := range r.column {
		if k < 0 {
			continue
		}
		x := r.fields[f]
		if x.off == x.end && !x.quoted {
			r.cols[k].AppendNulls(n, 1)
			continue
		}
		appendView(r.cols[k], n, x.off, x.end)
	}
}

// appendView appends a value to a column that holds n rows, whose heap comes later.
func appendView(v *vector.Vector, n, off, end int) {
	v.Views = append(v.Views, vector.View{Off: uint32(off), Len: uint32(end - off)})
	if v.Valid != nil {
		if vector.Words(n+1) > len(v.Valid) {
			v.Valid = append(v.Valid, 0)
		}
		v.Valid.Set(n)
	}
}

// record reads the next record into fields. io.EOF after the last. An empty line is a record only if there is a single
// column.
func (r *csvReader) record() error {
	for {
		var err error
		if r.buf, err = r.lines.append(r.buf[:0]); err != nil {
			return err
		}
		if len(trimEnd(r.buf)) > 0 || len(r.column) == 1 {
			break
		}
	}
	first := r.lines.line
	r.fields = r.fields[:0]
	for pos := 0; ; {
		end, err := r.field(pos, first)
		if err != nil {
			return err
		}
		if end < 0 {
			return nil
		}
		pos = end
	}
}

// field reads the field that begins at pos and gives where the next one begins; -1: it was the last.
func (r *csvReader) field(pos int, first int64) (next int, err error) {
	off := len(r.text)
	if pos >= len(r.buf) || r.buf[pos] != '"' {
		rest := trimEnd(r.buf[pos:])
		next = -1
		if comma := bytes.IndexByte(rest, r.comma); comma >= 0 {
			rest, next = rest[:comma], pos+comma+1
		}
		r.text = append(r.text, rest...)
		r.fields = append(r.fields, field{off, len(r.text), false})
		return next, nil
	}
	pos++
	for {
		quote := bytes.IndexByte(r.buf[pos:], '"')
		if quote < 0 {
			r.text = append(r.text, r.buf[pos:]...)
			pos = len(r.buf)
			if r.buf, err = r.lines.append(r.buf); err == io.EOF {
				return 0, bad{fmt.Errorf("line %d: a quote that opens field %d is not closed", first, len(r.fields)+1)}
			} else if err != nil {
				return 0, err
			}
			continue
		}
		r.text = append(r.text, r.buf[pos:pos+quote]...)
		pos += quote + 1
		if pos < len(r.buf) && r.buf[pos] == '"' {
			r.text = append(r.text, '"')
			pos++
			continue
		}
		break
	}
	r.fields = append(r.fields, field{off, len(r.text), true})
	switch rest := trimEnd(r.buf[pos:]); {
	case len(rest) == 0:
		return -1, nil
	case rest[0] != r.comma:
		return 0, bad{fmt.Errorf("line %d: text behind the closing quote of field %d", r.lines.line, len(r.fields))}
	}
	return pos + 1, nil
}

// trimEnd cuts the end of a line.
func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
		if n > 1 && line[n-2] == '\r' {
			line = line[:n-2]
		}
	}
	return line
}
