package ruletest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"varve/engine"
	"varve/engine/vfs"
	"varve/server/rules"
	"varve/server/rules/file"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
	"varve/sqlexec/promql"
)

// stage is a store with rules whose time a test moves on.
type stage struct {
	m       *rules.Manager
	store   *engine.Engine
	queries *promql.Service
	order   []string
	groups  []string // all, in their order
	input   []written
	next    int // of input
}

// written is a sample of the input.
type written struct {
	at time.Time
	rules.Input
}

// one runs a test and returns what fails; an error is one of the test itself.
func (t *tests) one(ctx context.Context, one *test, files []*file.File) (wrong []string, err error) {
	if one.Interval == 0 {
		one.Interval = t.Interval
	}
	s, err := t.stage(ctx, one, files)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if wrong, err = s.play(ctx, t, one); err != nil {
		return wrong, err
	}
	for i := range one.Expressions {
		w, err := s.expression(ctx, t, &one.Expressions[i])
		if err != nil {
			return wrong, err
		}
		wrong = append(wrong, w...)
	}
	return wrong, nil
}

// stage makes the store of a test.
func (t *tests) stage(ctx context.Context, one *test, files []*file.File) (_ *stage, err error) {
	s := &stage{order: t.Order, queries: promql.NewService(promql.Limits{})}
	if s.input, err = one.samples(); err != nil {
		return nil, err
	}
	if s.store, err = engine.Open(engine.Options{FS: vfs.NewMem(), Dir: "/test", NoBackground: true}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.store.Close(context.Background(), false))
		}
	}()
	sql := sqlexec.New(s.store, sqlexec.Options{Metrics: s.queries})
	s.m, err = rules.New(rules.Options{Store: s.store, SQL: sql, Queries: s.queries,
		Interval:       time.Duration(t.Interval),
		Samples:        samples.New(samples.Options{Store: s.store, CacheBytes: 64 << 20}),
		ExternalLabels: one.ExternalLabels, ExternalURL: one.ExternalURL})
	if err != nil {
		return nil, err
	}
	s.m.Use(ctx, files)
	list, _, _ := s.m.Groups(rules.Filter{})
	for _, g := range list {
		s.groups = append(s.groups, g.Name)
	}
	return s, nil
}

func (s *stage) close() error {
	ctx := context.Background()
	s.m.Stop(ctx)
	return s.store.Close(ctx, false)
}

// samples are those of the input in the order of their times.
func (one *test) samples() (list []written, err error) {
	for _, in := range one.Input {
		labels, values, err := promql.ParseSeries(in.Series+" "+in.Values, maxSeries)
		if err != nil {
			return nil, fmt.Errorf("input_series %s: %w", in.Series, err)
		}
		if len(list)+len(values) > maxValues {
			return nil, fmt.Errorf("there are more than %d values", maxValues)
		}
		for i, v := range values {
			if !v.Absent {
				at := time.UnixMilli(int64(i) * time.Duration(one.Interval).Milliseconds())
				list = append(list, written{at, rules.Input{Labels: labels, Point: v.Point}})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b written) int { return a.at.Compare(b.at) })
	return list, nil
}

// load writes the samples up to a time.
func (s *stage) load(ctx context.Context, until time.Time) error {
	for s.next < len(s.input) && !s.input[s.next].at.After(until) {
		at := s.input[s.next].at
		var batch []rules.Input
		for ; s.next < len(s.input) && s.input[s.next].at.Equal(at); s.next++ {
			batch = append(batch, s.input[s.next].Input)
		}
		if err := s.m.Write(ctx, at, batch); err != nil {
			return err
		}
	}
	return nil
}

// evaluate evaluates all groups at a time, those of the given order first.
func (s *stage) evaluate(ctx context.Context, at time.Time) (wrong []string) {
	done := map[string]bool{}
	for _, name := range slices.Concat(s.order, s.groups) {
		if !done[name] {
			done[name] = true
			s.m.Evaluate(ctx, at, func(_, group string) bool { return group == name })
		}
	}
	list, _, _ := s.m.Groups(rules.Filter{WithoutAlerts: true})
	for _, g := range list {
		for _, r := range g.Rules {
			if r.Error != "" {
				wrong = append(wrong, fmt.Sprintf("group %q, rule %q, at %s: %s", g.Name, r.Record+r.Alert,
					at.Sub(zero), r.Error))
			}
		}
	}
	return wrong
}

// zero is when the clock of a test begins.
var zero = time.UnixMilli(0)

// play moves the time on to the last that the test asks for, and looks at the alerts on the way.
func (s *stage) play(ctx context.Context, t *tests, one *test) (wrong []string, err error) {
	step, last := time.Duration(t.Interval), time.Duration(0)
	for _, a := range one.Alerts {
		last = max(last, time.Duration(a.At))
	}
	for _, x := range one.Expressions {
		last = max(last, time.Duration(x.At))
	}
	if int64(last/step) > maxSteps {
		return nil, fmt.Errorf("the test has more than %d evaluations", maxSteps)
	}
	tests := slices.Clone(one.Alerts)
	slices.SortStableFunc(tests, func(a, b alertTest) int { return cmp.Compare(a.At, b.At) })
	for at := time.Duration(0); at <= last; at += step {
		if err := s.load(ctx, zero.Add(at)); err != nil {
			return wrong, err
		}
		if failed := s.evaluate(ctx, zero.Add(at)); len(failed) > 0 {
			return append(wrong, failed...), nil
		}
		for len(tests) > 0 && time.Duration(tests[0].At) < at+step {
			wrong = append(wrong, s.alerts(&tests[0])...)
			tests = tests[1:]
		}
		if ctx.Err() != nil {
			return wrong, ctx.Err()
		}
	}
	return wrong, s.load(ctx, zero.Add(last))
}
