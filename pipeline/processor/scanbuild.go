package processor

import (
	"regexp"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// maxScanSteps bounds the steps of a scanner.
const maxScanSteps = 256

// newScanner makes the scanner of an expression; nil where it has not the shape for it.
func newScanner(re *regexp.Regexp) *scanner {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil
	}
	b := scanBuilder{s: &scanner{groups: re.NumSubexp() + 1}}
	steps, ok := b.sequence(tree)
	if !ok || !b.settle(steps, nil) {
		return nil
	}
	b.s.steps = steps
	return b.s
}

// scanBuilder turns the tree of an expression into steps.
type scanBuilder struct {
	s      *scanner
	count  int // steps so far
	inside int // choices that are open
}

// sequence returns the steps of a part of the tree; ok is false where it is no row of steps.
func (b *scanBuilder) sequence(x *syntax.Regexp) (steps []scanStep, ok bool) {
	ok = b.add(&steps, x)
	return steps, ok
}

func (b *scanBuilder) step(steps *[]scanStep, s scanStep) bool {
	*steps = append(*steps, s)
	b.count++
	return b.count <= maxScanSteps
}

// add appends the steps of a part of the tree.
func (b *scanBuilder) add(steps *[]scanStep, x *syntax.Regexp) bool {
	switch x.Op {
	case syntax.OpEmptyMatch:
		return true
	case syntax.OpBeginText:
		b.s.anchored = true
		return b.inside == 0 && onlyMarks(*steps)
	case syntax.OpEndText:
		return b.step(steps, scanStep{kind: scanEnd})
	case syntax.OpLiteral:
		return b.literal(steps, x)
	case syntax.OpConcat:
		for _, sub := range x.Sub {
			if !b.add(steps, sub) {
				return false
			}
		}
		return true
	case syntax.OpCapture:
		return b.step(steps, scanStep{kind: scanMark, mark: 2 * x.Cap}) && b.add(steps, x.Sub[0]) &&
			b.step(steps, scanStep{kind: scanMark, mark: 2*x.Cap + 1})
	case syntax.OpAlternate:
		return b.choice(steps, x.Sub, false)
	}
	if s, ok := run(x); ok {
		return b.step(steps, s)
	}
	return x.Op == syntax.OpQuest && x.Flags&syntax.NonGreedy == 0 && b.choice(steps, x.Sub, true)
}

func onlyMarks(steps []scanStep) bool {
	for i := range steps {
		if steps[i].kind != scanMark {
			return false
		}
	}
	return true
}

// literal appends a text; a text that matches in any case, as runs of one character.
func (b *scanBuilder) literal(steps *[]scanStep, x *syntax.Regexp) bool {
	if x.Flags&syntax.FoldCase == 0 {
		return b.step(steps, scanStep{kind: scanLiteral, literal: string(x.Rune)})
	}
	for _, r := range x.Rune {
		if !b.step(steps, scanStep{kind: scanRun, set: newRunSet(folded(r)), min: 1, max: 1}) {
			return false
		}
	}
	return true
}

// choice appends alternatives. No two may begin with the same character, and none may be empty.
func (b *scanBuilder) choice(steps *[]scanStep, subs []*syntax.Regexp, optional bool) bool {
	b.inside++
	defer func() { b.inside-- }()
	s := scanStep{kind: scanChoice, optional: optional}
	for _, sub := range subs {
		alt, ok := b.sequence(sub)
		if !ok {
			return false
		}
		first := &runSet{stop: -1}
		if !first.begin(alt) {
			return false
		}
		for i := range s.alts {
			if s.alts[i].first.meets(first) {
				return false
			}
		}
		s.alts = append(s.alts, scanAlternative{alt, first})
	}
	return b.step(steps, s)
}

// begin adds the characters that steps can begin with; false when they can be nothing.
func (s *runSet) begin(steps []scanStep) bool {
	for i := range steps {
		switch st := &steps[i]; st.kind {
		case scanMark:
		case scanEnd:
			return false
		case scanLiteral:
			r, _ := utf8.DecodeRuneInString(st.literal)
			s.add(&runSet{wide: []rune{r, r}})
			return true
		case scanChoice:
			for k := range st.alts {
				s.add(st.alts[k].first)
			}
			if !st.optional {
				return true
			}
		default:
			s.add(st.set)
			if st.min > 0 {
				return true
			}
		}
	}
	return false
}

// add adds the characters of another set; pairs of wide may be of any character here.
func (s *runSet) add(t *runSet) {
	for c := range t.ascii {
		s.ascii[c] = s.ascii[c] || t.ascii[c]
	}
	for i := 0; i+1 < len(t.wide); i += 2 {
		for r := t.wide[i]; r <= t.wide[i+1] && r < utf8.RuneSelf; r++ {
			s.ascii[r] = true
		}
		if hi := t.wide[i+1]; hi >= utf8.RuneSelf {
			s.wide = append(s.wide, max(t.wide[i], utf8.RuneSelf), hi)
		}
	}
}

// run is a class of characters with its repetition; ok is false for anything else.
func run(x *syntax.Regexp) (s scanStep, ok bool) {
	s = scanStep{kind: scanRun, min: 1, max: 1, lazy: x.Flags&syntax.NonGreedy != 0}
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
		return s, false
	}
	return s, true
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
	set.add(&runSet{wide: pairs})
	if len(set.wide) != 2 || set.wide[0] != utf8.RuneSelf || set.wide[1] != unicode.MaxRune {
		return set
	}
	out := 0
	for c, in := range set.ascii {
		if !in {
			set.stop = c
			out++
		}
	}
	if out != 1 {
		set.stop = -1
	}
	return set
}

// meets reports whether two sets have a character in common.
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

// settle decides how each run and each choice ends; false where that takes choices. rest is what follows the steps.
func (b *scanBuilder) settle(steps, rest []scanStep) bool {
	for i := range steps {
		s := &steps[i]
		tail := append(append([]scanStep(nil), steps[i+1:]...), rest...)
		switch {
		case s.kind == scanChoice:
			if !b.settleChoice(s, tail) {
				return false
			}
		case s.kind == scanRun && s.min != s.max:
			if !b.settleRun(s, tail) {
				return false
			}
		}
	}
	return true
}

// settleChoice settles the alternatives. One that may be left out is taken where its first character comes, so nothing
// that follows may begin with that.
func (b *scanBuilder) settleChoice(s *scanStep, tail []scanStep) bool {
	for i := range s.alts {
		if s.optional {
			if _, sure := following(tail, s.alts[i].first); !sure {
				return false
			}
			b.s.loose = b.s.loose || free(tail) // without it the expression may match as well
		}
		if !b.settle(s.alts[i].steps, tail) {
			return false
		}
	}
	return true
}

// free reports whether steps match anywhere, if only nothing.
func free(steps []scanStep) bool {
	for i := range steps {
		s := &steps[i]
		if s.kind == scanLiteral || s.kind == scanEnd || s.kind == scanChoice && !s.optional ||
			s.set != nil && s.min > 0 {
			return false
		}
	}
	return true
}

func (b *scanBuilder) settleRun(s *scanStep, tail []scanStep) bool {
	next, sure := following(tail, s.set)
	switch {
	case s.lazy && free(tail): // nothing has to follow: as little as possible
		s.max = s.min
	case sure:
	case next == nil || next.kind != scanLiteral || s.max >= 0:
		return false
	default:
		s.kind, s.literal = scanFarthest, next.literal
		if s.lazy {
			s.kind = scanNearest
		}
		b.s.loose = true
	}
	return true
}

// following finds the first step of a tail that is more than a mark. sure tells that no character of the set can begin
// what follows, so that a run of the set has one possible end; next is nil when nothing follows.
func following(tail []scanStep, set *runSet) (next *scanStep, sure bool) {
	for k := range tail {
		s := &tail[k]
		if s.kind == scanMark {
			continue
		}
		if next == nil {
			next = s
		}
		switch s.kind {
		case scanEnd:
			return next, true
		case scanLiteral:
			r, _ := utf8.DecodeRuneInString(s.literal)
			return next, !set.has(r)
		case scanChoice:
			for i := range s.alts {
				if set.meets(s.alts[i].first) {
					return next, false
				}
			}
			if !s.optional {
				return next, true
			}
		default:
			if set.meets(s.set) {
				return next, false
			}
			if s.min > 0 {
				return next, true
			}
		}
	}
	return next, true
}
