package processor

import (
	"strings"
	"unicode/utf8"
)

// scanner matches a regular expression that is really a row of literal texts and runs of characters, which most
// patterns for log lines are: ^(\S+) \[([^\]]+)\] "(.*?)". One pass without state beats the general engine ten times.
//
// It is used only where its answer is the engine's: a run ends where the next step's first character cannot belong to
// the run, so that there is nothing to choose; where it can, the run goes to the nearest or farthest occurrence of the
// literal behind it, which is the engine's first choice. When what follows then fails, the engine would make other
// choices, and the scanner says that it does not know.
//
// Immutable.
type scanner struct {
	steps    []scanStep
	anchored bool // the match begins with the text
	loose    bool // a failure does not prove that there is no match
	groups   int  // with group 0
}

// scanStep is one step of a scanner.
type scanStep struct {
	kind     scanKind
	literal  string  // scanLiteral; and the text that scanNearest and scanFarthest look for
	set      *runSet // of runs
	min, max int     // of runs, in characters; max < 0: no bound
	mark     int     // scanMark: the index in groups
	lazy     bool    // of runs: as few characters as possible
	alts     []scanAlternative
	optional bool // of choices: none of them is fine, too
}

// scanAlternative is one way of a choice with the characters that it can begin with.
type scanAlternative struct {
	steps []scanStep
	first *runSet
}

type scanKind uint8

const (
	scanLiteral scanKind = iota
	scanRun              // as many characters as there are
	scanNearest          // characters up to the nearest occurrence of a literal
	scanFarthest
	scanMark
	scanEnd    // the end of the text
	scanChoice // one of several ways, told by the next character
)

// runSet is a set of characters.
type runSet struct {
	ascii [utf8.RuneSelf]bool
	wide  []rune // the others, as pairs of first and last
	// stop is the only character that is not in the set, -1 when it is not like that.
	stop int
}

// scanResult is the answer of a scanner.
type scanResult uint8

const (
	scanFound scanResult = iota
	scanNone
	scanUnknown // ask the general engine
)

// has reports whether a character is in the set.
func (s *runSet) has(r rune) bool {
	if r < utf8.RuneSelf {
		return s.ascii[r]
	}
	for i := 0; i+1 < len(s.wide); i += 2 {
		if r >= s.wide[i] && r <= s.wide[i+1] {
			return true
		}
	}
	return false
}

// maxStarts bounds the places at which a match is tried to begin, so that the time stays linear.
const maxStarts = 64

// match looks for the first match and notes its groups: 2*scanner.groups places, -1 for groups that took no part.
func (s *scanner) match(text string, groups []int) scanResult {
	start := 0
	for range maxStarts {
		if !s.anchored {
			n := s.candidate(text[start:])
			if n < 0 {
				return scanNone
			}
			start += n
		}
		end, ok := s.at(text, start, groups)
		if ok {
			groups[0], groups[1] = start, end
			return scanFound
		}
		if s.loose {
			return s.doubt(text)
		}
		if s.anchored || start >= len(text) {
			return scanNone
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		start += size
	}
	return scanUnknown
}

// doubt is the answer after choices that may have been the wrong ones: a text that lacks a literal does not match.
func (s *scanner) doubt(text string) scanResult {
	for i := range s.steps {
		if st := &s.steps[i]; st.kind == scanLiteral && !strings.Contains(text, st.literal) {
			return scanNone
		}
	}
	return scanUnknown
}

// candidate is the next place where a match can begin; -1 for none.
func (s *scanner) candidate(text string) int {
	for i := range s.steps {
		switch st := &s.steps[i]; {
		case st.kind == scanMark:
			continue
		case st.kind == scanLiteral:
			return strings.Index(text, st.literal)
		case st.kind == scanRun && st.min > 0:
			for at, r := range text {
				if st.set.has(r) {
					return at
				}
			}
			return -1
		}
		break
	}
	return 0
}

// at matches from a place.
func (s *scanner) at(text string, at int, groups []int) (end int, ok bool) {
	for i := range groups {
		groups[i] = -1
	}
	return walkSteps(s.steps, text, at, groups)
}

func walkSteps(steps []scanStep, text string, at int, groups []int) (end int, ok bool) {
	for i := range steps {
		st := &steps[i]
		switch st.kind {
		case scanMark:
			groups[st.mark] = at
			continue
		case scanLiteral:
			if !strings.HasPrefix(text[at:], st.literal) {
				return 0, false
			}
			at += len(st.literal)
			continue
		case scanEnd:
			if at != len(text) {
				return 0, false
			}
			continue
		case scanChoice:
			alt := st.choose(text[at:])
			switch {
			case alt != nil:
				if at, ok = walkSteps(alt, text, at, groups); !ok {
					return 0, false
				}
			case !st.optional:
				return 0, false
			}
			continue
		}
		n := st.run(text[at:])
		if n < 0 {
			return 0, false
		}
		at += n
	}
	return at, true
}

// choose is the alternative that the next character tells; nil for none.
func (st *scanStep) choose(text string) []scanStep {
	if text == "" {
		return nil
	}
	r, _ := utf8.DecodeRuneInString(text)
	for i := range st.alts {
		if st.alts[i].first.has(r) {
			return st.alts[i].steps
		}
	}
	return nil
}

// run is the length of the run at the begin of text; -1 when it is too short or the literal behind it does not come.
func (st *scanStep) run(text string) int {
	if st.kind == scanNearest {
		return st.nearest(text)
	}
	n := 0
	if st.max < 0 && st.min <= 1 {
		if n = st.set.all(text); n < st.min {
			return -1
		}
	} else if n = st.counted(text, st.max); n < 0 {
		return -1
	}
	if st.kind != scanFarthest {
		return n
	}
	least := st.counted(text, st.min)
	if least < 0 {
		return -1
	}
	k := strings.LastIndex(text[least:min(n+len(st.literal), len(text))], st.literal)
	if k < 0 {
		return -1
	}
	return least + k
}

// all is the length of all characters of the set at the begin of text.
func (s *runSet) all(text string) int {
	if s.stop >= 0 {
		if n := strings.IndexByte(text, byte(s.stop)); n >= 0 {
			return n
		}
		return len(text)
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if !s.ascii[c] {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !s.has(r) {
			return i
		}
		i += size
	}
	return len(text)
}

// counted is the length of up to most characters of the set, most < 0 meaning all; -1 when they are fewer than the step
// wants.
func (st *scanStep) counted(text string, most int) int {
	count, at := 0, 0
	for at < len(text) && count != most {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !st.set.has(r) {
			break
		}
		at += size
		count++
	}
	if count < st.min {
		return -1
	}
	return at
}

// nearest is the length of the run up to the nearest occurrence of the literal behind it.
func (st *scanStep) nearest(text string) int {
	least := st.counted(text, st.min)
	if least < 0 {
		return -1
	}
	k := strings.Index(text[least:], st.literal)
	if k < 0 || st.set.all(text[:least+k]) < least+k {
		return -1
	}
	return least + k
}
