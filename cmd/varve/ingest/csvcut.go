package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"varve/cmd/varve/client"
)

// csvScanner finds the records of CSV (RFC 4180) and writes them as objects of JSON, whose members are named by the
// head line. An empty cell without quotes is no member: it is NULL.
type csvScanner struct {
	recordScanner
	names []string   // as JSON strings with a colon; nil: the head line is not read yet
	kinds []cellKind // of as many columns as the beginning of the text names; once names are read, of all
}

// recordScanner finds the ends of records.
type recordScanner struct {
	most   int    // bytes of a record that are kept
	record []byte // its text with its line end
	bytes  int64  // of the record, kept or not
	begun  bool
	quoted bool // inside of quotes
	closed bool // right behind a quote that ended a cell, unless it is doubled
	inCell bool // behind the first byte of a cell
}

// cellKind is what the cells of a column are written as.
type cellKind int

const (
	textCell cellKind = iota
	intCell
	floatCell
	boolCell
)

func newCSVCutter(in *input, o *Options, src *source, at mark, ahead []span) (cutter, error) {
	s := &csvScanner{recordScanner: recordScanner{most: o.Batch}}
	head := bytes.TrimPrefix(src.head, bom)
	names, rows, err := readCSVHead(head, src.whole && !src.follow)
	if err != nil {
		return nil, err
	}
	s.kinds = make([]cellKind, len(names))
	if o.Pipeline == "" && o.PipelineFile == "" || o.Pipeline == identity {
		s.kinds = cellKinds(len(names), rows)
	}
	return newEntryCutter(s, in, o, src, at, ahead), nil
}

// readCSVHead reads the head line and the whole records behind it, of the beginning of a text. whole: that is all of
// it. Of a head line that is cut, or wrong, there are no names: it is told when it is read.
func readCSVHead(head []byte, whole bool) (names []string, rows [][]cell, err error) {
	s := &recordScanner{most: len(head)}
	for len(head) > 0 {
		n, _, done := s.scan(head)
		head = head[n:]
		if !done && !whole {
			break // cut
		}
		cells, err := splitRecord(bytes.Clone(s.record))
		if err != nil {
			break // it is told when its line is reached
		}
		if names == nil {
			for _, c := range cells {
				names = append(names, string(c.text))
			}
		} else {
			rows = append(rows, cells)
		}
		s.drop()
	}
	if len(names) == 0 && !s.begun {
		return nil, nil, errors.New("the CSV has no head line with the names of its columns")
	}
	return names, rows, checkNames(names)
}

// checkNames wants a name for each column.
func checkNames(names []string) error {
	for i, name := range names {
		if name == "" {
			return fmt.Errorf("the head line of the CSV has no name for column %d", i+1)
		}
	}
	return nil
}

func (s *recordScanner) drop() { *s = recordScanner{most: s.most, record: s.record[:0]} }

func (s *recordScanner) scan(text []byte) (n, begin int, done bool) {
	begin = -1
	if !s.begun {
		for n < len(text) && (text[n] == '\n' || text[n] == '\r') { // empty lines are none
			n++
		}
		if n == len(text) {
			return n, -1, false
		}
		s.begun, begin = true, n
	}
	from := n
	for n < len(text) && !done {
		c := text[n]
		n++
		switch {
		case s.quoted:
			s.quoted, s.closed = c != '"', c == '"'
		case c == '"' && (!s.inCell || s.closed):
			s.quoted, s.closed = true, false
		default:
			s.closed, done = false, c == '\n'
		}
		s.inCell = s.quoted || c != ','
	}
	if keep := min(n-from, s.most+1-len(s.record)); keep > 0 {
		s.record = append(s.record, text[from:from+keep]...)
	}
	s.bytes += int64(n - from)
	return n, begin, done
}

func (s *csvScanner) scan(text []byte) (n, begin int, done bool, err error) {
	if n, begin, done = s.recordScanner.scan(text); done && s.names == nil {
		if err := s.takeNames(); err != nil {
			return 0, -1, false, err
		}
		done = false
	}
	return n, begin, done, nil
}

// takeNames takes the head line, of which the beginning of the text may hold only a part.
func (s *csvScanner) takeNames() error {
	if s.bytes > int64(s.most) {
		return fmt.Errorf("the head line of the CSV has %d bytes, a batch has %d: raise --batch", s.bytes, s.most)
	}
	cells, err := splitRecord(s.record)
	if err != nil {
		return fmt.Errorf("the head line of the CSV: %w", err)
	}
	var names []string
	for _, c := range cells {
		names = append(names, string(c.text))
		s.names = append(s.names, string(appendText(nil, c.text))+":")
	}
	if more := len(names) - len(s.kinds); more > 0 {
		s.kinds = append(s.kinds, make([]cellKind, more)...)
	}
	s.drop()
	return checkNames(names)
}

func (s *csvScanner) end() (done bool, err error) {
	switch {
	case s.quoted:
		return false, errors.New("the CSV ends inside of quotes that are opened in the record that begins here")
	case s.begun && s.names == nil:
		return false, s.takeNames()
	}
	return s.begun, nil
}

// size is what a record takes as JSON, at most about.
func (s *csvScanner) size() int64 {
	n := s.bytes * 2
	for _, name := range s.names {
		n += int64(len(name)) + 3
	}
	return n
}

func (s *csvScanner) appendLine(dst []byte) (line []byte, refused string) {
	cells, err := splitRecord(s.record)
	switch {
	case s.bytes > int64(s.most):
		refused = fmt.Sprintf("the record has %d bytes, and a batch %d: are its quotes closed?", s.bytes, s.most)
	case err != nil:
		refused = err.Error()
	case !utf8.Valid(s.record):
		refused = "the record is not UTF-8"
	case len(cells) != len(s.names):
		refused = fmt.Sprintf("the record has %d cells, and the head line %d", len(cells), len(s.names))
	}
	if refused != "" {
		shown := s.record[:min(len(s.record), mostShown)]
		return append(dst, bytes.TrimRight(shown, "\r\n")...), refused
	}
	dst = append(dst, '{')
	first := true
	for i, c := range cells {
		if len(c.text) == 0 && !c.quoted {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, s.names[i]...)
		dst = s.kinds[i].append(dst, c)
	}
	return append(dst, '}'), ""
}

// cell is one of a record, without its quotes.
type cell struct {
	text   []byte
	quoted bool
}

// splitRecord cuts a record into its cells, which may lie in its text.
func splitRecord(record []byte) (cells []cell, err error) {
	record = bytes.TrimSuffix(record, newline)
	record = bytes.TrimSuffix(record, []byte("\r"))
	for {
		if len(record) > 0 && record[0] == '"' {
			var text []byte
			if text, record, err = quotedCell(record[1:]); err != nil {
				return nil, fmt.Errorf("cell %d: %w", len(cells)+1, err)
			}
			cells = append(cells, cell{text, true})
		} else {
			end := bytes.IndexByte(record, ',')
			if end < 0 {
				end = len(record)
			}
			cells = append(cells, cell{text: record[:end]})
			record = record[end:]
		}
		if len(record) == 0 {
			return cells, nil
		}
		record = record[1:] // the comma
	}
}

// quotedCell reads up to the quote that ends a cell; rest begins with a comma, or is empty.
func quotedCell(text []byte) (cell, rest []byte, err error) {
	from := 0
	for {
		i := bytes.IndexByte(text[from:], '"')
		if i < 0 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		at := from + i
		switch {
		case at+1 == len(text) || text[at+1] == ',':
			return bytes.ReplaceAll(text[:at], []byte(`""`), []byte(`"`)), text[at+1:], nil
		case text[at+1] != '"':
			return nil, nil, errors.New("there is text behind its closing quote")
		}
		from = at + 2
	}
}

var (
	integer = client.Pattern(`^-?(0|[1-9][0-9]{0,18})$`)
	decimal = client.Pattern(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
)

// cellKinds finds what columns hold by their first cells: a number where all are, and never for cells in quotes.
func cellKinds(columns int, rows [][]cell) []cellKind {
	kinds := make([]cellKind, columns)
	for i := range kinds {
		ints, floats, bools, any := true, true, true, false
		for _, row := range rows {
			if i >= len(row) || len(row[i].text) == 0 && !row[i].quoted {
				continue
			}
			c := row[i]
			any = true
			ints = ints && !c.quoted && isInt(c.text)
			floats = floats && !c.quoted && decimal().Match(c.text)
			bools = bools && !c.quoted && (string(c.text) == "true" || string(c.text) == "false")
		}
		switch {
		case !any:
		case ints:
			kinds[i] = intCell
		case floats:
			kinds[i] = floatCell
		case bools:
			kinds[i] = boolCell
		}
	}
	return kinds
}

func isInt(text []byte) bool {
	if !integer().Match(text) {
		return false
	}
	_, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil
}

// append writes a cell. One that is not of its kind is written as the text it is, for the server to judge.
func (k cellKind) append(dst []byte, c cell) []byte {
	switch {
	case k == intCell && isInt(c.text), k == boolCell && (string(c.text) == "true" || string(c.text) == "false"):
		return append(dst, c.text...)
	case k == floatCell && decimal().Match(c.text):
		dst = append(dst, c.text...)
		if !bytes.ContainsAny(c.text, ".eE") {
			dst = append(dst, ".0"...) // of one type with the others
		}
		return dst
	}
	return appendText(dst, c.text)
}

// appendText writes a string of JSON.
func appendText(dst, text []byte) []byte {
	plain := utf8.Valid(text)
	for _, b := range text {
		plain = plain && b >= 0x20 && b != '"' && b != '\\'
	}
	if plain {
		return append(append(append(dst, '"'), text...), '"')
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		panic(fmt.Sprintf("a string has no JSON: %v", err))
	}
	return append(dst, quoted...)
}
