package encoding

import "varve/engine/vector"

// textBlock is a block of strings that is encoded.
type textBlock struct {
	views  []vector.View
	heap   []byte
	shared *Dictionary // the part's; nil: none
	learnt *learnt     // of the column's text; nil: nothing

	bytes  int  // of all strings, once text asks for them
	plain  int  // bytes as plain strings; 0: not tried
	parted bool // templates were tried
}

// appendStrings encodes byte strings, with the ID in front. shared and what was learnt may be nil. The tiers say what
// is weighed besides bytes: on log fields (blocks of 8,192 rows) the choice ends within 0.5 % of the fewest bytes that
// any of these would take.
func (e *Encoder) appendStrings(dst []byte, views []vector.View, heap []byte, shared *Dictionary, l *learnt) []byte {
	e.sharedCodes = e.sharedCodes[:0]
	e.strings = textBlock{views: views, heap: heap, shared: shared, learnt: l}
	mark := len(dst)
	dst = textWriters.append(e, dst, &e.strings)
	e.strings.learn(ID(dst[mark]))
	e.strings = textBlock{}
	return dst
}

// string returns string i.
func (b *textBlock) string(i int) []byte {
	w := b.views[i]
	return b.heap[w.Off : w.Off+w.Len]
}

// size is what the strings take together.
func (b *textBlock) size() int {
	if b.bytes == 0 {
		for _, w := range b.views {
			b.bytes += int(w.Len)
		}
	}
	return b.bytes
}

// learn notes what the choice of an encoding has shown about text.
func (b *textBlock) learn(chosen ID) {
	if !b.parted {
		return
	}
	if b.plain > 0 {
		b.learnt.plain = float64(b.plain) / float64(b.size())
	}
	if chosen == Plain {
		b.learnt.wait = giveUp
	}
}
