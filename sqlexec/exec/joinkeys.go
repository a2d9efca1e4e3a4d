package exec

import (
	"slices"

	"varve/engine/vector"
)

// KeyBounds is what the keys of a join's build side can be: a list of few values, rising, or the least and the
// greatest.
type KeyBounds struct {
	Values *vector.Vector // Flat; nil: too many
	N      int            // number of Values
	Lo, Hi *vector.Vector // one row each; nil where Values are given
}

// maxKeyList is the number of distinct keys that are still given as a list: looking for so many values in a block's
// dictionary and filters is cheaper than reading rows that find no partner.
const maxKeyList = 256

// keyScan is the number of build rows among which distinct keys are looked for.
const keyScan = 1 << 14

// Bounds returns, after the build, the possible values of key k in rows that find a partner. ok is false if nothing is
// known: for types other than whole numbers, times and texts, for many texts, and if NULLs are equal.
func (j *Join) Bounds(k int) (KeyBounds, bool) {
	if s := j.spill.Load(); s != nil && !j.spec.NullEqual {
		return s.spans[k].bounds(j.keys[k].Type)
	}
	v, n := j.keys[k], j.rows.N
	switch {
	case j.spec.NullEqual:
	case v.Type.Kind() == vector.Int64:
		return boundsOf(v, v.Ints[:n], vector.ConstInt)
	case v.Type.Kind() == vector.Uint64:
		return boundsOf(v, v.Uints[:n], vector.ConstUint)
	case v.Type.IsText():
		return textsOf(v, n)
	}
	return KeyBounds{}, false
}

// boundsOf returns the bounds of whole numbers.
func boundsOf[T int64 | uint64](v *vector.Vector, values []T, one func(vector.Type, T) *vector.Vector) (KeyBounds,
	bool) {
	var list []T
	if len(values) <= keyScan {
		for i, x := range values {
			if !v.IsNull(i) {
				list = append(list, x)
			}
		}
		slices.Sort(list)
		list = slices.Compact(list)
	}
	if len(list) > 0 && len(list) <= maxKeyList {
		out := &vector.Vector{Type: v.Type}
		for i, x := range list {
			out.Append(i, one(v.Type, x), 0, 1)
		}
		return KeyBounds{Values: out, N: len(list)}, true
	}
	var lo, hi T
	some := false
	for i, x := range values {
		if v.IsNull(i) {
			continue
		}
		if !some {
			lo, hi, some = x, x, true
		}
		lo, hi = min(lo, x), max(hi, x)
	}
	return KeyBounds{Lo: one(v.Type, lo), Hi: one(v.Type, hi)}, some
}

// textsOf returns a list of few texts.
func textsOf(v *vector.Vector, n int) (KeyBounds, bool) {
	if n > keyScan {
		return KeyBounds{}, false
	}
	seen := map[string]bool{}
	var list []string
	for i := range n {
		if v.IsNull(i) || seen[string(v.Bytes(i))] {
			continue
		}
		if len(list) == maxKeyList {
			return KeyBounds{}, false
		}
		s := string(v.Bytes(i))
		seen[s] = true
		list = append(list, s)
	}
	slices.Sort(list)
	out := &vector.Vector{Type: v.Type}
	for i, s := range list {
		out.Append(i, vector.ConstBytes(v.Type, []byte(s)), 0, 1)
	}
	return KeyBounds{Values: out, N: len(list)}, len(list) > 0
}
