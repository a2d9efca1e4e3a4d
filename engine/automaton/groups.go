package automaton

import (
	"math/bits"
	"sync"
)

// Where the groups of a match lie the automaton of places tells as well. A match is a chain of instructions, one for
// each character. Each edge says, for each instruction behind it, which instruction before it led there, and which ends
// of groups were passed on the way. The edges of a match are kept on the way forth. Then the chain is followed back
// from the end, and the first position seen of an end of a group is its last one in the text, which is what counts.

// maxGroups is the number of groups whose ends are bits of a word; expressions with more are left to package regexp.
const maxGroups = 31

// origin is how an instruction was reached: from which of the instructions before, by number, and past which ends of
// groups. Bit 2g is the begin of group g, bit 2g+1 its end.
type origin struct {
	thread uint32
	passed uint64
}

// trail is the memory in which a match is followed back.
type trail struct {
	edges   []*edge // by position in the text, of the last try to match; nil within a character
	offsets []int
}

var trails = sync.Pool{New: func() any { return new(trail) }}

// longTrail is the length of a text whose trail is not kept for the next one.
const longTrail = 64 << 10

// first calls found with the first match of a text and its groups, as Each does. known is false where only package
// regexp can tell.
func (p *places) first(text []byte, groups int, cancelled func() error, found func(offsets []int) error) (known bool,
	err error) {
	t := trails.Get().(*trail)
	if cap(t.edges) <= len(text) {
		t.edges = make([]*edge, len(text)+1, len(text)+len(text)/2+1)
	}
	t.edges = t.edges[:len(text)+1]
	room := mostAnew * (len(text) + 1)
	begin, end, known := p.find(text, 0, &room, cancelled, t)
	if known && begin >= 0 {
		err = found(t.back(begin, end, groups))
	}
	if cap(t.edges) <= longTrail {
		trails.Put(t)
	}
	return known, err
}

// back returns the offsets of the match that begins and ends there and of its groups, valid until the next call.
func (t *trail) back(begin, end, groups int) []int {
	t.offsets = append(t.offsets[:0], begin, end)
	for range groups {
		t.offsets = append(t.offsets, -1, -1)
	}
	open := (uint64(1)<<(2*groups+2) - 1) &^ 3 // ends of groups that were not seen
	step := t.edges[end].last
	for at := end; ; {
		for seen := step.passed & open; seen != 0; seen &= seen - 1 {
			t.offsets[bits.TrailingZeros64(seen)] = at
		}
		if open &^= step.passed; open == 0 {
			break
		}
		if at--; at < begin {
			break
		}
		for t.edges[at] == nil {
			at--
		}
		step = t.edges[at].from[step.thread]
	}
	return t.offsets
}
