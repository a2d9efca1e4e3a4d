package shell

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"

	"varve/cmd/varve/client"
)

// sink takes the rows of a result as they arrive.
type sink interface {
	// begin is called once, before the rows.
	begin(columns []column) error
	// row takes the values of a row as JSON texts, which are the caller's again afterwards.
	row(cells [][]byte) error
	// end is called behind the last row; not after an error.
	end() error
}

// outcome is what a statement came to.
type outcome struct {
	hasRows  bool
	rows     atomic.Int64 // of the answer, so far
	affected int64        // of a statement without rows
	serverMS int64        // what the server took; -1: it does not say
}

// errNoAnswer is for answers that are none of /v1/sql.
var errNoAnswer = errors.New("the server did not answer with a result")

// sinkError is what a sink could not take, as opposed to what could not be read.
type sinkError struct{ error }

func (e *sinkError) Unwrap() error { return e.error }

// answerReader reads one answer of /v1/sql in the format service_v1, a row at a time.
type answerReader struct {
	in    *bufio.Reader
	to    sink
	made  func(client.Column) column
	out   *outcome
	begun bool
	text  []byte // of a row
	ends  []int  // of the row's cells in text
	cells [][]byte
}

// readAnswer gives the rows of an answer to a sink and what else it says to out, also when it breaks off. Columns are
// made by made.
func readAnswer(body io.Reader, made func(client.Column) column, to sink, out *outcome) error {
	a := &answerReader{in: bufio.NewReaderSize(body, 64<<10), to: to, made: made, out: out}
	found := false
	if err := a.members(func(key string) error {
		switch key {
		case "output":
			return a.elements(func() error {
				found = true
				return a.members(a.output)
			})
		case "execution_time_ms":
			return a.number(&out.serverMS)
		}
		return a.skip()
	}); err != nil {
		return err
	}
	if !found {
		return errNoAnswer
	}
	return nil
}

func (a *answerReader) output(key string) error {
	switch key {
	case "affectedrows":
		return a.number(&a.out.affected)
	case "records":
		a.out.hasRows = true
		return a.members(a.records)
	}
	return a.skip()
}

func (a *answerReader) records(key string) error {
	switch key {
	case "schema":
		return a.schema()
	case "rows":
		if !a.begun {
			return errNoAnswer
		}
		if err := a.elements(a.row); err != nil {
			return err
		}
		if err := a.to.end(); err != nil {
			return &sinkError{err}
		}
		return nil
	}
	return a.skip()
}

func (a *answerReader) schema() error {
	var s struct {
		Columns []client.Column `json:"column_schemas"`
	}
	text, err := a.value(nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return errNoAnswer
	}
	columns := make([]column, len(s.Columns))
	for i, c := range s.Columns {
		columns[i] = a.made(c)
	}
	a.begun = true
	a.cells = make([][]byte, len(columns))
	if err := a.to.begin(columns); err != nil {
		return &sinkError{err}
	}
	return nil
}

func (a *answerReader) row() (err error) {
	a.text, a.ends = a.text[:0], a.ends[:0]
	if err := a.elements(func() error {
		a.text, err = a.value(a.text)
		a.ends = append(a.ends, len(a.text))
		return err
	}); err != nil {
		return err
	}
	if len(a.ends) != len(a.cells) {
		return fmt.Errorf("a row has %d values for %d columns: %w", len(a.ends), len(a.cells), errNoAnswer)
	}
	from := 0
	for i, end := range a.ends {
		a.cells[i], from = a.text[from:end], end
	}
	if err := a.to.row(a.cells); err != nil {
		return &sinkError{err}
	}
	a.out.rows.Add(1)
	return nil
}

// next is the next byte that is no blank.
func (a *answerReader) next() (byte, error) {
	for {
		c, err := a.in.ReadByte()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || c > ' ' {
			return c, err
		}
	}
}

func (a *answerReader) expect(want byte) error {
	c, err := a.next()
	if err == nil && c != want {
		err = errNoAnswer
	}
	return err
}

// members reads an object: value reads the value of a key.
func (a *answerReader) members(value func(key string) error) error {
	return a.list('{', '}', func() error {
		text, err := a.value(nil)
		if err != nil {
			return err
		}
		key, err := strconv.Unquote(string(text))
		if err != nil {
			return errNoAnswer
		}
		if err := a.expect(':'); err != nil {
			return err
		}
		return value(key)
	})
}

// elements reads an array: element reads one.
func (a *answerReader) elements(element func() error) error { return a.list('[', ']', element) }

func (a *answerReader) list(open, end byte, element func() error) error {
	if err := a.expect(open); err != nil {
		return err
	}
	c, err := a.next()
	if err != nil || c == end {
		return err
	}
	if err := a.in.UnreadByte(); err != nil {
		return err
	}
	for {
		if err := element(); err != nil {
			return err
		}
		c, err := a.next()
		switch {
		case err != nil || c == end:
			return err
		case c != ',':
			return errNoAnswer
		}
	}
}

func (a *answerReader) number(into *int64) error {
	text, err := a.value(nil)
	if err != nil {
		return err
	}
	if *into, err = strconv.ParseInt(string(text), 10, 64); err != nil {
		return errNoAnswer
	}
	return nil
}

func (a *answerReader) skip() error {
	_, err := a.value(nil)
	return err
}

// value appends the text of the next value.
func (a *answerReader) value(dst []byte) ([]byte, error) {
	c, err := a.next()
	if err != nil {
		return dst, err
	}
	for depth := 0; ; {
		dst = append(dst, c)
		switch c {
		case '"':
			if dst, err = a.rest(dst); err != nil {
				return dst, err
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		// A value that is neither a text nor in brackets ends before the next mark.
		if depth == 0 && (c == '"' || c == '}' || c == ']') {
			return dst, nil
		}
		if c, err = a.in.ReadByte(); err != nil {
			return dst, io.ErrUnexpectedEOF
		}
		if depth == 0 && (c == ',' || c == ']' || c == '}' || c == ':' || c <= ' ') {
			return dst, a.in.UnreadByte()
		}
	}
}

// rest appends the rest of a text, up to its quote.
func (a *answerReader) rest(dst []byte) ([]byte, error) {
	for {
		c, err := a.in.ReadByte()
		if err == nil {
			dst = append(dst, c)
		}
		if err == nil && c == '\\' {
			if c, err = a.in.ReadByte(); err == nil {
				dst = append(dst, c)
			}
			c = 0
		}
		if err != nil {
			return dst, io.ErrUnexpectedEOF
		}
		if c == '"' {
			return dst, nil
		}
	}
}
