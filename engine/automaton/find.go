package automaton

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// Where the groups of all but the first match lie only package regexp can tell, and where matches lie if their
// automaton has no room. It looks at each character once for all instructions of an expression and cannot be cancelled,
// and it begins anew behind each match: `a.*z|a` goes to the end of the text for every letter. So searches that may be
// long are given their text character by character: that counts their work and ends them.

// Bounds in characters times instructions, which take some nanoseconds each.
const (
	shortWork = 1 << 20 // work of one search, or of all searches in one text, that need not be cancelled
	plainWork = 1 << 24 // work of the searches in one text before it is counted
	askWork   = 1 << 16 // work between two checks for cancellation
	maxWork   = 1 << 30 // of the searches in one text
)

// Each calls found with the offsets of the matches in text, in order, at most n of them (n < 0: all). The offsets are
// those of FindAllSubmatchIndex of package regexp: pairs for the match and for its groups; without groups, one pair. It
// ends early with the error of found or of cancelled; cancelled may be nil.
func (r *Regexp) Each(text []byte, n int, groups bool, cancelled func() error, found func(offsets []int) error) error {
	if groups && n == 1 && r.Groups() > 0 {
		if p := r.finder(text); p != nil && p.groups {
			if known, err := p.first(text, r.Groups(), cancelled, found); known {
				return err
			}
		}
	}
	steps, size := int64(r.steps()), int64(len(text))+1
	if (groups && r.Groups() > 0 || r.finder(text) == nil) && steps*size <= shortWork/size {
		return r.eachAtOnce(text, n, groups, found)
	}
	return r.eachInTurn(text, n, groups, false, cancelled, found)
}

// EachAbutting is like Each for all matches with their groups, but includes an empty match directly after a non-empty
// one: `a*` matches "aa" in "aab", then the empty text before b, then the empty text at the end.
func (r *Regexp) EachAbutting(text []byte, cancelled func() error, found func(offsets []int) error) error {
	return r.eachInTurn(text, -1, true, true, cancelled, found)
}

// eachInTurn looks for one match after the other. A match is abutting if it is empty and directly follows another
// match.
func (r *Regexp) eachInTurn(text []byte, n int, groups, abutting bool, cancelled func() error,
	found func(offsets []int) error) error {
	steps := int64(r.steps())
	s := search{r: r, text: text, groups: groups,
		reader: reader{text: text, steps: steps, most: maxWork, cancelled: cancelled}}
	if !groups || r.Groups() == 0 {
		s.finder, s.room = r.finder(text), mostAnew*(len(text)+1)
	}
	for pos, first, last := 0, -1, -1; pos <= len(text) && n != 0; {
		m, err := s.next(pos)
		if m == nil || err != nil {
			return err
		}
		abuts := m[0] == last && m[1] == last // an empty match directly after another match does not count
		again := abuts && first == last       // it is the empty match before, which lay ahead
		first, last = m[0], m[1]
		switch {
		case m[1] > pos:
			pos = m[1]
		case pos == len(text):
			pos++
		default:
			_, width := utf8.DecodeRune(text[pos:])
			pos += width
		}
		if again || abuts && !abutting {
			continue
		}
		n--
		if err := found(m); err != nil {
			return err
		}
	}
	return nil
}

// eachAtOnce is Each for a short text.
func (r *Regexp) eachAtOnce(text []byte, n int, groups bool, found func(offsets []int) error) error {
	all := r.re.FindAllIndex
	if groups {
		all = r.re.FindAllSubmatchIndex
	}
	for _, m := range all(text, n) {
		if err := found(m); err != nil {
			return err
		}
	}
	return nil
}

// finder returns the automaton that finds positions of matches; nil if it does not pay yet, or has no room.
func (r *Regexp) finder(text []byte) *places {
	if !r.pays(text) {
		return nil
	}
	r.placesOnce.Do(func() { r.places = newPlaces(r) })
	return r.places
}

// CheckWork holds that looking for where matches lie in so many bytes of text does not take minutes.
func (r *Regexp) CheckWork(bytes int) error {
	if steps := r.steps(); bytes >= longText && bytes > maxWork/steps {
		return fmt.Errorf("an expression of %d steps takes texts of at most %d bytes, found one of %d", steps,
			maxWork/steps, bytes)
	}
	return nil
}

// Anchored reports whether a match can begin at the beginning of a text only: looking for a match there is as quick as
// Match.
func (r *Regexp) Anchored() bool { return r.program().StartCond()&syntax.EmptyBeginText != 0 }

// Groups is the number of groups of the expression.
func (r *Regexp) Groups() int { return r.re.NumSubexp() }

// search looks for the matches of one text in turn.
type search struct {
	r      *Regexp
	text   []byte
	groups bool
	finder *places // nil: package regexp looks
	room   int     // work that the finder may still do
	match  [2]int  // what it found
	plain  int64   // work that searches by package regexp may have been
	reader reader
}

// next finds the first match from pos on. The character before pos decides whether ^ and \b hold at pos. Expressions
// with such assertions are therefore searched from that character on, as a part of the match.
func (s *search) next(pos int) ([]int, error) {
	if s.finder != nil {
		begin, end, known := s.finder.find(s.text, pos, &s.room, s.reader.cancelled, nil)
		if s.match = [2]int{begin, end}; known && begin < 0 {
			return nil, nil
		} else if known {
			return s.match[:], nil
		}
		s.finder = nil
	}
	re, from := s.r.re, pos
	behind := pos > 0 && s.r.looksBack()
	if behind {
		var err error
		if re, err = s.r.afterAny(); err != nil {
			return nil, err
		}
		_, width := utf8.DecodeLastRune(s.text[:pos])
		from -= width
	}
	m, err := s.find(re, from)
	if m == nil || err != nil {
		return nil, err
	}
	if behind {
		_, width := utf8.DecodeRune(s.text[m[0]:])
		m[0] += width
	}
	return m, nil
}

// find returns the first match of re in the text from a place on.
func (s *search) find(re *regexp.Regexp, from int) (m []int, err error) {
	if s.reader.cancelled != nil {
		if err := s.reader.cancelled(); err != nil {
			return nil, err
		}
	}
	work := s.reader.steps * int64(len(s.text)-from+1)
	if s.plain += work; work <= shortWork && s.plain <= plainWork {
		if s.groups {
			m = re.FindSubmatchIndex(s.text[from:])
		} else {
			m = re.FindIndex(s.text[from:])
		}
	} else {
		if literal, _ := re.LiteralPrefix(); literal != "" && !s.r.looksBack() {
			i := bytes.Index(s.text[from:], []byte(literal))
			if i < 0 {
				return nil, nil
			}
			from += i
		}
		s.reader.at = from
		if s.groups {
			m = re.FindReaderSubmatchIndex(&s.reader)
		} else {
			m = re.FindReaderIndex(&s.reader)
		}
	}
	for i := range m {
		if m[i] >= 0 {
			m[i] += from
		}
	}
	return m, s.reader.err
}

// look reports whether text holds a match, by package regexp; once cancelled returns an error the answer means nothing.
func (r *Regexp) look(text []byte, cancelled func() error) bool {
	if cancelled == nil {
		return r.re.Match(text)
	}
	if cancelled() != nil {
		return false
	}
	steps := int64(r.steps())
	if steps*int64(len(text)) <= shortWork {
		return r.re.Match(text)
	}
	return r.re.MatchReader(&reader{text: text, steps: steps, most: math.MaxInt64, cancelled: cancelled})
}

// WorkError says that an expression takes too long in one text.
type WorkError struct {
	steps int64
	bytes int
}

func (e *WorkError) Error() string {
	return fmt.Sprintf("looking for an expression of %d steps in a text of %d bytes takes more than %d million steps",
		e.steps, e.bytes, maxWork/1_000_000)
}

// steps is the number of instructions of the expression.
func (r *Regexp) steps() int { return len(r.program().Inst) }

// program is what the expression is compiled to.
func (r *Regexp) program() *syntax.Prog {
	r.compiled.Do(func() {
		tree, err := syntax.Parse(r.re.String(), syntax.Perl)
		if err == nil {
			r.prog, err = syntax.Compile(tree.Simplify())
		}
		if err != nil {
			panic("automaton: package regexp has compiled what package syntax does not: " + err.Error())
		}
	})
	return r.prog
}

// looksBack reports whether the text before a position decides whether a match begins there.
func (r *Regexp) looksBack() bool {
	for i := range r.program().Inst {
		in := &r.prog.Inst[i]
		if in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&^(syntax.EmptyEndLine|syntax.EmptyEndText) != 0 {
			return true
		}
	}
	return false
}

// afterAny returns the expression after any one character.
func (r *Regexp) afterAny() (*regexp.Regexp, error) {
	r.behind.Do(func() { r.after, r.afterErr = regexp.Compile("(?s:.)(?:" + r.re.String() + ")") })
	return r.after, r.afterErr
}

// reader feeds a text to package regexp character by character. A search that takes too long finds the end of the text.
type reader struct {
	text      []byte
	at        int
	steps     int64 // instructions of the expression: work of a character, at most
	work      int64 // done since cancelled was asked
	done      int64 // before
	most      int64
	cancelled func() error // nil: never
	err       error        // why the text ended early
}

func (r *reader) ReadRune() (rune, int, error) {
	if r.work += r.steps; r.work > askWork && r.ask() != nil || r.at >= len(r.text) {
		return 0, 0, io.EOF
	}
	if c := r.text[r.at]; c < utf8.RuneSelf {
		r.at++
		return rune(c), 1, nil
	}
	x, width := utf8.DecodeRune(r.text[r.at:])
	r.at += width
	return x, width, nil
}

// ask returns the reason why a search must end.
func (r *reader) ask() error {
	if r.done += r.work; r.done > r.most && r.err == nil {
		r.err = &WorkError{r.steps, len(r.text)}
	}
	r.work = 0
	if r.cancelled != nil && r.err == nil {
		r.err = r.cancelled()
	}
	return r.err
}
