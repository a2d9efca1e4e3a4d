package expr

import "varve/engine/vector"

// mover is an accumulator that keeps texts in one piece of memory, which it moves when it needs more room.
type mover interface {
	// moves is how many bytes Add takes for a while, and some of them for good, to make room for so many rows with so
	// many bytes of texts in their first argument; 0 where there is room.
	moves(rows int, texts int64) int64
}

// resulter is an accumulator whose result takes more or less than the texts that it holds.
type resulter interface {
	// resultBytes is the approximate memory of the texts of all results, and of building them.
	resultBytes() int64
}

// State is an aggregate's accumulator within the memory of a query. Before rows are added it counts the most memory
// that they can add, and afterwards the actual growth. One goroutine at a time.
type State struct {
	agg    *Agg
	acc    Accumulator
	memory account
	due    int64 // the most that was added since the accumulator's bytes were counted
	given  int64 // taken for the last result
}

// keeping says which parts of its rows an aggregate keeps.
type keeping uint8

// An aggregate that says nothing is counted as one that keeps documents: nothing takes more.
const (
	keepsDocuments keeping = iota // values of each row, written as JSON
	keepsValues                   // values of each row as they are, or a value for each group
	keepsFigures                  // numbers
)

const (
	// freeGrowth is how much an accumulator may grow by before it is counted.
	freeGrowth = 1 << 20
	// stepGrowth is how much rows may add at a time, as long as they are several.
	stepGrowth = 8 << 20
	// rowBytes is about the memory of a row's place in an accumulator beside its values.
	rowBytes = 128
	// figureBytes is the memory of a number of a row, in a slice that has grown.
	figureBytes = 16
	// escapedBytes is the largest number of bytes of a letter in JSON.
	escapedBytes = 6
)

// Within makes an empty state for a query with so much memory; nil: without bounds.
func (a *Agg) Within(memory Memory) *State {
	s := &State{agg: a, acc: a.New(), memory: account{memory: memory}}
	if acc, ok := s.acc.(bounded); ok {
		acc.within(&s.memory)
	}
	return s
}

// States creates the states of aggregates over the same rows, each like Within. Several percentiles of the same values
// keep these values once, and sums of one family their sum.
func States(aggs []*Agg, memory Memory) []*State {
	states := make([]*State, len(aggs))
	families := map[*sumFamily]*sharedSums{}
	for i, a := range aggs {
		states[i] = a.Within(memory)
		if sums, ok := states[i].acc.(*sharedSums); ok {
			if of := families[a.family]; of != nil {
				states[i].acc = &furtherSum{of: of, addend: a.addend}
			} else {
				families[a.family] = sums
			}
			continue
		}
		s, ok := states[i].acc.(*samples)
		if !ok {
			continue
		}
		for j, b := range aggs[:i] {
			if of, ok := states[j].acc.(*samples); ok && of.exact == s.exact && a.sameRows(b) {
				states[i].acc = &furtherPercentile{of: of, p: s.p, t: s.t}
				break
			}
		}
	}
	return states
}

// Grow makes room for groups [0, n).
func (s *State) Grow(n int) { s.acc.Grow(n) }

// Add is like Accumulator.Add, as long as there is room for the rows. If there is no room for all rows at once, it adds
// some after the others.
func (s *State) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	if s.memory.memory == nil {
		return s.acc.Add(n, groups, args, keep)
	}
	most := s.grows(n, args)
	switch {
	case s.due+most < freeGrowth:
		s.due += most
		return s.acc.Add(n, groups, args, keep)
	case n > 1 && most > min(stepGrowth, s.memory.Left()):
		return s.addInHalves(n, groups, args, keep)
	}
	if err := s.memory.Reserve(most); err != nil {
		return err
	}
	err := s.acc.Add(n, groups, args, keep)
	s.memory.Release(most)
	if err != nil {
		return err
	}
	return s.Count()
}

func (s *State) addInHalves(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	part := make([]*vector.Vector, len(args))
	for _, p := range [][2]int{{0, n / 2}, {n / 2, n}} {
		for k, v := range args {
			part[k] = v.Slice(p[0], p[1])
		}
		some := keep
		if keep != nil {
			some = keep.Slice(p[0], p[1])
		}
		if err := s.Add(p[1]-p[0], groups[p[0]:p[1]], part, some); err != nil {
			return err
		}
	}
	return nil
}

// grows is the most bytes that n rows add to the accumulator, for a while or for good.
func (s *State) grows(n int, args []*vector.Vector) int64 {
	if m, ok := s.acc.(mover); ok && args[0].Type.Kind() == vector.Bytes {
		return m.moves(n, ValueBytes(args[:1], n)) + rowBytes*int64(n)
	}
	keeps := s.agg.keeps
	if s.agg.Distinct {
		keeps = min(keeps, keepsValues)
	}
	switch {
	case keeps == keepsFigures:
		return figureBytes * int64(n)
	case keeps == keepsValues || s.agg.Distinct:
		return 2*ValueBytes(args, n) + rowBytes*int64(n) // keys beside them
	}
	return escapedBytes*ValueBytes(args, n) + rowBytes*int64(n)
}

// ValueBytes is what the texts of n rows come to when each row's is copied.
func ValueBytes(args []*vector.Vector, n int) (bytes int64) {
	for _, v := range args {
		switch {
		case v.Type.Kind() != vector.Bytes:
		case v.Form == vector.Const:
			bytes += int64(n) * int64(len(v.Bytes(0)))
		case v.Form == vector.Dict && len(v.Values.Views) > 0:
			for _, c := range v.Codes[:n] {
				bytes += int64(v.Values.Views[c].Len)
			}
		case v.Form == vector.Flat:
			for _, w := range v.Views[:n] {
				bytes += int64(w.Len)
			}
		}
	}
	return bytes
}

// Merge takes over the state of another state of the same aggregate, which must not be used afterwards: its group g
// becomes group to[g] here.
func (s *State) Merge(o *State, to []uint32) error {
	held := o.memory.held
	if err := s.memory.Reserve(held); err != nil { // there are two for a while
		return err
	}
	from := make([]uint32, len(to))
	for g := range from {
		from[g] = uint32(g)
	}
	err := s.acc.Merge(o.acc, from, to)
	o.Free()
	if err != nil {
		return err
	}
	return s.Count()
}

// Take takes over some groups of another state, of which there are so many: from[i], which rise, become to[i] here.
func (s *State) Take(o *State, from, to []uint32, groups int) error {
	share := int64(float64(o.memory.held) * float64(len(from)) / float64(max(groups, 1)))
	if err := s.memory.Reserve(share); err != nil {
		return err
	}
	err := s.acc.Merge(o.acc, from, to)
	s.memory.Release(share)
	if err != nil {
		return err
	}
	return s.Count()
}

// Count takes from the memory what the accumulator has grown by since it was last counted.
func (s *State) Count() error {
	s.due = 0
	if grown := s.acc.Bytes() + s.given - s.memory.held; grown > 0 {
		return s.memory.Reserve(grown)
	}
	return nil
}

// Result returns a value for each of n groups. It is counted until the next one.
func (s *State) Result(n int) (*vector.Vector, error) {
	s.memory.Release(s.given)
	s.given = 0
	if err := s.Count(); err != nil {
		return nil, err
	}
	before := s.memory.held
	defer func() { s.given = s.memory.held - before }()
	if err := s.memory.Reserve(resultBytes(s.acc, s.agg.T, n)); err != nil {
		return nil, err
	}
	return s.acc.Result(n)
}

// resultBytes is about what the results of n groups of an accumulator take: a value for each group, and the texts and
// lists that are made of what it holds.
func resultBytes(acc Accumulator, t vector.Type, n int) int64 {
	bytes := 9 * int64(n)
	if r, ok := acc.(resulter); ok {
		return bytes + r.resultBytes()
	}
	if t.Kind() == vector.Bytes {
		bytes += acc.Bytes()
	}
	return bytes
}

// Free gives back the memory of the state, which must not be used afterwards.
func (s *State) Free() {
	s.memory.Release(s.memory.held)
	s.acc = nil
}

// account is the share that one holder has of a memory. The memory may be nil.
type account struct {
	memory Memory
	held   int64
}

// Err is that of the memory.
func (a *account) Err() error {
	if a.memory == nil {
		return nil
	}
	return a.memory.Err()
}

// Reserve takes bytes.
func (a *account) Reserve(bytes int64) error {
	if a.memory == nil || bytes == 0 {
		return nil
	}
	err := a.memory.Reserve(bytes)
	if err == nil {
		a.held += bytes
	}
	return err
}

// Release returns bytes.
func (a *account) Release(bytes int64) {
	if a.memory != nil && bytes != 0 {
		a.held -= bytes
		a.memory.Release(bytes)
	}
}

// Left is how many bytes there are.
func (a *account) Left() int64 {
	if a.memory == nil {
		return maxTexts
	}
	return a.memory.Left()
}
