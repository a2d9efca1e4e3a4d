// Package automaton matches regular expressions, some ten times as fast as package regexp: a deterministic automaton
// over classes of characters, whose states are made when a text first leads to them. Syntax and matches are those of
// package regexp, which also takes over where an automaton would need too much memory.
package automaton

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Bounds of an automaton. Beyond them package regexp decides.
const (
	maxInsts   = 2000    // of the expression's program
	maxStates  = 4096    // made for one expression
	maxEntries = 1 << 18 // of the table of transitions, 4 bytes each
)

// fewTexts is the number of texts that package regexp matches before it pays to make an automaton.
const fewTexts = 32

// longText is the length from which on a text is worth an automaton of its own.
const longText = 16 << 10

// Regexp is a compiled regular expression. Any number of goroutines may use it at the same time.
type Regexp struct {
	re    *regexp.Regexp
	texts atomic.Int32 // that were matched without the automaton
	once  sync.Once
	auto  atomic.Pointer[automaton] // nil: it was not made yet

	placesOnce sync.Once
	places     *places // nil: package regexp looks for matches

	compiled sync.Once
	prog     *syntax.Prog // compiled program of re, set on first use
	behind   sync.Once
	after    *regexp.Regexp // re after any one character, set on first use
	afterErr error
}

// MaxPattern is the most bytes of an expression, and of other patterns that are looked for in every row. maxSteps is
// the most instructions it may become: a text may cost as many for each character.
const (
	MaxPattern = 64 << 10
	maxSteps   = 10_000
)

// Compile reads an expression in the syntax of package regexp.
func Compile(expr string) (*Regexp, error) {
	if err := CheckPattern(expr); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	r := &Regexp{re: re}
	if len(expr) > maxSteps/16 || strings.Contains(expr, "{") { // others are far from the bound
		if steps := r.steps(); steps > maxSteps {
			return nil, fmt.Errorf("the expression needs %d steps, the limit is %d", steps, maxSteps)
		}
	}
	return r, nil
}

// Steps is about the steps that a tree becomes, before it becomes them.
func Steps(tree *syntax.Regexp) int {
	steps := 1 + len(tree.Rune)/8
	if tree.Op == syntax.OpLiteral {
		steps = len(tree.Rune)
	}
	for _, sub := range tree.Sub {
		steps += Steps(sub)
	}
	if tree.Op == syntax.OpRepeat {
		steps *= max(tree.Min, tree.Max, 1)
	}
	return min(steps, 1<<30)
}

// CheckPattern holds that a pattern is not longer than MaxPattern.
func CheckPattern(p string) error {
	if len(p) > MaxPattern {
		return fmt.Errorf("the pattern is longer than the limit of %d bytes: it has %d", MaxPattern, len(p))
	}
	return nil
}

// Match reports whether text contains a match. cancelled may be nil; once it returns an error, Match stops and its
// result means nothing.
func (r *Regexp) Match(text []byte, cancelled func() error) bool {
	a := r.auto.Load()
	if a == nil {
		if !r.pays(text) {
			return r.look(text, cancelled)
		}
		r.once.Do(func() { r.auto.Store(newAutomaton(r)) })
		a = r.auto.Load()
	}
	return a.match(text, cancelled)
}

// pays reports whether an automaton pays once this text was looked at, too.
func (r *Regexp) pays(text []byte) bool {
	return len(text) >= longText || r.texts.Load() > fewTexts || r.texts.Add(1) > fewTexts
}

// automaton consists of states and of the transitions between them.
type automaton struct {
	re   *Regexp
	prog *syntax.Prog
	classes

	shift uint   // a row of the table has 1<<shift entries
	start uint32 // unknown: package regexp decides everything
	end   uint32 // the entry for the end of the text
	// idle are the bytes that leave the start as it is: texts are skimmed over them.
	idle [256]bool

	// table holds for each state and class the state that follows. A state is the place of its row; 0 is not known yet,
	// dead and accept are the others below firstState<<shift. Entries are written once; a longer table takes their
	// place.
	table atomic.Pointer[[]uint32]

	mu     sync.Mutex // protects what follows and writing
	states []state    // by row
	byKey  map[string]uint32
	set    set
	next   set
}

// Entries of the table that are no rows.
const (
	unknown    = 0
	dead       = 1 // no text that goes on from here matches
	accept     = 2 // every text does
	firstState = 3
)

// state is a set of instructions that wait for the next character, and of assertions that cannot be decided before it.
type state struct {
	insts []uint32
	prev  rune // the previous character, for assertions; -1: the text begins here
}

// newAutomaton makes the classes and the first state, where there is room.
func newAutomaton(re *Regexp) *automaton {
	prog := re.program()
	a := &automaton{re: re, prog: prog}
	if len(prog.Inst) > maxInsts {
		return a // package regexp decides
	}
	var uses syntax.EmptyOp
	for i := range prog.Inst {
		if in := &prog.Inst[i]; in.Op == syntax.InstEmptyWidth {
			uses |= syntax.EmptyOp(in.Arg)
		}
	}
	if a.classes.build(prog, uses) {
		a.begin(uses)
	}
	return a
}

// begin makes the state before the first character; uses are the assertions of the program.
func (a *automaton) begin(uses syntax.EmptyOp) {
	a.end = uint32(len(a.reps))
	for a.shift = 2; 1<<a.shift <= a.end; { // 2: rows begin behind the entries that are none
		a.shift++
	}
	table := make([]uint32, (firstState+1)<<a.shift)
	a.table.Store(&table)
	a.states = make([]state, firstState)
	a.byKey = map[string]uint32{}
	a.set.init(len(a.prog.Inst))
	a.next.init(len(a.prog.Inst))
	if a.follow(&a.next, uint32(a.prog.Start)) {
		a.start = accept
		return
	}
	prev := rune(-1)
	if uses == 0 {
		prev = other
	}
	a.start = a.row(&a.next, prev)
	for c := range a.idle { // with assertions a later start is another state
		a.idle[c] = c < utf8.RuneSelf && uses == 0 && a.step(a.start, uint32(a.ascii[c])) == a.start
	}
}

// match is Regexp.Match.
func (a *automaton) match(text []byte, cancelled func() error) bool {
	s := a.start
	switch s {
	case unknown:
		return a.re.look(text, cancelled)
	case accept:
		return true
	}
	table := *a.table.Load()
	for i := a.skip(text, 0); i < len(text); {
		var class uint32
		if c := text[i]; c < utf8.RuneSelf {
			class = uint32(a.ascii[c])
			i++
		} else {
			x, n := utf8.DecodeRune(text[i:])
			class = a.classOf(x)
			i += n
		}
		to := atomic.LoadUint32(&table[s+class])
		if to <= accept {
			if to == unknown {
				if to = a.stepUntil(s, class, cancelled); to == unknown {
					return a.re.look(text, cancelled)
				}
				table = *a.table.Load()
			}
			if to <= accept {
				return to == accept
			}
		}
		if s = to; s == a.start {
			i = a.skip(text, i)
		}
	}
	to := atomic.LoadUint32(&table[s+a.end])
	if to == unknown {
		to = a.stepUntil(s, a.end, cancelled)
	}
	if to == unknown {
		return a.re.look(text, cancelled)
	}
	return to == accept
}

// skip returns the place of the first byte, from i on, that does not leave the start as it is.
func (a *automaton) skip(text []byte, i int) int {
	for i < len(text) && a.idle[text[i]] {
		i++
	}
	return i
}

// stepUntil is step while cancelled returns no error: thousands of entries of a large expression take seconds.
func (a *automaton) stepUntil(from, class uint32, cancelled func() error) uint32 {
	if cancelled != nil && cancelled() != nil {
		return unknown
	}
	return a.step(from, class)
}

// step creates the entry of a state and a class, or of the end; unknown if there is no room for more states.
func (a *automaton) step(from, class uint32) uint32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := from + class
	if to := (*a.table.Load())[at]; to != unknown {
		return to // another goroutine was here
	}
	to := a.follower(a.states[from>>a.shift], class)
	if to != unknown {
		atomic.StoreUint32(&(*a.table.Load())[at], to)
	}
	return to
}

// follower returns the state after a character of a class, or the decision at the end of the text.
func (a *automaton) follower(s state, class uint32) uint32 {
	c := rune(-1)
	if class != a.end {
		c = a.reps[class]
	}
	a.set.clear()
	for _, pc := range s.insts {
		a.set.add(pc)
	}
	holds := syntax.EmptyOpContext(s.prev, c)
	for i := 0; i < len(a.set.list); i++ { // instructions that follow a true assertion are appended to the list
		in := &a.prog.Inst[a.set.list[i]]
		if in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&^holds == 0 && a.follow(&a.set, in.Out) {
			return accept
		}
	}
	if class == a.end {
		return dead
	}
	a.next.clear()
	for _, pc := range a.set.list {
		in := &a.prog.Inst[pc]
		if in.Op != syntax.InstEmptyWidth && in.MatchRune(c) && a.follow(&a.next, in.Out) {
			return accept
		}
	}
	if a.prog.StartCond()&syntax.EmptyBeginText == 0 && a.follow(&a.next, uint32(a.prog.Start)) {
		return accept
	}
	if len(a.next.list) == 0 {
		return dead
	}
	return a.row(&a.next, a.context(c))
}

// follow adds what pc leads to without a character, and reports whether that is a match. Assertions stay where they
// are.
func (a *automaton) follow(to *set, pc uint32) (matched bool) {
	in := &a.prog.Inst[pc]
	switch in.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstFail:
		return false
	}
	if !to.add(pc) {
		return false
	}
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return a.follow(to, in.Out) || a.follow(to, in.Arg)
	case syntax.InstCapture, syntax.InstNop:
		return a.follow(to, in.Out)
	}
	return false
}

// row returns the row of a set of instructions after a character, and creates it if needed; unknown if there is no
// room.
func (a *automaton) row(s *set, prev rune) uint32 {
	insts := make([]uint32, 0, len(s.list))
	for _, pc := range s.list {
		switch a.prog.Inst[pc].Op {
		case syntax.InstAlt, syntax.InstAltMatch, syntax.InstCapture, syntax.InstNop:
		default:
			insts = append(insts, pc)
		}
	}
	slices.Sort(insts)
	key := make([]byte, 0, 4*len(insts)+4)
	for _, x := range append(insts, uint32(prev)) {
		key = append(key, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	if at, ok := a.byKey[string(key)]; ok {
		return at
	}
	n := len(a.states)
	if n-firstState >= maxStates || (n+1)<<a.shift > maxEntries {
		return unknown
	}
	if table := *a.table.Load(); (n+1)<<a.shift > len(table) {
		longer := make([]uint32, 2*len(table))
		copy(longer, table) // entries are only written under the lock
		a.table.Store(&longer)
	}
	a.states = append(a.states, state{insts, prev})
	at := uint32(n) << a.shift
	a.byKey[string(key)] = at
	return at
}

// set is a set of instructions in the order they came.
type set struct {
	list []uint32
	in   []bool
}

func (s *set) init(n int) { s.in = make([]bool, n) }

func (s *set) clear() {
	for _, pc := range s.list {
		s.in[pc] = false
	}
	s.list = s.list[:0]
}

// add adds an instruction; false: it is there.
func (s *set) add(pc uint32) bool {
	if s.in[pc] {
		return false
	}
	s.in[pc] = true
	s.list = append(s.list, pc)
	return true
}
