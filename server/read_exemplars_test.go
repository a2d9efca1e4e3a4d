package server

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine"
	"varve/server/protowire"
	"varve/server/write/rows/samples"
)

// exemplar1 is an exemplar of version 1.0: labels and values in turn.
func exemplar1(value float64, at uint64, labels ...string) func(m []byte) []byte {
	return func(m []byte) []byte {
		return protowire.AppendMessage(m, 3, func(x []byte) []byte {
			for i := 0; i+1 < len(labels); i += 2 {
				x = protowire.AppendMessage(x, 1, func(l []byte) []byte {
					return protowire.AppendBytes(protowire.AppendBytes(l, 1, labels[i]), 2, labels[i+1])
				})
			}
			return protowire.AppendVarint(protowire.AppendDouble(x, 2, value), 3, at)
		})
	}
}

// series1 is a series of version 1.0 with something behind its labels.
func series1(labels []string, behind ...func(m []byte) []byte) []byte {
	return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		for i := 0; i+1 < len(labels); i += 2 {
			m = protowire.AppendMessage(m, 1, func(l []byte) []byte {
				return protowire.AppendBytes(protowire.AppendBytes(l, 1, labels[i]), 2, labels[i+1])
			})
		}
		for _, f := range behind {
			m = f(m)
		}
		return m
	})
}

// TestExemplars: what either version brings of them is answered, the last ones are kept, and none fails a request.
func TestExemplars(t *testing.T) {
	h := realOn(t, engine.Options{}, func(o *Options) {
		o.Metrics.Samples = samples.New(samples.Options{Store: o.Metrics.Store, Prefix: "service", CacheBytes: 1 << 20,
			MaxExemplars: 4})
	})
	sample := func(m []byte) []byte {
		return protowire.AppendMessage(m, 2, func(s []byte) []byte {
			return protowire.AppendVarint(protowire.AppendDouble(s, 1, 1), 2, 1000)
		})
	}
	up := []string{"__name__", "lat_bucket", "le", "1", "job", "a"}
	ask := func(query string) string {
		t.Helper()
		a := h.do("GET", "/v1/metricsapi/api/v1/query_exemplars?"+query, "")
		h.want(a, 200, `"status":"success"`)
		return strings.TrimSuffix(strings.TrimPrefix(a.body, `{"status":"success","data":`), "}")
	}
	h.want(h.do("POST", writePath, snap(series1(up, sample, exemplar1(0.5, 1500, "trace_id", "x", "user", "ü")))), 204,
		"")
	const first = `[{"seriesLabels":{"__name__":"lat_bucket","job":"a","le":"1"},"exemplars":[{"labels":{"trace_id":"x","user":"ü"},"value":"0.5","timestamp":1.500}]}]`
	for query, want := range map[string]string{
		"query=histogram_quantile(0.9,rate(lat_bucket[5m]))": first, "query=up%2Blat_bucket": first,
		"query=lat_bucket&start=1.5&end=1.5": first,
		"query=lat_bucket&end=1.4":           "[]", "query=lat_bucket{job='b'}": "[]", "query={job=~'a|b'}": first,
		"query=lat_bucket&db=other": "[]",
	} {
		if got := ask(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}

	v2 := func(series ...func(m []byte) []byte) answer {
		return h.do("POST", writePath,
			request2([]string{"", "__name__", "lat_bucket", "job", "b", "trace_id", "y"}, series...),
			"Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request", "Content-Encoding", "snappy")
	}
	exemplar2 := func(m []byte, refs ...uint64) []byte {
		return protowire.AppendMessage(m, 4, func(x []byte) []byte {
			x = protowire.AppendMessage(x, 1, func(p []byte) []byte {
				for _, r := range refs {
					p = append(p, byte(r))
				}
				return p
			})
			return protowire.AppendVarint(protowire.AppendDouble(x, 2, 7), 3, 2000)
		})
	}
	a := v2(func(m []byte) []byte { return sample2(exemplar2(refs(m, 1, 2, 3, 4), 5, 6), 1, 1000, 0) },
		func(m []byte) []byte { return sample2(exemplar2(refs(m, 1, 2, 3, 4), 5, 99), 1, 1000, 0) }, // names no symbol
		// a name without a value
		func(m []byte) []byte { return sample2(exemplar2(refs(m, 1, 2, 3, 4), 5), 1, 1000, 0) })
	h.want(a, 204, "")
	for _, header := range []string{"Samples=3", "Exemplars=1"} {
		name, want, _ := strings.Cut(header, "=")
		if got := a.header.Get("X-Prometheus-Remote-Write-" + name + "-Written"); got != want {
			t.Errorf("%s written: %s, want %s", name, got, want)
		}
	}
	if got := ask("query=lat_bucket{job='b'}"); !strings.Contains(got,
		`{"labels":{"trace_id":"y"},"value":"7","timestamp":2}`) {
		t.Errorf("exemplars of 2.0: %s", got)
	}
	h.want(v2(func(m []byte) []byte { return sample2(exemplar2(refs(m, 1, 2)), 1, 1000, 0) }), 204, "")
	if got := ask("query=lat_bucket"); !strings.Contains(got, `{"labels":{},"value":"7","timestamp":2}`) {
		t.Errorf("an exemplar without labels: %s", got)
	}
	a = v2(func(m []byte) []byte { return exemplar2(refs(m, 1, 2, 3, 4), 5, 6) })
	h.want(a, 400, "neither samples nor histograms")
	if got := a.header.Get("X-Prometheus-Remote-Write-Exemplars-Written"); got != "0" {
		t.Errorf("%s exemplars of a refused series written", got)
	}
	h.want(v2(func(m []byte) []byte { return refs(m, 1, 2, 3, 4) }), 400, "neither")

	long := strings.Repeat("ü", 129)
	var many []func(m []byte) []byte
	for i := range 9 {
		many = append(many, exemplar1(float64(i), uint64(3000+i), "trace_id", fmt.Sprint(i)))
	}
	many = append(many, sample, exemplar1(1, 4000, "", "x"), exemplar1(1, 4000, "l", long),
		exemplar1(1, 1<<63, "l", "x"), exemplar1(1, 4000, "l", "\xff"),
		func(m []byte) []byte { return protowire.AppendBytes(m, 3, "\xff\xff") })
	h.want(h.do("POST", writePath, snap(series1(up, many...))), 204, "")
	if got := ask("query=lat_bucket"); strings.Count(got, "trace_id") != 4 {
		t.Errorf("of many in one request four are kept: %s", got)
	}
}
