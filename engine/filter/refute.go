package filter

import (
	"bytes"
	"sort"

	"varve/engine/vector"
)

// Stat describes the values of one column in some rows (a block, a part) without reading them.
type Stat struct {
	Rows, Nulls int
	// Min and Max hold the bounds at position At, Flat and of the condition's type; nil: unknown. Bounds of bytes may
	// be cut: Min is then a prefix of the least value; MaxCut says that Max is a prefix of the greatest. NaN counts as
	// the greatest float.
	Min, Max *vector.Vector
	At       int
	MaxCut   bool
}

// Verdict is what statistics say about a condition.
type Verdict uint8

// The verdicts.
const (
	Some Verdict = iota // the values must be looked at
	None                // no row can pass
	All                 // every row passes
)

// Judge says what a statistic decides about the test.
func (t *Test) Judge(s *Stat) Verdict {
	c := t.c
	switch c.Op {
	case IsNull:
		return either(s.Nulls == s.Rows, s.Nulls == 0)
	case IsNotNull:
		return either(s.Nulls == 0, s.Nulls == s.Rows)
	}
	if s.Nulls == s.Rows {
		return None
	}
	if s.Min == nil || s.Max == nil || s.Min.Type.Kind() != c.kind {
		return Some
	}
	v := c.judge(s)
	if c.negate {
		v = [...]Verdict{Some: Some, None: All, All: None}[v]
	}
	if v == All && s.Nulls > 0 {
		return Some
	}
	return v
}

// either returns All, None or, when neither holds, Some.
func either(all, none bool) Verdict {
	switch {
	case all:
		return All
	case none:
		return None
	}
	return Some
}

// judge decides the condition without its negation on rows that are not NULL.
func (c *condition) judge(s *Stat) Verdict {
	switch c.op {
	case Equal:
		lo, hi := s.compare(c.Args, 0)
		return either(lo == 0 && hi == 0 && !s.MaxCut && !s.inexact(c.kind), lo > 0 || hi < 0)
	case Less: // lo and hi: how Min and Max compare with the constant
		lo, hi := s.compare(c.Args, 0)
		return either(hi < 0, lo >= 0)
	case LessEqual:
		lo, hi := s.compare(c.Args, 0)
		return either(hi < 0 || hi == 0 && !s.MaxCut, lo > 0)
	case In:
		at := 0
		if c.rising { // the first that is not below the block is in it, or none is
			at = sort.Search(c.NArgs, func(i int) bool { lo, _ := s.compare(c.Args, i); return lo <= 0 })
		}
		for i := at; i < c.NArgs; i++ {
			if lo, hi := s.compare(c.Args, i); lo <= 0 && hi >= 0 {
				return Some
			}
			if c.rising {
				break
			}
		}
		return None
	case Prefix:
		k := c.Args.Bytes(0)
		lo, hi := cut(s.Min.Bytes(s.At), k), cut(s.Max.Bytes(s.At), k)
		return either(false, bytes.Compare(lo, k) > 0 ||
			bytes.Compare(hi, k) < 0 && !(s.MaxCut && bytes.HasPrefix(k, hi)))
	}
	return Some
}

// inexact: a Min of bytes may be cut, so that Min == Max does not mean that all values are equal.
func (s *Stat) inexact(k vector.Kind) bool { return k == vector.Bytes }

func cut(b, like []byte) []byte { return b[:min(len(b), len(like))] }

// compare reports how Min and Max compare with constant i: negative, zero, positive. A Max that is cut counts as
// greater than what it is a prefix of.
func (s *Stat) compare(args *vector.Vector, i int) (lo, hi int) {
	switch args.Type.Kind() {
	case vector.Bool:
		k := int(vector.Bit(args.Bool(i)))
		return int(vector.Bit(s.Min.Bools.Get(s.At))) - k, int(vector.Bit(s.Max.Bools.Get(s.At))) - k
	case vector.Int64:
		k := args.Int(i)
		return order(s.Min.Ints[s.At], k), order(s.Max.Ints[s.At], k)
	case vector.Uint64:
		k := args.Uint(i)
		return order(s.Min.Uints[s.At], k), order(s.Max.Uints[s.At], k)
	case vector.Float64:
		k := args.Float(i)
		return orderFloats(s.Min.Floats[s.At], k), orderFloats(s.Max.Floats[s.At], k)
	}
	k, cmp := args.Bytes(i), OrderOf(args.Type)
	lo, hi = cmp(s.Min.Bytes(s.At), k), cmp(s.Max.Bytes(s.At), k)
	if s.MaxCut && hi < 0 && bytes.HasPrefix(k, s.Max.Bytes(s.At)) {
		hi = 1
	}
	return lo, hi
}

func order[T number](a, b T) int { return int(vector.Bit(a > b)) - int(vector.Bit(a < b)) }

// orderFloats orders floats with NaN as the greatest.
func orderFloats(a, b float64) int {
	if a == a && b == b {
		return order(a, b)
	}
	return int(vector.Bit(a != a)) - int(vector.Bit(b != b))
}
