package filter

import (
	"encoding/binary"
	"regexp/syntax"
	"unicode/utf8"

	"varve/engine/vector"
)

// Needle is what a value must contain to pass a condition: the whole value, if it is known, and words.
type Needle struct {
	// Whole is the value, numbers as 8 bytes little endian; it means something when Exact is set.
	Whole []byte
	Exact bool
	// Words are folded; the value holds all of them.
	Words [][]byte
	// Parts are runs of ASCII letters and digits; the value holds all of them in some case, maybe within longer words.
	Parts [][]byte
}

// Bounds of the lookups in token filters.
const (
	// maxNeedles is the number of alternatives beyond which asking is hardly worth it.
	maxNeedles = 64
	// maxNeedleWords bounds the words of one alternative; leaving words out is always sound.
	maxNeedleWords = 64
)

// Needles returns what a value must contain to pass: one of the alternatives. ok is false if nothing is known, as for
// negations and order comparisons.
func (t *Test) Needles() (alternatives []Needle, ok bool) {
	c := t.c
	if c.negate || c.Args == nil {
		return nil, false
	}
	op := c.op
	if c.Lower {
		op = c.lowered
	}
	switch op {
	case Equal, In:
		if c.Lower {
			words := AppendWords(nil, c.Args.Bytes(0), ClosedEdge, ClosedEdge)
			return []Needle{{Words: words[:min(len(words), maxNeedleWords)]}}, len(words) > 0
		}
		return c.equalNeedles()
	case Prefix, Contains, ContainsFold, Term, Like, ILike:
		words, parts := c.match.words(op, c.Args.Bytes(0)), c.match.runs()
		return []Needle{{Words: words[:min(len(words), maxNeedleWords)], Parts: parts}}, len(words)+len(parts) > 0
	case Regex:
		parts := c.match.runs()
		for _, words := range regexWords(string(c.Args.Bytes(0))) {
			if len(words)+len(parts) == 0 {
				return nil, false
			}
			alternatives = append(alternatives,
				Needle{Words: words[:min(len(words), maxNeedleWords)], Parts: parts})
		}
		return alternatives, len(alternatives) > 0
	}
	return nil, false
}

// minRun is the length of runs of letters and digits below which filters do not help.
const minRun = 12

// runs are the longest runs of ASCII letters and digits of the texts that a row that passes holds.
func (m *matcher) runs() (list [][]byte) {
	for _, text := range m.parts {
		for at := 0; at < len(text); at++ {
			from := at
			for at < len(text) && text[at] < utf8.RuneSelf && asciiClass[text[at]] == asciiWord {
				at++
			}
			if at-from >= minRun && len(list) < maxNeedleWords {
				list = append(list, text[from:at])
			}
		}
	}
	return list
}

func (c *condition) equalNeedles() ([]Needle, bool) {
	if c.NArgs > maxNeedles {
		return nil, false
	}
	all := make([]Needle, c.NArgs)
	for i := range all {
		n := &all[i]
		n.Exact = true
		switch c.kind {
		case vector.Int64:
			n.Whole = binary.LittleEndian.AppendUint64(nil, uint64(c.Args.Int(i)))
		case vector.Uint64:
			n.Whole = binary.LittleEndian.AppendUint64(nil, c.Args.Uint(i))
		case vector.Bytes:
			n.Whole = c.Args.Bytes(i)
			n.Words = AppendWords(nil, n.Whole, ClosedEdge, ClosedEdge)
			n.Words = n.Words[:min(len(n.Words), maxNeedleWords)]
		default:
			return nil, false
		}
	}
	return all, true
}

// words are the words that a text must hold to pass a text operator.
func (m *matcher) words(op Op, arg []byte) [][]byte {
	switch op {
	case Prefix:
		return AppendWords(nil, arg, ClosedEdge, OpenEdge)
	case Contains:
		return AppendWords(nil, arg, OpenEdge, OpenEdge)
	case ContainsFold:
		return AppendWords(nil, m.literal, OpenEdge, OpenEdge)
	case Term:
		return NewTerm(arg).words()
	}
	return NewLike(arg, op == ILike).words()
}

// words: a neighbour that would make a word of the term longer spoils the hit.
func (t *Word) words() [][]byte {
	edge := func(spoiled bool) Edge {
		switch {
		case !spoiled || t.kind == hanTerm:
			return OpenEdge
		case t.kind == asciiTerm:
			return ASCIIEdge
		}
		return ClosedEdge
	}
	return AppendWords(nil, t.term, edge(t.left), edge(t.right))
}

// words of a pattern: between the texts of a segment is a character, between segments anything.
func (l *Pattern) words() (dst [][]byte) {
	for i, s := range l.segments {
		for j, t := range s.texts {
			left, right := OpenEdge, OpenEdge
			if i == 0 && j == 0 && !l.open[0] {
				left = ClosedEdge
			}
			if i == len(l.segments)-1 && j == len(s.texts)-1 && !l.open[1] {
				right = ClosedEdge
			}
			dst = AppendWords(dst, t, left, right)
		}
	}
	return dst
}

// regexWords returns the words that every match of the expression holds, by alternatives. nil: nothing is known.
func regexWords(expr string) [][][]byte {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return wordsOf(tree.Simplify(), OpenEdge, OpenEdge)
}

// maxRegexAlternatives bounds the product of alternatives within each other.
const maxRegexAlternatives = 16

// wordsOf returns the alternatives of words that a match of e holds between such edges. An alternative without words
// says nothing.
func wordsOf(e *syntax.Regexp, left, right Edge) [][][]byte {
	switch e.Op {
	case syntax.OpLiteral:
		text := []byte(string(e.Rune))
		if e.Flags&syntax.FoldCase != 0 { // a letter may stand for a non-ASCII letter, which has other neighbours
			left, right, text = foldedEdge(left), foldedEdge(right), AppendFold(nil, text)
		}
		for _, r := range e.Rune {
			if r == utf8.RuneError { // matches any byte that is no UTF-8
				return [][][]byte{nil}
			}
		}
		return [][][]byte{AppendWords(nil, text, left, right)}
	case syntax.OpCapture:
		return wordsOf(e.Sub[0], left, right)
	case syntax.OpPlus:
		return wordsOf(e.Sub[0], OpenEdge, OpenEdge)
	case syntax.OpRepeat:
		if e.Min > 0 {
			return wordsOf(e.Sub[0], OpenEdge, OpenEdge)
		}
	case syntax.OpConcat:
		return wordsOfConcat(e, left, right)
	case syntax.OpAlternate:
		var all [][][]byte
		for _, sub := range e.Sub {
			if all = append(all, wordsOf(sub, left, right)...); len(all) > maxRegexAlternatives {
				return [][][]byte{nil}
			}
		}
		return all
	}
	return [][][]byte{nil}
}

func wordsOfConcat(e *syntax.Regexp, left, right Edge) [][][]byte {
	all := [][][]byte{nil}
	for i, sub := range e.Sub {
		l, r := left, right
		if i > 0 {
			l = edgeOf(e.Sub[i-1], true)
		}
		if i+1 < len(e.Sub) {
			r = edgeOf(e.Sub[i+1], false)
		}
		part := wordsOf(sub, l, r)
		if len(part) == 1 && len(part[0]) == 0 || len(all)*len(part) > maxRegexAlternatives {
			continue
		}
		var product [][][]byte
		for _, a := range all {
			for _, b := range part {
				product = append(product, append(a[:len(a):len(a)], b...))
			}
		}
		all = product
	}
	return all
}

func foldedEdge(e Edge) Edge {
	if e == ASCIIEdge {
		return OpenEdge
	}
	return e
}

// edgeOf returns the knowledge that a neighbour in a concatenation gives about the edge of the text beside it; before
// reports that the neighbour comes first.
func edgeOf(e *syntax.Regexp, before bool) Edge {
	switch e.Op {
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		return ClosedEdge
	case syntax.OpWordBoundary:
		return ASCIIEdge // beside an ASCII letter or digit; other words do not end there
	case syntax.OpCapture, syntax.OpPlus:
		return edgeOf(e.Sub[0], before)
	case syntax.OpLiteral:
		r := e.Rune[0]
		if before {
			r = e.Rune[len(e.Rune)-1]
		}
		if r < utf8.RuneSelf && asciiClass[r] == noWord {
			return ClosedEdge
		}
	case syntax.OpCharClass:
		for i := 0; i < len(e.Rune); i += 2 {
			for r := e.Rune[i]; r <= e.Rune[i+1]; r++ {
				if r >= utf8.RuneSelf || asciiClass[r] != noWord {
					return OpenEdge
				}
			}
		}
		return ClosedEdge
	}
	return OpenEdge
}
