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
	// anchored: a match begins at the begin of the text only. groups: edges know where threads come from.
	anchored, groups bool
	idle             [256]bool // bytes where no match begins, whatever is before them

	mu     sync.Mutex // protects what follows and writing
	byKey  map[string]*place
	edges  int
	set    set
	behind set

	origins []origin // with groups: of the instructions in set
	thread  uint32   // the one that is followed
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

	from []origin // with groups: of each instruction of to
	last origin   // with groups: of the match
}

var ends = [2]edge{{to: nil, matched: false}, {to: nil, matched: true}}

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
	p.anchored = p.prog.StartCond()&syntax.EmptyBeginText != 0
	p.groups = 0 < re.Groups() && re.Groups() <= maxGroups
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
			e := p.step(from, uint32(p.ascii[c]))
			idle = idle && e != nil && e.to == nil && !e.matched
		}
		p.idle[c] = idle
	}
	return p
}

// find returns begin and end of the first match from a position on; begin is -1 if there is none. It subtracts its work
// from work. known is false if work or the room for places is used up, and once cancelled returns an error. trail, if
// not nil, gets the edges of the match.
func (p *places) find(text []byte, from int, work *int, cancelled func() error, trail *trail) (begin, end int,
	known bool) {
	asked := *work
	for at := from; ; at++ {
		for at < len(text) && p.idle[text[at]] {
			at++
		}
		if end, known = p.ending(text, at, work, trail); end >= 0 || !known {
			return at, end, known
		}
		if at >= len(text) || p.anchored {
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
func (p *places) ending(text []byte, at int, work *int, trail *trail) (end int, known bool) {
	s := p.start(text, at)
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
		if trail != nil {
			trail.edges[i] = e
			for k := 1; k < width; k++ {
				trail.edges[i+k] = nil
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

// start is the place where a match may begin at a position.
func (p *places) start(text []byte, at int) *place {
	if at == 0 {
		return p.atText
	}
	return p.begins[min(text[at-1], utf8.RuneSelf-1)] // the last class: all characters beyond ASCII
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
	p.origins = p.origins[:0]
	matched := false
	for thread, pc := range from.insts {
		p.thread = uint32(thread)
		if matched = p.follow(pc, syntax.EmptyOpContext(from.prev, c), 0); matched {
			break
		}
	}
	p.behind.clear()
	var origins []origin
	for k, pc := range p.set.list {
		switch in := &p.prog.Inst[pc]; in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if !last && in.MatchRune(c) && p.behind.add(in.Out) && p.groups {
				origins = append(origins, p.origins[k])
			}
		}
	}
	var to *place
	if len(p.behind.list) > 0 {
		if to = p.place(p.behind.list, p.context(c)); to == nil {
			return nil
		}
	}
	e := p.edge(to, matched, origins)
	if e != nil {
		from.next[class].Store(e)
	}
	return e
}

// edge returns an edge to a place; nil if there is no room. Without groups all edges to a place are the same two.
func (p *places) edge(to *place, matched bool, origins []origin) *edge {
	if p.groups && (to != nil || matched) {
		if p.edges += 4 + 2*len(origins); p.edges > maxSpots {
			return nil
		}
		e := &edge{to: to, matched: matched, from: origins}
		if matched {
			e.last = p.origins[len(p.origins)-1]
		}
		return e
	}
	of := &ends
	if to != nil {
		of = &to.to
	}
	if matched {
		return &of[1]
	}
	return &of[0]
}

// follow adds, in order, the instructions that pc reaches without a character, until a match. holds decides the
// assertions; passed are the ends of groups on the way.
func (p *places) follow(pc uint32, holds syntax.EmptyOp, passed uint64) (matched bool) {
	if !p.set.add(pc) {
		return false
	}
	if p.groups {
		p.origins = append(p.origins, origin{p.thread, passed})
	}
	switch in := &p.prog.Inst[pc]; in.Op {
	case syntax.InstMatch:
		return true
	case syntax.InstAlt, syntax.InstAltMatch:
		return p.follow(in.Out, holds, passed) || p.follow(in.Arg, holds, passed)
	case syntax.InstCapture:
		return p.follow(in.Out, holds, passed|1<<(in.Arg&63))
	case syntax.InstNop:
		return p.follow(in.Out, holds, passed)
	case syntax.InstEmptyWidth:
		return syntax.EmptyOp(in.Arg)&^holds == 0 && p.follow(in.Out, holds, passed)
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
	s.to = [2]edge{{to: s}, {to: s, matched: true}}
	p.byKey[string(key)] = s
	return s
}
