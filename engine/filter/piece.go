package filter

import (
	"bytes"

	"varve/engine/vector"
)

// Piece is a part of a text that is known in part: either this text, or any number of these characters.
type Piece struct {
	Text  []byte
	Chars *CharSet
}

// CharSet is a set of bytes.
type CharSet [4]uint64

// Chars is the set of the bytes of s.
func Chars(s string) *CharSet {
	var c CharSet
	for i := range len(s) {
		c[s[i]>>6] |= 1 << (s[i] & 63)
	}
	return &c
}

// AllChars is the set of all bytes.
func AllChars() *CharSet { return &CharSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)} }

// Has reports whether the set has a byte.
func (c *CharSet) Has(b byte) bool { return c[b>>6]>>(b&63)&1 != 0 }

// IsText reports whether the test looks into texts or compares with one: JudgePieces can say something about it.
func (t *Test) IsText() bool {
	return t.c.match != nil || t.c.op == Equal && t.c.kind == vector.Bytes
}

// JudgePieces returns the decision of a text operator about the texts that consist of the given pieces.
func (t *Test) JudgePieces(pieces []Piece) Verdict {
	if t.searched == nil {
		t.search()
	}
	v := t.judgePieces(t.searched, pieces)
	if t.c.negate {
		v = [...]Verdict{Some: Some, None: All, All: None}[v]
	}
	return v
}

// search makes the searches for what a text that passes holds.
func (t *Test) search() {
	if t.searched = t.c.match; t.searched == nil { // an equality, as a text operator
		arg := t.c.Args.Bytes(0)
		t.searched = &matcher{check: func(row []byte) bool { return bytes.Equal(row, arg) }, anchored: true, start: arg}
	}
	for _, part := range t.searched.parts {
		if len(part) > 0 {
			t.searches = append(t.searches, newSearch(part))
		}
	}
	if len(t.searched.start) > 0 {
		t.begins = newSearch(t.searched.start)
	}
}

func (t *Test) judgePieces(m *matcher, pieces []Piece) Verdict {
	s := &t.memory.text
	if len(pieces) == 0 {
		return either(m.matches(s, nil), !m.matches(s, nil))
	}
	if len(pieces) == 1 && pieces[0].Chars == nil {
		return either(m.matches(s, pieces[0].Text), !m.matches(s, pieces[0].Text))
	}
	if t.begins != nil {
		possible, certain := t.begins.run(m, s, pieces, true)
		if !possible || certain && m.open {
			return either(possible, !possible)
		}
	}
	all := m.check == nil && len(t.searches) == 1
	for _, x := range t.searches {
		possible, certain := x.run(m, s, pieces, false)
		if !possible {
			return None
		}
		all = all && certain
	}
	if m.word != nil {
		for i, p := range pieces {
			all = all || p.Chars == nil && m.word.within(m.cased(s, p.Text), i == 0, i == len(pieces)-1)
		}
	}
	return either(all, false)
}

// search looks for a text in pieces: bit j of its state tells that the first j bytes of the text may end here. Of
// longer texts only the beginning is looked for.
type search struct {
	text  []byte
	whole bool        // text is not cut
	next  [256]uint64 // bit j: byte j of the text is this one
	sets  []*CharSet  // seen so far
	in    []uint64    // for each of them: bit j: byte j of the text is in it
}

// maxSearch is the number of bytes that a state has bits for, and one for all of them.
const maxSearch = 63

func newSearch(text []byte) *search {
	s := &search{text: text[:min(len(text), maxSearch)], whole: len(text) <= maxSearch}
	for j, c := range s.text {
		s.next[c] |= 1 << j
	}
	return s
}

// set returns the bytes of the text that are in a set; capitals: where those stand for small letters.
func (x *search) set(c *CharSet, capitals bool) uint64 {
	for i, seen := range x.sets {
		if seen == c {
			return x.in[i]
		}
	}
	var m uint64
	for j, b := range x.text {
		if c.Has(b) || capitals && 'a' <= b && b <= 'z' && c.Has(b-'a'+'A') {
			m |= 1 << j
		}
	}
	x.sets, x.in = append(x.sets, c), append(x.in, m)
	return m
}

// run reports whether a text made of the pieces may hold the search's text, and whether it certainly does. start: only
// at its beginning.
func (x *search) run(m *matcher, s *textScratch, pieces []Piece, start bool) (possible, certain bool) {
	again := uint64(1) // a match may begin at any byte
	if start {
		again = 0
	}
	found := uint64(1) << len(x.text)
	maybe, sure := uint64(1), uint64(1)
	for _, p := range pieces {
		if p.Chars != nil {
			in := x.set(p.Chars, m.fold || m.lower)
			for {
				more := maybe | (maybe&in)<<1 | again
				if more == maybe {
					break
				}
				maybe = more
			}
			sure = again
			possible = possible || maybe&found != 0
			continue
		}
		for _, c := range m.cased(s, p.Text) {
			at := x.next[c]
			maybe = (maybe&at)<<1 | again
			sure = (sure&at)<<1 | again
			if sure&found != 0 {
				return true, x.whole
			}
			possible = possible || maybe&found != 0
		}
	}
	return possible, false
}
