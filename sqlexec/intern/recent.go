package intern

import "varve/engine/vector"

// recentSlots is the number of values that a worker remembers: 256 KiB, which leaves a core's own cache room for others.
const recentSlots = 1 << recentBits

const recentBits = 13

// recent remembers the numbers of values that a worker looked up lately: of values some of which come often, these are
// found without a lock and in the core's own cache. Texts that are not inline are not kept.
type recent struct {
	slots []recentSlot
}

// recentSlot is 32 bytes: two of them in a cache line, none in two.
type recentSlot struct {
	words words
	len   uint32
	id    uint32 // number + 1; 0 is free
}

// known writes the numbers of rows that are remembered into ids, and gives the others in the memory of rows.
func (c *recent) known(rows []uint32, p *probe, n int, ids []uint32) []uint32 {
	if p.v.Type.Kind() != vector.Bytes {
		for i := range rows {
			rows[i] = uint32(i)
		}
		return rows
	}
	if c.slots == nil {
		c.slots = make([]recentSlot, recentSlots)
	}
	slots := (*[recentSlots]recentSlot)(c.slots)
	views, all, hashes, valid := p.v.Views[:n], p.words[:n], p.hashes[:n], p.v.Valid
	ids, rows = ids[:n], rows[:n]
	missed := 0
	for i := range views {
		w := &all[i]
		s := &slots[hashes[i]>>(64-recentBits)]
		d := (s.words.a ^ w.a) | (s.words.b ^ w.b) | (s.words.c ^ w.c) | uint64(s.len^views[i].Len)
		ids[i] = s.id - 1
		rows[missed] = uint32(i)
		if d != 0 || s.id == 0 || valid != nil && !valid.Get(i) {
			missed++
		}
	}
	return rows[:missed]
}

// note remembers the numbers of some rows.
func (c *recent) note(p *probe, rows, ids []uint32) {
	if c.slots == nil {
		return
	}
	views, valid := p.v.Views, p.v.Valid
	for _, r := range rows {
		if n := views[r].Len; n <= inline && (valid == nil || valid.Get(int(r))) {
			c.slots[p.hashes[r]>>(64-recentBits)] = recentSlot{p.words[r], n, ids[r] + 1}
		}
	}
}
