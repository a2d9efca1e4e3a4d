package automaton

import (
	"regexp/syntax"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Bounds of looking for matches by an automaton. Beyond them package regexp looks.
const (
	maxSpots = 1 << 17 // edges of all places, 8 bytes each
	// mostAnew is how often, on average, a character of a text may be looked at: from each place where a match may
	// begin the search goes on to where none can end any more.
	mostAnew = 16
)

// places is an automaton that finds the position of the first match. An automaton that only reports whether there is a
// match ignores the order of instructions. places keeps the instructions in the order in which package regexp prefers
// them, and drops the instructions after a match.
type places struct {
	prog *syntax.Prog
	classes
	begins [utf8.RuneSelf]*place // where a match may begin, by the character before
	atText *place                // at the begin of the text
	idle   [256]bool             // bytes where no match begins, whatever is before them

	mu     sync.Mutex // protects what follows and writing
	byKey  map[string]*place
	edges  int
	set    set
	behind set
}

// place is a state: the instructions to follow once the next character is known, the preferred one first.
type place struct {
	insts []uint32
	prev  rune // as in state
	to    [2]edge
	next  []atomic.Pointer[edge] // by class, the end of the text is last; nil: not known yet
}

// edge leads to a place; matched: a match ends before the character.
type edge struct {
	to      *place // nil: no other match ends later
	matched bool
}

var ends = [2]edge{{nil, false}, {nil, true}}

// newPlaces makes the classes and the places where matches begin; nil: package regexp looks.
func newPlaces(re *Regexp) *places {
	p := &places{prog: re.program(), byKey: map[string]*place{}}
	if len(p.prog.Inst) > maxInsts {
		return nil
	}
	var uses syntax.EmptyOp
	for i := range p.prog.Inst {
		if in := &p.prog.Inst[i]; in.Op == syntax.InstEmptyWidth {
			uses |= syntax.EmptyOp(in.Arg)
		}
	}
	if !p.classes.build(p.prog, uses) {
		return nil
	}
	p.set.init(len(p.prog.Inst))
	p.behind.init(len(p.prog.Inst))
	start := []uint32{uint32(p.prog.Start)}
	if p.atText = p.place(start, -1); p.atText == nil {
		return nil
	}
	for c := range p.begins {
		if p.begins[c] = p.place(start, p.context(rune(c))); p.begins[c] == nil {
			return nil
		}
	}
	for c := range p.ascii {
		idle := true
		for _, from := range []*place{p.atText, p.begins[other], p.begins[newline], p.begins[letter]} {
			idle = idle && p.step(from, uint32(p.ascii[c])) == &ends[0]
		}
		p.idle[c] = idle
	}
	return p
}

// find returns begin and end of the first match from a position on; begin is -1 if there is none. It subtracts its work
// from work. known is false if work or the room for places is used up, and once cancelled returns an error.
func (p *places) find(text []byte, from int, work *int, cancelled func() error) (begin, end int, known bool) {
	asked := *work
	for at := from; ; at++ {
		for at < len(text) && p.idle[text[at]] {
			at++
		}
		if end, known = p.ending(text, at, work); end >= 0 || !known {
			return at, end, known
		}
		if at >= len(text) {
			return -1, -1, true
		}
		if *work/askWork != asked/askWork {
			if asked = *work; cancelled != nil && cancelled() != nil {
				return -1, -1, false
			}
		}
		if text[at] >= utf8.RuneSelf {
			_, width := utf8.DecodeRune(text[at:])
			at += width - 1
		}
	}
}

// ending returns the end of the preferred match that begins at a position; -1 if there is none.
func (p *places) ending(text []byte, at int, work *int) (end int, known bool) {
	s := p.atText
	if at > 0 {
		s = p.begins[min(text[at-1], utf8.RuneSelf-1)] // the last class: all characters beyond ASCII
	}
	end = -1
	for i := at; ; {
		class, width := uint32(len(p.reps)), 0
		if i < len(text) {
			if c := text[i]; c < utf8.RuneSelf {
				class, width = uint32(p.ascii[c]), 1
			} else {
				var x rune
				x, width = utf8.DecodeRune(text[i:])
				class = p.classOf(x)
			}
		}
		e := s.next[class].Load()
		if e == nil {
			if e = p.step(s, class); e == nil {
				return -1, false
			}
		}
		if e.matched {
			end = i
		}
		if s = e.to; s == nil {
			*work -= i - at + 1
			return end, *work > 0
		}
		i += width
	}
}

// step creates the edge of a place and a class, or of the end; nil if there is no room for more places.
func (p *places) step(from *place, class uint32) *edge {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := from.next[class].Load(); e != nil {
		return e // another goroutine was here
	}
	c, last := rune(-1), int(class) == len(p.reps)
	if !last {
		c = p.reps[class]
	}
	p.set.clear()
	matched := false
	for _, pc := range from.insts {
		if matched = p.follow(pc, syntax.EmptyOpContext(from.prev, c)); matched {
			break
		}
	}
	p.behind.clear()
	for _, pc := range p.set.list {
		switch in := &p.prog.Inst[pc]; in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if !last && in.MatchRune(c) {
				p.behind.add(in.Out)
			}
		}
	}
	e := &ends[0]
	switch to := (*place)(nil); {
	case len(p.behind.list) > 0:
		if to = p.place(p.behind.list, p.context(c)); to == nil {
			return nil
		}
		e = &to.to[0]
		if matched {
			e = &to.to[1]
		}
	case matched:
		e = &ends[1]
	}
	from.next[class].Store(e)
	return e
}

// follow adds, in order, the instructions that pc reaches without a character, until a match. holds decides the
// assertions.
func (p *places) follow(pc uint32, holds syntax.EmptyOp) (matched bool) {
	if !p.set.add(pc) {
		return false
	}
	switch in := &p.prog.Inst[pc]; in.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstAlt, syntax.InstAltMatch:
		return p.follow(in.Out, holds) || p.follow(in.Arg, holds)
	case syntax.InstCapture, syntax.InstNop:
		return p.follow(in.Out, holds)
	case syntax.InstEmptyWidth:
		return syntax.EmptyOp(in.Arg)&^holds == 0 && p.follow(in.Out, holds)
	}
	return false
}

// place returns the place of instructions after a character, and creates it if needed; nil if there is no room.
func (p *places) place(insts []uint32, prev rune) *place {
	key := make([]byte, 0, 4*len(insts)+4)
	for _, x := range append(insts[:len(insts):len(insts)], uint32(prev)) {
		key = append(key, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	if s := p.byKey[string(key)]; s != nil {
		return s
	}
	n := len(p.reps) + 1
	if p.edges += n; p.edges > maxSpots || len(p.byKey) >= maxStates {
		return nil
	}
	s := &place{insts: append([]uint32(nil), insts...), prev: prev, next: make([]atomic.Pointer[edge], n)}
	s.to = [2]edge{{s, false}, {s, true}}
	p.byKey[string(key)] = s
	return s
}
