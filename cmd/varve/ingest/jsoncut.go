package ingest

import (
	"bytes"
	"errors"
	"fmt"
)

// objectScanner finds the values of a JSON text, and the elements of arrays among them, whatever white space they are
// written with; of log pushes, the elements of their member "streams". It looks at brackets and strings alone: what is
// between them is the server's to judge.
type objectScanner struct {
	streams bool
	most    int // bytes of an entry that are kept

	where   place
	back    place // after an entry or an array
	depth   int   // of brackets of an entry, or of the log push around it
	text    bool  // inside of a string
	escaped bool
	torn    bool // a line ended inside of a string of the entry

	key   []byte // of a log push: its last string
	entry []byte
	bytes int64 // of the entry, kept or not
}

// place is what an objectScanner looks for.
type place int

const (
	between place = iota // a value of the text
	inArray              // an element
	inEntry              // its end
	inPush               // the member "streams" of a log push
)

func newJSONCutter(in *input, o *Options, src *source, at mark, ahead []span) (cutter, error) {
	return newEntryCutter(&objectScanner{most: o.Batch}, in, o, src, at, ahead), nil
}

func newStreamsCutter(in *input, o *Options, src *source, at mark, ahead []span) (cutter, error) {
	return newEntryCutter(&objectScanner{most: o.Batch, streams: true}, in, o, src, at, ahead), nil
}

func (s *objectScanner) scan(text []byte) (n, begin int, done bool, err error) {
	begin = -1
	for n < len(text) && s.where != inEntry {
		if err := s.outside(text[n]); err != nil {
			return n, begin, false, err
		}
		if s.where == inEntry {
			begin = n
			break
		}
		n++
	}
	if n == len(text) {
		return n, begin, false, nil
	}
	m, done := s.inside(text[n:])
	if keep := min(m, s.most+1-len(s.entry)); keep > 0 {
		s.entry = append(s.entry, text[n:n+keep]...)
	}
	s.bytes += int64(m)
	if done {
		s.where = s.back
	}
	return n + m, begin, done, nil
}

// outside takes a byte between entries; one that begins an entry is left to inside.
func (s *objectScanner) outside(c byte) error {
	if s.where == inPush {
		s.push(c)
		return nil
	}
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',':
	case c == '[' && s.where == between:
		s.where = inArray
	case c == ']' && s.where == inArray:
		s.where = between
		if s.streams && s.depth > 0 {
			s.where = inPush
		}
	case c == ']' || c == '}':
		return fmt.Errorf("%q closes nothing that was opened", c)
	case s.streams && s.depth == 0 && c == '{':
		s.where, s.depth = inPush, 1
	case s.streams && s.depth == 0:
		return errors.New("a log push is an object with streams")
	default:
		s.back, s.where = s.where, inEntry
	}
	return nil
}

// push takes a byte of a log push outside of its streams.
func (s *objectScanner) push(c byte) {
	switch {
	case s.text && s.escaped:
		s.escaped = false
	case s.text && c == '\\':
		s.escaped = true
	case s.text && c == '"':
		s.text = false
	case s.text:
		if len(s.key) < len("streams")+1 {
			s.key = append(s.key, c)
		}
	case c == '"':
		s.text, s.key = true, s.key[:0]
	case c == '[' && s.depth == 1 && string(s.key) == "streams":
		s.where = inArray
	case c == '{' || c == '[':
		s.depth++
	case c == '}' || c == ']':
		if s.depth--; s.depth == 0 {
			s.where = between
		}
	}
}

// inside looks for the end of an entry: n bytes belong to it. The depth of a log push stays aside.
func (s *objectScanner) inside(text []byte) (n int, done bool) {
	ground := 0
	if s.streams {
		ground = 1
	}
	for i, c := range text {
		switch {
		case s.text:
			switch {
			case s.escaped:
				s.escaped = false
			case c == '\\':
				s.escaped = true
			case c == '\n':
				s.torn = true
			case c == '"':
				s.text = false
				if s.depth == ground {
					return i + 1, true
				}
			}
		case c == '"':
			s.text = true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth == ground {
				return i, true // behind a number or a word
			}
			if s.depth--; s.depth == ground {
				return i + 1, true
			}
		case s.depth == ground && (c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			return i, true
		}
	}
	return len(text), false
}

func (s *objectScanner) end() (done bool, err error) {
	switch {
	case s.where == inEntry && s.depth == 0 && !s.text:
		s.where = s.back
		return true, nil
	case s.where != between:
		return false, errors.New("the JSON ends in the middle of a value that begins here")
	}
	return false, nil
}

func (s *objectScanner) size() int64 { return s.bytes + 1 }

func (s *objectScanner) appendLine(dst []byte) (line []byte, refused string) {
	entry := s.entry
	switch {
	case s.bytes > int64(s.most):
		refused = fmt.Sprintf("the value has %d bytes, a batch has %d: raise --batch", s.bytes, s.most)
		entry = entry[:min(len(entry), mostShown)]
	case s.torn:
		refused = "a line ends inside of a string: JSON wants \\n there"
	}
	begin := len(dst)
	dst = append(dst, entry...)
	if bytes.IndexByte(entry, '\n') >= 0 || bytes.IndexByte(entry, '\r') >= 0 {
		for i := begin; i < len(dst); i++ { // white space: it stands between values
			if dst[i] == '\n' || dst[i] == '\r' {
				dst[i] = ' '
			}
		}
	}
	return dst, refused
}

func (s *objectScanner) drop() { s.entry, s.bytes, s.torn = s.entry[:0], 0, false }
