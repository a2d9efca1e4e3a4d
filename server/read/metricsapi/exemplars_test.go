package metricsapi_test

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine"
	"varve/server"
	"varve/server/protowire"
	"varve/server/servertest"
	"varve/server/write/rows/samples"
)

// TestExemplars: what either version brings of them is answered, the last ones are kept, and none fails a request.
func TestExemplars(t *testing.T) {
	h := servertest.RealOn(t, engine.Options{}, func(o *server.Options) {
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
		a := h.Do("GET", "/v1/metricsapi/api/v1/query_exemplars?"+query, "")
		h.Want(a, 200, `"status":"success"`)
		return strings.TrimSuffix(strings.TrimPrefix(a.Body, `{"status":"success","data":`), "}")
	}
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Series1(up, sample,
		servertest.Exemplar1(0.5, 1500, "trace_id", "x", "user", "ü")))), 204, "")
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

	v2 := func(series ...func(m []byte) []byte) servertest.Answer {
		return h.Do("POST", servertest.WritePath,
			servertest.Request2([]string{"", "__name__", "lat_bucket", "job", "b", "trace_id", "y"}, series...),
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
	a := v2(func(m []byte) []byte {
		return servertest.Sample2(exemplar2(servertest.Refs(m, 1, 2, 3, 4), 5, 6), 1, 1000, 0)
	},
		func(m []byte) []byte {
			return servertest.Sample2(exemplar2(servertest.Refs(m, 1, 2, 3, 4), 5, 99), 1, 1000, 0)
		}, // names no symbol
		// a name without a value
		func(m []byte) []byte {
			return servertest.Sample2(exemplar2(servertest.Refs(m, 1, 2, 3, 4), 5), 1, 1000, 0)
		})
	h.Want(a, 204, "")
	for _, header := range []string{"Samples=3", "Exemplars=1"} {
		name, want, _ := strings.Cut(header, "=")
		if got := a.Header.Get("X-Prometheus-Remote-Write-" + name + "-Written"); got != want {
			t.Errorf("%s written: %s, want %s", name, got, want)
		}
	}
	if got := ask("query=lat_bucket{job='b'}"); !strings.Contains(got,
		`{"labels":{"trace_id":"y"},"value":"7","timestamp":2}`) {
		t.Errorf("exemplars of 2.0: %s", got)
	}
	h.Want(v2(func(m []byte) []byte { return servertest.Sample2(exemplar2(servertest.Refs(m, 1, 2)), 1, 1000, 0) }),
		204, "")
	if got := ask("query=lat_bucket"); !strings.Contains(got, `{"labels":{},"value":"7","timestamp":2}`) {
		t.Errorf("an exemplar without labels: %s", got)
	}
	a = v2(func(m []byte) []byte { return exemplar2(servertest.Refs(m, 1, 2, 3, 4), 5, 6) })
	h.Want(a, 400, "neither samples nor histograms")
	if got := a.Header.Get("X-Prometheus-Remote-Write-Exemplars-Written"); got != "0" {
		t.Errorf("%s exemplars of a refused series written", got)
	}
	h.Want(v2(func(m []byte) []byte { return servertest.Refs(m, 1, 2, 3, 4) }), 400, "neither")

	long := strings.Repeat("ü", 129)
	var many []func(m []byte) []byte
	for i := range 9 {
		many = append(many, servertest.Exemplar1(float64(i), uint64(3000+i), "trace_id", fmt.Sprint(i)))
	}
	many = append(many, sample, servertest.Exemplar1(1, 4000, "", "x"), servertest.Exemplar1(1, 4000, "l", long),
		servertest.Exemplar1(1, 1<<63, "l", "x"), servertest.Exemplar1(1, 4000, "l", "\xff"),
		func(m []byte) []byte { return protowire.AppendBytes(m, 3, "\xff\xff") })
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Series1(up, many...))), 204, "")
	if got := ask("query=lat_bucket"); strings.Count(got, "trace_id") != 4 {
		t.Errorf("of many in one request four are kept: %s", got)
	}
}
