package exec

import (
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/intern"
)

// maxGroups bounds the groups of one aggregation.
const maxGroups = 1 << 30

// groups numbers distinct combinations of key values in order of appearance. Every key column interns its values to
// small numbers; the numbers of several columns are interned pairwise. One goroutine at a time.
type groups struct {
	n       int
	columns []*intern.Interner
	pairs   []*intern.Pairs // pairs[k] interns (number so far, number in column k+1)
	members [][]uint32      // several columns: members[k][g] is the number in column k of group g
	ids     []uint32
	parts   [][]uint32 // scratch: numbers in each column

	// account, if not nil, reserves the held bytes from the query's memory. It gives an error when there is no room or
	// the query has ended.
	account func() error
}

// manyKeys is the number of keys after which groups with many keys account for their memory within a batch.
const manyKeys = 32

func newGroups(keys []expr.Expr) *groups {
	g := &groups{}
	for i, k := range keys {
		g.columns = append(g.columns, expr.NewInterner(k.Type()))
		if i > 0 {
			g.pairs = append(g.pairs, intern.NewPairs(len(keys)-1))
		}
	}
	if len(keys) > 1 {
		g.members = make([][]uint32, len(keys))
		g.parts = make([][]uint32, len(keys))
	}
	return g
}

// bytes is about the memory held.
func (g *groups) bytes() int64 {
	var n int64
	for _, c := range g.columns {
		n += c.Bytes()
	}
	for _, p := range g.pairs {
		n += p.Bytes()
	}
	return n + int64(4*len(g.members)*g.n) + int64(4*len(g.parts)*cap(g.ids))
}

// moves is about how many bytes numbering n rows takes for a while.
func (g *groups) moves(keys []*vector.Vector, n int) (bytes int64) {
	for k, v := range keys {
		if v.Type.Kind() == vector.Bytes {
			bytes += g.columns[k].Moves(n, vectorBytes(v, n))
		}
	}
	return bytes
}

// after accounts for the memory of many keys; the k-th key was just done.
func (g *groups) after(k int) error {
	if k%manyKeys < manyKeys-1 || g.account == nil {
		return nil
	}
	return g.account()
}

// number returns the group of each row. The result is valid until the next call.
func (g *groups) number(keys []*vector.Vector, n int) ([]uint32, error) {
	g.ids = vector.Sized(g.ids, n)
	ids := g.ids
	switch len(keys) {
	case 0:
		if n <= vector.Size {
			return expr.SoleGroup(n), nil
		}
		clear(ids)
		return ids, nil
	case 1:
		g.columns[0].Intern(keys[0], n, ids)
		g.n = g.columns[0].Len()
	default:
		if err := g.numberEach(keys, n); err != nil {
			return nil, err
		}
	}
	for _, c := range g.columns {
		if len(c.Values.Heap) > maxTexts/4*3 { // a batch adds less than the rest
			return nil, status.New(status.RuntimeResourcesExhausted,
				"an aggregation keeps more than %d MiB of texts of one key", maxTexts/4*3>>20)
		}
	}
	if g.n > maxGroups {
		return nil, status.New(status.RuntimeResourcesExhausted, "an aggregation makes more than %d groups", maxGroups)
	}
	return ids, nil
}

// numberEach numbers the values of each key, then their combinations.
func (g *groups) numberEach(keys []*vector.Vector, n int) error {
	for k, v := range keys {
		g.parts[k] = vector.Sized(g.parts[k], n)
		g.columns[k].Intern(v, n, g.parts[k])
		if err := g.after(k); err != nil {
			return err
		}
	}
	copy(g.ids, g.parts[0])
	bound := g.columns[0].Len()
	for k, p := range g.pairs {
		p.Intern(g.ids, g.parts[k+1], bound, g.columns[k+1].Len())
		bound = p.Len()
		if err := g.after(k); err != nil {
			return err
		}
	}
	g.enter(bound)
	return nil
}

// enter notes of what the groups up to bound, which the rows in hand are the first of, are made. They appear in order,
// so that it ends at the first row of the last.
func (g *groups) enter(bound int) {
	next := g.n
	for i := 0; next < bound; i++ {
		if int(g.ids[i]) != next {
			continue
		}
		for k, part := range g.parts {
			g.members[k] = append(g.members[k], part[i])
		}
		next++
	}
	g.n = next
}

// gather are the keys of some groups, Flat.
func (g *groups) gather(numbers []uint32) []*vector.Vector {
	out := make([]*vector.Vector, len(g.columns))
	for k, c := range g.columns {
		out[k] = &vector.Vector{}
		if len(g.columns) == 1 {
			out[k].Gather(c.Values, numbers)
			continue
		}
		members := make([]uint32, len(numbers))
		for i, n := range numbers {
			members[i] = g.members[k][n]
		}
		out[k].Gather(c.Values, members)
	}
	return out
}

// values are the keys of all groups, Flat.
func (g *groups) values() []*vector.Vector {
	out := make([]*vector.Vector, len(g.columns))
	for k, c := range g.columns {
		if len(g.columns) == 1 {
			out[k] = c.Values
			continue
		}
		out[k] = &vector.Vector{}
		out[k].Gather(c.Values, g.members[k])
	}
	return out
}
