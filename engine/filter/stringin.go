package filter

import (
	"encoding/binary"

	"varve/engine/vector"
)

// stringIn is an IN list of byte strings. Ids of one length are what it mostly holds, and most rows have others: a mark
// of the last bytes refutes them without a hash of the whole.
type stringIn struct {
	set     map[string]struct{}
	lengths uint64                // bit l: a member of l bytes exists; bit 63 stands for 63 and more
	ends    [endMarks / 64]uint64 // bit endMark: a member of endBytes and more ends so
}

const (
	// endBytes is one word: texts that differ, paths and hosts, mostly do so at their end.
	endBytes = 8
	// endMarks of a bit each take 512 bytes of the first level cache; a list of 100 members marks one in 40.
	endMarks = 1 << 12
)

// endMark is the mark of a text of at least endBytes.
func endMark(text []byte) uint64 {
	return binary.LittleEndian.Uint64(text[len(text)-endBytes:]) * 0x9E3779B97F4A7C15 >> (64 - 12) // the upper 12 bits
}

func (l *stringIn) add(text []byte) {
	l.set[string(text)] = struct{}{}
	l.lengths |= 1 << min(len(text), 63)
	if len(text) >= endBytes {
		m := endMark(text)
		l.ends[m>>6] |= 1 << (m & 63)
	}
}

// eval sets hit where the rows of keep are members. Twenty among rows of 32 bytes take a quarter of the time of hashes
// alone.
func (l *stringIn) eval(views []vector.View, heap []byte, keep, hit []uint64) {
	var part []vector.View
	keep = keep[:len(hit)]
	for w := range hit {
		var m uint64
		part, views = nextWord(views)
		for i, x := range part {
			if keep[w]>>i&1 == 0 || l.lengths>>min(x.Len, 63)&1 == 0 {
				continue
			}
			text := heap[x.Off : x.Off+x.Len]
			if len(text) >= endBytes {
				if mark := endMark(text); l.ends[mark>>6]>>(mark&63)&1 == 0 {
					continue
				}
			}
			_, found := l.set[string(text)]
			m |= vector.Bit(found) << i
		}
		hit[w] = m
	}
}
