package filter

import (
	"bytes"
	"unicode/utf8"
)

// Pattern is a compiled LIKE pattern: % stands for any text, _ for one character, and a backslash makes the next
// character literal. Safe for concurrent use.
type Pattern struct {
	fold bool
	// segments are the texts between the %; open[0] and open[1] report whether a % precedes the first and follows the
	// last segment.
	segments    []segment
	open        [2]bool
	onlyLiteral bool // no segment holds _
}

// segment is a run of text and single-character wildcards: text[0] _ text[1] _ ... text[n].
type segment struct {
	texts [][]byte
}

// NewLike compiles a pattern; fold makes it ILIKE.
func NewLike(pattern []byte, fold bool) *Pattern {
	if fold {
		pattern = AppendFold(nil, pattern)
	}
	l := &Pattern{fold: fold, onlyLiteral: true}
	cur := segment{texts: [][]byte{nil}}
	begun := false // cur holds something
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '%':
			if begun {
				l.segments = append(l.segments, cur)
				cur, begun = segment{texts: [][]byte{nil}}, false
			} else if len(l.segments) == 0 {
				l.open[0] = true
			}
			l.open[1] = true
			continue
		case c == '_':
			cur.texts = append(cur.texts, nil)
			l.onlyLiteral = false
		default:
			if c == '\\' && i+1 < len(pattern) {
				i++
				c = pattern[i]
			}
			last := len(cur.texts) - 1
			cur.texts[last] = append(cur.texts[last], c)
		}
		begun = true
		l.open[1] = false
	}
	if begun {
		l.segments = append(l.segments, cur)
	}
	return l
}

// Match reports whether the whole text matches the pattern. It allocates for ILIKE only.
func (l *Pattern) Match(text []byte) bool {
	if l.fold {
		text = AppendFold(nil, text)
	}
	return l.matchFolded(text)
}

// matchFolded matches a text that is folded already when the pattern is. Segments are taken leftmost first: each
// consumes a fixed number of characters, so the leftmost place leaves the most room.
func (l *Pattern) matchFolded(text []byte) bool {
	segments := l.segments
	if len(segments) == 0 {
		return l.open[0] || l.open[1] || len(text) == 0
	}
	if !l.open[0] {
		n, ok := segments[0].at(text)
		if !ok {
			return false
		}
		text, segments = text[n:], segments[1:]
		if len(segments) == 0 {
			return l.open[1] || len(text) == 0
		}
	}
	last := len(segments)
	if !l.open[1] {
		last--
	}
	for i := range segments[:last] {
		end, ok := segments[i].find(text)
		if !ok {
			return false
		}
		text = text[end:]
	}
	return l.open[1] || segments[last].ends(text)
}

// at matches the segment at the beginning of text and gives how many bytes it takes.
func (s *segment) at(text []byte) (int, bool) {
	at := 0
	for i, t := range s.texts {
		if i > 0 {
			if at >= len(text) {
				return 0, false
			}
			at += charLen(text[at:])
		}
		if !bytes.HasPrefix(text[at:], t) {
			return 0, false
		}
		at += len(t)
	}
	return at, true
}

// find returns the end of the leftmost match of the segment.
func (s *segment) find(text []byte) (end int, ok bool) {
	for from := 0; ; {
		i := bytes.Index(text[from:], s.texts[0])
		if i < 0 {
			return 0, false
		}
		from += i
		if len(s.texts) == 1 {
			return from + len(s.texts[0]), true
		}
		if n, ok := s.at(text[from:]); ok {
			return from + n, true
		}
		if from >= len(text) {
			return 0, false
		}
		from += charLen(text[from:])
	}
}

// ends reports whether text ends with the segment.
func (s *segment) ends(text []byte) bool {
	at := len(text)
	for i := len(s.texts) - 1; ; i-- {
		t := s.texts[i]
		if !bytes.HasSuffix(text[:at], t) {
			return false
		}
		at -= len(t)
		if i == 0 {
			return true
		}
		if at == 0 {
			return false
		}
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
}

// charLen is the length of the character at the beginning of b, which is not empty; a stray byte counts as one.
func charLen(b []byte) int {
	if b[0] < utf8.RuneSelf {
		return 1
	}
	_, size := utf8.DecodeRune(b)
	return size
}

// likeMatcher makes a matcher of a pattern. For %text% it is a plain search; for other patterns it checks the rows that
// hold the pattern's longest text.
func likeMatcher(pattern []byte, fold bool) *matcher {
	l := NewLike(pattern, fold)
	m := &matcher{fold: fold, check: l.matchFolded}
	for i, s := range l.segments {
		for j, t := range s.texts {
			if len(t) > len(m.literal) {
				m.literal = t
			}
			if i == 0 && j == 0 && !l.open[0] {
				m.start = t
			} else {
				m.parts = append(m.parts, t)
			}
		}
	}
	switch {
	case len(l.segments) == 1 && l.onlyLiteral && l.open[0] && l.open[1]:
		m.check = nil
	case len(l.segments) == 1 && l.onlyLiteral && !l.open[0]:
		m.open, m.anchored = l.open[1], !fold
	case !l.open[0] && !fold: // begins with text or is an equality: looking at the row is cheaper than a search
		m.anchored = true
	}
	return m
}
