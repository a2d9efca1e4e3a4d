package rules

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/server/rules/file"
	"varve/server/rules/notify"
	"varve/sqlexec/promql"
)

// GroupState is the state of a group.
type GroupState struct {
	File, Document, Name          string // Document: the group is one of this document
	Interval, Took                time.Duration
	Limit                         int
	Last                          time.Time // zero: it was not evaluated yet
	Evaluations, Failures, Missed int64
	Rules                         []RuleState
}

// RuleState is the state of a rule.
type RuleState struct {
	Record, Alert       string
	Expr                string
	Language            file.Language
	For, KeepFiringFor  time.Duration
	Labels, Annotations map[string]string // as they are written, with the templates
	State               string            // of an alerting rule: that of its most urgent alert
	Health, Error       string
	Last                time.Time
	Took                time.Duration
	Alerts              []AlertState // that are pending or fire, by their labels
}

// AlertState is the state of an alert.
type AlertState struct {
	Labels, Annotations map[string]string
	State               string
	ActiveAt, KeepSince time.Time // KeepSince zero: its condition is met
	Value               float64
}

// Filter chooses groups and rules. Empty fields choose all.
type Filter struct {
	Kind                 string // alert or record
	Names, Groups, Files []string
	Matchers             [][]*promql.Matcher // one set must pass the labels of a rule
	WithoutAlerts        bool
	MostGroups           int    // 0: all
	After                string // the token of the answer before
}

// Groups are the groups with the rules that a filter chooses. next is the token of the following ones; empty: there are
// none. ok is false where the group that Filter.After names is not there.
func (m *Manager) Groups(f Filter) (list []GroupState, next string, ok bool) {
	begun := f.After == ""
	for _, g := range *m.groups.Load() {
		if !begun {
			begun = g.token() == f.After
			if !begun {
				continue
			}
		}
		if len(f.Groups) > 0 && !slices.Contains(f.Groups, g.def.Name) ||
			len(f.Files) > 0 && !slices.Contains(f.Files, g.file) {
			continue
		}
		one := g.show(&f)
		if len(one.Rules) == 0 && f.narrow() {
			continue
		}
		if f.MostGroups > 0 && len(list) >= f.MostGroups {
			return list, g.token(), true
		}
		list = append(list, one)
	}
	return list, "", begun
}

// narrow reports whether a filter leaves rules out.
func (f *Filter) narrow() bool { return f.Kind != "" || len(f.Names) > 0 || len(f.Matchers) > 0 }

// token names a group in paging.
func (g *group) token() string { return identity(g.file, g.def.Name, "", "") }

func (g *group) show(f *Filter) GroupState {
	g.mu.Lock()
	defer g.mu.Unlock()
	document, _ := strings.CutPrefix(g.file, documentPrefix)
	if document == g.file {
		document = ""
	}
	one := GroupState{File: g.file, Document: document, Name: g.def.Name, Interval: g.interval, Took: g.took,
		Limit: g.def.Limit, Last: g.last, Evaluations: g.evaluations.Load(), Failures: g.failures.Load(),
		Missed: g.missed.Load()}
	for _, r := range g.rules {
		if f.passes(r) {
			one.Rules = append(one.Rules, r.show(!f.WithoutAlerts))
		}
	}
	return one
}

// passes reports whether a filter chooses a rule.
func (f *Filter) passes(r *rule) bool {
	switch {
	case f.Kind == "alert" && r.Alert == "", f.Kind == "record" && r.Record == "":
		return false
	case len(f.Names) > 0 && !slices.Contains(f.Names, r.Name()):
		return false
	}
	return len(f.Matchers) == 0 || slices.ContainsFunc(f.Matchers, func(set []*promql.Matcher) bool {
		return !slices.ContainsFunc(set, func(x *promql.Matcher) bool { return !x.Matches(r.Labels[x.Name]) })
	})
}

// show is the state of a rule. The caller holds the lock of the group.
func (r *rule) show(alerts bool) RuleState {
	one := RuleState{Record: r.Record, Alert: r.Alert, Expr: r.Expr, Language: r.Language, For: r.For,
		KeepFiringFor: r.KeepFiringFor, Labels: r.Labels, Annotations: r.Annotations, Health: r.health, Error: r.err,
		Last: r.last, Took: r.took}
	if r.Alert == "" {
		return one
	}
	most := inactive
	for _, key := range slices.Sorted(maps.Keys(r.active)) {
		a := r.active[key]
		most = max(most, a.state)
		if alerts && a.state != inactive {
			one.Alerts = append(one.Alerts, AlertState{Labels: texts(a.labels), Annotations: a.annotations,
				State: a.state.String(), ActiveAt: a.activeAt, KeepSince: a.keepSince, Value: a.value})
		}
	}
	one.State = most.String()
	return one
}

// SourceState is a file or a document of rules as it was read last.
type SourceState struct {
	Name, Document string
	Groups, Rules  int    // that are evaluated
	Error          string // why what is there now is not evaluated
}

// Sources are the files and documents, when they were read, and why the files could not be found.
func (m *Manager) Sources() (list []SourceState, at time.Time, failure string) {
	s := m.sources.Load()
	for _, one := range s.list {
		shown := SourceState{Name: one.name, Document: one.document}
		if one.file != nil {
			shown.Groups, shown.Rules = len(one.file.Groups), one.file.Rules()
		}
		if one.err != nil {
			shown.Error = one.err.Error()
		}
		list = append(list, shown)
	}
	if s.err != nil {
		failure = s.err.Error()
	}
	return list, s.at, failure
}

// Database is the one that rules read and write.
func (m *Manager) Database() string { return m.o.DB }

// Targets are the Alertmanagers and webhooks, and what they were told.
func (m *Manager) Targets() []notify.Told { return m.notifier.Targets() }

// Counts are numbers of rules and alerts.
type Counts struct {
	Groups, Alerting, Recording, Failing int
	Pending, Firing                      int
}

// Counts counts rules and alerts.
func (m *Manager) Counts() (n Counts) {
	for _, g := range *m.groups.Load() {
		n.Groups++
		g.mu.Lock()
		for _, r := range g.rules {
			if r.Alert == "" {
				n.Recording++
			} else {
				n.Alerting++
			}
			if r.health == healthBad {
				n.Failing++
			}
			for _, a := range r.active {
				switch a.state {
				case pending:
					n.Pending++
				case firing:
					n.Firing++
				}
			}
		}
		g.mu.Unlock()
	}
	return n
}

// Number is a value as text.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
