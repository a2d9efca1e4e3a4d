package write_test

import (
	"math"
	"net/url"
	"strings"
	"testing"

	"varve/server"
	"varve/server/protowire"
	"varve/server/servertest"
)

// TestMetricsAtTheRoot: the paths of the metrics API without their beginning take and answer the same.
func TestMetricsAtTheRoot(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", "/api/v1/write", servertest.Snappy(servertest.Message1(servertest.Up, 1, 2))), 204, "")
	for path, want := range map[string]string{
		"/api/v1/query?query=up&time=2":                     `[2,"2"]`,
		"/api/v1/query_range?query=up&start=1&end=2&step=1": `[[1,"1"],[2,"2"]]`, "/api/v1/labels": `"job"`,
		"/api/v1/label/job/values": `["x"]`, "/api/v1/series?match[]=up": `"job":"x"`, "/api/v1/metadata": `"success"`,
		"/api/v1/status/buildinfo": `"version"`, "/-/healthy": "healthy",
	} {
		h.Want(h.Do("GET", path, ""), 200, want)
	}
	got := h.ChunkedSeries(h.Do("POST", "/api/v1/read",
		servertest.Snappy(servertest.ReadQuery(0, 5000, 0, "__name__", "up"), protowire.AppendVarint(nil, 2, 1))))
	if len(got) != 1 {
		t.Errorf("remote read: %v", got)
	}
	guarded := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:admin=a,reader:ro=r,writer:wo=w")
	})
	for _, base := range []string{"/v1/metricsapi", ""} {
		for _, path := range []string{"/api/v1/query?query=1", "/api/v1/labels", "/api/v1/status/buildinfo"} {
			guarded.Want(guarded.Do("GET", base+path, "", "Authorization", servertest.Basic("writer", "w")), 403,
				`{"status":"error","errorType":"PermissionDenied","error":"User is not authorized`)
			guarded.Want(guarded.Do("GET", base+path, "", "Authorization", servertest.Basic("reader", "r")), 200,
				`"success"`)
			guarded.Want(guarded.Do("GET", base+path, ""), 401, `"code":7003`)
		}
	}
	guarded.Want(guarded.Do("POST", "/api/v1/write", servertest.Snappy(servertest.Message1(servertest.Up, 1)),
		"Authorization", servertest.Basic("reader", "r")), 403, `"code":7006`)
	guarded.Want(guarded.Do("POST", "/api/v1/write", servertest.Snappy(servertest.Message1(servertest.Up, 1)),
		"Authorization", servertest.Basic("writer", "w")), 204, "")
}

// TestTimesThatCannotBeNamed: a time past what queries can name is an error that says so. Lists take a start before all
// time and an end behind it for all there is.
func TestTimesThatCannotBeNamed(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1))), 204, "")
	for _, query := range []string{
		"query?query=up&time=9999999999999", "query?query=up&time=2262-05-01T00:00:00Z",
		"query?query=up&time=0001-01-01T00:00:00Z", "query_range?query=up&start=0&end=9999999999999&step=9999999999",
		"query_range?query=up&start=-99999999999&end=0&step=99999999", "labels?end=-99999999999",
		"series?match[]=up&start=9999-12-31T00:00:00Z", "query_exemplars?query=up&end=0001-01-01T00:00:00Z",
	} {
		h.Want(h.Do("GET", "/v1/metricsapi/api/v1/"+query, ""), 400, "is not between the years 1677 and 2262")
	}
	for _, query := range []string{"labels?start=-62135596800", "series?match[]=up&start=0001-01-01T00:00:00Z",
		"labels?start=-292273086-05-16T16:47:06Z&end=292277025-08-18T07:12:54.999999999Z",
		"labels?end=99999999999", "series?match[]=up&end=9999-12-31T00:00:00Z"} {
		h.Want(h.Do("GET", "/v1/metricsapi/api/v1/"+query, ""), 200, "job")
	}
	a := h.Do("GET", "/v1/sql?sql="+url.QueryEscape("TQL EVAL (0, 9999999999999, '1h') up"), "")
	h.Want(a, 400, "is not between the years 1677 and 2262")
}

// TestRemoteWriteCountsAllSamples: samples between and behind labels count as those behind all labels do.
func TestRemoteWriteCountsAllSamples(t *testing.T) {
	h := servertest.Real(t, nil)
	label := func(m []byte, name, value string) []byte {
		return protowire.AppendMessage(m, 1, func(l []byte) []byte {
			return protowire.AppendBytes(protowire.AppendBytes(l, 1, name), 2, value)
		})
	}
	body := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = servertest.Sample2(label(m, "__name__", "a"), 1, 1000, 0)
		m = label(m, "l", "v")
		for range 2_000_000 {
			m = append(m, 2<<3|2, 0)
		}
		return m
	})
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(body)), 400, "more than 2000000 samples")
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		return servertest.Sample2(label(servertest.Sample2(label(m, "__name__", "a"), 1, 1000, 0), "l", "v"), 2, 2000,
			0)
	}))), 204, "")
	h.Holds("SELECT l, service_value FROM a ORDER BY service_timestamp", "[[v 1] [v 2]]")
}

// TestPipelinesOfSamplesRefuse: what cannot be an entry is refused with its series, and told; the rest runs through.
func TestPipelinesOfSamplesRefuse(t *testing.T) {
	const yaml = "version: 2\ntransform:\n  - fields: [job, b]\n    type: string\n    index: tag\n  - fields: [service_value]\n    type: float64\n  - fields: [service_timestamp]\n    type: epoch, ms\n    index: timestamp\n"
	histogram := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		return append(append(m, servertest.Message1(servertest.Up)[2:]...),
			servertest.HistogramMessage(4, histogramOfOne(1000)...)...)
	})
	for _, c := range []struct {
		name, part string
		series     []byte
	}{
		{"histogram", "no histograms", histogram},
		{"NaN", "NaN", servertest.Message1(servertest.Up, math.NaN())},
		{"stale", "staleness markers", servertest.Message1(servertest.Up, math.Float64frombits(0x7ff0000000000002))},
		{"infinity", "+Inf", servertest.Message1(servertest.Up, math.Inf(1))},
		{"negative infinity", "-Inf", servertest.Message1(servertest.Up, math.Inf(-1))},
		{"doubled label", "twice", servertest.Message1(append([]string{"job", "y"}, servertest.Up...), 1)},
		{"label that is not UTF-8", "UTF-8", servertest.Message1(append([]string{"a", "\xff"}, servertest.Up...), 1)},
		{"label without a name", "no name", servertest.Message1(append([]string{"", "x"}, servertest.Up...), 1)},
		{"label called like the value", "service_value",
			servertest.Message1(append([]string{"service_value", "7"}, servertest.Up...), 1)},
		{"time", "timestamp", protowire.AppendMessage(nil, 1,
			func(m []byte) []byte {
				return servertest.Sample2(append(m, servertest.Message1(servertest.Up)[2:]...), 1, math.MaxInt64, 0)
			})},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := servertest.Real(t, nil)
			h.Want(h.Do("POST", "/v1/pipelines/plain", yaml, "Content-Type", "application/x-yaml"), 200, "plain")
			body := servertest.Snappy(c.series, servertest.Message1([]string{"__name__", "up", "job", "z", "b", ""}, 3))
			h.Want(h.Do("POST", servertest.WritePath, body, "x-service-pipeline-name", "plain"), 400, c.part)
			h.Holds("SELECT job, b, service_value FROM up", "[[z <nil> 3]]")
		})
	}
}

// TestWhatIsSaidOfMetricsGoesWithTheDatabase: exemplars and metadata of a dropped database are not those of another
// that gets its name, and of a database that is not there none are kept.
func TestWhatIsSaidOfMetricsGoesWithTheDatabase(t *testing.T) {
	h := servertest.Real(t, nil)
	described := protowire.AppendMessage(nil, 3, func(m []byte) []byte {
		return protowire.AppendBytes(protowire.AppendBytes(protowire.AppendVarint(m, 1, 1), 2, "up"), 4, "help of up")
	})
	sample := func(m []byte) []byte { return servertest.Sample2(m, 1, 1000, 0) }
	send := func(db string) servertest.Answer {
		return h.Do("POST", servertest.WritePath+"?db="+db,
			servertest.Snappy(servertest.Series1(servertest.Up, sample,
				servertest.Exemplar1(0.5, 1500, "trace_id", "abc")), described))
	}
	told := func(db, exemplar, help bool) {
		t.Helper()
		for path, want := range map[string]bool{"metadata?db=d": help, "query_exemplars?query=up&db=d": exemplar} {
			if a := h.Do("GET", "/v1/metricsapi/api/v1/"+path, ""); db && a.Status != 200 ||
				strings.Contains(a.Body, "up") != want {
				t.Errorf("%s: %d %s, want some: %v", path, a.Status, a.Body, want)
			}
		}
	}
	h.Want(send("d"), 400, "Database not found")
	told(false, false, false)
	h.Execute("CREATE DATABASE d")
	told(true, false, false)
	h.Want(send("d"), 204, "")
	told(true, true, true)
	h.Execute("ALTER DATABASE d SET 'ttl'='1000y'")
	told(true, true, true)
	h.Execute("DROP DATABASE d")
	told(false, false, false)
	h.Execute("CREATE DATABASE d")
	told(true, false, false)
	h.Want(send("d"), 204, "")
	told(true, true, true)

	// So it is with a table: what its successor has is its own.
	h.Want(send("d"), 204, "") // the metadata is said of a table that is there
	for range 2 {
		h.Execute("DROP TABLE d.up")
		told(true, false, false)
		h.Want(h.Do("POST", servertest.WritePath+"?db=d", servertest.Snappy(servertest.Series1(servertest.Up, sample))),
			204, "")
		told(true, false, false)
		h.Want(send("d"), 204, "")
		told(true, true, true)
	}
}
