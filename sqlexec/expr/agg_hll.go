package expr

import (
	"github.com/axiomhq/hyperloglog"

	"varve/engine/vector"
)

// distinctStates is hll(x), whose result is the state of approx_distinct as BINARY, and hll_merge(state), which merges
// states.
type distinctStates struct {
	sketches
	merge bool
	some  []bool // groups that got a value
}

func (s *distinctStates) Grow(n int) {
	s.sketches.Grow(n)
	s.some = vector.Extended(s.some, n)
}

func (s *distinctStates) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	if !s.merge {
		eachRow(n, args[0], keep, func(i int) { s.some[groups[i]] = true })
		return s.sketches.Add(n, groups, args, keep)
	}
	var first error
	eachRow(n, args[0], keep, func(i int) {
		if first != nil {
			return
		}
		k, err := readHLL(args[0].Bytes(i))
		var grown int64
		if err == nil {
			grown, err = s.s[groups[i]].mergeState(k)
		}
		s.held += grown
		if err != nil {
			first = execError("hll_merge: not a state of hll: %v", err)
		}
		s.some[groups[i]] = true
	})
	return first
}

func (s *distinctStates) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*distinctStates)
	for i, g := range to {
		s.some[g] = s.some[g] || other.some[from[i]]
	}
	return s.sketches.Merge(&other.sketches, from, to)
}

func (s *distinctStates) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	v := &vector.Vector{Type: vector.BinaryType}
	for g := range s.s[:n] {
		if !s.some[g] {
			v.AppendNulls(g, 1)
			continue
		}
		v.PushBytes(s.s[g].appendState(nil))
		if v.Valid != nil {
			v.Valid = v.Valid.With(g)
		}
	}
	return v, nil
}

// readHLL reads a state; the library checks every length and register.
func readHLL(b []byte) (*hyperloglog.Sketch, error) {
	k := hyperloglog.New14()
	return k, k.UnmarshalBinary(b)
}

func init() {
	for name, merge := range map[string]bool{"hll": false, "hll_merge": true} {
		aggregates[name] = func(_ *Context, a *Agg) error {
			if err := a.need(1, 1); err != nil {
				return err
			}
			if t := a.Args[0].Type(); merge && t.ID != vector.TypeBinary && t != vector.NullType {
				return planError("aggregate '%s' takes states of hll, found %s", name, t)
			}
			a.T = vector.BinaryType
			a.make = func() Accumulator { return &distinctStates{merge: merge} }
			return nil
		}
	}
	// count_hash(x) is the number of distinct values, as count(DISTINCT x).
	aggregates["count_hash"] = func(_ *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		a.T = i64
		a.keeps = keepsValues
		a.make = func() Accumulator { return newCountDistinct(a.Args[0].Type()) }
		return nil
	}
	simple(1, sig{vector.BinaryType}, vector.Uint64Type,
		func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				var x uint64
				if valid == nil || valid.Get(i) {
					k, err := readHLL(a[0].Bytes(i))
					if err != nil {
						return execError("hll_count: not a state of hll: %v", err)
					}
					x = k.Estimate()
				}
				out.Uints = append(out.Uints, x)
			}
			return nil
		}, "hll_count")
}
