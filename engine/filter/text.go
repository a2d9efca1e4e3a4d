package filter

import (
	"bytes"

	"varve/engine/vector"
)

// matcher is a compiled text operator. A row can only pass when it holds literal; check decides the rows that do.
type matcher struct {
	literal []byte
	// fold: the literal is folded, and so are the rows before they are searched and checked.
	fold bool
	// raw: check works on the unchanged row all the same.
	raw bool
	// lower: the rows are lower-cased before they are searched and checked.
	lower bool
	// check decides one row (folded when fold is set); nil: holding the literal is enough.
	check func(row []byte) bool
	// anchored: check is cheaper than a search for the literal.
	anchored bool
	// parts are texts that a row that passes holds, start is what it begins with; folded when fold is set.
	parts [][]byte
	start []byte
	open  bool  // whatever begins with start passes
	word  *Word // of Term
}

// textScratch is the memory that folding needs.
type textScratch struct {
	heap []byte
	row  []byte
}

func newMatcher(op Op, arg []byte, cancelled func() error) (*matcher, error) {
	arg = bytes.Clone(arg)
	switch op {
	case Prefix:
		return &matcher{check: func(row []byte) bool { return bytes.HasPrefix(row, arg) }, anchored: true, start: arg,
			open: true}, nil
	case Contains:
		return &matcher{literal: arg, parts: [][]byte{arg}}, nil
	case ContainsFold:
		arg = AppendFold(nil, arg)
		return &matcher{literal: arg, fold: true, parts: [][]byte{arg}}, nil
	case Term:
		t := NewTerm(arg)
		return &matcher{literal: arg, check: t.Match, parts: [][]byte{arg}, word: t}, nil
	case Regex:
		return newRegex(string(arg), cancelled)
	}
	return likeMatcher(arg, op == ILike), nil
}

// Ways of walking a heap.
const (
	// sparse is the share of candidate rows, one in so many, below which rows are tested one by one. A row of 8 bytes
	// then takes 8 ns, and 3 in a search over all rows; a row of 20 bytes 12 and 6; a row of 55 bytes 15 and 16; with
	// folded case 17 and 4, 28 and 9, 53 and 30.
	sparse = 3
	// minSearch is the number of rows below which a search over the heap does not pay: 16 rows of 55 bytes take 11 ns
	// each in a search, and 17 one by one.
	minSearch = 16
)

// eval sets hit where the rows of keep match; other rows of hit have no meaning. v is Flat.
func (m *matcher) eval(s *memory, n int, v *vector.Vector, keep, hit vector.Bitmap) {
	clear(hit)
	views, heap := v.Views[:n], v.Heap
	if !m.anchored && len(m.literal) > 0 && n >= minSearch && keep.Count()*sparse >= n {
		if from, to, ok := packed(views); ok {
			span := heap[from:to]
			if m.fold || m.lower {
				if m.fold && !foldable(span, m.literal) || m.lower && !ascii(span) {
					m.evalRows(s, views, heap, keep, hit)
					return
				}
				s.text.heap = appendLower(s.text.heap[:0], span)
				span = s.text.heap
			}
			m.evalHeap(&s.text, views, heap, span, hit)
			return
		}
	}
	m.evalRows(s, views, heap, keep, hit)
}

// evalHeap searches the literal in span, the part of the heap that the rows fill back to back (or its lowered copy),
// and maps positions to rows.
func (m *matcher) evalHeap(s *textScratch, views []vector.View, heap, span []byte, hit vector.Bitmap) {
	base, size := views[0].Off, len(m.literal)
	row := 0
	for at := 0; ; {
		i := bytes.Index(span[at:], m.literal)
		if i < 0 {
			return
		}
		at += i
		row = rowAt(views, base, row, at)
		w := views[row]
		end := int(w.Off - base + w.Len)
		if at+size > end {
			at++ // begins in one row and ends in the next
			continue
		}
		if m.check == nil || m.checks(s, heap[w.Off:w.Off+w.Len]) {
			hit.Set(row)
		}
		if at = end; row+1 >= len(views) {
			return
		}
		row++
	}
}

// rowAt finds the row, from row on, that holds byte at of the span: by doubling steps, then by halves.
func rowAt(views []vector.View, base uint32, row, at int) int {
	pos := base + uint32(at)
	lo, step := row, 1
	for lo+step < len(views) && views[lo+step].Off <= pos {
		lo += step
		step <<= 1
	}
	hi := min(lo+step, len(views))
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if views[mid].Off <= pos {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// packed reports whether the views lie back to back, and which part of the heap they fill.
func packed(views []vector.View) (from, to uint32, ok bool) {
	from = views[0].Off
	to = from
	for _, w := range views {
		if w.Off != to {
			return 0, 0, false
		}
		to += w.Len
	}
	return from, to, true
}

// evalRows tests the rows of keep one by one.
func (m *matcher) evalRows(s *memory, views []vector.View, heap []byte, keep, hit vector.Bitmap) {
	s.rows = keep.AppendRows(s.rows[:0])
	for _, r := range s.rows {
		w := views[r]
		if m.matches(&s.text, heap[w.Off:w.Off+w.Len]) {
			hit.Set(int(r))
		}
	}
}

// checks runs check on the row.
func (m *matcher) checks(s *textScratch, row []byte) bool {
	if m.raw {
		return m.check(row)
	}
	return m.check(m.cased(s, row))
}

// cased returns the row in the case in which it is searched.
func (m *matcher) cased(s *textScratch, row []byte) []byte {
	switch {
	case m.fold:
		s.row = AppendFold(s.row[:0], row)
	case m.lower:
		s.row = appendToLower(s.row[:0], row)
	default:
		return row
	}
	return s.row
}

func (m *matcher) matches(s *textScratch, row []byte) bool {
	cased := m.cased(s, row)
	if len(m.literal) > 0 && !m.anchored && !bytes.Contains(cased, m.literal) {
		return false
	}
	if m.raw {
		cased = row
	}
	return m.check == nil || m.check(cased)
}
