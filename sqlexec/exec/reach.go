package exec

import (
	"bytes"
	"math"
	"sync"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// reachBound is the bound of the first key of an order among the k best rows that all workers have seen so far. Its
// listener is called whenever the bound shrinks: rows beyond it are not wanted. For numbers it keeps the k best keys,
// so that the bound is known as soon as there are k rows. For other types it is the bound of the worker whose k best
// rows reach the least far. A nil reachBound has no listener. Safe for concurrent use.
type reachBound struct {
	order expr.SortKey
	k     int
	tell  func(value *vector.Vector) // with one row, Flat

	mu    sync.Mutex // protects the following fields, and is held during the report
	words []uint64   // the best keys of numbers as sort words, at most k, as a heap with the last in front
	key   []byte     // of other types, as a sort key
}

func newReach(order expr.SortKey, k int, tell func(*vector.Vector)) *reachBound {
	return &reachBound{order: order, k: k, tell: tell}
}

// hasSortWord reports whether values of a type order as a number of 64 bits does, their sort word.
func hasSortWord(t vector.Type) bool {
	return t.Kind() == vector.Int64 || t.Kind() == vector.Uint64 || t.Kind() == vector.Float64
}

// counts reports whether the best keys are kept.
func (r *reachBound) counts() bool { return hasSortWord(r.order.Expr.Type()) }

// most is the last of the k best sort words; ok is false while there are fewer, and where they are not kept.
func (r *reachBound) most() (word uint64, ok bool) {
	if r == nil {
		return math.MaxUint64, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.words) < r.k {
		return math.MaxUint64, false
	}
	return r.words[0], true
}

// note looks at the first keys of some rows. NULLs do not count: a row behind k values is not wanted, wherever NULLs
// are.
func (r *reachBound) note(v *vector.Vector, rows []uint32) {
	if r == nil || !r.counts() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	nearer := false
	for _, row := range rows {
		if v.IsNull(int(row)) {
			continue
		}
		word := r.word(v, int(row))
		switch {
		case len(r.words) < r.k:
			r.push(word)
			nearer = nearer || len(r.words) == r.k
		case word < r.words[0]:
			r.words[0] = word
			r.sink()
			nearer = true
		}
	}
	if nearer {
		r.tell(r.value(r.words[0]))
	}
}

// take looks at the first key of the last of k rows that a worker has, where best keys are not kept.
func (r *reachBound) take(v *vector.Vector, row int) {
	if r == nil || r.counts() || v.IsNull(row) {
		return
	}
	key := expr.AppendSortKey(nil, v, row, r.order.Desc, r.order.NullsFirst)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.key != nil && bytes.Compare(key, r.key) >= 0 {
		return
	}
	r.key = key
	value := &vector.Vector{Type: v.Type}
	value.Append(0, v, row, row+1)
	r.tell(value)
}

// word is the sort word of a value.
func (r *reachBound) word(v *vector.Vector, row int) (word uint64) {
	switch v.Type.Kind() {
	case vector.Int64:
		word = uint64(v.Int(row)) ^ 1<<63
	case vector.Uint64:
		word = v.Uint(row)
	default:
		word = expr.SortableFloat(v.Float(row))
	}
	if r.order.Desc {
		return ^word
	}
	return word
}

// value is the value with a sort word.
func (r *reachBound) value(word uint64) *vector.Vector {
	if r.order.Desc {
		word = ^word
	}
	v := &vector.Vector{Type: r.order.Expr.Type()}
	switch v.Type.Kind() {
	case vector.Int64:
		v.Ints = []int64{int64(word ^ 1<<63)}
	case vector.Uint64:
		v.Uints = []uint64{word}
	default:
		v.Floats = []float64{expr.FloatOfSortable(word)}
	}
	return v
}

// push puts a word into the heap.
func (r *reachBound) push(word uint64) {
	r.words = append(r.words, word)
	for at := len(r.words) - 1; at > 0 && r.words[at] > r.words[(at-1)/2]; at = (at - 1) / 2 {
		r.words[at], r.words[(at-1)/2] = r.words[(at-1)/2], r.words[at]
	}
}

// sink restores the heap after its first word was replaced.
func (r *reachBound) sink() {
	for at := 0; ; {
		child := 2*at + 1
		if child >= len(r.words) {
			return
		}
		if child+1 < len(r.words) && r.words[child+1] > r.words[child] {
			child++
		}
		if r.words[at] >= r.words[child] {
			return
		}
		r.words[at], r.words[child] = r.words[child], r.words[at]
		at = child
	}
}
