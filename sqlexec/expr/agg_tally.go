package expr

import (
	"bytes"
	"math"
	"slices"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/intern"
)

// tally counts how often each value comes in each group: mode and histogram. NULLs do not count.
type tally struct {
	cancellation
	t      vector.Type
	finish func(t *tally, n int) (*vector.Vector, error)
	bars   bool // finish writes each value of a group with its count
	values *intern.Interner
	pairs  *intern.Table // group in the upper half, number of the value in the lower
	keys   []uint64      // keys[i] is the pair that counts[i] counts
	counts []int64
	groups int
	ids    []uint32
}

func newTally(of, t vector.Type, finish func(*tally, int) (*vector.Vector, error)) *tally {
	return &tally{t: t, finish: finish, values: NewInterner(of), pairs: intern.NewTable()}
}

func (t *tally) Grow(n int) { t.groups = max(t.groups, n) }

func (t *tally) Bytes() int64 {
	return t.values.Bytes() + t.pairs.Bytes() + 16*int64(cap(t.keys))
}

// resultBytes is the memory of bars, or about the memory of the most frequent value of each group.
func (t *tally) resultBytes() (bytes int64) {
	if !t.bars {
		return t.Bytes()
	}
	for _, key := range t.keys {
		// besides the text, which is no longer than its JSON
		bytes += barBytes + 2*JSONSize(t.values.Values, int(uint32(key)))
	}
	return bytes
}

func (t *tally) moves(rows int, texts int64) int64 { return t.values.Moves(rows, texts) }

func (t *tally) count(g, id uint32, n int64) {
	key := uint64(g)<<32 | uint64(id)
	at, fresh := t.pairs.Find(key, uint32(len(t.keys)))
	if fresh {
		t.keys, t.counts = append(t.keys, key), append(t.counts, 0)
	}
	t.counts[at] += n
}

func (t *tally) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	if cap(t.ids) < n {
		t.ids = make([]uint32, max(n, vector.Size))
	}
	ids := t.ids[:n]
	t.values.Intern(args[0], n, ids)
	null, some := t.values.Null()
	for i, id := range ids {
		if some && id == null || keep != nil && !keep.Get(i) {
			continue
		}
		t.count(groups[i], id, 1)
	}
	return nil
}

func (t *tally) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*tally)
	here := renumbered(from, to, other.groups)
	numbers, err := t.numbersOf(t.values, other.values, len(from) == other.groups,
		func(yield func(g, id uint32) bool) {
			for _, key := range other.keys {
				if here[key>>32] != 0 && !yield(here[key>>32]-1, uint32(key)) {
					return
				}
			}
		})
	if err != nil {
		return err
	}
	for i, key := range other.keys {
		if err := t.did(1); err != nil {
			return err
		}
		if g := here[key>>32]; g != 0 {
			t.count(g-1, numbers[uint32(key)], other.counts[i])
		}
	}
	return nil
}

func (t *tally) Result(n int) (*vector.Vector, error) {
	t.Grow(n)
	return t.finish(t, n)
}

// modes finds each group's most frequent value, of several the least; with desc the greatest.
func modes(desc bool) func(t *tally, n int) (*vector.Vector, error) {
	return func(t *tally, n int) (*vector.Vector, error) {
		const none = math.MaxUint32
		best, values := make([]uint32, n), t.values.Values
		for g := range best {
			best[g] = none
		}
		for i, key := range t.keys {
			if err := t.did(1); err != nil {
				return nil, err
			}
			b := &best[key>>32]
			if *b != none && t.counts[i] <= t.counts[*b] {
				before := Compare(values, int(uint32(key)), values, int(uint32(t.keys[*b]))) < 0
				if t.counts[i] < t.counts[*b] || before == desc {
					continue
				}
			}
			*b = uint32(i)
		}
		out := &vector.Vector{Type: t.t}
		for g, b := range best {
			if err := t.did(1); err != nil {
				return nil, err
			}
			if b == none {
				out.AppendNulls(g, 1)
				continue
			}
			id := int(uint32(t.keys[b]))
			out.Append(g, values, id, id+1)
		}
		return out, nil
	}
}

// barBytes is about the memory of a value's place among those that are sorted, twice as they are sorted, and of its
// count as it is written.
const barBytes = 160

// maxCountSize is the number of digits of the greatest count.
const maxCountSize = 20

// histograms makes for each group an object with the text of each value and its count.
func histograms(t *tally, n int) (*vector.Vector, error) {
	type bar struct {
		group, at uint32
		key       []byte
	}
	bars := make([]bar, len(t.keys))
	for i, key := range t.keys {
		if err := t.did(1); err != nil {
			return nil, err
		}
		bars[i] = bar{uint32(key >> 32), uint32(i), AppendText(nil, t.values.Values, int(uint32(key)))}
	}
	err := sortStable(bars, func(a, b bar) int {
		if a.group != b.group {
			return order(uint64(a.group), uint64(b.group))
		}
		return bytes.Compare(a.key, b.key)
	}, t.did)
	if err != nil {
		return nil, err
	}
	size := 0
	for _, b := range bars {
		size += convert.StringSize(b.key) + len(`{:,}`) + maxCountSize
	}
	if size > math.MaxUint32 {
		return nil, status.New(status.RuntimeResourcesExhausted, "histogram makes more than %d MiB of text",
			math.MaxUint32>>20)
	}
	out := &vector.Vector{Type: t.t, Heap: vector.Room[byte](size)}
	for g := range n {
		end := slices.IndexFunc(bars, func(b bar) bool { return b.group != uint32(g) })
		if end < 0 {
			end = len(bars)
		}
		if end == 0 {
			out.AppendNulls(g, 1)
			continue
		}
		at := len(out.Heap)
		for i, b := range bars[:end] {
			out.Heap = append(out.Heap, ",{"[vector.Bit(i == 0)])
			out.Heap = convert.AppendString(out.Heap, b.key)
			out.Heap = appendCount(append(out.Heap, ':'), t.counts[b.at])
			if err := t.did(1); err != nil {
				return nil, err
			}
		}
		out.Heap = append(out.Heap, '}')
		out.Views = append(out.Views, vector.View{Off: uint32(at), Len: uint32(len(out.Heap) - at)})
		if out.Valid != nil {
			out.Valid = out.Valid.With(g)
		}
		bars = bars[end:]
	}
	return out, nil
}

func init() {
	aggregates["mode"] = func(_ *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		a.T = a.Args[0].Type()
		finish := modes(a.descending())
		a.keeps = keepsValues
		a.make = func() Accumulator { return newTally(a.T, a.T, finish) }
		return nil
	}
	aggregates["histogram"] = func(_ *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		a.T = vector.JSONType
		of := a.Args[0].Type()
		a.keeps = keepsValues
		a.make = func() Accumulator {
			t := newTally(of, a.T, histograms)
			t.bars = true
			return t
		}
		return nil
	}
}
