package exec

import (
	"bytes"
	"context"
	"math/bits"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/intern"
)

// joinTable finds the build rows of a key. Rows of equal keys are chained in the order they have; a slot holds the
// hash of a key and the first row of its chain. Written once, then read by all workers.
//
// The slots are cut into partitions by the upper bits of the hash, so that several workers fill them without a lock.
type joinTable struct {
	keys      []*vector.Vector // key columns of all build rows, Flat
	nullEqual bool
	// exact: one key of fixed width without NULLs that count. Its hash is a bijection of the value, so equal hashes are
	// equal keys.
	exact bool
	// direct finds keys of a small range; with rows there are no parts.
	direct *joinDirect
	parts  []joinPart
	shift  uint     // hash >> shift is the partition
	next   []uint32 // the next row of the same key + 1; 0: none
	// chained says that some key has several rows.
	chained bool
	filled  int // rows that can be found: those without NULL, or all with nullEqual
}

// joinPart is a partition: open addressing, at most half full.
type joinPart struct {
	slots   []joinSlot
	mask    uint64
	filled  int
	chained bool
}

// joinSlot is the slot of a key: the data of the first probe is in one cache line.
type joinSlot struct {
	hash uint64
	row  uint32 // + 1; 0 is a free slot
}

// joinRowBytes is the memory of a build row besides its values: its hash, its chain and about three slots.
const joinRowBytes = 8 + 4 + 3*16

// joinPartRows is about the number of rows of a partition: its slots lie in the second level cache while it is filled.
const joinPartRows = 1 << 14

// maxJoinParts bounds the partitions, whose heads all stay in the first level cache.
const maxJoinParts = 1 << 8

// newJoinTable indexes n rows with the given keys on several goroutines.
func newJoinTable(ctx context.Context, keys []*vector.Vector, n, workers int, nullEqual bool) (*joinTable, error) {
	t := &joinTable{keys: keys, nullEqual: nullEqual, next: make([]uint32, n)}
	k := keys[0]
	t.exact = len(keys) == 1 && k.Type.Kind() != vector.Bytes && (k.Valid == nil || !nullEqual)
	var err error
	if t.direct, err = t.directly(ctx, n); err != nil || t.direct != nil && t.direct.rows != nil {
		return t, err
	}
	parts := 1
	for parts < maxJoinParts && parts*joinPartRows < n {
		parts *= 2
	}
	t.parts, t.shift = make([]joinPart, parts), uint(64-bits.Len(uint(parts-1)))
	hashes := vector.Room[uint64](n)[:n]
	batches := (n + vector.Size - 1) / vector.Size
	counts := make([][]uint32, batches) // rows of each partition in a batch
	skips := make([]vector.Bitmap, batches)
	err = Spread(ctx, batches, workers, func(i int) error {
		from, to := i*vector.Size, min((i+1)*vector.Size, n)
		h := joinHasher{hashes: hashes[from:to:to]}
		h.rows(cut(keys, from, to), to-from, nullEqual)
		counts[i], skips[i] = make([]uint32, parts), h.skip
		for r, x := range h.hashes {
			if !h.skipped(r) {
				counts[i][t.part(x)]++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, t.fill(ctx, hashes, counts, skips, workers)
}

// cut returns rows [from, to) of columns; from is a multiple of 64.
func cut(cols []*vector.Vector, from, to int) []*vector.Vector {
	out := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		out[i] = c.Slice(from, to)
	}
	return out
}

// part is the partition of a hash. A shift by 64 gives 0.
func (t *joinTable) part(hash uint64) uint64 { return hash >> t.shift }

// fill sorts the row numbers by partition, then fills the partitions.
func (t *joinTable) fill(ctx context.Context, hashes []uint64, counts [][]uint32, skips []vector.Bitmap,
	workers int) error {
	starts := make([]uint32, len(t.parts)+1)
	for p := range t.parts {
		at := starts[p]
		for i := range counts {
			at, counts[i][p] = at+counts[i][p], at
		}
		starts[p+1] = at
	}
	t.filled = int(starts[len(t.parts)])
	rows := vector.Room[uint32](t.filled)[:t.filled]
	err := Spread(ctx, len(counts), workers, func(i int) error {
		from, to := i*vector.Size, min((i+1)*vector.Size, len(hashes))
		for r, x := range hashes[from:to] {
			if skips[i] == nil || !skips[i].Get(r) {
				at := &counts[i][t.part(x)]
				rows[*at] = uint32(from + r)
				*at++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = Spread(ctx, len(t.parts), workers, func(p int) error {
		return t.fillPart(ctx, &t.parts[p], rows[starts[p]:starts[p+1]], hashes)
	})
	for p := range t.parts {
		t.chained = t.chained || t.parts[p].chained
	}
	return err
}

// fillPart puts rows into a partition, the last first, so that chains begin with the first.
func (t *joinTable) fillPart(ctx context.Context, p *joinPart, rows []uint32, hashes []uint64) error {
	size := 1 << bits.Len(uint(2*len(rows)))
	p.slots, p.mask, p.filled = make([]joinSlot, size), uint64(size-1), len(rows)
	for i := len(rows) - 1; i >= 0; i-- {
		if i%chunkRows == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		row := rows[i]
		h := hashes[row]
		at := h & p.mask
		for p.slots[at].row != 0 && (p.slots[at].hash != h ||
			!t.exact && !t.sameRows(int(p.slots[at].row-1), int(row))) {
			at = (at + 1) & p.mask
		}
		if first := p.slots[at].row; first != 0 {
			t.next[row], p.chained = first, true
		}
		p.slots[at] = joinSlot{h, row + 1}
	}
	return nil
}

// sameRows reports whether two build rows have the same key.
func (t *joinTable) sameRows(a, b int) bool { return t.same(t.keys, b, a) }

// same reports whether row i of keys has the key of a build row.
func (t *joinTable) same(keys []*vector.Vector, i, row int) bool {
	for k, v := range t.keys {
		if !sameKey(keys[k], i, v, row) {
			return false
		}
	}
	return true
}

// sameKey reports whether two values are one key: NULL equals NULL.
func sameKey(a *vector.Vector, i int, b *vector.Vector, j int) bool {
	if an, bn := a.IsNull(i), b.IsNull(j); an || bn {
		return an && bn
	}
	switch a.Type.Kind() {
	case vector.Bool:
		return a.Bool(i) == b.Bool(j)
	case vector.Int64:
		return a.Int(i) == b.Int(j)
	case vector.Uint64:
		return a.Uint(i) == b.Uint(j)
	case vector.Float64:
		return intern.FloatKey(a.Float(i)) == intern.FloatKey(b.Float(j))
	}
	if a.Type.ID == vector.TypeInterval {
		return expr.IntervalLength(a.Bytes(i)) == expr.IntervalLength(b.Bytes(j))
	}
	return bytes.Equal(a.Bytes(i), b.Bytes(j))
}

// lookup writes the first build row + 1 of each of n rows into first; 0: the key is not there. The loads of the first
// pass do not depend on each other, so their cache misses overlap.
func (t *joinTable) lookup(h *joinHasher, keys []*vector.Vector, n int, first []uint32) {
	if t.direct != nil && t.direct.rows != nil {
		t.direct.lookup(keys[0], n, first)
		return
	}
	h.rows(keys, n, t.nullEqual)
	first = first[:n]
	hashes := h.hashes[:n]
	for i, x := range hashes {
		p := &t.parts[t.part(x)]
		slot := p.slots[x&p.mask]
		if slot.hash != x {
			slot.row |= elsewhere
		}
		first[i] = slot.row
	}
	if k := keys[0]; len(keys) == 1 && k.Form == vector.Flat && k.Type.Kind() == vector.Bytes &&
		k.Type != vector.Interval {
		sameTexts(k, t.keys[0], first)
	} else if !t.exact {
		for i, row := range first {
			if row != 0 && row < elsewhere && !t.same(keys, i, int(row-1)) {
				first[i] |= elsewhere
			}
		}
	}
	for i, row := range first {
		if row > elsewhere {
			first[i] = t.find(hashes[i], keys, i)
		} else if row == elsewhere {
			first[i] = 0
		}
	}
	for i := range first {
		if h.skipped(i) {
			first[i] = 0
		}
	}
}

// elsewhere marks a row whose slot does not hold its key. The key is in a later slot or, if the slot is free, absent.
const elsewhere = 1 << 31

// sameTexts marks the rows whose text differs from the text of their probe row.
func sameTexts(probe, build *vector.Vector, first []uint32) {
	views, heap := probe.Views[:len(first)], probe.Heap
	keys, texts := build.Views, build.Heap
	for i, row := range first {
		if row == 0 || row >= elsewhere {
			continue
		}
		a, b := views[i], keys[row-1]
		if a.Len != b.Len || string(heap[a.Off:a.Off+a.Len]) != string(texts[b.Off:b.Off+b.Len]) {
			first[i] |= elsewhere
		}
	}
}

// find is the slow path of lookup, for one row whose key is not in its first slot.
func (t *joinTable) find(hash uint64, keys []*vector.Vector, i int) uint32 {
	if t.direct != nil && t.direct.rows != nil {
		return t.direct.find(keys[0], i)
	}
	p := &t.parts[t.part(hash)]
	for at := hash & p.mask; ; at = (at + 1) & p.mask {
		slot := &p.slots[at]
		if slot.row == 0 || slot.hash == hash && (t.exact || t.same(keys, i, int(slot.row-1))) {
			return slot.row
		}
	}
}

// joinSeed makes hashes differ from process to process: keys cannot be chosen to collide.
var joinSeed = rand.Uint64()

// joinNull stands for NULL among the hashes of a column.
const joinNull = 0x9E6C63D0876A9A47

// joinHasher hashes keys. One goroutine at a time.
type joinHasher struct {
	hashes []uint64
	one    []uint64      // hashes of one column, if there are several
	skip   vector.Bitmap // rows whose NULL equals nothing; nil: none
	bits   vector.Bitmap // what skip was last
	dicts  []dictHashes  // by key column
}

// dictHashes are the hashes of a dictionary's values, as far as they were needed.
type dictHashes struct {
	values *vector.Vector
	list   []uint64 // 0: not known
}

func newJoinHasher(keys int) *joinHasher { return &joinHasher{dicts: make([]dictHashes, keys)} }

func (h *joinHasher) skipped(i int) bool { return h.skip != nil && h.skip.Get(i) }

// rows hashes the keys of n rows.
func (h *joinHasher) rows(keys []*vector.Vector, n int, nullEqual bool) {
	h.hashes = words(h.hashes, n)
	h.skip = nil
	h.column(0, keys[0], h.hashes, nullEqual)
	for k, v := range keys[1:] {
		h.one = words(h.one, n)
		h.column(k+1, v, h.one, nullEqual)
		for i, x := range h.one {
			h.hashes[i] = mixBits(h.hashes[i]*0x9FB21C651E98DF25 + x)
		}
	}
}

func words(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n, max(n, vector.Size))
	}
	return s[:n]
}

// mixBits spreads the bits of a word; no two words give the same.
func mixBits(x uint64) uint64 {
	x ^= x >> 32
	x *= 0x9E3779B97F4A7C15
	x ^= x >> 29
	x *= 0xD6E8FEB86659FD93
	return x ^ x>>32
}

// column hashes column k.
func (h *joinHasher) column(k int, v *vector.Vector, out []uint64, nullEqual bool) {
	switch {
	case v.Form == vector.Const:
		if !v.IsNull(0) {
			x := hashAt(v, 0)
			for i := range out {
				out[i] = x
			}
		}
	case v.Form == vector.Dict:
		h.dictionary(&h.dicts[k], v, out)
	default:
		hashFlat(v, out)
	}
	if v.Valid == nil {
		return
	}
	for i := range out {
		if !v.IsNull(i) {
			continue
		}
		out[i] = joinNull
		if !nullEqual {
			if h.skip == nil {
				h.skip = h.bits.Emptied(len(out))
				h.bits = h.skip
			}
			h.skip.Set(i)
		}
	}
}

// dictionary hashes each value of a dictionary once.
func (h *joinHasher) dictionary(d *dictHashes, v *vector.Vector, out []uint64) {
	if d.values != v.Values {
		d.values = v.Values
		d.list = append(d.list[:0], make([]uint64, v.Values.Len())...)
	}
	for i, c := range v.Codes[:len(out)] {
		if v.Valid != nil && !v.Valid.Get(i) {
			continue
		}
		if d.list[c] == 0 {
			d.list[c] = hashAt(v.Values, int(c))
		}
		out[i] = d.list[c]
	}
}

// hashFlat hashes values, also those under a NULL.
func hashFlat(v *vector.Vector, out []uint64) {
	switch v.Type.Kind() {
	case vector.Int64:
		for i, x := range v.Ints[:len(out)] {
			out[i] = mixBits(uint64(x) ^ joinSeed)
		}
	case vector.Uint64:
		for i, x := range v.Uints[:len(out)] {
			out[i] = mixBits(x ^ joinSeed)
		}
	case vector.Float64:
		for i, x := range v.Floats[:len(out)] {
			out[i] = mixBits(intern.FloatKey(x) ^ joinSeed)
		}
	default:
		for i := range out {
			if !v.IsNull(i) {
				out[i] = hashAt(v, i)
			}
		}
	}
}

// hashAt hashes row i, which is not NULL, of a vector of any form.
func hashAt(v *vector.Vector, i int) uint64 {
	switch v.Type.Kind() {
	case vector.Bool:
		if v.Bool(i) {
			return mixBits(1 ^ joinSeed)
		}
		return mixBits(joinSeed)
	case vector.Int64:
		return mixBits(uint64(v.Int(i)) ^ joinSeed)
	case vector.Uint64:
		return mixBits(v.Uint(i) ^ joinSeed)
	case vector.Float64:
		return mixBits(intern.FloatKey(v.Float(i)) ^ joinSeed)
	}
	if v.Type.ID == vector.TypeInterval {
		return mixBits(uint64(expr.IntervalLength(v.Bytes(i))) ^ joinSeed)
	}
	return mixBits(xxhash.Sum64(v.Bytes(i)) ^ joinSeed)
}
