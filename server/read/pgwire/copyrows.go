package pgwire

import (
	"bytes"
	"fmt"
	"strings"
)

// scan is how far the bytes of a row are looked at that has not arrived whole: each byte is looked at once.
type scan struct {
	at     int
	inside bool // csv: in quotes
	cell   int  // binary: the values whose bytes have arrived
}

// find returns the bytes of the row that b begins with, 0 if more have to arrive; last: no more come.
func (in *intake) find(b []byte, last bool) (n int, err error) {
	switch in.c.format {
	case "binary":
		return in.findBinary(b)
	case "csv":
		n = in.findCSV(b, last)
	default:
		n = in.findText(b)
	}
	if n == 0 && last {
		n = len(b)
	}
	return n, nil
}

// findText finds the end of a line. A line end after a backslash is part of a value.
func (in *intake) findText(b []byte) int {
	for s := &in.seen; ; {
		i := bytes.IndexByte(b[s.at:], '\n')
		if i < 0 {
			s.at = len(b)
			return 0
		}
		end := s.at + i
		if s.at = end + 1; backslashes(b[:end])%2 == 0 {
			return end + 1
		}
	}
}

// backslashes is the number of backslashes at the end.
func backslashes(b []byte) int { return len(b) - len(bytes.TrimRight(b, `\`)) }

// findCSV finds the end of a line of csv, which goes on after line ends in quotes.
func (in *intake) findCSV(b []byte, last bool) int {
	c, s := in.c, &in.seen
	for s.at < len(b) {
		switch x := b[s.at]; {
		case s.inside && x == c.escape && c.escape != c.quote:
			if s.at+1 == len(b) && !last {
				return 0
			}
			if s.at+1 < len(b) && (b[s.at+1] == c.quote || b[s.at+1] == c.escape) {
				s.at++
			}
		case x == c.quote: // two quotes in quotes leave them and begin them again
			s.inside = !s.inside
		case x == '\n' && !s.inside:
			return s.at + 1
		}
		s.at++
	}
	return 0
}

// findBinary finds the end of the head, or of a row.
func (in *intake) findBinary(b []byte) (int, error) {
	if !in.begun {
		if len(b) < len(copyHead) {
			return 0, nil
		}
		return len(copyHead), nil
	}
	if len(b) < 2 {
		return 0, nil
	}
	count := int(int16(be.Uint16(b)))
	if count == -1 {
		return 2, nil
	}
	if count != len(in.types) {
		return 0, fail("22P04", fmt.Sprintf("it has %d values, and there are %d columns", count, len(in.types)))
	}
	s := &in.seen
	for s.at = max(s.at, 2); s.cell < count; s.cell++ {
		if len(b) < s.at+4 {
			return 0, nil
		}
		n := 4 + max(0, int(int32(be.Uint32(b[s.at:]))))
		if len(b)-s.at < n {
			return 0, nil
		}
		s.at += n
	}
	return s.at, nil
}

// values are the values of a row that is whole; nil: it is no row.
func (in *intake) values(b []byte) (row []value, err error) {
	switch in.c.format {
	case "binary":
		return in.binary(b)
	case "csv":
		row, err = in.csv(b)
	default:
		row, err = in.text(b)
	}
	if !in.begun { // the names of the columns
		in.begun, row = true, nil
	}
	return row, err
}

// binary reads the head, or a row of the binary format.
func (in *intake) binary(b []byte) (row []value, err error) {
	if !in.begun {
		flags, more := be.Uint32(b[len(copyHead)-8:]), be.Uint32(b[len(copyHead)-4:])
		switch {
		case string(b[:11]) != copyHead[:11]:
			return nil, fail("22P04", "the head of the binary format is damaged: signature not recognized")
		case flags>>16 != 0:
			return nil, fail("22P04", "the head of the binary format has critical flags that are not known")
		case more != 0:
			return nil, fail("22P04", "the head of the binary format has extensions")
		}
		in.begun = true
		return nil, nil
	}
	if be.Uint16(b) == 0xffff {
		in.over = true
		return nil, nil
	}
	row = make([]value, len(in.types))
	for i, at := 0, 2; i < len(row); i++ {
		size := int(int32(be.Uint32(b[at:])))
		at += 4
		var cell []byte
		if size >= 0 {
			cell = b[at : at+size : at+size]
			at += size
		}
		if row[i], err = readValue(i+1, in.types[i], cell, true); err != nil {
			return nil, in.cellError(i, err)
		}
	}
	return row, nil
}

// text reads a line of the text format.
func (in *intake) text(b []byte) (row []value, err error) {
	line := bytes.TrimSuffix(bytes.TrimSuffix(b, []byte{'\n'}), []byte{'\r'})
	if string(line) == `\.` {
		in.over = true
		return nil, nil
	}
	for from := 0; ; {
		to := from
		for to < len(line) && line[to] != in.c.comma {
			if to++; line[to-1] == '\\' && to < len(line) {
				to++
			}
		}
		cell := line[from:to]
		null := string(cell) == in.c.null
		if !null {
			cell = plain(cell)
		}
		if row, err = in.add(row, cell, null); err != nil || to >= len(line) {
			return row, err
		}
		from = to + 1
	}
}

// plain is a value of the text format without its backslashes. Digits after one are those of a byte: \061, \x31.
func plain(cell []byte) []byte {
	if bytes.IndexByte(cell, '\\') < 0 {
		return cell
	}
	out := make([]byte, 0, len(cell))
	for i := 0; i < len(cell); i++ {
		if cell[i] != '\\' || i+1 == len(cell) {
			out = append(out, cell[i])
			continue
		}
		i++
		if at := strings.IndexByte("btnvfr", cell[i]); at >= 0 {
			out = append(out, "\b\t\n\v\f\r"[at])
			continue
		}
		from, most, base := i, 3, 8
		if cell[i] == 'x' {
			from, most, base = i+1, 2, 16
		}
		n, digits := 0, 0
		for digits < most && from+digits < len(cell) {
			d := digitOf(cell[from+digits])
			if d >= base {
				break
			}
			n, digits = n*base+d, digits+1
		}
		if digits == 0 {
			out = append(out, cell[i])
			continue
		}
		out, i = append(out, byte(n)), from+digits-1
	}
	return out
}

// digitOf is the value of a digit of hex; 16: it is none.
func digitOf(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	}
	return 16
}

// csv reads a line of csv, which may have line ends in quotes.
func (in *intake) csv(b []byte) (row []value, err error) {
	c := in.c
	b = bytes.TrimSuffix(b, []byte{'\n'})
	cell := in.scratch[:0]
	quoted, inside := false, false
	for i := 0; ; i++ {
		switch {
		case i < len(b) && inside && b[i] == c.escape && i+1 < len(b) && (b[i+1] == c.quote || b[i+1] == c.escape):
			cell, i = append(cell, b[i+1]), i+1
		case i < len(b) && b[i] == c.quote:
			quoted, inside = true, !inside
		case i < len(b) && (inside || b[i] != c.comma):
			cell = append(cell, b[i])
		default:
			ends := i >= len(b)
			if inside {
				return nil, fail("22P04", "a quote is not closed")
			}
			if ends && !quoted {
				cell = bytes.TrimSuffix(cell, []byte{'\r'})
			}
			if ends && len(row) == 0 && !quoted && string(cell) == `\.` {
				in.over = true
				return nil, nil
			}
			if row, err = in.add(row, cell, !quoted && string(cell) == c.null); err != nil || ends {
				if in.scratch = cell; cap(cell) > copyStep {
					in.scratch = nil
				}
				return row, err
			}
			cell, quoted = cell[:0], false
		}
	}
}

// add adds a value to a row.
func (in *intake) add(row []value, cell []byte, null bool) ([]value, error) {
	if !in.begun {
		return append(row, value{}), nil
	}
	if len(row) == len(in.types) {
		return nil, fail("22P04", fmt.Sprintf("it has more values than the %d columns", len(in.types)))
	}
	if row == nil {
		row = make([]value, 0, len(in.types))
	}
	if null {
		cell = nil
	} else if cell == nil {
		cell = []byte{}
	}
	v, err := readValue(len(row)+1, in.types[len(row)], cell, false)
	if err != nil {
		return nil, in.cellError(len(row), err)
	}
	return append(row, v), nil
}
