package shell

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"varve/cmd/varve/client"
	"varve/engine/jsontext"
)

// Formats are what results can be printed as.
var Formats = []string{"table", "tsv", "csv", "csv-noheader", "json", "ndjson", "vertical", "markdown", "line", "arrow",
	"null"}

// passed are the formats that the server writes, and what it calls them.
var passed = map[string]string{"csv": "csvWithNames", "csv-noheader": "csv", "arrow": "arrow", "null": "null"}

// look is how results are printed.
type look struct {
	maxWidth     int  // of a cell of a table; 0: what fits into the terminal
	terminal     int  // the width of the terminal; 0: there is none
	autoVertical bool // tables wider than the terminal are printed vertically
	fit          bool // and those that are wider although their cells were cut
	types        bool // under the heads
	colour       bool
}

// newSink makes the writer of a format that is not passed through.
func newSink(format string, l look, w io.Writer) sink {
	text := textWriter{w: w, look: l}
	switch format {
	case "table":
		return &table{textWriter: text}
	case "vertical":
		return &vertical{textWriter: text}
	case "json":
		return &objects{textWriter: text, array: true}
	case "ndjson":
		return &objects{textWriter: text}
	case "markdown":
		return &markdown{textWriter: text}
	case "line":
		return &lines{textWriter: text, value: appendPlain}
	}
	return &lines{textWriter: text, head: true, null: `\N`, value: appendTSV}
}

// textWriter collects text and writes it in large pieces.
type textWriter struct {
	w       io.Writer
	look    look
	columns []column
	buf     []byte
	value   []byte // of one cell
}

// pieceBytes is about how much is written at once.
const pieceBytes = 32 << 10

// flush writes what was collected once it is a piece, or at once.
func (t *textWriter) flush(atOnce bool) error {
	if len(t.buf) == 0 || len(t.buf) < pieceBytes && !atOnce {
		return nil
	}
	_, err := t.w.Write(t.buf)
	t.buf = t.buf[:0]
	return err
}

func (t *textWriter) end() error { return t.flush(true) }

// text is the text of a cell that is not NULL, until the next is asked for.
func (t *textWriter) text(c int, raw []byte) []byte {
	t.value = t.columns[c].appendText(t.value[:0], raw)
	return t.value
}

const (
	dim  = "\x1b[2m"
	bold = "\x1b[1m"
	off  = "\x1b[0m"
)

// paint appends text in a colour, where there are any.
func (t *textWriter) paint(colour, text string) {
	if !t.look.colour {
		t.buf = append(t.buf, text...)
		return
	}
	t.buf = append(append(append(t.buf, colour...), text...), off...)
}

// lines are the formats of one line a row, values apart by tabs.
type lines struct {
	textWriter
	head  bool
	null  string
	value func(dst, text []byte, terminal bool) []byte
}

func (l *lines) begin(columns []column) error {
	l.columns = columns
	if !l.head {
		return nil
	}
	for i, c := range columns {
		if i > 0 {
			l.buf = append(l.buf, '\t')
		}
		l.buf = l.value(l.buf, []byte(c.Name), false)
	}
	l.buf = append(l.buf, '\n')
	return nil
}

func (l *lines) row(cells [][]byte) error {
	for i, raw := range cells {
		if i > 0 {
			l.buf = append(l.buf, '\t')
		}
		if isNull(raw) {
			l.buf = append(l.buf, l.null...)
		} else {
			l.buf = l.value(l.buf, l.text(i, raw), l.look.terminal > 0)
		}
	}
	l.buf = append(l.buf, '\n')
	return l.flush(false)
}

// appendTSV appends a value whose backslashes and control characters are escaped, so that a line is a row.
func appendTSV(dst, text []byte, _ bool) []byte {
	if bytes.IndexByte(text, '\\') >= 0 {
		text = bytes.ReplaceAll(text, []byte{'\\'}, []byte(`\\`))
	}
	return client.AppendVisible(dst, text, "")
}

// appendPlain appends a value as it is. What steers a terminal does not reach one.
func appendPlain(dst, text []byte, terminal bool) []byte {
	if terminal {
		return client.AppendVisible(dst, text, "\n\t")
	}
	return append(dst, text...)
}

// objects are the formats of JSON: an array of objects, or an object a line.
type objects struct {
	textWriter
	array bool
	keys  [][]byte
	any   bool
}

func (o *objects) begin(columns []column) error {
	o.columns = columns
	used := map[string]bool{}
	for _, c := range columns {
		name := c.Name
		for n := 2; used[name]; n++ { // two columns of one name are two members
			name = c.Name + "_" + strconv.Itoa(n)
		}
		used[name] = true
		o.keys = append(o.keys, append(jsontext.AppendString(nil, name), ':'))
	}
	if o.array {
		o.buf = append(o.buf, '[')
	}
	return nil
}

func (o *objects) row(cells [][]byte) error {
	if o.array {
		if o.any {
			o.buf = append(o.buf, ',')
		}
		o.buf = append(o.buf, '\n')
	}
	o.any = true
	for i, raw := range cells {
		o.buf = append(o.buf, "{,"[min(i, 1)])
		if o.value = o.columns[i].appendJSON(append(o.value[:0], o.keys[i]...), raw); o.look.terminal > 0 {
			o.value = client.EscapedJSON(o.value)
		}
		o.buf = append(o.buf, o.value...)
	}
	if len(cells) == 0 {
		o.buf = append(o.buf, '{')
	}
	if o.buf = append(o.buf, '}'); !o.array {
		o.buf = append(o.buf, '\n')
	}
	return o.flush(false)
}

func (o *objects) end() error {
	if o.array {
		if o.any {
			o.buf = append(o.buf, '\n')
		}
		o.buf = append(o.buf, "]\n"...)
	}
	return o.flush(true)
}

// markdown is a table of a document.
type markdown struct{ textWriter }

func (m *markdown) begin(columns []column) error {
	m.columns = columns
	for _, c := range columns {
		m.cell([]byte(c.Name))
	}
	m.buf = append(m.buf, "|\n"...)
	for _, c := range columns {
		rule := "| --- "
		if c.kind == kindNumber {
			rule = "| ---: "
		}
		m.buf = append(m.buf, rule...)
	}
	m.buf = append(m.buf, "|\n"...)
	return nil
}

func (m *markdown) row(cells [][]byte) error {
	for i, raw := range cells {
		if isNull(raw) {
			m.cell([]byte("NULL"))
		} else {
			m.cell(m.text(i, raw))
		}
	}
	m.buf = append(m.buf, "|\n"...)
	return m.flush(false)
}

var markdownMarks = strings.NewReplacer("|", `\|`, "\n", "<br>", "\r", "", "<", "&lt;", "&", "&amp;", "*", `\*`, "_",
	`\_`, "`", "\\`", `\`, `\\`)

func (m *markdown) cell(text []byte) {
	m.buf = append(m.buf, "| "...)
	m.buf = client.AppendVisible(m.buf, []byte(markdownMarks.Replace(string(text))), "")
	m.buf = append(m.buf, ' ')
}

// vertical is one field a line.
type vertical struct {
	textWriter
	names [][]byte // padded
	rows  int64
	cell  []byte
}

func (v *vertical) begin(columns []column) error {
	v.columns = columns
	widest := 0
	for _, c := range columns {
		name := client.AppendVisible(nil, []byte(c.Name), "")
		widest = max(widest, width(name))
		v.names = append(v.names, name)
	}
	for i, name := range v.names {
		v.names[i] = append(name, strings.Repeat(" ", widest-width(name))...)
	}
	return nil
}

func (v *vertical) row(cells [][]byte) error {
	v.rows++
	v.paint(dim, "─[ row "+strconv.FormatInt(v.rows, 10)+" ]"+strings.Repeat("─", 20))
	v.buf = append(v.buf, '\n')
	for i, raw := range cells {
		v.paint(bold, string(v.names[i]))
		v.buf = append(v.buf, " │ "...)
		if isNull(raw) {
			v.paint(dim, "NULL")
		} else {
			v.cell = client.AppendVisible(v.cell[:0], v.text(i, raw), "\n\t")
			indent := "\n" + strings.Repeat(" ", width(v.names[i])) + " │ "
			v.buf = append(v.buf, bytes.ReplaceAll(v.cell, []byte{'\n'}, []byte(indent))...)
		}
		v.buf = append(v.buf, '\n')
	}
	return v.flush(false)
}

// isPassed reports whether the server writes a format itself.
func isPassed(format string) bool { return passed[format] != "" }

// KnownFormat reports whether there is such a format.
func KnownFormat(name string) bool { return slices.Contains(Formats, name) }
