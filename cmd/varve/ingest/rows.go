package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"varve/cmd/varve/arrowrows"
	"varve/engine/vector"
	"varve/sqlexec/rowfile"
)

// Files of rows, Parquet and Arrow, are unpacked to lines of JSON as varve export writes them, so that all that holds
// for lines holds for their rows: batches, places to resume at, pipelines, refused entries.

// The names of forms of rows, which are those of their formats.
const (
	parquetRows = "parquet"
	arrowRows   = "arrow"
)

// parquetMagic begins a Parquet file.
const parquetMagic = "PAR1"

// rowsOf is the form of rows that a text begins like; empty: none.
func rowsOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte(parquetMagic)):
		return parquetRows
	case arrowrows.Looks(head):
		return arrowRows
	}
	return ""
}

// rowReader reads rows.
type rowReader interface {
	// Next gives the next rows; io.EOF: there are none left.
	Next() (*vector.Batch, error)
}

// rowText reads rows as lines of JSON. It holds one batch of them.
type rowText struct {
	rows rowReader
	text bytes.Buffer
	w    rowfile.Writer
	err  error // to be told behind the text
}

// newRowText begins to read.
func newRowText(rows rowReader, fields []vector.Field) (t *rowText, err error) {
	t = &rowText{rows: rows}
	t.w, err = rowfile.NewWriter(&t.text, fields, rowfile.WriteOptions{Format: rowfile.JSON, Times: arrowrows.Times()})
	return t, err
}

func (t *rowText) Read(p []byte) (int, error) {
	for t.text.Len() == 0 {
		if t.err != nil {
			return 0, t.err
		}
		b, err := t.rows.Next()
		if err == nil {
			err = t.write(b)
		}
		if t.err = err; err != nil {
			if err := t.w.Close(); err != nil { // the rows before the end
				return 0, err
			}
		}
	}
	return t.text.Read(p)
}

// write writes rows; each JSON value has to stand on one line.
func (t *rowText) write(b *vector.Batch) error {
	for i, v := range b.Cols {
		if v.Type.ID == vector.TypeJSON {
			b.Cols[i] = onOneLine(v, b.N)
		}
	}
	return t.w.Write(b)
}

// onOneLine writes JSON values without the ends of lines, and what is no JSON as a JSON string.
func onOneLine(v *vector.Vector, n int) *vector.Vector {
	plain := true
	for i := range n {
		if !v.IsNull(i) && (bytes.ContainsAny(v.Bytes(i), "\r\n") || !json.Valid(v.Bytes(i))) {
			plain = false
			break
		}
	}
	if plain {
		return v
	}
	var out vector.Vector
	out.Reset(v.Type)
	out.Valid, out.Views = v.Valid, make([]vector.View, n)
	for i := range n {
		if v.IsNull(i) {
			continue
		}
		text := bytes.NewBuffer(nil)
		if json.Compact(text, v.Bytes(i)) != nil {
			text.Reset()
			text.Write(appendText(nil, v.Bytes(i)))
		}
		out.Views[i] = vector.View{Off: uint32(len(out.Heap)), Len: uint32(text.Len())}
		out.Heap = append(out.Heap, text.Bytes()...)
	}
	return &out
}

// parquetFile reads the rows of a Parquet file.
type parquetFile struct {
	r    rowfile.Reader
	rows rowfile.Rows
}

func (p *parquetFile) Next() (*vector.Batch, error) {
	more, err := p.r.Next(&p.rows)
	switch {
	case err != nil:
		return nil, err
	case !more:
		return nil, io.EOF
	}
	return &vector.Batch{N: p.rows.N, Cols: p.rows.Cols}, nil
}

// countedFile counts what is read of a file.
type countedFile struct {
	*os.File
	done func(n int)
}

func (c countedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.File.ReadAt(p, at)
	c.done(n)
	return n, err
}

// isParquet reports whether a file begins like Parquet.
func isParquet(f *os.File) bool {
	var head [len(parquetMagic)]byte
	_, err := f.ReadAt(head[:], 0)
	return err == nil && string(head[:]) == parquetMagic
}

// openParquet gives the rows of a Parquet file as text.
func openParquet(f *os.File, size int64, done func(n int)) (*source, error) {
	counted, s := countedFile{f, done}, &source{packed: parquetRows}
	var end [len(parquetMagic)]byte
	if _, err := f.ReadAt(end[:], size-int64(len(end))); err != nil {
		return nil, err
	}
	if string(end[:]) != parquetMagic { // its table of contents stands there
		return nil, s.explain(io.ErrUnexpectedEOF)
	}
	fields, err := rowfile.ParquetFields(counted, size)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	r, err := rowfile.NewReader(counted, size, names, rowfile.ReadOptions{Format: rowfile.Parquet})
	if err != nil {
		return nil, err
	}
	return s, s.unrow(&parquetFile{r: r}, fields, parquetRows)
}

// unrowArrow makes the text of a source that is Arrow, which may be packed besides, the lines of its rows.
func (s *source) unrowArrow() error {
	r, err := arrowrows.NewReader(io.MultiReader(bytes.NewReader(s.head), &patient{s.r}))
	if s.packed != "" {
		s.packed += ", "
	}
	if s.packed += arrowRows; err != nil {
		return s.explain(err)
	}
	return s.unrow(r, r.Fields, arrowRows)
}

// unrow reads the text of a source from rows.
func (s *source) unrow(rows rowReader, fields []vector.Field, form string) (err error) {
	if s.r, err = newRowText(rows, fields); err != nil {
		return err
	}
	s.rows, s.fields = form, fields
	s.head, s.whole, err = readHead(s.r, headSize)
	return s.explain(err)
}

// chooseRows sets the format of an input that holds rows.
func (in *input) chooseRows(o *Options, src *source) error {
	switch given := formats[o.Format]; {
	case given != nil && given.name != src.rows && given != insert && given.name != "ndjson":
		return fmt.Errorf("it is a file of the form %s: leave --format %s out", src.rows, o.Format)
	case in.format != nil:
	case given == insert:
		in.format = insert
	case in.path == "" && keepsTypes(o):
		return fmt.Errorf("it is %[1]s: --format %[1]s says so before it is read", src.rows)
	default:
		in.format = formats[src.rows]
	}
	return nil
}
