package promql

import (
	"cmp"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
)

// partners is the rows of both sides that have the same values of the matching labels. Times play no part in it: which
// of them meet is seen from their bitmaps.
type partners struct{ left, right []int }

// partnersOf finds the partners of all rows, in the order in which they first occur.
func (o *operation) partnersOf(left, right matrix) ([]partners, error) {
	if err := o.e.limits.reserve(int64(len(left)+len(right)) * memberBytes); err != nil {
		return nil, err
	}
	m := o.n.VectorMatching
	names := slices.Clone(m.MatchingLabels)
	if !m.On {
		names = append(names, NameLabel)
	}
	var out []partners
	index := map[labelsKey]int{}
	var text []byte
	find := func(ls Labels) *partners {
		text = ls.appendKeyOf(text[:0], names, !m.On)
		key := keyOf(text)
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, partners{})
		}
		return &out[at]
	}
	counted := 0
	count := func(i int) error {
		if i%chunkRows != 0 {
			return nil
		}
		made := len(out) - counted
		counted = len(out)
		return cmp.Or(o.e.ctx.Err(), o.e.limits.reserve(int64(made)*partnersBytes))
	}
	for i := range left {
		if err := count(i); err != nil {
			return nil, err
		}
		p := find(left[i].labels())
		p.left = append(p.left, i)
	}
	for i := range right {
		if err := count(i); err != nil {
			return nil, err
		}
		p := find(right[i].labels())
		p.right = append(p.right, i)
	}
	return out, nil
}

// partnersBytes is about the memory of partners besides their rows, while the lists grow.
const partnersBytes = 112

// presence is the steps at which any of some rows has a value.
func presence(m matrix, rows []int, g grid) bitmap {
	out := make(bitmap, g.words())
	for _, i := range rows {
		out.or(m[i].has)
	}
	return out
}

// keepMatched evaluates and and unless: the rows of the left side at the steps at which a partner is (is not) there.
func (o *operation) keepMatched(left, right matrix, matched bool) (matrix, error) {
	kept := make([]bitmap, len(left))
	found, err := o.partnersOf(left, right)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		there := presence(right, p.right, o.g)
		for _, i := range p.left {
			kept[i] = make(bitmap, o.g.words())
			for w := range kept[i] {
				if matched {
					kept[i][w] = left[i].has[w] & there[w]
				} else {
					kept[i][w] = left[i].has[w] &^ there[w]
				}
			}
		}
	}
	return withBits(o.e.limits, left, kept)
}

// withBits is rows with other bitmaps, those with none left out.
func withBits(l *limits, m matrix, has []bitmap) (matrix, error) {
	if err := l.reserve(int64(len(m)) * (rowBytes + rankedBytes)); err != nil {
		return nil, err
	}
	out := make(matrix, 0, len(m))
	for i, r := range m {
		if r.has = has[i]; !r.has.empty() {
			out = append(out, r)
		}
	}
	return out, nil
}

// union evaluates or: the left side, and the rows of the right side at the steps at which no partner is there.
func (o *operation) union(left, right matrix) (matrix, error) {
	kept := make([]bitmap, len(right))
	found, err := o.partnersOf(left, right)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		there := presence(left, p.left, o.g)
		for _, i := range p.right {
			kept[i] = make(bitmap, o.g.words())
			for w := range kept[i] {
				kept[i][w] = right[i].has[w] &^ there[w]
			}
		}
	}
	rest, err := withBits(o.e.limits, right, kept)
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

// match evaluates arithmetic and comparisons of vectors. The "one" side is called one, the other many, whichever of them
// stands on the left; with one-to-one matching the right side is the one.
func (o *operation) match(left, right matrix) (matrix, error) {
	m := o.n.VectorMatching
	j := &joiner{operation: o, many: left, one: right, side: "right", swapped: m.Card == parser.CardOneToMany, arena: newArena(o.e.limits, o.g)}
	fill := m.FillValues
	if j.swapped {
		j.many, j.one, j.side = right, left, "left"
	}
	j.live = j.liveSteps(fill.LHS != nil || fill.RHS != nil)
	j.last = make([]lastNote, o.g.n)
	j.scratch = row{vals: make([]float64, o.g.n), has: make(bitmap, o.g.words())}
	found, err := o.partnersOf(left, right)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		many, one := p.left, p.right
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
	out := make(matrix, 0, len(j.out))
	for _, r := range j.out {
		if !r.has.empty() {
			out = append(out, r)
		}
	}
	return out, o.e.limits.hold(int64(len(out)) * int64(o.g.n))
}

// joiner is a match at work.
type joiner struct {
	*operation
	many, one matrix
	side      string // of the one side, for errors
	swapped   bool   // the many side stands on the right
	live      bitmap // steps at which the operator looks at its sides at all
	arena     *arena
	scratch   row

	out     matrix
	index   map[labelsKey]int    // of the label sets of out within a group
	taken   map[labelsKey]bitmap // steps at which a label set was made, kept or not
	matched bitmap               // steps at which any was
	text    []byte               // scratch
}

// liveSteps are those at which both sides have something; with fill values those at which one of them has.
func (j *joiner) liveSteps(filled bool) bitmap {
	all := func(m matrix) bitmap {
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
func (j *joiner) group(many, one []int, fillLeft, fillRight *float64) error {
	if len(many) == 0 && fillLeft == nil || len(one) == 0 && fillRight == nil {
		return j.checkOne(one)
	}
	if err := j.checkOne(one); err != nil {
		return err
	}
	j.index, j.taken, j.matched = map[labelsKey]int{}, map[labelsKey]bitmap{}, make(bitmap, j.g.words())
	for _, a := range many {
		j.order = a
		for _, b := range one {
			if err := j.pair(&j.many[a], &j.one[b], common(j.many[a].has, j.one[b].has)); err != nil {
				return err
			}
		}
	}
	if fillRight != nil {
		there := presence(j.one, one, j.g)
		for _, a := range many {
			j.order = a
			r := &j.many[a]
			if err := j.pair(r, j.filled(r, *fillRight), without(r.has, there)); err != nil {
				return err
			}
		}
	}
	if fillLeft != nil {
		matched := slices.Clone(j.matched)
		for _, b := range one {
			j.order = len(j.many) + b
			r := &j.one[b]
			if err := j.pair(j.filled(r, *fillLeft), r, without(r.has, matched)); err != nil {
				return err
			}
		}
	}
	return nil
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
	r := &row{identity: identity{own: j.matching(partner.labels())}, vals: make([]float64, j.g.n), has: make(bitmap, j.g.words())}
	for i := range r.vals {
		r.vals[i] = v
	}
	r.has.fill(j.g.n)
	return r
}

// matching is the part of a label set that partners share.
func (j *joiner) matching(ls Labels) Labels {
	m := j.n.VectorMatching
	if m.On {
		return ls.keep(m.MatchingLabels)
	}
	return ls.drop(append(slices.Clone(m.MatchingLabels), NameLabel)...)
}

// checkOne refuses two rows of the one side at the same step.
func (j *joiner) checkOne(one []int) error {
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
		";many-to-many matching not allowed: matching labels must be unique on one side", j.matching(b.labels()), j.side, first, second)
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
	if j.n.ReturnBool && out.hist != nil {
		out.hist = nil
	}
	labels := j.labelsOf(many.labels(), one.labels())
	j.text = labels.appendKey(j.text[:0])
	key := keyOf(j.text)
	if err := j.take(key, has); err != nil {
		return err
	}
	at, ok := j.index[key]
	if !ok {
		r, err := j.arena.named(labels, j.n.ReturnBool)
		if err != nil {
			return err
		}
		if err := j.e.limits.reserve(joinBytes); err != nil {
			return err
		}
		at = len(j.out)
		j.index[key] = at
		j.out = append(j.out, r)
		copy(r.vals, out.vals)
		copy(r.has, out.has)
		j.out[at].hist = out.hist
		return j.e.limits.adjust(out.histogramBytes())
	}
	for i := range out.has.steps {
		j.out[at].copyStep(out, i)
	}
	return nil
}

// take notes the steps at which a label set was made, and refuses one that was made before.
func (j *joiner) take(key labelsKey, has bitmap) error {
	one := j.n.VectorMatching.Card == parser.CardOneToOne
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
			return execution("multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)")
		}
		return execution("multiple matches for labels: grouping labels must ensure unique matches")
	}
	taken.or(has)
	j.matched.or(has)
	return nil
}

// labelsOf is the label set of a combination.
func (j *joiner) labelsOf(many, one Labels) Labels {
	m := j.n.VectorMatching
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
	for _, name := range m.Include {
		out = out.with(name, one.Get(name))
	}
	return out
}
