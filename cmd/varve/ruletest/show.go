package ruletest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/server/rules"
	"varve/sqlexec/promql"
	"varve/sqlexec/promql/histogram"
)

// indent puts the lines of a text below each other.
func indent(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}

// pairs is a set of labels as text.
func pairs(labels map[string]string) string {
	list := make([]string, 0, len(labels))
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, name+"="+strconv.Quote(labels[name]))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// differ is what fails where one list is expected and another came.
func differ(head string, want, got []string) []string {
	slices.Sort(want)
	slices.Sort(got)
	if slices.Equal(want, got) {
		return nil
	}
	show := func(list []string) string {
		if len(list) == 0 {
			return " nothing"
		}
		return "\n      " + strings.Join(list, "\n      ")
	}
	return []string{head + "\n  exp:" + show(want) + "\n  got:" + show(got)}
}

// alerts compares the alerts of a name that fire with those that are expected.
func (s *stage) alerts(a *alertTest) []string {
	if a.Name == "" {
		return []string{fmt.Sprintf("alert_rule_test at %s has no alertname", time.Duration(a.At))}
	}
	show := func(labels, annotations map[string]string) string {
		return "labels: " + pairs(labels) + ", annotations: " + pairs(annotations)
	}
	var want, got []string
	for _, x := range a.Expect {
		labels := map[string]string{}
		maps.Copy(labels, x.Labels)
		labels["alertname"] = a.Name
		want = append(want, show(labels, x.Annotations))
	}
	list, _, _ := s.m.Groups(rules.Filter{Names: []string{a.Name}, Kind: "alert"})
	known := false
	for _, g := range list {
		for _, r := range g.Rules {
			known = true
			for _, x := range r.Alerts {
				if x.State == "firing" {
					got = append(got, show(x.Labels, x.Annotations))
				}
			}
		}
	}
	if !known && len(want) == 0 {
		return nil
	}
	return differ(fmt.Sprintf("alertname: %s, time: %s", a.Name, time.Duration(a.At)), want, got)
}

// expression compares the value of an expression with the samples that are expected.
func (s *stage) expression(ctx context.Context, t *tests, x *expressionTest) ([]string, error) {
	head := fmt.Sprintf("expr: %q, time: %s", x.Expr, time.Duration(x.At))
	ms := time.Duration(x.At).Milliseconds()
	var want, got []string
	for _, e := range x.Expect {
		labels, values, err := promql.ParseSeries(orNone(e.Labels)+" "+e.Histogram, maxSeries)
		if err != nil {
			return []string{fmt.Sprintf("%s: labels %q: %s", head, e.Labels, err)}, nil
		}
		p := promql.Point{V: e.Value}
		if len(values) > 0 {
			p = values[0].Point
		}
		want = append(want, t.sample(labels, p))
	}
	tables := &promql.Tables{Engine: s.store, DB: "public"}
	q := promql.Query{Expr: x.Expr, Start: ms, End: ms}
	err := s.queries.Evaluate(ctx, q, tables, func(r *promql.Result) error {
		for i := range r.Len() {
			for _, p := range r.Samples(i) {
				got = append(got, t.sample(r.Labels(i), p))
			}
		}
		return nil
	})
	if err != nil {
		return []string{head + ": " + err.Error()}, nil
	}
	return differ(head, want, got), nil
}

// orNone is a set of labels, which may be empty.
func orNone(labels string) string {
	if strings.TrimSpace(labels) == "" {
		return "{}"
	}
	return labels
}

// sample is a sample as text.
func (t *tests) sample(labels promql.Labels, p promql.Point) string {
	if p.H != nil {
		h := p.H.WithHint(histogram.UnknownReset)
		return labels.String() + " " + string(h.AppendJSON(nil))
	}
	v := p.V
	if t.Fuzzy && v != 0 && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return labels.String() + " " + strconv.FormatFloat(v, 'g', 13, 64)
	}
	return labels.String() + " " + strconv.FormatFloat(v, 'g', -1, 64)
}
