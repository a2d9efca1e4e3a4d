package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"varve/cmd/varve/client"
	"varve/engine/status"
)

// rowError is why a row cannot be written as SQL.
type rowError struct{ error }

// findColumns asks for the columns of the tables that rows go to. Those of files of rows are made where they are not
// there.
func (r *running) findColumns(ctx context.Context) error {
	known := map[string][]client.TableColumn{}
	for _, in := range r.inputs {
		if in.format != insert && formats[r.o.Format] != insert {
			continue
		}
		if known[in.table] == nil {
			t, err := r.c.Table(ctx, r.o.DB, in.table)
			var answer *client.AnswerError
			if in.fields != nil && errors.As(err, &answer) && answer.Code == int(status.TableNotFound) {
				if err = r.makeFor(ctx, in); err == nil {
					t, err = r.c.Table(ctx, r.o.DB, in.table)
				}
			}
			if err != nil {
				return err
			}
			known[in.table] = t.Columns
		}
		in.columns = known[in.table]
	}
	return nil
}

// insertBody is the form of a statement that writes rows, each an object a line.
func insertBody(in *input, dst []byte, lines []byte) ([]byte, error) {
	names, quoted := make([]string, len(in.columns)), make([][]byte, len(in.columns))
	for i, c := range in.columns {
		names[i], quoted[i] = c.Name, appendText(nil, []byte(c.Name))
	}
	dst = append(dst[:0], "sql="...)
	dst = appendEscaped(dst, []byte("INSERT INTO "+client.Name(in.table)+" ("+client.Names(names)+") VALUES "))
	values, row := make([][]byte, len(names)), []byte(nil)
	for line := range bytes.SplitSeq(lines, newline) {
		if len(line) == 0 {
			continue
		}
		if !splitRow(line, quoted, values) {
			if err := parseRow(line, names, values); err != nil {
				return dst, &rowError{err}
			}
		}
		if row = append(row[:0], '('); dst[len(dst)-1] == ')' {
			row = append(row[:0], ",("...)
		}
		for i, c := range in.columns {
			if i > 0 {
				row = append(row, ',')
			}
			var err error
			if row, err = appendValue(row, c.Type, values[i]); err != nil {
				return dst, &rowError{fmt.Errorf("column %s: %w", c.Name, err)}
			}
		}
		dst = append(appendEscaped(dst, row), ')')
	}
	return dst, nil
}

// appendEscaped writes a text as a value of a form.
func appendEscaped(dst, text []byte) []byte {
	const hex = "0123456789ABCDEF"
	for _, c := range text {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			strings.IndexByte("-_.~,()':{}[]/*", c) >= 0, c == '"':
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

// splitRow finds the values of a row that has all columns in their order, as export writes it; else it is false.
func splitRow(line []byte, quoted [][]byte, values [][]byte) bool {
	for i, name := range quoted {
		opening := byte(',')
		if i == 0 {
			opening = '{'
		}
		n := len(name)
		if len(line) < n+3 || line[0] != opening || !bytes.Equal(line[1:1+n], name) || line[1+n] != ':' {
			return false
		}
		line = line[n+2:]
		end := valueEnd(line)
		if end == 0 {
			return false
		}
		values[i], line = line[:end], line[end:]
	}
	return len(line) == 1 && line[0] == '}'
}

// valueEnd is where a value of JSON ends that is followed by a comma or a brace.
func valueEnd(text []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case depth == 0 && (c == ',' || c == '}'):
			return i
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return len(text)
}

// parseRow finds the values of a row whose members stand in any order; absent ones are empty.
func parseRow(line []byte, names []string, values [][]byte) error {
	var row map[string]json.RawMessage
	if err := json.Unmarshal(line, &row); err != nil {
		return fmt.Errorf("it is not an object: %w", err)
	}
	for i, name := range names {
		values[i] = row[name]
		delete(row, name)
	}
	if len(row) > 0 {
		return fmt.Errorf("the table has no column %s", slices.Min(slices.Collect(maps.Keys(row))))
	}
	return nil
}

// appendValue writes a value of an exported row as SQL.
func appendValue(sql []byte, kind string, value []byte) ([]byte, error) {
	switch {
	case len(value) == 0 || string(value) == "null":
		return append(sql, "NULL"...), nil
	case kind == "Json":
		return appendSQLText(sql, value), nil
	case value[0] != '"':
		return append(sql, value...), nil
	}
	text := value[1 : len(value)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, err
		}
		text = []byte(s)
	}
	if kind == "Binary" {
		if len(bytes.Trim(text, "0123456789abcdef")) > 0 {
			return nil, errors.New("a binary value is not written in hexadecimal digits")
		}
		sql = append(sql, 'X')
	}
	return appendSQLText(sql, text), nil
}

// appendSQLText quotes a text for SQL.
func appendSQLText(sql, text []byte) []byte {
	sql = append(sql, '\'')
	for {
		i := bytes.IndexByte(text, '\'')
		if i < 0 {
			return append(append(sql, text...), '\'')
		}
		sql = append(append(sql, text[:i]...), "''"...)
		text = text[i+1:]
	}
}
