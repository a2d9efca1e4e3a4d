package automaton

import (
	"regexp/syntax"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
)

// maxClassWork bounds the comparisons of characters with instructions that making classes takes.
const maxClassWork = 1 << 20

// maxClasses: a class is a byte.
const maxClasses = 255

// Characters that stand for all that are alike before an assertion.
const (
	other   = ' '
	newline = '\n'
	letter  = 'a' // as \b sees it
)

// classes divide the characters so that the expression treats all characters of a class alike.
type classes struct {
	ascii  [utf8.RuneSelf]uint8
	starts []rune  // of ranges of characters, rising, the first is 0
	of     []uint8 // the class of each range
	reps   []rune  // a character of each class
	word   bool    // assertions ask for letters
	line   bool    // assertions ask for ends of lines
}

// build makes the classes of a program; false: there are too many.
func (k *classes) build(p *syntax.Prog, uses syntax.EmptyOp) bool {
	k.word = uses&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
	k.line = uses&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0
	var waiting []*syntax.Inst
	edges := []rune{0}
	for i := range p.Inst {
		switch in := &p.Inst[i]; in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			waiting = append(waiting, in)
			edges = appendEdges(edges, in)
		}
	}
	if k.word {
		edges = append(edges, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}
	if k.line {
		edges = append(edges, newline, newline+1)
	}
	slices.Sort(edges)
	k.starts = slices.Compact(edges)
	if len(k.starts)*len(waiting) > maxClassWork {
		return false
	}
	byKind := map[string]uint8{}
	for _, c := range k.starts {
		kind := make([]byte, 0, len(waiting)+2)
		for _, in := range waiting {
			kind = appendBool(kind, in.MatchRune(c))
		}
		kind = append(kind, byte(k.context(c)))
		class, ok := byKind[string(kind)]
		if !ok {
			if len(k.reps) == maxClasses {
				return false
			}
			class = uint8(len(k.reps))
			byKind[string(kind)] = class
			k.reps = append(k.reps, c)
		}
		k.of = append(k.of, class)
	}
	for c := range k.ascii {
		k.ascii[c] = uint8(k.classOf(rune(c)))
	}
	return true
}

// appendEdges appends where the characters that an instruction takes begin and end.
func appendEdges(edges []rune, in *syntax.Inst) []rune {
	switch in.Op {
	case syntax.InstRuneAny:
		return edges
	case syntax.InstRuneAnyNotNL:
		return append(edges, newline, newline+1)
	}
	if len(in.Rune) == 1 {
		c := in.Rune[0]
		edges = append(edges, c, c+1)
		if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				edges = append(edges, f, f+1)
			}
		}
		return edges
	}
	for i := 0; i+1 < len(in.Rune); i += 2 {
		edges = append(edges, in.Rune[i], in.Rune[i+1]+1)
	}
	return edges
}

func appendBool(b []byte, x bool) []byte {
	if x {
		return append(b, 1)
	}
	return append(b, 0)
}

// classOf is the class of a character.
func (k *classes) classOf(c rune) uint32 {
	return uint32(k.of[sort.Search(len(k.starts), func(i int) bool { return k.starts[i] > c })-1])
}

// context is the character that stands for c before an assertion.
func (k *classes) context(c rune) rune {
	switch {
	case k.line && c == newline:
		return newline
	case k.word && syntax.IsWordChar(c):
		return letter
	}
	return other
}
