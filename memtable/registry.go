package memtable

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"varve/engine/schema"
	"varve/engine/symbol"
)

// Registry numbers the series of a region in order of first appearance. It outlives memtables: the key of a series that
// goes on being written is held once, and its rows name it by number. Safe for concurrent use.
type Registry struct {
	id     uint32 // no other has it
	mu     sync.RWMutex
	seed   maphash.Seed
	slots  []uint32 // open addressing by hash: 1 + number, 0: free; a power of two, at most two thirds full
	hashes []uint32 // by number
	seriesKeys
	used   int // of the last block
	tables map[schema.TableID]*tableSeries
	bytes  atomic.Int64
}

// seriesKeys are series by number. Slices grow at their ends alone, so a copy of the value goes on saying, without any
// lock, what it said when it was made.
type seriesKeys struct {
	blocks [][]byte // keys, each after its length as a uvarint; bytes after the last key are not read
	places []uint64 // block << 32 | offset
	owners []schema.TableID
	ranks  []uint32 // position among the series of the owner
}

// tableSeries are the series of one table.
type tableSeries struct {
	numbers []uint32 // rising
	sorted  []uint32 // the first of numbers, by rising key; replaced, never changed
	dicts   tagDicts
}

// keyBlock is the size of the blocks of memory that keys lie in.
const keyBlock = 256 << 10

// NewRegistry is an empty registry.
func NewRegistry() *Registry {
	return &Registry{id: registries.Add(1), seed: maphash.MakeSeed(), tables: map[schema.TableID]*tableSeries{}}
}

// Bytes is the memory held, about.
func (r *Registry) Bytes() int64 { return r.bytes.Load() }

// Len is the number of series.
func (r *Registry) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.places)
}

// number finds or makes the number of a series. The caller holds r.mu for writing.
func (r *Registry) number(key []byte) uint32 {
	h := uint32(maphash.Bytes(r.seed, key))
	if 3*(len(r.places)+1) > 2*len(r.slots) {
		r.slots = symbol.Doubled(r.slots, r.hashes)
	}
	at := r.slot(h, key)
	if s := r.slots[at]; s != 0 {
		return s - 1
	}
	if len(r.places) == math.MaxUint32-1 {
		panic("memtable: more series than a number can name; the memory limit comes long before")
	}
	n := uint32(len(r.places))
	r.slots[at] = n + 1
	r.hashes = append(r.hashes, h)
	r.hold(key)
	id := schema.KeyTable(key)
	t := r.tables[id]
	if t == nil {
		t = &tableSeries{dicts: tagDicts{held: &r.bytes}}
		r.tables[id] = t
	}
	r.owners, r.ranks = append(r.owners, id), append(r.ranks, uint32(len(t.numbers)))
	t.numbers = append(t.numbers, n)
	t.dicts.follow(&r.seriesKeys, t.numbers)
	r.bytes.Add(int64(len(key)) + seriesOverhead)
	return n
}

// seriesOverhead is the memory of a series besides its key: place, hash, owner, rank, number and slots.
const seriesOverhead = 40

// slot finds the slot of a key, or the free slot for it.
func (r *Registry) slot(h uint32, key []byte) int {
	mask := len(r.slots) - 1
	for at := int(h) & mask; ; at = (at + 1) & mask {
		s := r.slots[at]
		if s == 0 || r.hashes[s-1] == h && string(r.key(s-1)) == string(key) {
			return at
		}
	}
}

// hold keeps a key as that of the next number.
func (r *Registry) hold(key []byte) {
	need := len(key) + binary.MaxVarintLen32
	last := len(r.blocks) - 1
	if last < 0 || len(r.blocks[last])-r.used < need {
		size := 256 // most tables have few series
		if last >= 0 {
			size = min(keyBlock, 4*len(r.blocks[last]))
		}
		r.blocks, r.used = append(r.blocks, make([]byte, max(size, need))), 0
		last++
	}
	r.places = append(r.places, uint64(last)<<32|uint64(r.used))
	b := r.blocks[last][r.used:]
	k := binary.PutUvarint(b, uint64(len(key)))
	r.used += k + copy(b[k:], key)
}

// key is the key of a series. It must not be changed.
func (k *seriesKeys) key(n uint32) []byte {
	at := k.places[n]
	b := k.blocks[at>>32][uint32(at):]
	size, width := binary.Uvarint(b)
	return b[width : width+int(size) : width+int(size)]
}

// snapshot is the series known now. The caller holds r.mu.
func (r *Registry) snapshot() seriesSnapshot {
	v := seriesSnapshot{seriesKeys: r.seriesKeys, registry: r}
	if len(r.tables) == 1 {
		v.only = r.owners[0]
	}
	return v
}

// seriesSnapshot is the series that a snapshot knows.
type seriesSnapshot struct {
	seriesKeys
	registry *Registry
	only     schema.TableID // the table that has all series; 0: there are several or none
}

func (v *seriesSnapshot) len() int { return len(v.places) }

// of returns the numbers of a table's series, rising.
func (v *seriesSnapshot) of(id schema.TableID) []uint32 {
	v.registry.mu.RLock()
	defer v.registry.mu.RUnlock()
	t := v.registry.tables[id]
	if t == nil {
		return nil
	}
	return v.known(t.numbers)
}

// begin returns the numbers of a table's series whose keys begin with prefix, rising.
func (v *seriesSnapshot) begin(id schema.TableID, prefix []byte) []uint32 {
	if len(prefix) <= len(schema.KeyPrefix(id)) {
		return v.of(id)
	}
	var numbers []uint32
	for _, n := range v.of(id) {
		if bytes.HasPrefix(v.key(n), prefix) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// known cuts a rising list of numbers to those of the view.
func (v *seriesSnapshot) known(numbers []uint32) []uint32 {
	if k := len(numbers); k == 0 || int(numbers[k-1]) < v.len() {
		return numbers
	}
	k, _ := slices.BinarySearch(numbers, uint32(v.len()))
	return numbers[:k]
}

// tableIDs are the tables that have series, rising.
func (v *seriesSnapshot) tableIDs() []schema.TableID {
	v.registry.mu.RLock()
	defer v.registry.mu.RUnlock()
	return slices.Sorted(maps.Keys(v.registry.tables))
}

// sorted returns the series of a table by rising key; it may hold some that are newer than the view.
func (v *seriesSnapshot) sorted(id schema.TableID) []uint32 {
	r := v.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tables[id]
	if t == nil {
		return nil
	}
	if len(t.sorted) < len(t.numbers) {
		t.sorted = r.merge(t.sorted, r.inOrder(t.numbers[len(t.sorted):]))
	}
	return t.sorted
}

// inOrder returns series by rising key. Keys of a table begin alike: the eight bytes behind what all share decide most
// comparisons without a look at the keys.
func (r *Registry) inOrder(numbers []uint32) []uint32 {
	type item struct {
		head uint64
		n    uint32
	}
	first := r.key(numbers[0])
	shared := len(first)
	for _, n := range numbers {
		k := r.key(n)
		for shared = min(shared, len(k)); !bytes.Equal(k[:shared], first[:shared]); {
			shared--
		}
	}
	items := make([]item, len(numbers))
	for i, n := range numbers {
		var head [8]byte
		copy(head[:], r.key(n)[shared:])
		items[i] = item{binary.BigEndian.Uint64(head[:]), n}
	}
	slices.SortFunc(items, func(a, b item) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return r.compare(a.n, b.n)
	})
	sorted := make([]uint32, len(items))
	for i, it := range items {
		sorted[i] = it.n
	}
	return sorted
}

func (k *seriesKeys) compare(a, b uint32) int { return bytes.Compare(k.key(a), k.key(b)) }

// merge returns one sorted list of two.
func (r *Registry) merge(a, b []uint32) []uint32 {
	if len(a) == 0 {
		return b
	}
	all := make([]uint32, 0, len(a)+len(b))
	for _, n := range b {
		k, _ := slices.BinarySearchFunc(a, n, r.compare)
		all = append(append(all, a[:k]...), n)
		a = a[k:]
	}
	return append(all, a...)
}

// tag returns a tag of all series of a table that the view knows.
func (v *seriesSnapshot) tag(id schema.TableID, c schema.Column) (*tagColumn, error) {
	t, keys, numbers := v.registry.table(id)
	return t.dicts.column(c, &keys, numbers)
}

// having returns the ranks of a table's series with some values of a tag, rising: those that the view knows.
func (v *seriesSnapshot) having(id schema.TableID, c schema.ColumnID, values [][]byte) ([]uint32, error) {
	t, keys, numbers := v.registry.table(id)
	ranks, err := t.dicts.having(c, values, &keys, numbers)
	for len(ranks) > 0 && int(numbers[ranks[len(ranks)-1]]) >= v.len() {
		ranks = ranks[:len(ranks)-1]
	}
	return ranks, err
}

// table returns the current series of a table; the view may know fewer.
func (r *Registry) table(id schema.TableID) (*tableSeries, seriesKeys, []uint32) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t := r.tables[id]
	if t == nil {
		return &tableSeries{}, r.seriesKeys, nil
	}
	return t, r.seriesKeys, t.numbers
}

// codes appends the codes of a table's tag for rows of the given series; series of other tables have none.
func (v *seriesSnapshot) codes(dst []uint32, id schema.TableID, t *tagColumn, series []uint32) []uint32 {
	if v.only == id {
		for _, n := range series {
			dst = append(dst, t.codes[n])
		}
		return dst
	}
	for _, n := range series {
		code := uint32(0)
		if v.owners[n] == id {
			code = t.codes[v.ranks[n]]
		}
		dst = append(dst, code)
	}
	return dst
}
