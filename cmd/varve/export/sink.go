package export

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"varve/cmd/varve/arrowrows"
	"varve/engine/vector"
	"varve/sqlexec/rowfile"
)

// sink writes rows in sections. A section is whole in itself: it is compressed apart, so that what was written of one
// that failed can be cut off, and a later run goes on behind the last that is whole.
type sink struct {
	out      io.Writer
	format   Format // not Parquet
	packing  Packing
	rawTimes bool

	schema *arrow.Schema // nil: no section was begun yet
	fields []vector.Field
	head   bool // what stands before all rows is written
	empty  bool // no row is written yet

	pack  io.WriteCloser
	text  rowfile.Writer
	arrow *ipc.Writer
}

// begin begins a section of rows with the schema, which is that of all.
func (s *sink) begin(schema *arrow.Schema) (err error) {
	if s.schema != nil && !s.schema.Equal(schema) {
		return errors.New("the columns changed during the export: start it again")
	}
	s.schema = schema
	if s.fields, err = arrowrows.Fields(schema); err != nil {
		return err
	}
	if s.pack, err = packer(s.out, s.packing); err != nil {
		return err
	}
	if s.format == Arrow {
		return s.beginArrow()
	}
	o := rowfile.WriteOptions{Format: rowfile.JSON, Continued: s.head, Times: arrowrows.Times()}
	to := io.Writer(s.pack)
	switch s.format {
	case CSV:
		o.Format = rowfile.CSV
	case JSON:
		to = &elements{w: s.pack, s: s}
	}
	s.text, err = rowfile.NewWriter(to, s.written(), o)
	return err
}

// written are the columns as they are written.
func (s *sink) written() []vector.Field {
	if s.rawTimes {
		return countTimes(s.fields)
	}
	return s.fields
}

func (s *sink) beginArrow() error {
	head, err := schemaMessage(s.schema)
	if err != nil {
		return err
	}
	if !s.head {
		if _, err := s.pack.Write(head); err != nil {
			return err
		}
	}
	s.arrow = ipc.NewWriter(&skipping{w: s.pack, skip: len(head)}, ipc.WithSchema(s.schema))
	return nil
}

// schemaMessage is what stands before the batches of a stream.
func schemaMessage(schema *arrow.Schema) ([]byte, error) {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	if err := w.Close(); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte(endMark)), nil
}

// write appends rows to the section.
func (s *sink) write(r arrow.RecordBatch) error {
	if s.format == Arrow {
		return s.arrow.Write(r)
	}
	b, err := arrowrows.Batch(r, s.fields)
	if err != nil {
		return err
	}
	if s.rawTimes {
		for i, f := range s.written() {
			b.Cols[i].Type = f.Type
		}
	}
	return s.text.Write(b)
}

// end ends the section.
func (s *sink) end() error {
	if s.text != nil {
		if err := s.text.Close(); err != nil {
			return err
		}
	}
	s.text, s.arrow, s.head = nil, nil, true
	return s.pack.Close()
}

// abandon forgets the section, of which a part may be written.
func (s *sink) abandon(state sinkState) {
	s.text, s.arrow, s.pack = nil, nil, nil
	s.restore(state)
}

// sinkState is what a section needs to know of those before it.
type sinkState struct {
	Head  bool `json:"head"`
	Empty bool `json:"empty"`
}

func (s *sink) state() sinkState        { return sinkState{s.head, s.empty} }
func (s *sink) restore(state sinkState) { s.head, s.empty = state.Head, state.Empty }

// finish writes what stands behind all rows.
func (s *sink) finish() error {
	tail := ""
	switch {
	case s.format == Arrow:
		tail = endMark
	case s.format == JSON && s.empty:
		tail = "[]\n"
	case s.format == JSON:
		tail = "\n]\n"
	}
	if tail == "" {
		return nil
	}
	pack, err := packer(s.out, s.packing)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(pack, tail); err != nil {
		return err
	}
	return pack.Close()
}

// skipping leaves out the first bytes.
type skipping struct {
	w    io.Writer
	skip int
}

func (s *skipping) Write(p []byte) (int, error) {
	cut := min(s.skip, len(p))
	s.skip -= cut
	if cut == len(p) {
		return len(p), nil
	}
	n, err := s.w.Write(p[cut:])
	return n + cut, err
}

// elements makes lines the elements of an array.
type elements struct {
	w      io.Writer
	s      *sink
	inside bool // of a line
}

func (e *elements) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if !e.inside {
			before := ",\n"
			if e.s.empty {
				before = "[\n"
			}
			e.s.empty, e.inside = false, true
			if _, err := io.WriteString(e.w, before); err != nil {
				return 0, err
			}
		}
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if _, err := e.w.Write(line); err != nil {
			return 0, err
		}
		e.inside, rest = !ended, after
	}
	return len(p), nil
}

// countTimes turns times into the whole numbers that they are counts of.
func countTimes(fields []vector.Field) []vector.Field {
	fields = slices.Clone(fields)
	for i, f := range fields {
		switch f.Type.ID {
		case vector.TypeTimestamp, vector.TypeDate, vector.TypeTime:
			fields[i].Type = vector.Int64Type
		}
	}
	return fields
}
