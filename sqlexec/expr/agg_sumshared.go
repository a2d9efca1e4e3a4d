package expr

import (
	"fmt"
	"math/bits"

	"varve/engine/convert"
	"varve/engine/vector"
)

// sum(x), sum(x + 1), sum(x + 2).. of integers are one sum and one count: sum(x + c) is sum(x) + c * count(x), computed
// in 128 bits. An addition x + c wraps around where it leaves the type of x + c; how many rows did, and at which end,
// is counted for each c, so that the answers, and the errors, are those of the sums one by one.

// addend is a constant that is added to a value before it is summed.
type addend struct {
	c      int64
	lo, hi int64 // values for which the addition does not wrap around
	bits   int   // of the type of the addition
}

// sumFamily are sums over the same values with different addends.
type sumFamily struct {
	addends []addend
	lo, hi  int64 // values for which no addition wraps around
}

// add puts an addend in and returns its number.
func (f *sumFamily) add(a addend) int {
	if len(f.addends) == 0 {
		f.lo, f.hi = a.lo, a.hi
	}
	f.lo, f.hi = max(f.lo, a.lo), min(f.hi, a.hi)
	f.addends = append(f.addends, a)
	return len(f.addends) - 1
}

// apart takes the constant out of the argument of a sum of signed integers: the value, and what is added to it. ok is
// false for other arguments.
func apart(e Expr) (x Expr, a addend, ok bool) {
	if cast, is := e.(*Cast); is && !cast.Try && cast.To == i64 && signed(cast.Arg.Type()) {
		if x, a, ok = apart(cast.Arg); ok && x.Type() != i64 {
			x = &Cast{Arg: x, To: i64}
		}
		return x, a, ok
	}
	t := e.Type()
	if !signed(t) {
		return nil, a, false
	}
	lo, hi := convert.IntBounds(t)
	a.lo, a.hi, a.bits = lo, int64(hi), bits.Len64(hi)+1
	call, is := e.(*Call)
	if !is || call.Fn.op != Plus && call.Fn.op != Minus || len(call.Args) != 2 {
		return e, a, true
	}
	x, by := call.Args[0], call.Args[1]
	if IsConst(x) && call.Fn.op == Plus {
		x, by = by, x
	}
	k, is := by.(*Const)
	if !is || k.Value.IsNull(0) || k.Value.Type != t || x.Type() != t {
		return e, a, true
	}
	a.c = k.Value.Int(0)
	if call.Fn.op == Minus {
		if a.c == lo { // has no negative
			a.c = 0
			return e, a, true
		}
		a.c = -a.c
	}
	if a.c > 0 {
		a.hi -= a.c
	} else {
		a.lo -= a.c
	}
	return x, a, true
}

// ShareSums lets sums of integers that differ by constants only share their state. The list is the same where there are
// none.
func ShareSums(aggs []*Agg) []*Agg {
	type key struct{ value, filter int }
	ids := newNumbering()
	families := map[key]*sumFamily{}
	keys, values, addends := make([]key, len(aggs)), make([]Expr, len(aggs)), make([]addend, len(aggs))
	members := map[key]int{}
	for i, a := range aggs {
		if !a.Sums || a.Distinct || a.T != i64 || a.family != nil {
			continue
		}
		x, by, ok := apart(a.Args[0])
		if !ok {
			continue
		}
		keys[i] = key{1 + ids.of(x), 0}
		if a.Filter != nil {
			keys[i].filter = 1 + ids.of(a.Filter)
		}
		values[i], addends[i] = x, by
		members[keys[i]]++
	}
	out := aggs
	for i, a := range aggs {
		if values[i] == nil || members[keys[i]] < 2 {
			continue
		}
		if len(families) == 0 {
			out = append([]*Agg(nil), aggs...)
		}
		f := families[keys[i]]
		if f == nil {
			f = &sumFamily{}
			families[keys[i]] = f
		}
		b := *a
		b.Args, b.family, b.addend = []Expr{values[i]}, f, f.add(addends[i])
		out[i] = &b
	}
	return out
}

// sharedSums is the state of a family of sums, and the accumulator of its first member.
type sharedSums struct {
	cancellation
	integerSums[int64]
	family *sumFamily
	first  int // the addend of the first member
	count  []int64
	// wrapsOf[k][g] is how many more additions of addend k wrapped around at the upper end than at the lower one; nil
	// while none did.
	wrapsOf [][]int64
}

func newSharedSums(f *sumFamily, first int) *sharedSums {
	return &sharedSums{integerSums: integerSums[int64]{t: i64, of: integers[int64]}, family: f, first: first}
}

func (s *sharedSums) Grow(n int) {
	s.integerSums.Grow(n)
	s.count = vector.Extended(s.count, n)
	for k := range s.wrapsOf {
		s.wrapsOf[k] = vector.Extended(s.wrapsOf[k], n)
	}
}

func (s *sharedSums) Bytes() int64 {
	bytes := s.integerSums.Bytes() + int64(8*cap(s.count))
	for _, w := range s.wrapsOf {
		bytes += int64(8 * cap(w))
	}
	return bytes
}

func (s *sharedSums) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := flatten(args[0], n, &s.flat)
	if err := s.integerSums.Add(n, groups, []*vector.Vector{v}, keep); err != nil {
		return err
	}
	x := v.Ints[:n]
	if keep == nil && v.Valid == nil {
		countGroups(s.count, groups[:n])
	} else {
		eachRow(n, v, keep, func(i int) { s.count[groups[i]]++ })
	}
	if within(x, s.family.lo, s.family.hi) {
		return nil
	}
	if err := s.keepWraps(); err != nil {
		return err
	}
	for k, a := range s.family.addends {
		eachRow(n, v, keep, func(i int) {
			s.wrapsOf[k][groups[i]] += int64(vector.Bit(x[i] > a.hi)) - int64(vector.Bit(x[i] < a.lo))
		})
	}
	return nil
}

// keepWraps makes wrapsOf, if it is not there.
func (s *sharedSums) keepWraps() error {
	if s.wrapsOf != nil {
		return nil
	}
	if err := s.hold(8 * int64(len(s.family.addends)) * int64(len(s.sum))); err != nil {
		return err
	}
	s.wrapsOf = make([][]int64, len(s.family.addends))
	for k := range s.wrapsOf {
		s.wrapsOf[k] = make([]int64, len(s.sum))
	}
	return nil
}

// within reports whether all of x lie in [lo, hi].
func within(x []int64, lo, hi int64) bool {
	least, most := lo, hi
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	return least >= lo && most <= hi
}

func (s *sharedSums) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*sharedSums)
	if err := s.integerSums.Merge(&other.integerSums, from, to); err != nil {
		return err
	}
	for i, g := range to {
		s.count[g] += other.count[from[i]]
	}
	if other.wrapsOf != nil {
		if err := s.keepWraps(); err != nil {
			return err
		}
	}
	for k, wraps := range other.wrapsOf {
		for i, g := range to {
			s.wrapsOf[k][g] += wraps[from[i]]
		}
	}
	return nil
}

func (s *sharedSums) Result(n int) (*vector.Vector, error) { return s.with(n, s.first) }

// with are the sums of n groups with addend k.
func (s *sharedSums) with(n, k int) (*vector.Vector, error) {
	s.Grow(n)
	a := s.family.addends[k]
	v := &vector.Vector{Type: i64, Valid: validOf(s.some[:n]), Ints: make([]int64, n)}
	for g, some := range s.some[:n] {
		if !some {
			continue
		}
		hi, lo := uint64(s.sum[g]>>63), uint64(s.sum[g])
		if s.wraps != nil {
			hi += uint64(s.wraps[g])
		}
		addHi, addLo := bits.Mul64(uint64(a.c), uint64(s.count[g]))
		if a.c < 0 {
			addHi -= uint64(s.count[g])
		}
		var carry uint64
		lo, carry = bits.Add64(lo, addLo, 0)
		hi, _ = bits.Add64(hi, addHi, carry)
		if s.wrapsOf != nil {
			wraps := s.wrapsOf[k][g]
			lo, carry = bits.Sub64(lo, uint64(wraps<<a.bits), 0)
			hi, _ = bits.Sub64(hi, uint64(wraps>>(64-a.bits)), carry)
		}
		if hi != uint64(int64(lo)>>63) {
			return nil, execError("Overflow in sum: it does not fit %s", i64)
		}
		v.Ints[g] = int64(lo)
	}
	return v, nil
}

// furtherSum is a further member of a family, whose state of keeps.
type furtherSum struct {
	of     *sharedSums
	addend int
}

func (f *furtherSum) Grow(int)     {}
func (f *furtherSum) Bytes() int64 { return 0 }

func (f *furtherSum) Add(int, []uint32, []*vector.Vector, vector.Bitmap) error { return nil }

func (f *furtherSum) Merge(Accumulator, []uint32, []uint32) error { return nil }

func (f *furtherSum) Result(n int) (*vector.Vector, error) { return f.of.with(n, f.addend) }

// addendText shows the addend of a member of a family.
func (a *Agg) addendText() string {
	if a.family == nil {
		return ""
	}
	if c := a.family.addends[a.addend].c; c != 0 {
		return fmt.Sprintf(", each %+d", c)
	}
	return ""
}
