package pgwire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// copying is COPY .. TO STDOUT or FROM STDIN.
type copying struct {
	text   string
	in     bool
	query  string // whose rows go out; of a table: that of its columns
	insert string // the statement that takes rows in, but for the rows
	format string // text, csv or binary
	header bool   // csv and text: the first line has names
	comma  byte   // between values
	quote  byte   // csv: around values
	escape byte   // csv: before a quote in them
	null   string // what stands for NULL
}

// maxCopyWords bounds the words of a COPY.
const maxCopyWords = 100_000

// readCopy reads a COPY to or from the client; nil if the statement is another, such as one of a file.
func readCopy(text string) (*copying, error) {
	words := parse.Lexemes(text, maxCopyWords)
	at := -1
	for i := range words {
		if follow := words[i:]; len(follow) > 1 && (follows(follow, []string{"to", "stdout"}) ||
			follows(follow, []string{"from", "stdin"})) {
			at = i
		}
	}
	if at < 2 {
		return nil, nil
	}
	c := &copying{text: text, in: words[at].Is("from"), format: "text"}
	head := strings.TrimSpace(text[words[1].At:words[at].At])
	switch {
	case head[0] != '(':
		name, columns := head, "*"
		if open := slices.IndexFunc(words[:at], func(t parse.Lexeme) bool { return t.Text == "(" }); open > 0 {
			name, columns = text[words[1].At:words[open].At], text[words[open].At+1:words[at-1].At]
			c.insert = fmt.Sprintf("INSERT INTO %s (%s) VALUES (NULL)", name, columns)
		} else {
			c.insert = fmt.Sprintf("INSERT INTO %s VALUES (NULL)", name)
		}
		c.query = fmt.Sprintf("SELECT %s FROM %s", columns, name)
	case c.in || head[len(head)-1] != ')':
		return nil, fail("42601", "COPY cannot be read: expected COPY table or (query) TO STDOUT, or table FROM STDIN")
	default:
		c.query = head[1 : len(head)-1]
	}
	return c, c.options(words[at+2:])
}

// options reads what follows STDOUT or STDIN: WITH (FORMAT csv, HEADER ..) or the older words without parentheses.
func (c *copying) options(words []parse.Lexeme) error {
	bad := func(w parse.Lexeme) error {
		return fail("0A000", fmt.Sprintf("option %q of COPY, or its value, is not supported", w.Text))
	}
	one := func(w parse.Lexeme, into *byte) error {
		if len(w.Text) != 1 || w.Kind != parse.TextLexeme {
			return bad(w)
		}
		*into = w.Text[0]
		return nil
	}
	null := false
	for i := 0; i < len(words); i++ {
		w := words[i]
		next := parse.Lexeme{Kind: parse.OtherLexeme}
		if i+1 < len(words) {
			next = words[i+1]
		}
		var err error
		switch {
		case w.Is("with"), w.Kind == parse.OtherLexeme && strings.Contains("(),", w.Text):
		case w.Is("format"):
			i++
			c.format = strings.ToLower(next.Text)
		case w.Is("csv"), w.Is("binary"), w.Is("text"):
			c.format = w.Text
		case w.Is("header"):
			c.header = true
			if next.Is("true") || next.Is("on") || next.Is("false") || next.Is("off") {
				i++
				c.header = next.Is("true") || next.Is("on")
			}
		case w.Is("delimiter"):
			i++
			err = one(next, &c.comma)
		case w.Is("quote"):
			i++
			err = one(next, &c.quote)
		case w.Is("escape"):
			i++
			err = one(next, &c.escape)
		case w.Is("null"):
			i++
			null, c.null = true, next.Text
		case w.Is("encoding"):
			i++
			_, err = checkEncoding(nil, next.Text)
		default:
			err = bad(w)
		}
		if err != nil {
			return err
		}
	}
	return c.defaults(null)
}

// defaults gives what was not said its value.
func (c *copying) defaults(null bool) error {
	or := func(b *byte, value byte) {
		if *b == 0 {
			*b = value
		}
	}
	switch c.format {
	case "text":
		or(&c.comma, '\t')
		if !null {
			c.null = `\N`
		}
	case "csv":
		or(&c.comma, ',')
		or(&c.quote, '"')
		or(&c.escape, c.quote)
	case "binary":
	default:
		return fail("22023", fmt.Sprintf("COPY format %q not recognized", c.format))
	}
	return c.check()
}

// check refuses bytes between and around values that cannot be told from others.
func (c *copying) check() error {
	const ends = "\r\n"
	in := func(list string, b byte) bool { return strings.IndexByte(list, b) >= 0 }
	switch {
	case c.format == "binary":
	case in(ends, c.comma):
		return fail("22023", "COPY delimiter cannot be newline or carriage return")
	case c.format == "text" && in(`\.abcdefghijklmnopqrstuvwxyz0123456789`, c.comma):
		return fail("22023", fmt.Sprintf("COPY delimiter cannot be %q", c.comma))
	case strings.ContainsAny(c.null, ends):
		return fail("22023", "COPY null representation cannot use newline or carriage return")
	case in(c.null, c.comma):
		return fail("22023", "COPY delimiter character must not appear in the NULL specification")
	case c.format == "text":
	case c.comma == c.quote:
		return fail("22023", "COPY delimiter and quote must be different")
	case in(ends, c.quote), in(ends, c.escape):
		return fail("22023", "COPY quote and escape cannot be newline or carriage return")
	case in(c.null, c.quote):
		return fail("22023", "CSV quote character must not appear in the NULL specification")
	}
	return nil
}

// formats are the formats of the columns.
func (c *copying) formats(n int) []uint16 {
	list := make([]uint16, n)
	if c.format == "binary" {
		for i := range list {
			list[i] = 1
		}
	}
	return list
}

// overall is the format of the whole.
func (c *copying) overall() byte {
	if c.format == "binary" {
		return 1
	}
	return 0
}

// The beginning and the end of the binary format.
const (
	copyHead = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	copyTail = "\xff\xff"
)

// copyOut sends the rows of a query.
func (k *conn) copyOut(c *copying) error {
	p, err := k.newPortal(c.query, nil)
	if err != nil {
		return failureOf(k.logged(err), "", 0)
	}
	defer p.end()
	switch p.st.(type) {
	case *parse.SelectStmt, *parse.TQL:
	default:
		return fail("42601", "COPY .. TO STDOUT takes a table or a query in parentheses")
	}
	if p.copy = c; c.format == "binary" {
		p.formats = []int16{1}
	}
	if _, err := k.rows(p, -1, true); err != nil {
		return k.located(err, "")
	}
	if c.format == "binary" {
		k.send(&pgproto3.CopyData{Data: []byte(copyTail)})
	}
	k.send(&pgproto3.CopyDone{})
	k.send(&pgproto3.CommandComplete{CommandTag: fmt.Appendf(nil, "COPY %d", p.sent)})
	return nil
}

// copyColumns says that rows follow, and sends what is before them.
func (k *conn) copyColumns(c *copying, fields []vector.Field) {
	k.send(&pgproto3.CopyOutResponse{OverallFormat: c.overall(), ColumnFormatCodes: c.formats(len(fields))})
	switch {
	case c.format == "binary":
		k.send(&pgproto3.CopyData{Data: []byte(copyHead)})
	case c.header:
		var line []byte
		for i, f := range fields {
			if i > 0 {
				line = append(line, c.comma)
			}
			line = c.appendValue(line, []byte(shownName(f.Name)))
		}
		k.send(&pgproto3.CopyData{Data: append(line, '\n')})
	}
}

// appendRow appends the message of a row.
func (c *copying) appendRow(dst []byte, p *portal) []byte {
	at := len(dst)
	dst = append(dst, 'd', 0, 0, 0, 0)
	if c.format == "binary" {
		dst = be.AppendUint16(dst, uint16(len(p.cells)))
		for i, write := range p.cells {
			dst = appendCell(dst, p.batch.Cols[i], write, p.at)
		}
	} else {
		for i, write := range p.cells {
			if i > 0 {
				dst = append(dst, c.comma)
			}
			if p.batch.Cols[i].IsNull(p.at) {
				dst = append(dst, c.null...)
				continue
			}
			p.scratch = write(p.scratch[:0], p.at)
			dst = c.appendValue(dst, p.scratch)
		}
		dst = append(dst, '\n')
	}
	be.PutUint32(dst[at+1:], uint32(len(dst)-at-1))
	return dst
}

// appendValue appends a value that is not NULL as text or csv.
func (c *copying) appendValue(dst, text []byte) []byte {
	if c.format == "csv" {
		return c.appendCSV(dst, text)
	}
	for _, b := range text {
		if i := strings.IndexByte("\b\t\n\v\f\r\\", b); i >= 0 {
			dst = append(dst, '\\', `btnvfr\`[i])
			continue
		}
		if b == c.comma {
			dst = append(dst, '\\')
		}
		dst = append(dst, b)
	}
	return dst
}

// appendCSV puts quotes around a value that would be read as another without them.
func (c *copying) appendCSV(dst, text []byte) []byte {
	plain := string(text) != c.null && string(text) != `\.`
	for _, b := range text {
		plain = plain && b != c.comma && b != c.quote && b != '\n' && b != '\r'
	}
	if plain {
		return append(dst, text...)
	}
	dst = append(dst, c.quote)
	for _, b := range text {
		if b == c.quote || b == c.escape {
			dst = append(dst, c.escape)
		}
		dst = append(dst, b)
	}
	return append(dst, c.quote)
}
