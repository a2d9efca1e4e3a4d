package promql

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// identifying are the labels that connect series with the info series about them.
var identifying = []string{"instance", "job"}

// defaultInfo is the metric that info() looks at when no other is named.
const defaultInfo = "target_info"

// infoCall is a call of info(): it adds the labels of info metrics to rows.
type infoCall struct {
	e       *evaluator
	g       grid
	names   []*Matcher            // of the info metrics
	data    map[string][]*Matcher // of their other labels; when there are any, only these labels are added
	byKey   map[string][]int      // info rows by name and identifying labels
	infos   nodeMatrix            // the values are the times of their samples
	metrics []string              // names of the info metrics found
}

// info evaluates info().
func (e *evaluator) info(n *callNode, g grid) (nodeMatrix, error) {
	base, err := e.eval(n.args[0], g)
	if err != nil {
		return nil, err
	}
	c := &infoCall{e: e, g: g, data: map[string][]*Matcher{}}
	if err := c.takeMatchers(n); err != nil {
		return nil, err
	}
	ignored := make([]bool, len(base))
	err = e.eachRow(base, func(i int) error {
		name := metricName(base[i].labels())
		ignored[i] = !slices.ContainsFunc(c.names, func(m *Matcher) bool { return !m.Matches(name) })
		return nil
	})
	if err == nil {
		err = c.read(n.args[0], base, ignored)
	}
	if err != nil {
		return nil, err
	}
	return c.combine(base, ignored)
}

// takeMatchers sorts out the second argument. Without a matcher that demands a name all metrics that end in _info are
// meant, without any on the name target_info.
func (c *infoCall) takeMatchers(n *callNode) error {
	if len(n.args) > 1 {
		for _, m := range n.args[1].(*selectorNode).matchers {
			if m.Name == NameLabel {
				c.names = append(c.names, m)
			} else {
				c.data[m.Name] = append(c.data[m.Name], m)
			}
		}
	}
	positive := slices.ContainsFunc(c.names,
		func(m *Matcher) bool { return m.Type == MatchEqual || m.Type == MatchRegexp })
	var more *Matcher
	var err error
	switch {
	case len(c.names) == 0:
		more, err = NewMatcher(MatchEqual, NameLabel, defaultInfo)
	case !positive:
		more, err = NewMatcher(MatchRegexp, NameLabel, ".+_info")
	default:
		return nil
	}
	c.names = append([]*Matcher{more}, c.names...)
	return err
}

// read finds the info rows of all rows, one selection for each pattern of identifying labels that rows have.
func (c *infoCall) read(arg node, base nodeMatrix, ignored []bool) error {
	ref, uniform := reference(arg)
	if !uniform {
		ref = when{}
	}
	clock := clockOf(c.g, ref.at, ref.offset)
	first, last := clock.bounds()
	sets, err := c.e.identities(base, ignored)
	if err != nil {
		return err
	}
	for _, set := range sets {
		ms := slices.Clone(set)
		for _, name := range slices.Sorted(maps.Keys(c.data)) {
			ms = append(ms, c.data[name]...)
		}
		ms = append(ms, c.names...)
		series, err := c.e.openSelection(Selection{Matchers: ms, Start: first - c.e.lookback + 1, End: last})
		if err != nil {
			return err
		}
		src := &sampleRows{set: series, dropName: keepName, kernel: func(w *worker, s Samples, out *row) error {
			w.spans = windowSpans(w.spans, s.T, clock, w.e.lookback, 0)
			for i, sp := range w.spans {
				at := int(sp.hi) - 1
				if sp.lo == sp.hi || s.stale(at) {
					continue
				}
				if s.H != nil && s.H[at] != nil {
					return execution("this should be an info metric, with float samples: %s", w.series.labels())
				}
				out.put(i, float64(s.T[at]))
			}
			return nil
		}}
		rows, err := c.e.rows(src, c.g)
		if err != nil {
			return err
		}
		c.infos = append(c.infos, rows...)
	}
	c.byKey = map[string][]int{}
	err = c.e.eachRow(c.infos, func(i int) error {
		ls := c.infos[i].labels()
		name := metricName(ls)
		if !slices.Contains(c.metrics, name) {
			c.metrics = append(c.metrics, name)
		}
		key := infoKey(name, ls)
		c.byKey[key] = append(c.byKey[key], i)
		return nil
	})
	slices.Sort(c.metrics)
	return err
}

func infoKey(name string, ls Labels) string {
	return string(ls.appendKeyOf(appendKeyLabel(nil, Label{NameLabel, name}), identifying, false))
}

// identities are matchers of the identifying labels that rows have.
func (e *evaluator) identities(base nodeMatrix, ignored []bool) ([][]*Matcher, error) {
	patterns := map[[2]bool][2]map[string]bool{}
	err := e.eachRow(base, func(i int) error {
		if ignored[i] {
			return nil
		}
		var has [2]bool
		var values [2]string
		ls := base[i].labels()
		for k, name := range identifying {
			values[k] = ls.Get(name)
			has[k] = values[k] != ""
		}
		if has == [2]bool{} {
			return nil
		}
		p, ok := patterns[has]
		if !ok {
			p = [2]map[string]bool{{}, {}}
			patterns[has] = p
		}
		for k := range values {
			p[k][values[k]] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out [][]*Matcher
	for _, has := range [][2]bool{{true, true}, {true, false}, {false, true}} {
		p, ok := patterns[has]
		if !ok {
			continue
		}
		var ms []*Matcher
		for k, name := range identifying {
			quoted := make([]string, 0, len(p[k]))
			for _, v := range slices.Sorted(maps.Keys(p[k])) {
				quoted = append(quoted, regexp.QuoteMeta(v))
			}
			m, err := NewMatcher(MatchRegexp, name, strings.Join(quoted, "|"))
			if err != nil {
				panic("quoted values make a pattern: " + err.Error())
			}
			ms = append(ms, m)
		}
		out = append(out, ms)
	}
	return out, nil
}

// combine adds labels step by step, because the info row that counts, the one with the newest sample, may change.
func (c *infoCall) combine(base nodeMatrix, ignored []bool) (nodeMatrix, error) {
	anyBase := make(bitmap, c.g.words())
	for i := range base {
		anyBase.or(base[i].has)
	}
	newest, err := c.newest(anyBase)
	if err != nil {
		return nil, err
	}
	optional := true // rows without info rows stay
	for _, ms := range c.data {
		for _, m := range ms {
			optional = optional && m.Matches("")
		}
	}
	var out nodeMatrix
	a := newArena(c.e.limits, c.g)
	for i := range base {
		if i%chunkRows == 0 && c.e.ctx.Err() != nil {
			return nil, c.e.ctx.Err()
		}
		if ignored[i] {
			out = append(out, base[i])
			continue
		}
		var known nodeMatrix
		for step := range base[i].has.steps {
			ls, found, err := c.labels(base[i].labels(), newest, step)
			if err != nil {
				return nil, err
			}
			if !found && !optional {
				continue
			}
			k := slices.IndexFunc(known, func(r row) bool { return r.labels().Equal(ls) })
			if k < 0 {
				r, err := a.named(ls, base[i].dropName)
				if err != nil {
					return nil, err
				}
				k, known = len(known), append(known, r)
			}
			known[k].copyStep(&base[i], step)
		}
		out = append(out, known...)
	}
	return c.e.join(out, c.g)
}

// newest finds for each key and step the info row with the newest sample. Two of one time are an error where there are
// rows to add labels to.
func (c *infoCall) newest(needed bitmap) (map[string][]int32, error) {
	out := map[string][]int32{}
	for key, rows := range c.byKey {
		at := make([]int32, c.g.n) // 1 + number of the row
		for step := range at {
			for _, k := range rows {
				r := &c.infos[k]
				if !r.has.has(step) {
					continue
				}
				if at[step] == 0 || c.infos[at[step]-1].vals[step] < r.vals[step] {
					at[step] = int32(k) + 1
				} else if other := &c.infos[at[step]-1]; other.vals[step] == r.vals[step] && needed.has(step) {
					return nil, execution("found duplicate series for info metric: existing %s @ %d, new %s @ %d",
						other.labels(), int64(other.vals[step]), r.labels(), int64(r.vals[step]))
				}
			}
		}
		out[key] = at
	}
	return out, nil
}

// labels is a label set with what the info rows of a step add.
func (c *infoCall) labels(base Labels, newest map[string][]int32, step int) (out Labels, found bool, err error) {
	var added Labels
	for _, name := range c.metrics {
		at := newest[infoKey(name, base)]
		if at == nil || at[step] == 0 {
			continue
		}
		found = true
		for _, l := range c.infos[at[step]-1].labels() {
			if _, wanted := c.data[l.Name]; l.Name == NameLabel || len(c.data) > 0 && !wanted {
				continue
			}
			if v := added.Get(l.Name); v != "" && v != l.Value {
				return nil, false, execution("conflicting label: %s", l.Name)
			}
			if base.Get(l.Name) == "" {
				added = added.with(l.Name, l.Value)
			}
		}
	}
	out = base
	for _, l := range added {
		out = out.with(l.Name, l.Value)
	}
	return out, found, nil
}

func (w when) equal(o when) bool {
	if w.at == nil || o.at == nil {
		return w.at == nil && o.at == nil && w.offset == o.offset
	}
	return *w.at-w.offset == *o.at-o.offset
}

// reference is the time that all selectors of a node look at; uniform is false when they differ, or when a vector comes
// of no selector.
func reference(x node) (first when, uniform bool) {
	found, free := false, false
	uniform = true
	var visit func(x node, around []*subqueryNode) bool
	visit = func(x node, around []*subqueryNode) bool {
		if t := x.base().kind; t != parser.ValueTypeVector && t != parser.ValueTypeMatrix {
			return false
		}
		switch n := x.(type) {
		case *selectorNode:
			ref := n.when
			for _, s := range slices.Backward(around) { // offsets add up until a time is fixed
				if ref.at != nil {
					break
				}
				ref.offset += s.offset
				ref.at = s.at
			}
			if !found {
				first, found = ref, true
			} else if !first.equal(ref) {
				uniform = false
			}
			return true
		case *subqueryNode:
			around = append(slices.Clone(around), n)
		case *callNode:
			if n.function.matchers {
				return visit(n.args[0], around)
			}
		}
		any := false
		for _, part := range x.operands() {
			if visit(part, around) {
				any = true
			}
		}
		free = free || !any
		return any
	}
	visit(x, nil)
	return first, found && uniform && !free
}
