package engine

import (
	"cmp"
	"math"
	"slices"

	"varve/engine/schema"
)

// partGroup is parts of one region that go together.
type partGroup struct {
	r      *region
	parts  []*part // served
	aside  []*part // set aside
	newest int64   // time of the newest row of these and of all that must go before, ns since 1970: the order
	until  int64   // time of the newest row of these, ns since 1970
	bytes  int64
	rows   int64
	fresh  bool // the manifest did not list a part yet: rows in memory may be older versions of its rows
}

// groups are the parts of a database in groups, the oldest first.
func (x *sizeBound) groups(c *catalog, db string) (all []*partGroup) {
	for _, r := range c.regions {
		s := r.snap.Load()
		if s.schema.Name.DB == db {
			all = append(all, x.groupsOf(r, s)...)
		}
	}
	slices.SortStableFunc(all, func(a, b *partGroup) int { // those of a region stay in their order
		return cmp.Or(cmp.Compare(a.newest, b.newest), cmp.Compare(a.r.id, b.r.id))
	})
	return all
}

// groupsOf groups the parts of a region, in the order in which they may go. A part may go only with, or after, the
// parts that may hold older versions of its rows: else a replaced value or a deleted row would come back. Parts that
// may hold older versions of each other's rows are a group. In append mode rows have no versions, and each part goes
// alone.
func (x *sizeBound) groupsOf(r *region, s *regionSnap) []*partGroup {
	fresh := make([]bool, len(s.parts)) // asked before the manifest: a flush lists them together with older versions
	for i, p := range s.parts {
		fresh[i] = p.unlisted.Load()
	}
	o := &partOrder{parts: append(slices.Clone(s.parts), x.damages.asideOf(r, s)...),
		versions: !s.schema.Options.AppendMode}
	o.run(s.schema)
	var all []*partGroup
	for _, list := range o.groups {
		g := &partGroup{r: r, newest: o.newest[list[0]], until: math.MinInt64}
		for _, i := range list {
			p := o.parts[i]
			if i < len(s.parts) {
				g.parts, g.fresh = append(g.parts, p), g.fresh || fresh[i]
			} else {
				g.aside = append(g.aside, p)
			}
			g.bytes, g.rows, g.until = g.bytes+p.meta.Bytes, g.rows+p.meta.Rows, max(g.until, o.own[i])
		}
		all = append(all, g)
	}
	return all
}

// partOrder finds the order in which the parts of a region may go: the strongly connected components of the relation
// "may hold older versions of rows of", by Tarjan's algorithm, which gives those that must go first before the others.
type partOrder struct {
	parts    []*part
	versions bool    // rows have versions
	own      []int64 // time of the newest row of each part, ns since 1970
	newest   []int64 // and of all parts that must go with it or before it
	groups   [][]int // of places in parts

	found []int // the number of a part in the order in which they were visited, from 1; 0: not yet
	low   []int // the least number that was reached from a part
	stack []int
	open  []bool // a part is on the stack
}

// run fills newest and groups.
func (o *partOrder) run(of *schema.Table) {
	n := len(o.parts)
	o.own, o.found, o.low, o.open = make([]int64, n), make([]int, n), make([]int, n), make([]bool, n)
	order := make([]int, n)
	for i, p := range o.parts {
		o.own[i], order[i] = inNanoseconds(p.meta.MaxTime, of), i
	}
	o.newest = slices.Clone(o.own)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(o.own[a], o.own[b]) })
	visited := 0
	for _, i := range order {
		if o.found[i] == 0 {
			o.visit(i, order, &visited)
		}
	}
}

// before reports whether part j may hold older versions of rows of part i.
func (o *partOrder) before(i, j int) bool {
	return o.versions && i != j && o.parts[j].meta.MinSeq <= o.parts[i].meta.MaxSeq &&
		o.parts[j].overlaps(o.parts[i])
}

// visit puts a part, and all that must go before it, into groups. It calls itself at most once for each part.
func (o *partOrder) visit(i int, order []int, visited *int) {
	*visited++
	o.found[i], o.low[i] = *visited, *visited
	o.stack, o.open[i] = append(o.stack, i), true
	for _, j := range order {
		if !o.before(i, j) {
			continue
		}
		if o.found[j] == 0 {
			o.visit(j, order, visited)
			o.low[i] = min(o.low[i], o.low[j])
		} else if o.open[j] {
			o.low[i] = min(o.low[i], o.found[j])
		}
		o.newest[i] = max(o.newest[i], o.newest[j])
	}
	if o.low[i] < o.found[i] {
		return
	}
	at := slices.Index(o.stack, i)
	group := slices.Clone(o.stack[at:])
	o.stack = o.stack[:at]
	for _, j := range group {
		o.open[j] = false
		o.newest[j] = o.newest[i] // the first that was visited has seen all
	}
	slices.Sort(group)
	o.groups = append(o.groups, group)
}

// inNanoseconds is a time of a table as ns since 1970; what they cannot count is the nearest that they can.
func inNanoseconds(t int64, of *schema.Table) int64 {
	unit := int64(math.Pow10(9 - int(of.TimeColumn().Type.Precision)))
	if t > math.MaxInt64/unit {
		return math.MaxInt64
	}
	return max(t, math.MinInt64/unit) * unit
}
