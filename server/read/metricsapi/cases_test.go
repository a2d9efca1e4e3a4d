package metricsapi_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"varve/server/protowire"
	"varve/server/servertest"
)

// metricsCases are queries with exact answers.
type metricsCases struct {
	Series []struct {
		Metric  map[string]string
		Samples [][2]any
	}
	Cases []struct {
		ID, Query        string
		Time             *float64
		Start, End, Step *float64
		Expect           *metricsData
		Error            string
		Ordered          bool
		Annotations      any
	}
}

type metricsData struct {
	Type   string `json:"resultType"`
	Result json.RawMessage
}

// TestMetricsCases writes series by remote write and asks for them over HTTP, by GET and POST in turn.
func TestMetricsCases(t *testing.T) {
	files, err := filepath.Glob("../../../sqlexec/promql/testdata/cases/*.json")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var cases metricsCases
			if err := json.Unmarshal(text, &cases); err != nil {
				t.Fatal(err)
			}
			h := servertest.Real(t, nil)
			load(h, &cases)
			for i := range cases.Cases {
				metricsCase(h, &cases, i)
			}
		})
	}
}

// load writes the series.
func load(h *servertest.House, cases *metricsCases) {
	h.Helper()
	var all []byte
	for _, s := range cases.Series {
		all = protowire.AppendMessage(all, 1, func(m []byte) []byte {
			names := make([]string, 0, len(s.Metric))
			for name := range s.Metric {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				m = protowire.AppendMessage(m, 1, func(l []byte) []byte {
					return protowire.AppendBytes(protowire.AppendBytes(l, 1, name), 2, s.Metric[name])
				})
			}
			for _, sample := range s.Samples {
				v := math.Float64frombits(0x7ff0000000000002)
				if text := sample[1].(string); text != "stale" {
					var err error
					if v, err = strconv.ParseFloat(text, 64); err != nil {
						h.Fatal(err)
					}
				}
				m = protowire.AppendMessage(m, 2, func(b []byte) []byte {
					return protowire.AppendVarint(protowire.AppendDouble(b, 1, v), 2,
						uint64(int64(sample[0].(float64))))
				})
			}
			return m
		})
	}
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(all)), 204, "")
}

func metricsCase(h *servertest.House, cases *metricsCases, i int) {
	h.Helper()
	c := &cases.Cases[i]
	args, path := url.Values{"query": {c.Query}}, "/v1/metricsapi/api/v1/query"
	if c.Time != nil {
		args.Set("time", fmt.Sprint(*c.Time))
	} else {
		path += "_range"
		args.Set("start", strconv.FormatFloat(*c.Start, 'f', -1, 64))
		args.Set("end", strconv.FormatFloat(*c.End, 'f', -1, 64))
		args.Set("step", strconv.FormatFloat(*c.Step, 'f', -1, 64))
	}
	var a servertest.Answer
	if i%2 == 0 {
		a = h.Do("GET", path+"?"+args.Encode(), "")
	} else {
		a = h.Do("POST", path, args.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	}
	var got struct {
		Status, ErrorType string
		Data              *metricsData
		Warnings, Infos   []string
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
		h.Fatalf("%s: %d %s", c.ID, a.Status, a.Body)
	}
	if c.Error != "" {
		if got.ErrorType != c.Error || a.Status != map[string]int{"bad_data": 400, "execution": 422}[c.Error] {
			h.Errorf("%s: %s: %d %s, want %s", c.ID, c.Query, a.Status, a.Body, c.Error)
		}
		return
	}
	if a.Status != 200 || got.Data == nil || got.Data.Type != c.Expect.Type {
		h.Errorf("%s: %s: %d %.300s", c.ID, c.Query, a.Status, a.Body)
		return
	}
	var is, want any
	for raw, into := range map[*json.RawMessage]*any{&got.Data.Result: &is, &c.Expect.Result: &want} {
		if err := json.Unmarshal(*raw, into); err != nil {
			h.Fatal(err)
		}
	}
	if c.Expect.Type == "vector" && !c.Ordered {
		byMetric(is)
		byMetric(want)
	}
	if !alike(is, want) {
		h.Errorf("%s: %s\n got %.600s\nwant %.600s", c.ID, c.Query, got.Data.Result, c.Expect.Result)
	}
	if c.Annotations != nil && len(got.Warnings)+len(got.Infos) == 0 {
		h.Errorf("%s: %s: no annotation", c.ID, c.Query)
	}
}

// byMetric sorts the series of a vector by their labels.
func byMetric(result any) {
	list, _ := result.([]any)
	slices.SortFunc(list, func(a, b any) int {
		return slices.Compare([]byte(fmt.Sprint(a.(map[string]any)["metric"])),
			[]byte(fmt.Sprint(b.(map[string]any)["metric"])))
	})
}

// alike compares answers: texts of numbers by value.
func alike(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !alike(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if _, has := b[k]; !has || !alike(a[k], b[k]) {
				return false
			}
		}
		return true
	case float64:
		b, ok := b.(float64)
		return ok && math.Abs(a-b) <= 0.0005
	case string:
		b, ok := b.(string)
		x, errX := strconv.ParseFloat(a, 64)
		y, errY := strconv.ParseFloat(b, 64)
		if !ok || a == b || errX != nil || errY != nil {
			return ok && a == b
		}
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-6*max(math.Abs(x), math.Abs(y))
	}
	return a == b
}
