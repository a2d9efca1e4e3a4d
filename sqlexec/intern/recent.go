package intern

import (
	"slices"

	"varve/engine/vector"
)

// recentSlots is the number of values that a worker remembers: 256 KiB, which leaves a core's own cache room for
// others.
const recentSlots = 1 << recentBits

const recentBits = 13

// recent remembers the numbers of values that a worker looked up lately: of values some of which come often, these are
// found without a lock and in the core's own cache. Texts that are not inline are not kept.
type recent struct {
	texts   []recentText
	numbers []recentNumber
}

// recentText is 32 bytes: two of them in a cache line, none in two.
type recentText struct {
	words words
	len   uint32
	id    uint32 // number + 1; 0 is free
}

type recentNumber struct {
	key uint64
	id  uint64 // number + 1; 0 is free
}

// known writes the numbers of rows that are remembered into ids, and gives the others in the memory of rows. Rows that
// are NULL are among the others.
func (c *recent) known(rows []uint32, p *probe, n int, ids []uint32) []uint32 {
	if p.texts {
		if c.texts == nil {
			c.texts = make([]recentText, recentSlots)
		}
		rows = rows[:knownTexts((*[recentSlots]recentText)(c.texts), p.words[:n], p.hashes, p.v.Views, ids, rows)]
	} else {
		if c.numbers == nil {
			c.numbers = make([]recentNumber, recentSlots)
		}
		rows = rows[:knownNumbers((*[recentSlots]recentNumber)(c.numbers), p.keys[:n], p.hashes, ids, rows)]
	}
	if p.v.Valid == nil {
		return rows
	}
	return withNulls(rows, p.v.Valid, n)
}

// knownTexts writes the rows that are not remembered into rows and gives their number. No branch depends on a value.
func knownTexts(slots *[recentSlots]recentText, all []words, hashes []uint64, views []vector.View, ids,
	rows []uint32) (missed int) {
	hashes, views, ids, rows = hashes[:len(all)], views[:len(all)], ids[:len(all)], rows[:len(all)]
	for i := range all {
		w, s := &all[i], &slots[hashes[i]>>(64-recentBits)]
		d := (s.words.a ^ w.a) | (s.words.b ^ w.b) | (s.words.c ^ w.c) | uint64(s.len^views[i].Len)
		ids[i] = s.id - 1
		rows[missed] = uint32(i)
		missed += int(vector.Bit(d != 0) | vector.Bit(s.id == 0))
	}
	return missed
}

func knownNumbers(slots *[recentSlots]recentNumber, keys, hashes []uint64, ids, rows []uint32) (missed int) {
	hashes, ids, rows = hashes[:len(keys)], ids[:len(keys)], rows[:len(keys)]
	for i, k := range keys {
		s := &slots[hashes[i]>>(64-recentBits)]
		ids[i] = uint32(s.id) - 1
		rows[missed] = uint32(i)
		missed += int(vector.Bit(s.key != k) | vector.Bit(s.id == 0))
	}
	return missed
}

// withNulls adds the rows of n that are NULL to rows, which rise.
func withNulls(rows []uint32, valid vector.Bitmap, n int) []uint32 {
	some := len(rows)
	for i := range uint32(n) {
		if !valid.Get(int(i)) {
			if _, there := slices.BinarySearch(rows[:some], i); !there {
				rows = append(rows, i)
			}
		}
	}
	return rows
}

// note remembers the numbers of some rows. Values that are new need not be told: most of them do not come again soon.
func (c *recent) note(p *probe, rows, ids []uint32) {
	valid := p.v.Valid
	for _, r := range rows {
		if valid != nil && !valid.Get(int(r)) {
			continue
		}
		at := p.hashes[r] >> (64 - recentBits)
		if !p.texts {
			c.numbers[at] = recentNumber{p.keys[r], uint64(ids[r]) + 1}
		} else if n := p.v.Views[r].Len; n <= inline {
			c.texts[at] = recentText{p.words[r], n, ids[r] + 1}
		}
	}
}
