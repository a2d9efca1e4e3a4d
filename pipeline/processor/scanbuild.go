package processor

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// newScanner makes the scanner of an expression; nil where it has not the shape for it.
func newScanner(re *regexp.Regexp) *scanner {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil
	}
	s := &scanner{groups: re.NumSubexp() + 1}
	b := scanBuilder{s: s}
	if !b.add(tree) || !b.settle() {
		return nil
	}
	return s
}

// scanBuilder turns the tree of an expression into steps.
type scanBuilder struct {
	s    *scanner
	lazy []bool // by step
}

func (b *scanBuilder) step(s scanStep, lazy bool) bool {
	b.s.steps = append(b.s.steps, s)
	b.lazy = append(b.lazy, lazy)
	return len(b.s.steps) <= 256
}

// add appends the steps of a part of the tree; false where it is no row of steps.
func (b *scanBuilder) add(x *syntax.Regexp) bool {
	switch x.Op {
	case syntax.OpEmptyMatch:
		return true
	case syntax.OpBeginText:
		b.s.anchored = true
		return len(b.s.steps) == 0 || !slices.ContainsFunc(b.s.steps, func(s scanStep) bool { return s.kind != scanMark })
	case syntax.OpEndText:
		return b.step(scanStep{kind: scanEnd}, false)
	case syntax.OpLiteral:
		return b.literal(x)
	case syntax.OpConcat:
		for _, sub := range x.Sub {
			if !b.add(sub) {
				return false
			}
		}
		return true
	case syntax.OpCapture:
		return b.step(scanStep{kind: scanMark, mark: 2 * x.Cap}, false) && b.add(x.Sub[0]) &&
			b.step(scanStep{kind: scanMark, mark: 2*x.Cap + 1}, false)
	}
	return b.run(x)
}

// literal appends a text; one in any case as runs of one character.
func (b *scanBuilder) literal(x *syntax.Regexp) bool {
	if x.Flags&syntax.FoldCase == 0 {
		return b.step(scanStep{kind: scanLiteral, literal: string(x.Rune)}, false)
	}
	for _, r := range x.Rune {
		if !b.step(scanStep{kind: scanRun, set: newRunSet(folded(r)), min: 1, max: 1}, false) {
			return false
		}
	}
	return true
}

// run appends a class of characters with its repetition.
func (b *scanBuilder) run(x *syntax.Regexp) bool {
	s := scanStep{kind: scanRun, min: 1, max: 1}
	class := x
	switch x.Op {
	case syntax.OpStar:
		s.min, s.max = 0, -1
	case syntax.OpPlus:
		s.max = -1
	case syntax.OpQuest:
		s.min = 0
	case syntax.OpRepeat:
		s.min, s.max = x.Min, x.Max
	}
	switch x.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		class = x.Sub[0]
	}
	switch {
	case class.Op == syntax.OpCharClass:
		s.set = newRunSet(class.Rune)
	case class.Op == syntax.OpAnyCharNotNL:
		s.set = newRunSet([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune})
	case class.Op == syntax.OpAnyChar:
		s.set = newRunSet([]rune{0, unicode.MaxRune})
	case class.Op == syntax.OpLiteral && len(class.Rune) == 1 && class.Flags&syntax.FoldCase == 0:
		s.set = newRunSet([]rune{class.Rune[0], class.Rune[0]})
	case class.Op == syntax.OpLiteral && len(class.Rune) == 1:
		s.set = newRunSet(folded(class.Rune[0]))
	default:
		return false
	}
	return b.step(s, x.Flags&syntax.NonGreedy != 0)
}

// folded is a character in all its cases, as pairs.
func folded(r rune) []rune {
	pairs := []rune{r, r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		pairs = append(pairs, f, f)
	}
	return pairs
}

func newRunSet(pairs []rune) *runSet {
	set := &runSet{stop: -1}
	for i := 0; i+1 < len(pairs); i += 2 {
		for r := pairs[i]; r <= pairs[i+1] && r < utf8.RuneSelf; r++ {
			set.ascii[r] = true
		}
		if hi := pairs[i+1]; hi >= utf8.RuneSelf {
			set.wide = append(set.wide, max(pairs[i], utf8.RuneSelf), hi)
		}
	}
	all := len(set.wide) == 2 && set.wide[0] == utf8.RuneSelf && set.wide[1] == unicode.MaxRune
	for c, in := range set.ascii {
		if in {
			continue
		}
		if set.stop >= 0 {
			all = false
		}
		set.stop = c
	}
	if !all {
		set.stop = -1
	}
	return set
}

// meets tells whether two sets have a character in common.
func (s *runSet) meets(t *runSet) bool {
	for c := range s.ascii {
		if s.ascii[c] && t.ascii[c] {
			return true
		}
	}
	for i := 0; i+1 < len(s.wide); i += 2 {
		for k := 0; k+1 < len(t.wide); k += 2 {
			if s.wide[i] <= t.wide[k+1] && t.wide[k] <= s.wide[i+1] {
				return true
			}
		}
	}
	return false
}

// settle decides how each run ends; false where that takes choices.
func (b *scanBuilder) settle() bool {
	for i := range b.s.steps {
		s := &b.s.steps[i]
		if s.kind != scanRun || s.min == s.max {
			continue
		}
		next, sure := b.follow(i, s.set)
		switch {
		case sure && (next >= 0 || !b.lazy[i]):
		case sure: // lazy, and nothing has to follow: as little as possible
			s.max = s.min
		case next < 0 || b.s.steps[next].kind != scanLiteral || s.max >= 0:
			return false
		default:
			s.kind, s.literal = scanFarthest, b.s.steps[next].literal
			if b.lazy[i] {
				s.kind = scanNearest
			}
			b.s.loose = true
		}
	}
	return true
}

// follow finds the step behind a run. sure tells that no character of the run's set can begin what follows, so that the
// run has one possible end; next is -1 when nothing follows.
func (b *scanBuilder) follow(i int, set *runSet) (next int, sure bool) {
	next = -1
	for k := i + 1; k < len(b.s.steps); k++ {
		s := &b.s.steps[k]
		switch s.kind {
		case scanMark:
			continue
		case scanEnd:
			return k, true
		case scanLiteral:
			r, _ := utf8.DecodeRuneInString(s.literal)
			if next < 0 {
				next = k
			}
			return next, !set.has(r)
		}
		if next < 0 {
			next = k
		}
		if set.meets(s.set) {
			return next, false
		}
		if s.min > 0 {
			return next, true
		}
	}
	return next, true
}
