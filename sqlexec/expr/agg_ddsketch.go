package expr

import (
	"varve/engine/vector"
)

// ddStates is uddsketch_state(buckets, error, x) and uddsketch_merge(buckets, error, state): the result is a state as
// BINARY.
type ddStates struct {
	limit    int
	relative float64
	merge    bool
	groups   []*ddSketch // nil: no values
	flat     vector.Vector
}

func (s *ddStates) Grow(n int) { s.groups = vector.Extended(s.groups, n) }

func (s *ddStates) Bytes() int64 {
	n := int64(8 * cap(s.groups))
	for _, g := range s.groups {
		if g != nil {
			n += 200 + 24*int64(len(g.sides[0])+len(g.sides[1]))
		}
	}
	return n
}

func (s *ddStates) group(g uint32) *ddSketch {
	if s.groups[g] == nil {
		s.groups[g] = newDDSketch(s.limit, s.relative)
	}
	return s.groups[g]
}

func (s *ddStates) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	if !s.merge {
		v := flatten(args[0], n, &s.flat)
		eachRow(n, v, keep, func(i int) { s.group(groups[i]).add(v.Floats[i]) })
		return nil
	}
	var first error
	eachRow(n, args[0], keep, func(i int) {
		if first != nil {
			return
		}
		o, err := readDDSketch(args[0].Bytes(i))
		if err == nil {
			err = s.group(groups[i]).merge(o)
		}
		if err != nil {
			first = execError("uddsketch_merge: %v", err)
		}
	})
	return first
}

func (s *ddStates) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*ddStates)
	for i, k := range from {
		g := other.groups[k]
		if g == nil {
			continue
		}
		if err := s.group(to[i]).merge(g); err != nil {
			return execError("uddsketch: %v", err)
		}
	}
	return nil
}

func (s *ddStates) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	v := &vector.Vector{Type: vector.BinaryType}
	for i, g := range s.groups[:n] {
		if g == nil {
			v.AppendNulls(i, 1)
			continue
		}
		v.PushBytes(g.appendState(nil))
		if v.Valid != nil {
			v.Valid = v.Valid.With(i)
		}
	}
	return v, nil
}

func init() {
	for name, merge := range map[string]bool{"uddsketch_state": false, "uddsketch_merge": true} {
		aggregates[name] = func(c *Context, a *Agg) error {
			if err := a.need(3, 3); err != nil {
				return err
			}
			limit, err := a.constant(0)
			if err != nil {
				return err
			}
			relative, err := a.constant(1)
			if err != nil {
				return err
			}
			if !(limit >= 1 && limit <= maxDDBuckets) || limit != float64(int(limit)) {
				return planError("aggregate '%s': the number of buckets %v is not an integer from 1 to %d", name, limit,
					maxDDBuckets)
			}
			if !(relative > 0 && relative < 1) {
				return planError("aggregate '%s': the error %v is not between 0 and 1", name, relative)
			}
			a.Args, a.params = a.Args[2:3:3], []float64{limit, relative}
			a.T = vector.BinaryType
			a.make = func() Accumulator { return &ddStates{limit: int(limit), relative: relative, merge: merge} }
			if !merge {
				return a.float(c, 0)
			}
			if t := a.Args[0].Type(); t.ID != vector.TypeBinary && t != vector.NullType {
				return planError("aggregate '%s' takes states of uddsketch_state, found %s", name, t)
			}
			return nil
		}
	}
	// uddsketch_calc(q, state) is a quantile of a state; NULL when it holds no numbers.
	simple(2, sig{f64, vector.BinaryType}, f64,
		func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				if valid == nil || valid.Get(i) {
					q := a[0].Floats[i]
					if !(q >= 0 && q <= 1) {
						return execError("uddsketch_calc: the quantile %v is not between 0 and 1", q)
					}
					s, err := readDDSketch(a[1].Bytes(i))
					if err != nil {
						return execError("uddsketch_calc: %v", err)
					}
					if x, ok := s.quantile(q); ok {
						out.Floats = append(out.Floats, x)
						if out.Valid != nil {
							out.Valid = out.Valid.With(i)
						}
						continue
					}
				}
				out.AppendNulls(i, 1)
			}
			return nil
		}, "uddsketch_calc")
}
