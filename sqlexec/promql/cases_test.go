package promql_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/sqlexec/promql"
)

// caseFile is a data set and queries with their exact answers.
type caseFile struct {
	Series []struct {
		Metric  map[string]string
		Samples [][2]json.RawMessage
	}
	Cases []struct {
		ID, Query, Error string
		Time             *float64
		Start, End, Step float64
		Expect           json.RawMessage
		Ordered          bool
		Annotations      string
	}
}

func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var f caseFile
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		store := newMemory()
		for _, s := range f.Series {
			for _, p := range s.Samples {
				store.Add(labelsOf(s.Metric), memorySample{T: int64(number(t, p[0])), V: number(t, p[1])})
			}
		}
		for _, c := range f.Cases {
			t.Run(c.ID, func(t *testing.T) {
				ms := func(v float64) int64 { return int64(math.Round(v * 1000)) }
				q := promql.Query{Expr: c.Query, Start: ms(c.Start), End: ms(c.End), Step: ms(c.Step)}
				if c.Time != nil {
					q.Start, q.End, q.Step = ms(*c.Time), ms(*c.Time), 0
				}
				r, err := q.Run(context.Background(), store)
				if c.Error != "" {
					if got := errorType(err); got != c.Error {
						t.Fatalf("%s: error %v (%s), want %s", c.Query, err, got, c.Error)
					}
					return
				}
				if err != nil {
					t.Fatalf("%s: %v", c.Query, err)
				}
				var full struct{ Data windowValue }
				var want windowValue
				body := whole(t, r, false)
				if err := json.Unmarshal(body, &full); err != nil {
					t.Fatalf("%s: %v\n%s", c.Query, err, body)
				}
				got := full.Data
				if err := json.Unmarshal(c.Expect, &want); err != nil {
					t.Fatal(err)
				}
				if diff := compareAnswers(t, got, want, c.Ordered); diff != "" {
					t.Fatalf("%s: %s\n got %s\nwant %s", c.Query, diff, body, c.Expect)
				}
				if c.Annotations != "" && len(r.Warnings)+len(r.Infos) == 0 {
					t.Errorf("%s: no annotation", c.Query)
				}
			})
		}
	}
}

// errorType is the metrics API's name of an error.
func errorType(err error) string {
	switch status.Of(err) {
	case status.InvalidSyntax, status.InvalidArguments:
		return "bad_data"
	case status.EngineExecuteQuery:
		return "execution"
	case status.Success:
		return ""
	}
	return "internal"
}

func labelsOf(m map[string]string) promql.Labels {
	var pairs []string
	for k, v := range m {
		pairs = append(pairs, k, v)
	}
	return promql.NewLabels(pairs...)
}

// number reads a number, or a string that holds one.
func number(t *testing.T, raw json.RawMessage) float64 {
	t.Helper()
	s := strings.Trim(string(raw), `"`)
	if s == "stale" {
		return promql.Stale
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatalf("%s is not a number", raw)
	}
	return v
}

// windowValue is the data member of an answer.
type windowValue struct {
	ResultType string
	Result     json.RawMessage
}

type answerSeries struct {
	Metric map[string]string
	Value  []json.RawMessage
	Values [][]json.RawMessage
}

func compareAnswers(t *testing.T, got, want windowValue, ordered bool) string {
	t.Helper()
	if got.ResultType != want.ResultType {
		return "type " + got.ResultType + ", want " + want.ResultType
	}
	if got.ResultType == "scalar" || got.ResultType == "string" {
		var a, b []json.RawMessage
		decode(t, got.Result, &a)
		decode(t, want.Result, &b)
		if got.ResultType == "string" && string(a[1]) != string(b[1]) {
			return "text differs"
		}
		return comparePoint(t, a, b, got.ResultType == "string")
	}
	var a, b []answerSeries
	decode(t, got.Result, &a)
	decode(t, want.Result, &b)
	if len(a) != len(b) {
		return strconv.Itoa(len(a)) + " series, want " + strconv.Itoa(len(b))
	}
	if got.ResultType == "vector" && !ordered {
		byLabels := func(x, y answerSeries) int { return labelsOf(x.Metric).Compare(labelsOf(y.Metric)) }
		slices.SortFunc(a, byLabels)
		slices.SortFunc(b, byLabels)
	}
	for i := range a {
		if !labelsOf(a[i].Metric).Equal(labelsOf(b[i].Metric)) {
			return "series " + labelsOf(a[i].Metric).String() + ", want " + labelsOf(b[i].Metric).String()
		}
		if a[i].Value != nil {
			a[i].Values, b[i].Values = append(a[i].Values, a[i].Value), append(b[i].Values, b[i].Value)
		}
		if len(a[i].Values) != len(b[i].Values) {
			return labelsOf(a[i].Metric).String() + ": " + strconv.Itoa(len(a[i].Values)) + " points, want " +
				strconv.Itoa(len(b[i].Values))
		}
		for k := range a[i].Values {
			if diff := comparePoint(t, a[i].Values[k], b[i].Values[k], false); diff != "" {
				return labelsOf(a[i].Metric).String() + ": " + diff
			}
		}
	}
	return ""
}

func decode(t *testing.T, b []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(b, to); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
}

func comparePoint(t *testing.T, a, b []json.RawMessage, text bool) string {
	t.Helper()
	if math.Abs(number(t, a[0])-number(t, b[0])) > 0.0005 {
		return "time " + string(a[0]) + ", want " + string(b[0])
	}
	if text || close(number(t, a[1]), number(t, b[1])) {
		return ""
	}
	return "at " + string(a[0]) + " value " + string(a[1]) + ", want " + string(b[1])
}

// close reports whether two values are the same by a relative tolerance of 1e-6.
func close(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	return a == b || math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b))
}
