package rowfile

import (
	"bytes"
	"fmt"
	"io"

	"varve/engine/vector"
	"varve/flatten"
)

// jsonReader reads one JSON object a line; empty lines are passed over.
type jsonReader struct {
	lines   *lineReader
	bad     func(int64, error) error
	members *flatten.Members

	buf     []byte
	text    []byte
	cols    []*vector.Vector
	missing []vector.Bitmap
	cells   []flatten.Cell // cells[k]: of the current object
	at      []int64
}

func newJSONReader(lines *lineReader, names []string, raw []bool, bad func(int64, error) error) *jsonReader {
	return &jsonReader{
		lines: lines, bad: bad, members: flatten.NewMembers(names, raw), cols: stringColumns(len(names)),
		cells: make([]flatten.Cell, len(names)), missing: make([]vector.Bitmap, len(names)),
	}
}

// Has is true: any object may have any column.
func (r *jsonReader) Has(int) bool { return true }

// Close frees the compression.
func (r *jsonReader) Close() error { return r.lines.from.Close() }

// Next reads up to vector.Size objects.
func (r *jsonReader) Next(out *Rows) (bool, error) {
	r.at, r.text = r.at[:0], r.text[:0]
	for k, v := range r.cols {
		v.Heap = nil // of the batch before: it was text
		v.Reset(vector.StringType)
		r.missing[k] = nil
	}
	for len(r.at) < vector.Size && len(r.text) < batchBytes {
		var err error
		r.buf, err = r.lines.append(r.buf[:0])
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, err
		}
		line := bytes.TrimSpace(r.buf)
		if len(line) == 0 {
			continue
		}
		mark := len(r.text)
		r.buf = flatten.Pad(line)
		if r.text, err = r.members.Read(r.buf, r.cells, r.text); err != nil {
			r.text = r.text[:mark]
			if err := r.bad(r.lines.line, fmt.Errorf("line %d: %w", r.lines.line, err)); err != nil {
				return false, err
			}
			continue
		}
		r.take()
		r.at = append(r.at, r.lines.line)
	}
	for _, v := range r.cols {
		v.Heap = r.text
	}
	*out = Rows{N: len(r.at), Cols: r.cols, Missing: r.missing, At: r.at}
	return out.N > 0, nil
}

// take appends the current object's values to their columns.
func (r *jsonReader) take() {
	n := len(r.at)
	for k, x := range r.cells {
		if x.State == flatten.Given {
			appendView(r.cols[k], n, x.Off, x.End)
			continue
		}
		r.cols[k].AppendNulls(n, 1)
		if x.State == flatten.Absent {
			if r.missing[k] == nil {
				r.missing[k] = vector.MakeBitmap(vector.Size)
			}
			r.missing[k].Set(n)
		}
	}
}
