// Package result writes the results of SQL as answers of HTTP, in every format, while the rows are read.
//
//	format.go timeformat.go    what a request may choose: format, unit and form of times
//	json.go csv.go arrow.go    values in the formats
package result

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/web"
)

// StreamAbove is the size of an answer above which it is sent while the rest is still being read. Below it, an error
// in the middle of the rows is still a proper answer.
const StreamAbove = 1 << 20

// bufferMost bounds, in bytes, an answer that cannot be streamed yet: results that later statements of the request
// follow, because an error of theirs replaces them, and tables of text whose column widths are not known.
const bufferMost = 256 << 20

// Outputs returns the results of a request one after the other: nil when there is none left. last says that no other
// result follows.
type Outputs func() (out *Output, last bool, err error)

// Reply answers with the results in a format. limit cuts the rows of the last step (negative: none). The results are
// read as the answer is written: small answers whole, large ones as a stream whose connection is cut on an error. The
// rows of the last are closed by the end of the request.
func Reply(c *web.Ctx, f Format, e Epoch, t Texts, limit int64, next Outputs) error {
	w := &writer{c: c, format: f, epoch: e, texts: t, limit: limit, next: next, batch: &vector.Batch{}}
	w.buf = make([]byte, 0, 4096)
	defer func() {
		if !w.streamed { // an error, the end of the answer, or a panic
			w.close()
		}
	}()
	for !w.done && (len(w.buf) < StreamAbove || !w.last) {
		if err := w.step(); err != nil {
			return err
		}
		if err := w.hold(); err != nil {
			return err
		}
		if len(w.buf)+w.held > bufferMost {
			return status.New(status.RuntimeResourcesExhausted,
				"The answer is larger than %d MiB; add a LIMIT or use another format", bufferMost>>20)
		}
	}
	c.Executed(f.String())
	if w.done {
		c.Reply(200, f.contentType(), w.buf)
		return nil
	}
	w.streamed = true
	w.follow()
	c.ReplyStream(200, f.contentType(), w)
	return nil
}

// Append appends a result as /v1/sql writes it, {"records":..} or {"affectedrows":..}, with all its rows, and
// closes them.
func Append(c *web.Ctx, dst []byte, out *Output) ([]byte, error) {
	w := &writer{c: c, format: ServiceV1, limit: -1, batch: &vector.Batch{}, index: 1}
	w.next = func() (*Output, bool, error) {
		next := out
		out = nil
		return next, false, nil
	}
	defer w.close()
	for {
		if err := w.step(); err != nil {
			return dst, err
		}
		if w.out == nil {
			return append(dst, w.buf[1:]...), nil // it is not the first one: before it is a comma
		}
	}
}

// writer turns results into bytes, a chunk at a time. It is a reader for the streamed part.
type writer struct {
	c        *web.Ctx
	format   Format
	epoch    Epoch
	texts    Texts
	limit    int64
	next     Outputs
	streamed bool // the answer is sent while it is made

	buf   []byte
	sent  int
	done  bool
	err   error
	batch *vector.Batch
	cells []cell

	out     *Output // the one being written
	index   int     // statements begun
	rows    int64   // rows of out so far
	from    int     // rows [from, to) of the batch are not written yet
	to      int
	atOnce  int      // the number of rows that a step writes
	last    bool     // out is the last one
	grid    [][]byte // cells of a table of text, row after row
	held    int      // bytes in grid
	counted int64    // bytes of the answer that the statement has reserved
	arrow   *arrowStream

	warnings []string // of all statements so far

	unfollow func() bool // nil: nothing is followed
}

// Read streams what step makes.
func (w *writer) Read(p []byte) (int, error) {
	for w.sent == len(w.buf) {
		if w.err != nil {
			return 0, w.err
		}
		if w.done {
			return 0, io.EOF
		}
		if w.sent = 0; cap(w.buf) > releaseBytes { // while the client does not read, the answer holds a chunk only
			w.buf = nil
		}
		w.buf = w.buf[:0]
		for !w.done && len(w.buf) < web.PieceBytes {
			err := w.guardedStep()
			if err == nil {
				err = w.hold()
			}
			if err != nil {
				w.err = fmt.Errorf("result stream: %w", err)
				w.c.LogError(err)
				break
			}
		}
	}
	n := copy(p, w.buf[w.sent:])
	if w.sent += n; w.sent >= releaseBytes && cap(w.buf) > releaseBytes {
		w.buf, w.sent = slices.Clone(w.buf[w.sent:]), 0
	}
	return n, nil
}

// releaseBytes is how much of a large beginning of an answer is sent before its memory is given back: for a client that
// then stops reading, only the rest is kept.
const releaseBytes = 4 * web.PieceBytes

// Close ends the result of a streamed answer.
func (w *writer) Close() error {
	w.close()
	return nil
}

func (w *writer) close() {
	if w.unfollow != nil {
		w.unfollow() // closing the rows ends their context
		w.unfollow = nil
	}
	if w.out != nil && w.out.Rows != nil {
		w.out.Rows.Close()
	}
	w.out = nil
}

// read ends a result that is read to its end. The last statement of a short answer, which is not sent yet, keeps its
// memory until the request is over: the answer lies in it.
func (w *writer) read() {
	if w.last && !w.streamed {
		w.c.Finally(w.out.Rows.Close)
		w.out = nil
	}
	w.close()
}

// follow interrupts a streamed answer when its statement is ended: a write that waits for a client that does not read
// would not notice it.
func (w *writer) follow() {
	if w.streamed && w.out != nil && w.out.Context != nil && w.c.Interrupt != nil {
		w.unfollow = context.AfterFunc(w.out.Context, w.c.Interrupt)
	}
}

// guardedStep is step for the streamed part, which no middleware guards any more.
func (w *writer) guardedStep() error { return w.c.Guarded(w.step) }

// holdStep is by how much an answer grows before its memory is counted again.
const holdStep = 256 << 10

// hold counts the bytes that the answer holds while its statement runs. They stay in memory while the client does not
// read.
func (w *writer) hold() error {
	if w.out == nil || w.out.Reserve == nil {
		return nil
	}
	bytes := int64(cap(w.buf) + w.held)
	if bytes < w.counted+holdStep {
		return nil
	}
	grown := bytes - w.counted
	w.counted = bytes
	return w.out.Reserve(grown)
}

// step appends the next chunk: the head of a result, a batch of its rows, its tail, or the end of the answer.
func (w *writer) step() error {
	if w.out == nil {
		out, last, err := w.next()
		if err != nil {
			return err
		}
		w.last = last
		if out != nil {
			w.warnings = append(w.warnings, out.Warnings...)
		}
		if out == nil {
			w.end()
			w.done = true
			return nil
		}
		w.out, w.rows, w.counted = out, 0, 0
		w.follow()
		if err := w.head(); err != nil {
			return err
		}
		w.index++
		if out.Rows == nil {
			w.out = nil
		}
		return nil
	}
	if w.from == w.to {
		more, err := w.nextBatch()
		if err != nil {
			return err
		}
		if !more {
			err := w.tail()
			w.read()
			return err
		}
	}
	from := w.from
	w.from = min(w.to, from+w.atOnce)
	err := w.body(from, w.from)
	w.rows += int64(w.from - from)
	return err
}

// nextBatch reads the next batch and says how many of its rows are written at a time.
func (w *writer) nextBatch() (more bool, err error) {
	if w.limit < 0 || w.rows < w.limit {
		more, err = w.out.Rows.Next(w.batch)
	}
	if err != nil || !more {
		return false, err
	}
	w.from, w.to = 0, w.batch.N
	if w.limit >= 0 {
		w.to = int(min(int64(w.to), w.limit-w.rows))
	}
	w.atOnce = w.to
	if bytes := textBytes(w.batch); bytes > stepBytes {
		w.atOnce = max(1, int(int64(w.to)*stepBytes/bytes))
	}
	return true, nil
}

// stepBytes is about how many bytes of texts a step writes. Without it a batch whose rows share a long text would take
// many times its memory as an answer.
const stepBytes = 256 << 10

// textBytes is the size of the texts of a batch when each row's text is written, in bytes.
func textBytes(b *vector.Batch) (bytes int64) {
	for _, v := range b.Cols {
		switch {
		case v.Type.Kind() != vector.Bytes:
		case v.Form == vector.Const:
			bytes += int64(b.N) * int64(len(v.Bytes(0)))
		case v.Form == vector.Dict:
			for i := range b.N {
				if !v.IsNull(i) {
					bytes += int64(len(v.Bytes(i)))
				}
			}
		default:
			for _, t := range v.Views[:b.N] {
				bytes += int64(t.Len)
			}
		}
	}
	return bytes
}

// head begins a result.
func (w *writer) head() error {
	b, out := w.buf, w.out
	switch w.format {
	case ServiceV1:
		b = appendFirst(b, w.index, `{"output":[`, `,`)
		if out.Rows == nil {
			b = append(appendInt(append(b, `{"affectedrows":`...), out.Affected), '}')
			break
		}
		b = append(b, `{"records":{"schema":{"column_schemas":[`...)
		for i, f := range out.Fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = jsontext.AppendString(append(b, `{"name":`...), f.Name)
			b = append(jsontext.AppendString(append(b, `,"data_type":`...), f.Type.String()), '}')
		}
		b = append(b, `]},"rows":[`...)
	case InfluxV1:
		b = appendFirst(b, w.index, `{"results":[`, `,`)
		b = append(appendInt(append(b, `{"statement_id":`...), int64(w.index)), `,"series":[`...)
		if out.Rows == nil {
			b = append(b, `]}`...)
		}
	case CSVWithNames, CSVWithNamesAndTypes, CSV:
		b = w.csvHead(b)
	case JSONRows:
		b = append(b, `{"data":[`...)
		if out.Rows == nil {
			b = appendInt(append(b, `],"affected_rows":`...), out.Affected)
		}
	case Table:
		if out.Rows == nil {
			b = append(appendInt(b, out.Affected), '\n')
		}
	case Null:
		if out.Rows == nil {
			b = append(appendInt(b, out.Affected), " rows affected.\n"...)
		}
	case Arrow, ArrowZstd, ArrowLZ4:
		if out.Rows != nil {
			w.arrow = newArrowStream(out.Fields, w.format)
		}
	}
	w.buf = b
	return nil
}

// body appends rows [from, to) of the batch.
func (w *writer) body(from, to int) error {
	b := w.buf
	switch w.format {
	case ServiceV1:
		w.cells = cellsOf(w.batch, w.cells, w.texts.json)
		b = appendRows(b, w.cells, from, to, w.rows > 0)
	case InfluxV1:
		if w.rows == 0 && from < to {
			b = append(b, `{"name":"","columns":[`...)
			b = append(w.names(b), `],"values":[`...)
		}
		w.cells = cellsOf(w.batch, w.cells, w.epoch.cell)
		b = appendRows(b, w.cells, from, to, w.rows > 0)
	case CSV, CSVWithNames, CSVWithNamesAndTypes:
		w.cells = cellsOf(w.batch, w.cells, w.texts.Times.cells(csvCell, 0, appendCSV))
		for i := from; i < to; i++ {
			for c, write := range w.cells {
				if c > 0 {
					b = append(b, ',')
				}
				b = write(b, i)
			}
			b = append(b, '\r', '\n')
		}
	case JSONRows:
		b = w.objects(b, from, to)
	case Table:
		w.collect(from, to)
	case Null:
	case Arrow, ArrowZstd, ArrowLZ4:
		if err := w.arrow.rows(w.batch, from, to); err != nil {
			return err
		}
		b = w.arrow.take(b)
	}
	w.buf = b
	return nil
}

// tail ends a result with rows.
func (w *writer) tail() error {
	b := w.buf
	switch w.format {
	case ServiceV1:
		b = append(appendInt(append(b, `],"total_rows":`...), w.rows), `}}`...)
	case InfluxV1:
		if w.rows == 0 {
			b = append(b, `{"name":"","columns":[],"values":[`...)
		}
		b = append(b, `]}]}`...)
	case JSONRows:
		b = append(b, ']')
	case Table:
		b = w.box(b)
	case Null:
		b = append(appendInt(b, w.rows), " rows in set.\n"...)
	case Arrow, ArrowZstd, ArrowLZ4:
		if err := w.arrow.w.Close(); err != nil {
			return err
		}
		b = w.arrow.take(b)
	}
	w.buf = b
	return nil
}

// end closes the answer.
func (w *writer) end() {
	b := w.buf
	switch w.format {
	case ServiceV1:
		b = w.jsonEnd(appendFirst(b, w.index, `{"output":[`, ``), ']')
	case InfluxV1:
		b = w.jsonEnd(appendFirst(b, w.index, `{"results":[`, ``), ']')
	case JSONRows:
		b = w.jsonEnd(b)
	case Null:
		seconds := strconv.FormatFloat(time.Since(w.c.Start).Seconds(), 'f', 3, 64)
		b = append(append(append(b, "Elapsed: "...), seconds...), " sec.\n"...)
	}
	w.buf = b
}

// jsonEnd closes an answer of JSON: the list of results, its time, and the warnings.
func (w *writer) jsonEnd(b []byte, list ...byte) []byte {
	b = append(append(b, list...), `,"execution_time_ms":`...)
	return append(web.AppendWarnings(appendInt(b, w.c.ElapsedMS()), w.warnings), '}')
}

func (w *writer) names(b []byte) []byte {
	for i, f := range w.out.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(b, f.Name)
	}
	return b
}

func (w *writer) csvHead(b []byte) []byte {
	if w.out.Rows == nil {
		return append(appendInt(b, w.out.Affected), '\n')
	}
	if w.format != CSV {
		b = appendLine(b, w.out.Fields, func(f vector.Field) string { return f.Name })
	}
	if w.format == CSVWithNamesAndTypes {
		b = appendLine(b, w.out.Fields, func(f vector.Field) string { return f.Type.String() })
	}
	return b
}

// objects appends rows as objects. Of columns with the same name the last counts.
func (w *writer) objects(b []byte, from, to int) []byte {
	w.cells = cellsOf(w.batch, w.cells, w.texts.Times.cells(jsonCell, '"', asItIs))
	var names [][]byte
	for i, f := range w.out.Fields {
		names = append(names, append(jsontext.AppendString(nil, f.Name), ':'))
		for j := range i {
			if w.out.Fields[j].Name == f.Name {
				names[j] = nil
			}
		}
	}
	for i := from; i < to; i++ {
		if w.rows > 0 || i > from {
			b = append(b, ',')
		}
		b = append(b, '{')
		first := true
		for c, write := range w.cells {
			if names[c] == nil {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = write(append(b, names[c]...), i)
		}
		b = append(b, '}')
	}
	return b
}

// collect keeps the cells of rows as text until all are there and their widths known.
func (w *writer) collect(from, to int) {
	w.cells = cellsOf(w.batch, w.cells, w.texts.Times.cells(tableCell, 0, asItIs))
	for i := from; i < to; i++ {
		for _, write := range w.cells {
			text := write(nil, i)
			w.grid = append(w.grid, text)
			w.held += len(text) + 24
		}
	}
}

// box draws the collected cells.
func (w *writer) box(b []byte) []byte {
	columns := len(w.out.Fields)
	if columns == 0 {
		return b
	}
	widths := make([]int, columns)
	for i, f := range w.out.Fields {
		widths[i] = utf8.RuneCountInString(f.Name)
	}
	for i, text := range w.grid {
		widths[i%columns] = max(widths[i%columns], utf8.RuneCount(text))
	}
	line := func(left, between, right string, name func(int) string) {
		b = append(b, left...)
		for i, width := range widths {
			if i > 0 {
				b = append(b, between...)
			}
			b = append(append(b, "─"...), name(i)...)
			for range width - utf8.RuneCountInString(name(i)) + 1 {
				b = append(b, "─"...)
			}
		}
		b = append(append(b, right...), '\n')
	}
	line("┌", "┬", "┐", func(i int) string { return w.out.Fields[i].Name })
	for i, text := range w.grid {
		b = append(append(b, "│ "...), text...)
		for range widths[i%columns] - utf8.RuneCount(text) + 1 {
			b = append(b, ' ')
		}
		if i%columns == columns-1 {
			b = append(b, "│\n"...)
		}
	}
	line("└", "┴", "┘", func(int) string { return "" })
	w.grid, w.held = nil, 0
	return b
}

func appendRows(b []byte, cells []cell, from, to int, more bool) []byte {
	for i := from; i < to; i++ {
		if more || i > from {
			b = append(b, ',')
		}
		b = appendRow(b, cells, i)
	}
	return b
}

// appendFirst appends first before the first statement and between before the others.
func appendFirst(b []byte, index int, first, between string) []byte {
	if index == 0 {
		return append(b, first...)
	}
	return append(b, between...)
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
