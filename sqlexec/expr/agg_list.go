package expr

import (
	"bytes"
	"math"

	"varve/engine/status"
	"varve/engine/vector"
)

// lists is array_agg and string_agg: the values of each group, in the order of the keys, or of arrival. Chunks hold
// values in the order of arrival; the groups are sorted out at the end.
type lists struct {
	cancellation
	a      *Agg
	sep    string
	text   bool
	nulls  bool
	groups int
	chunks []*listChunk
	rows   int
	size   int64 // of all chunks but the last
}

// listChunk holds the bytes of its items back to back: for each item the sort key, then the value as it is written.
type listChunk struct {
	items []listItem
	heap  []byte
}

type listItem struct{ group, off, key, data uint32 }

// A chunk that has so many items, or so many bytes of them, takes no more.
const (
	chunkItems = 1 << 16
	chunkHeap  = 4 << 20
)

// itemRef names an item: its chunk, then its number there.
type itemRef struct{ chunk, item uint32 }

func (l *lists) item(r itemRef) (it listItem, heap []byte) {
	c := l.chunks[r.chunk]
	it = c.items[r.item]
	return it, c.heap[it.off:]
}

func (l *lists) key(r itemRef) []byte {
	it, heap := l.item(r)
	return heap[:it.key]
}

func (l *lists) data(r itemRef) []byte {
	it, heap := l.item(r)
	return heap[it.key : it.key+it.data]
}

func (l *lists) Grow(n int) { l.groups = max(l.groups, n) }

// Bytes counts the chunks, and for each item its place among those of its group.
func (l *lists) Bytes() int64 {
	bytes := l.size + 8*int64(l.groups+l.rows)
	if n := len(l.chunks); n > 0 {
		bytes += l.chunks[n-1].bytes()
	}
	return bytes
}

func (c *listChunk) bytes() int64 { return int64(cap(c.heap) + 16*cap(c.items)) }

// open is the chunk that takes the next item.
func (l *lists) open() *listChunk {
	if n := len(l.chunks); n > 0 {
		c := l.chunks[n-1]
		if len(c.items) < chunkItems && len(c.heap) < chunkHeap {
			return c
		}
		l.size += c.bytes()
	}
	c := &listChunk{}
	l.chunks = append(l.chunks, c)
	return c
}

func (l *lists) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := args[0]
	look := v
	if l.nulls {
		look = nil
	}
	eachRow(n, look, keep, func(i int) {
		c := l.open()
		it := listItem{group: groups[i], off: uint32(len(c.heap))}
		for k, o := range l.a.Order {
			c.heap = AppendSortKey(c.heap, args[1+k], i, o.Desc, o.NullsFirst)
		}
		it.key = uint32(len(c.heap)) - it.off
		if l.text {
			c.heap = append(c.heap, v.Bytes(i)...)
		} else {
			c.heap = AppendJSON(c.heap, v, i)
		}
		it.data = uint32(len(c.heap)) - it.off - it.key
		c.items = append(c.items, it)
		l.rows++
	})
	return nil
}

func (l *lists) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*lists)
	if len(from) < other.groups {
		return l.mergeSome(other, from, to)
	}
	for _, c := range other.chunks {
		if err := l.did(len(c.items)); err != nil {
			return err
		}
		for i := range c.items {
			c.items[i].group = to[c.items[i].group]
		}
	}
	l.size += other.size
	if n := len(l.chunks); n > 0 && len(other.chunks) > 0 {
		l.size += l.chunks[n-1].bytes()
	}
	l.chunks = append(l.chunks, other.chunks...)
	l.rows += other.rows
	return nil
}

// mergeSome copies the items of some groups of another.
func (l *lists) mergeSome(other *lists, from, to []uint32) error {
	here := renumbered(from, to, other.groups)
	for _, c := range other.chunks {
		if err := l.did(len(c.items)); err != nil {
			return err
		}
		for _, it := range c.items {
			if here[it.group] == 0 {
				continue
			}
			into := l.open()
			end := it.off + it.key + it.data
			into.items = append(into.items, listItem{here[it.group] - 1, uint32(len(into.heap)), it.key, it.data})
			into.heap = append(into.heap, c.heap[it.off:end]...)
			l.rows++
		}
	}
	return nil
}

// renumbered gives for each of n groups its number among to, plus one; 0: it is not among from.
func renumbered(from, to []uint32, n int) []uint32 {
	here := make([]uint32, n)
	for i, g := range from {
		here[g] = to[i] + 1
	}
	return here
}

// byGroup returns the items of each group: the items of group g end where those of group g+1 begin.
func (l *lists) byGroup() (refs []itemRef, starts []int, err error) {
	starts = make([]int, l.groups+2)
	for _, c := range l.chunks {
		if err := l.did(len(c.items)); err != nil {
			return nil, nil, err
		}
		for _, it := range c.items {
			starts[it.group+2]++
		}
	}
	for g := 2; g < len(starts); g++ {
		starts[g] += starts[g-1]
	}
	refs = make([]itemRef, l.rows)
	for i, c := range l.chunks {
		if err := l.did(len(c.items)); err != nil {
			return nil, nil, err
		}
		for k, it := range c.items {
			at := &starts[it.group+1]
			refs[*at] = itemRef{uint32(i), uint32(k)}
			*at++
		}
	}
	return refs, starts, nil
}

// written is the number of bytes of all results, separators and brackets included.
func (l *lists) written(sep string) (n int) {
	for _, c := range l.chunks {
		n += len(c.items) * len(sep)
		for _, it := range c.items {
			n += int(it.data)
		}
	}
	if !l.text {
		n += l.groups
	}
	return n
}

// resultBytes is the size of all results; each gets its room before it is written.
func (l *lists) resultBytes() int64 {
	sep := l.sep
	if !l.text {
		sep = ","
	}
	return int64(l.written(sep))
}

func (l *lists) Result(n int) (*vector.Vector, error) {
	l.Grow(n)
	sep := l.sep
	if !l.text {
		sep = ","
	}
	size := l.written(sep)
	if size > math.MaxUint32 {
		return nil, status.New(status.RuntimeResourcesExhausted, "%s makes more than %d MiB of text", l.a.Name,
			math.MaxUint32>>20)
	}
	refs, starts, err := l.byGroup()
	if err != nil {
		return nil, err
	}
	v := &vector.Vector{Type: l.a.T, Heap: vector.Room[byte](size + 2)}
	for g := range n {
		items := refs[starts[g]:starts[g+1]]
		if len(items) == 0 {
			v.AppendNulls(g, 1)
			continue
		}
		if len(l.a.Order) > 0 {
			if err := sortStable(items, func(a, b itemRef) int { return bytes.Compare(l.key(a), l.key(b)) },
				l.did); err != nil {
				return nil, err
			}
		}
		at := len(v.Heap)
		if err := l.write(v, items, sep); err != nil {
			return nil, err
		}
		v.Views = append(v.Views, vector.View{Off: uint32(at), Len: uint32(len(v.Heap) - at)})
		if v.Valid != nil {
			v.Valid = v.Valid.With(g)
		}
	}
	return v, nil
}

// write appends the values of one group to the heap of the result.
func (l *lists) write(v *vector.Vector, items []itemRef, sep string) error {
	if !l.text {
		v.Heap = append(v.Heap, '[')
	}
	for i, r := range items {
		if i > 0 {
			v.Heap = append(v.Heap, sep...)
		}
		v.Heap = append(v.Heap, l.data(r)...)
		if err := l.did(1); err != nil {
			return err
		}
	}
	if !l.text {
		v.Heap = append(v.Heap, ']')
	}
	return nil
}
