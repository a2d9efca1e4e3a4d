// Package ruletest runs unit tests of rules, files in the form that promtool reads. Each test has a store of its own in
// memory, whose clock begins at zero.
//
//	ruletest.go  files of tests
//	run.go       one test
//	show.go      what was expected and what came
package ruletest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"varve/server/rules/file"
	"varve/sqlexec/promql"
)

// Bounds of a file of tests.
const (
	maxBytes  = 16 << 20
	maxSeries = 1 << 20 // bytes of a series and its values
	maxValues = 10_000_000
	maxSteps  = 1_000_000
)

// duration is a duration in a file, such as 5m.
type duration time.Duration

// UnmarshalYAML reads a duration.
func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	x, ok := promql.ParseDuration(n.Value)
	if !ok || x < 0 {
		return fmt.Errorf("line %d: %q is not a duration such as 5m", n.Line, n.Value)
	}
	*d = duration(x)
	return nil
}

// tests is a file of tests.
type tests struct {
	RuleFiles []string `yaml:"rule_files"`
	Interval  duration `yaml:"evaluation_interval"`
	Order     []string `yaml:"group_eval_order"`
	Fuzzy     bool     `yaml:"fuzzy_compare"`
	Tests     []test   `yaml:"tests"`
}

// test is one test of a file.
type test struct {
	Name           string            `yaml:"name"`
	Interval       duration          `yaml:"interval"`
	Input          []input           `yaml:"input_series"`
	Alerts         []alertTest       `yaml:"alert_rule_test"`
	Expressions    []expressionTest  `yaml:"promql_expr_test"`
	ExternalLabels map[string]string `yaml:"external_labels"`
	ExternalURL    string            `yaml:"external_url"`
}

type input struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type alertTest struct {
	At     duration `yaml:"eval_time"`
	Name   string   `yaml:"alertname"`
	Expect []struct {
		Labels      map[string]string `yaml:"exp_labels"`
		Annotations map[string]string `yaml:"exp_annotations"`
	} `yaml:"exp_alerts"`
}

type expressionTest struct {
	Expr   string   `yaml:"expr"`
	At     duration `yaml:"eval_time"`
	Expect []struct {
		Labels    string  `yaml:"labels"`
		Value     float64 `yaml:"value"`
		Histogram string  `yaml:"histogram"`
	} `yaml:"exp_samples"`
}

// Run runs the tests of a file and prints what fails. passed is false where something did; an error is one of out.
func Run(ctx context.Context, name string, out io.Writer) (passed bool, err error) {
	if _, err := fmt.Fprintf(out, "Unit Testing:  %s\n", name); err != nil {
		return false, err
	}
	failures := failuresOf(ctx, name)
	if len(failures) == 0 {
		_, err := fmt.Fprint(out, "  SUCCESS\n\n")
		return true, err
	}
	var b bytes.Buffer
	b.WriteString("  FAILED:\n")
	for _, f := range failures {
		fmt.Fprintf(&b, "    %s\n", indent(f))
	}
	b.WriteByte('\n')
	_, err = out.Write(b.Bytes())
	return false, err
}

// failuresOf returns what fails in a file.
func failuresOf(ctx context.Context, name string) (failures []string) {
	t, err := read(name)
	if err != nil {
		return []string{err.Error()}
	}
	files, err := t.rules(filepath.Dir(name))
	if err != nil {
		return []string{err.Error()}
	}
	for i := range t.Tests {
		one := &t.Tests[i]
		label := fmt.Sprintf("test %d", i+1)
		if one.Name != "" {
			label = "test " + fmt.Sprintf("%q", one.Name)
		}
		wrong, err := t.one(ctx, one, files)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		for _, w := range wrong {
			failures = append(failures, label+": "+w)
		}
		if ctx.Err() != nil {
			return append(failures, ctx.Err().Error())
		}
	}
	return failures
}

// read reads a file of tests.
func read(name string) (*tests, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(text) > maxBytes {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxBytes)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	t := &tests{}
	if err := d.Decode(t); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if t.Interval == 0 {
		t.Interval = duration(time.Minute)
	}
	return t, nil
}

// rules reads the files of rules, whose names are patterns beside the file of tests.
func (t *tests) rules(dir string) (files []*file.File, err error) {
	var patterns []string
	for _, p := range t.RuleFiles {
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		names, err := filepath.Glob(p)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("there is no file %s", p)
		}
		patterns = append(patterns, names...)
	}
	slices.Sort(patterns)
	names := map[string]bool{}
	for _, p := range slices.Compact(patterns) {
		f, err := file.Open(p)
		if err != nil {
			return nil, err
		}
		for _, g := range f.Groups {
			names[g.Name] = true
		}
		files = append(files, f)
	}
	for _, name := range t.Order {
		if !names[name] {
			return nil, fmt.Errorf("group_eval_order: there is no group %q", name)
		}
	}
	return files, nil
}
