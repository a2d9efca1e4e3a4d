package rules

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"varve/server/rules/expand"
	"varve/server/rules/file"
	"varve/sqlexec/promql"
)

// The healths of rules.
const (
	healthUnknown = "unknown"
	healthGood    = "ok"
	healthBad     = "err"
)

// Bounds of the results of a rule: their number, the bytes of their labels and annotations, and the length of an error
// that is kept.
const (
	maxResults     = 200_000
	maxResultBytes = 64 << 20
	maxError       = 2 << 10
)

// sizes counts the bytes of the texts of results.
type sizes int

func (s *sizes) add(texts ...string) error {
	for _, text := range texts {
		*s += sizes(len(text))
	}
	if *s > maxResultBytes {
		return fmt.Errorf("the results of the rule have more than %d bytes of labels and annotations", maxResultBytes)
	}
	return nil
}

// rule is a rule with its state, which the lock of its group protects.
type rule struct {
	*file.Rule
	group               *group
	labels, annotations []named

	health string
	err    string
	last   time.Time
	took   time.Duration

	// active are the alerts by their labels, those that ended a short while ago among them.
	active map[string]*alert
	// written are the series that the last evaluation wrote.
	written map[string]bool
	begun   bool   // it was evaluated since the start
	found   *found // what the start found, for the first evaluation; nil: nothing
}

// named is a label or an annotation.
type named struct {
	name string
	text *expand.Template
}

func newRule(g *group, def *file.Rule) *rule {
	return &rule{Rule: def, group: g, labels: templates(def.Labels), annotations: templates(def.Annotations),
		health: healthUnknown, active: map[string]*alert{}, written: map[string]bool{}}
}

// templates reads texts, which were checked before.
func templates(texts map[string]string) []named {
	var list []named
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t, err := expand.New(texts[name])
		if err != nil {
			panic(fmt.Sprintf("the template of %s was checked: %v", name, err))
		}
		list = append(list, named{name, t})
	}
	return list
}

// same reports whether a rule of another version of the group is this one.
func (r *rule) same(old *rule) bool {
	return r.Record == old.Record && r.Alert == old.Alert && maps.Equal(r.Labels, old.Labels)
}

// evaluate evaluates the rules in order at a time; with recording, only those that record.
func (g *group) evaluate(ctx context.Context, at time.Time, recording bool) {
	g.evaluating.Lock()
	defer g.evaluating.Unlock()
	began := time.Now()
	for _, r := range g.rules {
		if ctx.Err() != nil {
			return
		}
		if recording && r.Alert != "" {
			continue
		}
		g.evaluateRule(ctx, r, at)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last, g.took = at, time.Since(began)
}

// evaluateRule evaluates one rule and notes how it went.
func (g *group) evaluateRule(ctx context.Context, r *rule, at time.Time) {
	began := time.Now()
	err := g.m.guarded(ctx, func(ctx context.Context) error {
		if r.Record != "" {
			return g.record(ctx, r, at)
		}
		return g.alert(ctx, r, at)
	})
	if ctx.Err() != nil { // the server stops
		return
	}
	g.evaluations.Add(1)
	if err != nil {
		g.failures.Add(1)
		if r.health != healthBad { // said once, until it goes well again
			g.m.log.Warn("a rule cannot be evaluated", "file", g.file, "group", g.def.Name, "rule", r.Name(), "error",
				err)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r.last, r.took, r.health, r.err = at, time.Since(began), healthGood, ""
	if err != nil {
		r.health, r.err = healthBad, strings.ToValidUTF8(cut(err.Error(), maxError), "")
	}
}

func cut(text string, most int) string { return text[:min(len(text), most)] }

// guarded runs f within the time of an evaluation. A panic is its error.
func (m *Manager) guarded(ctx context.Context, f func(context.Context) error) (err error) {
	if m.o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.o.Timeout)
		defer cancel()
	}
	defer func() {
		if p := recover(); p != nil {
			m.log.Error("panic in the evaluation of a rule", "panic", p)
			err = fmt.Errorf("panic in the evaluation: %v", p)
		}
	}()
	return f(ctx)
}

// asked is the time that an evaluation asks about, at which it also writes: the rules after it ask about the same.
func (g *group) asked(at time.Time) time.Time { return at.Add(-g.def.QueryOffset) }

// record evaluates a recording rule and writes its series.
func (g *group) record(ctx context.Context, r *rule, at time.Time) error {
	points, err := g.m.ask(ctx, g, r, at)
	if err != nil {
		return err
	}
	if err := limited(g, len(points)); err != nil {
		return err
	}
	list := make([]sample, len(points))
	for i, p := range points {
		labels := map[string]string{}
		for _, l := range p.labels {
			labels[l.Name] = l.Value
		}
		for _, l := range r.labels {
			labels[l.name] = r.Labels[l.name] // of a recording rule labels are no templates
		}
		labels[promql.NameLabel] = r.Record
		list[i] = newSample(labels, p.value, p.histogram)
	}
	return g.put(ctx, r, at, list)
}

// limited refuses more results than the group may have.
func limited(g *group, n int) error {
	if g.def.Limit > 0 && n > g.def.Limit {
		return fmt.Errorf("exceeded limit of %d with %d series", g.def.Limit, n)
	}
	return nil
}

// put writes the series of a rule, and markers that end those that the evaluation before wrote and this one does not.
func (g *group) put(ctx context.Context, r *rule, at time.Time, list []sample) error {
	next := make(map[string]bool, len(list))
	for i := range list {
		if next[list[i].key] {
			return fmt.Errorf("vector contains metrics with the same labelset after applying rule labels: %s",
				list[i].key)
		}
		next[list[i].key] = true
	}
	for key := range r.written {
		if !next[key] {
			list = append(list, sample{key: key, value: promql.Stale})
		}
	}
	if err := g.m.write(ctx, g.asked(at), list); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r.written = next
	return nil
}

// end marks the ends of all series of the rules that are gone, and resolves their alerts.
func (g *group) end(ctx context.Context) {
	at := g.m.o.Now()
	var list []sample
	for _, r := range g.rules {
		for key := range r.written {
			list = append(list, sample{key: key, value: promql.Stale})
		}
		g.mu.Lock() // whoever looks at the group may still see it
		for _, a := range r.active {
			if a.state == firing {
				a.resolve(at)
			}
		}
		g.mu.Unlock()
		if err := g.m.keep(ctx, r, at); err != nil && ctx.Err() == nil {
			g.m.log.Warn("alerts of a rule that is gone cannot be noted as ended", "rule", r.Alert, "error", err)
		}
		g.m.tell(ctx, r, at) // their rows stay until the next start, in case they cannot be delivered before
	}
	if err := g.m.write(ctx, g.asked(at), list); err != nil && ctx.Err() == nil {
		g.m.log.Warn("the ends of the series of rules that are gone cannot be written", "file", g.file, "group",
			g.def.Name, "error", err)
	}
}
