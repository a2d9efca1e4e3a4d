package rowfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"varve/engine/vector"
)

// jsonReader reads one JSON object a line; empty lines are passed over.
type jsonReader struct {
	lines *lineReader
	bad   func(int64, error) error
	names map[string]int

	buf     []byte
	text    []byte
	cols    []*vector.Vector
	missing []vector.Bitmap
	values  []value // values[k]: of the current object
	at      []int64
}

// value is a member of an object: text[off:end].
type value struct {
	state    uint8
	off, end int
}

// The states of a value.
const (
	absent uint8 = iota
	null
	given
)

func newJSONReader(lines *lineReader, names []string, bad func(int64, error) error) *jsonReader {
	r := &jsonReader{
		lines: lines, bad: bad, names: map[string]int{}, cols: stringColumns(len(names)),
		values: make([]value, len(names)), missing: make([]vector.Bitmap, len(names)),
	}
	for k, name := range names {
		r.names[name] = k
	}
	return r
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
		if err := r.object(line); err != nil {
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
	for k, x := range r.values {
		if x.state == given {
			appendView(r.cols[k], n, x.off, x.end)
			continue
		}
		r.cols[k].AppendNulls(n, 1)
		if x.state == absent {
			if r.missing[k] == nil {
				r.missing[k] = vector.MakeBitmap(vector.Size)
			}
			r.missing[k].Set(n)
		}
	}
}

// object takes an object apart. Of members with one name the last counts.
func (r *jsonReader) object(line []byte) error {
	clear(r.values)
	if !json.Valid(line) {
		return syntaxError(line)
	}
	if line[0] != '{' {
		return errors.New("every line must hold one JSON object")
	}
	// The text is valid from here on: only its parts have to be found.
	for pos := skipBlank(line, 1); line[pos] != '}'; {
		end := skipValue(line, pos)
		name, err := unquote(line[pos:end])
		if err != nil {
			return err
		}
		pos = skipBlank(line, skipBlank(line, end)+1) // behind the colon
		end = skipValue(line, pos)
		if k, ok := r.names[string(name)]; ok {
			if r.values[k], err = r.value(line[pos:end]); err != nil {
				return err
			}
		}
		if pos = skipBlank(line, end); line[pos] == ',' {
			pos = skipBlank(line, pos+1)
		}
	}
	return nil
}

// value keeps the text of a member: of a string what it holds, of others what is written.
func (r *jsonReader) value(raw []byte) (value, error) {
	off := len(r.text)
	switch raw[0] {
	case 'n':
		return value{state: null}, nil
	case '"':
		s, err := unquote(raw)
		if err != nil {
			return value{}, err
		}
		r.text = append(r.text, s...)
	default:
		r.text = append(r.text, raw...)
	}
	return value{given, off, len(r.text)}, nil
}

// syntaxError says what is wrong with text that is not JSON, and at which byte.
func syntaxError(line []byte) error {
	var x json.RawMessage
	err := json.Unmarshal(line, &x)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("no JSON at byte %d: %w", syntax.Offset, err)
	}
	return errors.New("no JSON")
}

// unquote gives what a valid JSON string holds.
func unquote(raw []byte) ([]byte, error) {
	inner := raw[1 : len(raw)-1]
	if !utf8.Valid(inner) {
		return nil, errors.New("a string is not UTF-8")
	}
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	return []byte(s), nil
}

// skipBlank is the position of the next byte of valid JSON that is no blank.
func skipBlank(b []byte, pos int) int {
	for b[pos] == ' ' || b[pos] == '\t' || b[pos] == '\n' || b[pos] == '\r' {
		pos++
	}
	return pos
}

// skipValue is the position behind the value of valid JSON that begins at pos.
func skipValue(b []byte, pos int) int {
	switch b[pos] {
	case '"':
		return skipString(b, pos)
	case '{', '[':
		depth := 0
		for {
			switch b[pos] {
			case '"':
				pos = skipString(b, pos)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			pos++
			if depth == 0 {
				return pos
			}
		}
	}
	for pos < len(b) && !endsWord[b[pos]] {
		pos++
	}
	return pos
}

// endsWord are the bytes that stand behind numbers, true, false and null.
var endsWord = [256]bool{',': true, '}': true, ']': true, ' ': true, '\t': true, '\r': true, '\n': true}

func skipString(b []byte, pos int) int {
	for pos++; b[pos] != '"'; pos++ {
		if b[pos] == '\\' {
			pos++
		}
	}
	return pos + 1
}
