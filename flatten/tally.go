package flatten

// maxTallied bounds the brackets that a tally sees open at a time. Entries nest maxNesting deep at most, but those at
// fault may nest deeper.
const maxTallied = 4096

// tally counts the entries of a JSON body from one that cannot be read on, by what shows in spite of the fault:
// brackets that match, or one object a line. It is fed the rest of the body, in pieces of any size.
type tally struct {
	brackets bracketTally
	lines    lineTally
}

func newTally(at place) *tally {
	t := &tally{}
	t.brackets.list = at != atValue
	t.brackets.comma = at == atElement
	t.lines.odd = at != atValue
	return t
}

func (t *tally) feed(text []byte) {
	for _, c := range text {
		t.brackets.feed(c)
		t.lines.feed(c)
	}
}

// count is the number of entries after the whole body; ok is false where neither brackets nor lines tell them apart.
func (t *tally) count() (n int, ok bool) {
	t.lines.feed('\n')
	if b := &t.brackets; !b.odd && !b.list && !b.quoted && len(b.open) == 0 {
		return max(b.n, 1), true
	}
	return max(t.lines.n, 1), !t.lines.odd
}

// bracketTally counts values and the places between commas that lack one.
type bracketTally struct {
	n       int
	open    []byte // the closing brackets that the current value still needs
	list    bool   // within an array of entries
	comma   bool   // the array's last member is still to come
	filled  bool   // the current member of the array has a value
	scalar  bool   // a value without brackets goes on
	quoted  bool
	escaped bool
	odd     bool // brackets do not match, or a text does not end
}

func (t *bracketTally) feed(c byte) {
	switch {
	case t.odd:
	case t.quoted:
		t.inText(c)
	case c == '"':
		t.value()
		t.quoted, t.scalar = true, true
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		t.scalar = false
	case c == '[' && len(t.open) == 0 && !t.list:
		t.list, t.comma, t.filled, t.scalar = true, false, false, false
	case c == '{' || c == '[':
		t.scalar = false
		t.value()
		t.open = append(t.open, c+2) // the closing bracket, in ASCII
		t.odd = len(t.open) > maxTallied
	case c == '}' || c == ']':
		t.scalar = false
		t.closing(c)
	case c == ',':
		t.scalar = false
		if len(t.open) == 0 && t.list {
			t.missing(!t.filled)
			t.comma, t.filled = true, false
		}
	default:
		t.value()
		t.scalar = true
	}
}

// inText takes a byte of a text. A text without its end goes on into the next line, where JSON allows none.
func (t *bracketTally) inText(c byte) {
	switch {
	case t.escaped:
		t.escaped = false
	case c == '\\':
		t.escaped = true
	case c == '"':
		t.quoted = false
	case c < ' ':
		t.odd = true
	}
}

// value begins a value, if it is one of the counted.
func (t *bracketTally) value() {
	if len(t.open) == 0 && !t.scalar {
		t.n++
		t.filled = true
	}
}

// missing counts a member of the array without a value.
func (t *bracketTally) missing(is bool) {
	if is {
		t.n++
	}
}

func (t *bracketTally) closing(c byte) {
	if n := len(t.open); n > 0 {
		t.odd = t.open[n-1] != c
		t.open = t.open[:n-1]
		return
	}
	t.odd = c != ']' || !t.list
	t.missing(t.comma && !t.filled)
	t.list, t.comma, t.filled = false, false, false
}

// lineTally counts lines that each hold one object; the first line may lack its end.
type lineTally struct {
	n       int
	depth   int
	begun   bool // the line has more than blanks
	closed  bool // its object is complete
	quoted  bool
	escaped bool
	odd     bool
}

func (t *lineTally) feed(c byte) {
	switch {
	case t.odd:
	case c == '\n':
		if t.begun {
			t.n++
			t.odd = !t.closed && t.n > 1
		}
		t.depth, t.begun, t.closed, t.quoted, t.escaped = 0, false, false, false, false
	case t.escaped:
		t.escaped = false
	case t.quoted:
		t.escaped, t.quoted = c == '\\', c != '"'
	case c == ' ' || c == '\t' || c == '\r':
	case t.closed || !t.begun && c != '{':
		t.odd = true
	default:
		t.begun = true
		t.quoted = c == '"'
		switch c {
		case '{', '[':
			t.depth++
		case '}', ']':
			t.depth--
			t.closed = t.depth <= 0
		}
	}
}
