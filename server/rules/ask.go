package rules

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"varve/engine/vector"
	"varve/server/rules/expand"
	"varve/server/rules/file"
	"varve/sqlexec"
	"varve/sqlexec/expr"
	"varve/sqlexec/promql"
)

// point is a result of an expression.
type point struct {
	labels    promql.Labels
	value     float64
	histogram []byte // in its binary form; nil: the value counts
}

// ask evaluates the expression of a rule at a time.
func (m *Manager) ask(ctx context.Context, g *group, r *rule, at time.Time) (list []point, err error) {
	at = g.asked(at)
	if r.Language == file.SQL {
		return m.askSQL(ctx, r.Rule, at.Add(-g.interval), at)
	}
	if m.o.Attend == nil {
		return m.askPromQL(ctx, r.Expr, at)
	}
	s := m.session(r.Rule, at)
	s.Attended, s.Answered = true, func() int64 { return int64(len(list)) }
	s.Evaluated = &sqlexec.Grid{Start: at.UnixMilli(), End: at.UnixMilli()}
	err = m.o.Attend(ctx, s, r.Expr, func(ctx context.Context) error {
		list, err = m.askPromQL(ctx, r.Expr, at)
		return err
	})
	return list, err
}

// session is that of a rule at a time.
func (m *Manager) session(r *file.Rule, at time.Time) *sqlexec.Session {
	return &sqlexec.Session{DB: m.o.DB, DBGiven: true, Application: "rule " + r.Name(),
		Now: func() time.Time { return at }}
}

// tables are the series that a query sees, within the memory of queries until release.
func (m *Manager) tables(ctx context.Context) (t *promql.Tables, release func()) {
	t = &promql.Tables{Engine: m.o.Store, DB: m.o.DB}
	if m.o.Memory == nil {
		return t, func() {}
	}
	budget := m.o.Memory.Budget(ctx)
	t.Memory = budget
	return t, budget.Close
}

// askPromQL evaluates an expression of PromQL.
func (m *Manager) askPromQL(ctx context.Context, text string, at time.Time) (list []point, err error) {
	tables, release := m.tables(ctx)
	defer release()
	q := promql.Query{Expr: text, Start: at.UnixMilli(), End: at.UnixMilli()}
	err = m.o.Queries.Evaluate(ctx, q, tables, func(r *promql.Result) error {
		if r.Type != promql.Vector && r.Type != promql.Scalar {
			return fmt.Errorf("the result of a rule is a vector or a scalar, this is a %s", r.Type)
		}
		if r.Len() > maxResults {
			return fmt.Errorf("the rule has %d results, at most %d are taken", r.Len(), maxResults)
		}
		for i := range r.Len() {
			for _, p := range r.Samples(i) {
				one := point{labels: r.Labels(i), value: p.V}
				if p.H != nil {
					one.histogram = p.H.AppendBinary(nil)
				}
				list = append(list, one)
			}
		}
		return nil
	})
	return list, err
}

// askSQL runs the statement of a rule over a range. Each row is a result: its columns are the labels, but for value.
func (m *Manager) askSQL(ctx context.Context, r *file.Rule, from, to time.Time) (list []point, err error) {
	s := m.session(r, to)
	all, release, err := m.o.SQL.ParseWithin(ctx, s, file.Bind(r.Expr, from.UnixMilli(), to.UnixMilli()))
	defer release()
	if err != nil {
		return nil, err
	}
	st, err := file.Only(all)
	if err != nil {
		return nil, err
	}
	answer, err := m.o.SQL.Execute(ctx, s, st)
	if err != nil {
		return nil, err
	}
	defer answer.Rows.Close()
	value := -1
	for i, f := range answer.Fields {
		if f.Name == "value" {
			value = i
		}
	}
	if value < 0 {
		return nil, fmt.Errorf("the statement has no column value")
	}
	var b vector.Batch
	var size sizes
	for {
		more, err := answer.Rows.Next(&b)
		if err != nil || !more {
			return list, err
		}
		if len(list)+b.N > maxResults {
			return nil, fmt.Errorf("the rule has more than %d results", maxResults)
		}
		for row := range b.N {
			if b.Cols[value].IsNull(row) {
				continue
			}
			v, err := valueOf(b.Cols[value], row)
			if err != nil {
				return nil, err
			}
			labels := labelsOf(answer.Fields, &b, row, value)
			for _, l := range labels {
				if err := size.add(l.Value); err != nil { // their names are the same in all rows
					return nil, err
				}
			}
			list = append(list, point{labels: labels, value: v})
		}
	}
}

// valueOf is the value of a row as a number.
func valueOf(v *vector.Vector, row int) (float64, error) {
	text := string(expr.AppendText(nil, v, row))
	switch text {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN(), fmt.Errorf("the column value has %.100q, which is not a number", text)
	}
	return x, nil
}

// labelsOf are the columns of a row as labels. Those without a text are left out.
func labelsOf(fields []vector.Field, b *vector.Batch, row, value int) promql.Labels {
	labels := map[string]string{}
	for i, f := range fields {
		if i != value && !b.Cols[i].IsNull(row) {
			labels[f.Name] = string(expr.AppendText(nil, b.Cols[i], row))
		}
	}
	return sorted(labels)
}

// template answers the function query of templates at a time.
func (m *Manager) template(at time.Time) expand.Query {
	return func(ctx context.Context, text string) ([]*expand.Sample, error) {
		list, err := m.askPromQL(ctx, text, at)
		if err != nil {
			return nil, err
		}
		out := make([]*expand.Sample, len(list))
		for i, p := range list {
			out[i] = &expand.Sample{Labels: texts(p.labels), Value: p.value}
		}
		return out, nil
	}
}

// texts are labels by name.
func texts(labels promql.Labels) map[string]string {
	all := make(map[string]string, len(labels))
	for _, l := range labels {
		all[l.Name] = l.Value
	}
	return all
}
