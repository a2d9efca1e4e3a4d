package promql

import (
	"cmp"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
)

// partners is the rows of both sides that have the same values of the matching labels, group by group in the order of
// their first rows. Times play no part in it: which rows meet is seen from their bitmaps.
type partners struct {
	groups      int
	left, right lists
}

// partnersOf finds the partners of all rows.
func (o *operation) partnersOf(left, right nodeMatrix) (*partners, error) {
	m := o.n.matching
	names := slices.Clone(m.MatchingLabels)
	if !m.On {
		names = append(names, NameLabel)
	}
	index := map[labelsKey]int32{}
	var text []byte
	number := func(m1 nodeMatrix) ([]int32, error) {
		if err := o.e.limits.reserve(int64(len(m1)) * listBytes); err != nil {
			return nil, err
		}
		group, counted := make([]int32, len(m1)), len(index)
		for i := range m1 {
			text = m1[i].labels().appendKeyOf(text[:0], names, !m.On)
			key := keyOf(text)
			at, ok := index[key]
			if !ok {
				at = int32(len(index))
				index[key] = at
			}
			group[i] = at
			if i%chunkRows == chunkRows-1 || i == len(m1)-1 {
				made := len(index) - counted
				counted = len(index)
				if err := cmp.Or(o.e.ctx.Err(), o.e.limits.reserve(int64(made)*partnersBytes)); err != nil {
					return nil, err
				}
			}
		}
		return group, nil
	}
	l, err := number(left)
	if err != nil {
		return nil, err
	}
	r, err := number(right)
	if err != nil {
		return nil, err
	}
	return &partners{len(index), listsOf(l, len(index)), listsOf(r, len(index))}, nil
}

// partnersBytes is about the memory of a group of partners besides their rows.
const partnersBytes = 48 + listBytes

// presence is the steps at which any of some rows has a value, in a bitmap that is given.
func presence(out bitmap, m nodeMatrix, rows []int32) bitmap {
	clear(out)
	for _, i := range rows {
		out.or(m[i].has)
	}
	return out
}

// keepMatched evaluates and and unless: the rows of the left side at the steps at which a partner is (is not) there.
func (o *operation) keepMatched(left, right nodeMatrix, matched bool) (nodeMatrix, error) {
	found, err := o.partnersOf(left, right)
	if err != nil {
		return nil, err
	}
	return o.restrict(left, right, found.groups, &found.left, &found.right, matched)
}

// restrict keeps of rows the steps at which another row of their group is (or is not) present.
func (o *operation) restrict(m, others nodeMatrix, groups int, rows, partners *lists, there bool) (nodeMatrix, error) {
	words := o.g.words()
	if err := o.e.limits.reserve(int64(len(m)) * int64(words) * 8); err != nil {
		return nil, err
	}
	all, at := make(bitmap, len(m)*words), make(bitmap, words)
	for k := range groups {
		if k%askSeries == 0 && o.e.ctx.Err() != nil {
			return nil, o.e.ctx.Err()
		}
		at = presence(at, others, partners.of(k))
		for _, i := range rows.of(k) {
			has := part(all, int(i), words)
			for w, word := range m[i].has {
				if there {
					has[w] = word & at[w]
				} else {
					has[w] = word &^ at[w]
				}
			}
		}
	}
	return o.e.sift(m, func(i int, r *row) { r.has = part(all, i, words) })
}

// union evaluates or: the left side, and the rows of the right side at the steps at which no partner is there.
func (o *operation) union(left, right nodeMatrix) (nodeMatrix, error) {
	found, err := o.partnersOf(left, right)
	if err != nil {
		return nil, err
	}
	rest, err := o.restrict(right, left, found.groups, &found.right, &found.left, false)
	if err != nil {
		return nil, err
	}
	if err := o.e.limits.reserve(int64(len(left)+len(rest)) * rowBytes); err != nil {
		return nil, err
	}
	all := append(slices.Clone(left), rest...)
	if o.e.instant {
		return all, nil
	}
	return o.e.join(all, o.g)
}

// match evaluates arithmetic and comparisons of vectors. The "one" side is called one, the other side many, whichever
// of them is on the left; with one-to-one matching the right side is one.
func (o *operation) match(left, right nodeMatrix) (nodeMatrix, error) {
	m := o.n.matching
	j := &joiner{operation: o, many: left, one: right, side: "right", swapped: m.Card == parser.CardOneToMany,
		arena: newArena(o.e.limits, o.g)}
	fill := m.FillValues
	if j.swapped {
		j.many, j.one, j.side = right, left, "left"
	}
	j.live = j.liveSteps(fill.LHS != nil || fill.RHS != nil)
	j.last = make([]lastNote, o.g.n)
	j.scratch = row{vals: make([]float64, o.g.n), has: make(bitmap, o.g.words())}
	if err := j.room(len(j.many)); err != nil {
		return nil, err
	}
	j.left.labels = func(ls Labels) Labels { return j.labelsOf(ls, nil) }
	found, err := o.partnersOf(left, right)
	if err != nil {
		return nil, err
	}
	for k := range found.groups {
		many, one := found.left.of(k), found.right.of(k)
		if j.swapped {
			many, one = one, many
		}
		if err := j.group(many, one, fill.LHS, fill.RHS); err != nil {
			return nil, err
		}
		if err := o.e.ctx.Err(); err != nil {
			return nil, err
		}
	}
	for _, n := range j.last {
		if n.err != nil {
			o.e.note(n.err)
		}
	}
	out, err := o.e.sift(j.out, func(int, *row) {})
	if err != nil {
		return nil, err
	}
	return out, o.e.limits.hold(int64(len(out)) * int64(o.g.n))
}

// joiner is a match at work.
type joiner struct {
	*operation
	many, one nodeMatrix
	side      string // of the one side, for errors
	swapped   bool   // the many side stands on the right
	live      bitmap // steps at which the operator looks at its sides at all
	arena     *arena
	scratch   row

	out     nodeMatrix
	left    projection           // what is left of the labels of the many side
	alone   bool                 // the group has one row on each side: nothing else can have the labels of the two
	index   map[labelsKey]int    // of the label sets of out within a group
	taken   map[labelsKey]bitmap // steps at which a label set was made, kept or not
	matched bitmap               // steps at which any was
	text    []byte               // scratch
}

// liveSteps are the steps at which both sides have a value; with fill values, the steps at which one of them has.
func (j *joiner) liveSteps(filled bool) bitmap {
	all := func(m nodeMatrix) bitmap {
		out := make(bitmap, j.g.words())
		for i := range m {
			out.or(m[i].has)
		}
		return out
	}
	a, b := all(j.many), all(j.one)
	for w := range a {
		if filled {
			a[w] |= b[w]
		} else {
			a[w] &= b[w]
		}
	}
	return a
}

// group puts partners together.
func (j *joiner) group(many, one []int32, fillLeft, fillRight *float64) error {
	if len(many) == 0 && fillLeft == nil || len(one) == 0 && fillRight == nil {
		return j.checkOne(one)
	}
	if err := j.checkOne(one); err != nil {
		return err
	}
	j.alone = len(many) == 1 && len(one) == 1 && fillLeft == nil && fillRight == nil
	if !j.alone {
		j.forget()
	}
	for _, a := range many {
		j.order = int(a)
		for _, b := range one {
			if err := j.pair(&j.many[a], &j.one[b], common(j.many[a].has, j.one[b].has)); err != nil {
				return err
			}
		}
	}
	if fillRight != nil {
		there := presence(make(bitmap, j.g.words()), j.one, one)
		for _, a := range many {
			j.order = int(a)
			r := &j.many[a]
			if err := j.pair(r, j.filled(r, *fillRight), without(r.has, there)); err != nil {
				return err
			}
		}
	}
	if fillLeft != nil {
		matched := slices.Clone(j.matched)
		for _, b := range one {
			j.order = len(j.many) + int(b)
			r := &j.one[b]
			if err := j.pair(j.filled(r, *fillLeft), r, without(r.has, matched)); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget forgets the labels of the group before.
func (j *joiner) forget() {
	const few = 64 // a map that has grown takes long to clear
	if j.index == nil || len(j.index)+len(j.taken) > few {
		j.index, j.taken, j.matched = map[labelsKey]int{}, map[labelsKey]bitmap{}, make(bitmap, j.g.words())
		return
	}
	clear(j.index)
	clear(j.taken)
	clear(j.matched)
}

func common(a, b bitmap) bitmap {
	out := make(bitmap, len(a))
	for w := range a {
		out[w] = a[w] & b[w]
	}
	return out
}

func without(a, b bitmap) bitmap {
	out := make(bitmap, len(a))
	for w := range a {
		out[w] = a[w] &^ b[w]
	}
	return out
}

// filled is the row that stands for a missing partner: a value at all steps, with the matching labels.
func (j *joiner) filled(partner *row, v float64) *row {
	r := &row{identity: named(j.matching(partner.labels()), 0), vals: make([]float64, j.g.n),
		has: make(bitmap, j.g.words())}
	for i := range r.vals {
		r.vals[i] = v
	}
	r.has.fill(j.g.n)
	return r
}

// matching is the part of a label set that partners share.
func (j *joiner) matching(ls Labels) Labels {
	m := j.n.matching
	if m.On {
		return ls.keep(m.MatchingLabels)
	}
	return ls.drop(append(slices.Clone(m.MatchingLabels), NameLabel)...)
}

// checkOne refuses two rows of the "one" side at the same step.
func (j *joiner) checkOne(one []int32) error {
	if len(one) < 2 {
		return nil
	}
	seen := make(bitmap, j.g.words())
	for k, b := range one {
		has := common(j.one[b].has, j.live)
		if step := seen.overlaps(has); step >= 0 {
			for _, a := range one[:k] {
				if j.one[a].has.has(step) {
					return j.duplicate(&j.one[a], &j.one[b])
				}
			}
		}
		seen.or(has)
	}
	return nil
}

func (j *joiner) duplicate(a, b *row) error {
	first, second := a.labels().String(), b.labels().String()
	if first > second {
		first, second = second, first
	}
	return execution("found duplicate series for the match group %s on the %s hand-side of the operation: [%s, %s]"+
		";many-to-many matching not allowed: matching labels must be unique on one side", j.matching(b.labels()),
		j.side, first, second)
}

// pair combines a row of each side at the steps of has.
func (j *joiner) pair(many, one *row, has bitmap) error {
	if has.empty() {
		return nil
	}
	out := &j.scratch
	clear(out.has)
	out.hist = nil
	left, right := many, one
	if j.swapped {
		left, right = one, many
	}
	has = j.combine(out, left, right, has, left)
	if has.empty() {
		return nil
	}
	if j.n.returnBool && out.hist != nil {
		out.hist = nil
	}
	if j.alone {
		return j.add(out, j.identity(many, one))
	}
	labels := j.labelsOf(many.labels(), one)
	j.text = labels.appendKey(j.text[:0])
	key := keyOf(j.text)
	if err := j.take(key, has); err != nil {
		return err
	}
	at, ok := j.index[key]
	if !ok {
		if err := j.e.limits.reserve(joinBytes); err != nil {
			return err
		}
		j.index[key] = len(j.out)
		return j.add(out, j.identity(many, one))
	}
	for i := range out.has.steps {
		j.out[at].copyStep(out, i)
	}
	return nil
}

// identity is what the combination of two rows is called.
func (j *joiner) identity(many, one *row) identity {
	if len(j.n.matching.Include) > 0 {
		return named(j.labelsOf(many.labels(), one), 0)
	}
	return j.left.of(&many.identity)
}

// room makes room for so many rows more.
func (j *joiner) room(rows int) error {
	j.arena.room = true
	if err := j.e.limits.reserve(int64(rows) * rowBytes); err != nil {
		return err
	}
	j.out = slices.Grow(j.out, rows)
	return nil
}

// add adds a row to the answer.
func (j *joiner) add(from *row, id identity) error {
	if len(j.out) == cap(j.out) {
		if err := j.room(max(len(j.out), 1)); err != nil {
			return err
		}
	}
	r, err := j.arena.row()
	if err != nil {
		return err
	}
	copy(r.vals, from.vals)
	copy(r.has, from.has)
	r.identity, r.hist = id, from.hist
	r.dropName = j.n.returnBool
	j.out = append(j.out, r)
	return j.e.limits.adjust(from.histogramBytes() + id.ownBytes())
}

// take records the steps at which a label set was created, and refuses one that exists already.
func (j *joiner) take(key labelsKey, has bitmap) error {
	one := j.n.matching.Card == parser.CardOneToOne
	if one {
		key = labelsKey{} // one answer for all partners
	}
	taken := j.taken[key]
	if taken == nil {
		taken = make(bitmap, j.g.words())
		j.taken[key] = taken
	}
	if taken.overlaps(has) >= 0 {
		if one {
			return execution(
				"multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)")
		}
		return execution("multiple matches for labels: grouping labels must ensure unique matches")
	}
	taken.or(has)
	j.matched.or(has)
	return nil
}

// labelsOf is the label set of a combination.
func (j *joiner) labelsOf(many Labels, one *row) Labels {
	m := j.n.matching
	out := many
	if changesName(j.op) {
		out = out.nameless()
	}
	if m.Card == parser.CardOneToOne {
		if m.On {
			out = out.keep(m.MatchingLabels)
		} else {
			out = out.drop(m.MatchingLabels...)
		}
	}
	if len(m.Include) == 0 {
		return out
	}
	theirs := one.labels()
	for _, name := range m.Include {
		out = out.with(name, theirs.Get(name))
	}
	return out
}
