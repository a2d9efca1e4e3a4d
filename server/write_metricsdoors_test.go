package server

import (
	"math"
	"net/url"
	"strings"
	"testing"

	"varve/server/protowire"
)

// TestMetricsAtTheRoot: the paths of the metrics API without their beginning take and answer the same.
func TestMetricsAtTheRoot(t *testing.T) {
	h := real(t, nil)
	h.want(h.do("POST", "/api/v1/write", snap(message1(up, 1, 2))), 204, "")
	for path, want := range map[string]string{
		"/api/v1/query?query=up&time=2":                     `[2,"2"]`,
		"/api/v1/query_range?query=up&start=1&end=2&step=1": `[[1,"1"],[2,"2"]]`, "/api/v1/labels": `"job"`,
		"/api/v1/label/job/values": `["x"]`, "/api/v1/series?match[]=up": `"job":"x"`, "/api/v1/metadata": `"success"`,
		"/api/v1/status/buildinfo": `"version"`, "/-/healthy": "healthy",
	} {
		h.want(h.do("GET", path, ""), 200, want)
	}
	got := h.chunkedSeries(h.do("POST", "/api/v1/read",
		snap(readQuery(0, 5000, 0, "__name__", "up"), protowire.AppendVarint(nil, 2, 1))))
	if len(got) != 1 {
		t.Errorf("remote read: %v", got)
	}
	guarded := real(t, func(o *Options) {
		o.Users = users(t, "static_user_provider:cmd:admin=a,reader:ro=r,writer:wo=w")
	})
	for _, base := range []string{"/v1/metricsapi", ""} {
		for _, path := range []string{"/api/v1/query?query=1", "/api/v1/labels", "/api/v1/status/buildinfo"} {
			guarded.want(guarded.do("GET", base+path, "", "Authorization", basic("writer", "w")), 403,
				`{"status":"error","errorType":"PermissionDenied","error":"User is not authorized`)
			guarded.want(guarded.do("GET", base+path, "", "Authorization", basic("reader", "r")), 200, `"success"`)
			guarded.want(guarded.do("GET", base+path, ""), 401, `"code":7003`)
		}
	}
	guarded.want(guarded.do("POST", "/api/v1/write", snap(message1(up, 1)), "Authorization", basic("reader", "r")), 403,
		`"code":7006`)
	guarded.want(guarded.do("POST", "/api/v1/write", snap(message1(up, 1)), "Authorization", basic("writer", "w")), 204,
		"")
}

// TestTimesThatCannotBeNamed: a time past what queries can name is an error that says so. Lists take a start before all
// time and an end behind it for all there is.
func TestTimesThatCannotBeNamed(t *testing.T) {
	h := real(t, nil)
	h.want(h.do("POST", writePath, snap(message1(up, 1))), 204, "")
	for _, query := range []string{
		"query?query=up&time=9999999999999", "query?query=up&time=2262-05-01T00:00:00Z",
		"query?query=up&time=0001-01-01T00:00:00Z", "query_range?query=up&start=0&end=9999999999999&step=9999999999",
		"query_range?query=up&start=-99999999999&end=0&step=99999999", "labels?end=-99999999999",
		"series?match[]=up&start=9999-12-31T00:00:00Z", "query_exemplars?query=up&end=0001-01-01T00:00:00Z",
	} {
		h.want(h.do("GET", "/v1/metricsapi/api/v1/"+query, ""), 400, "is not between the years 1677 and 2262")
	}
	for _, query := range []string{"labels?start=-62135596800", "series?match[]=up&start=0001-01-01T00:00:00Z",
		"labels?start=-292273086-05-16T16:47:06Z&end=292277025-08-18T07:12:54.999999999Z",
		"labels?end=99999999999", "series?match[]=up&end=9999-12-31T00:00:00Z"} {
		h.want(h.do("GET", "/v1/metricsapi/api/v1/"+query, ""), 200, "job")
	}
	a := h.do("GET", "/v1/sql?sql="+url.QueryEscape("TQL EVAL (0, 9999999999999, '1h') up"), "")
	h.want(a, 400, "is not between the years 1677 and 2262")
}

// TestRemoteWriteCountsAllSamples: samples between and behind labels count as those behind all labels do.
func TestRemoteWriteCountsAllSamples(t *testing.T) {
	h := real(t, nil)
	label := func(m []byte, name, value string) []byte {
		return protowire.AppendMessage(m, 1, func(l []byte) []byte {
			return protowire.AppendBytes(protowire.AppendBytes(l, 1, name), 2, value)
		})
	}
	body := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		m = sample2(label(m, "__name__", "a"), 1, 1000, 0)
		m = label(m, "l", "v")
		for range 2_000_000 {
			m = append(m, 2<<3|2, 0)
		}
		return m
	})
	h.want(h.do("POST", writePath, snap(body)), 400, "more than 2000000 samples")
	h.want(h.do("POST", writePath, snap(protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		return sample2(label(sample2(label(m, "__name__", "a"), 1, 1000, 0), "l", "v"), 2, 2000, 0)
	}))), 204, "")
	h.holds("SELECT l, service_value FROM a ORDER BY service_timestamp", "[[v 1] [v 2]]")
}

// TestPipelinesOfSamplesRefuse: what cannot be an entry is refused with its series, and told; the rest runs through.
func TestPipelinesOfSamplesRefuse(t *testing.T) {
	const yaml = "version: 2\ntransform:\n  - fields: [job, b]\n    type: string\n    index: tag\n  - fields: [service_value]\n    type: float64\n  - fields: [service_timestamp]\n    type: epoch, ms\n    index: timestamp\n"
	histogram := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
		return append(append(m, message1(up)[2:]...), histogramMessage(4, histogramOfOne(1000)...)...)
	})
	for _, c := range []struct {
		name, part string
		series     []byte
	}{
		{"histogram", "no histograms", histogram},
		{"NaN", "NaN", message1(up, math.NaN())},
		{"stale", "staleness markers", message1(up, math.Float64frombits(0x7ff0000000000002))},
		{"infinity", "+Inf", message1(up, math.Inf(1))},
		{"negative infinity", "-Inf", message1(up, math.Inf(-1))},
		{"doubled label", "twice", message1(append([]string{"job", "y"}, up...), 1)},
		{"label that is not UTF-8", "UTF-8", message1(append([]string{"a", "\xff"}, up...), 1)},
		{"label without a name", "no name", message1(append([]string{"", "x"}, up...), 1)},
		{"label called like the value", "service_value", message1(append([]string{"service_value", "7"}, up...), 1)},
		{"time", "timestamp", protowire.AppendMessage(nil, 1,
			func(m []byte) []byte { return sample2(append(m, message1(up)[2:]...), 1, math.MaxInt64, 0) })},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := real(t, nil)
			h.want(h.do("POST", "/v1/pipelines/plain", yaml, "Content-Type", "application/x-yaml"), 200, "plain")
			body := snap(c.series, message1([]string{"__name__", "up", "job", "z", "b", ""}, 3))
			h.want(h.do("POST", writePath, body, "x-service-pipeline-name", "plain"), 400, c.part)
			h.holds("SELECT job, b, service_value FROM up", "[[z <nil> 3]]")
		})
	}
}

// TestWhatIsSaidOfMetricsGoesWithTheDatabase: exemplars and metadata of a dropped database are not those of another
// that gets its name, and of a database that is not there none are kept.
func TestWhatIsSaidOfMetricsGoesWithTheDatabase(t *testing.T) {
	h := real(t, nil)
	described := protowire.AppendMessage(nil, 3, func(m []byte) []byte {
		return protowire.AppendBytes(protowire.AppendBytes(protowire.AppendVarint(m, 1, 1), 2, "up"), 4, "help of up")
	})
	sample := func(m []byte) []byte { return sample2(m, 1, 1000, 0) }
	send := func(db string) answer {
		return h.do("POST", writePath+"?db="+db,
			snap(series1(up, sample, exemplar1(0.5, 1500, "trace_id", "abc")), described))
	}
	told := func(db, exemplar, help bool) {
		t.Helper()
		for path, want := range map[string]bool{"metadata?db=d": help, "query_exemplars?query=up&db=d": exemplar} {
			if a := h.do("GET", "/v1/metricsapi/api/v1/"+path, ""); db && a.status != 200 ||
				strings.Contains(a.body, "up") != want {
				t.Errorf("%s: %d %s, want some: %v", path, a.status, a.body, want)
			}
		}
	}
	h.want(send("d"), 400, "Database not found")
	told(false, false, false)
	h.execute("CREATE DATABASE d")
	told(true, false, false)
	h.want(send("d"), 204, "")
	told(true, true, true)
	h.execute("ALTER DATABASE d SET 'ttl'='1000y'")
	told(true, true, true)
	h.execute("DROP DATABASE d")
	told(false, false, false)
	h.execute("CREATE DATABASE d")
	told(true, false, false)
	h.want(send("d"), 204, "")
	told(true, true, true)

	// So it is with a table: what its successor has is its own.
	h.want(send("d"), 204, "") // the metadata is said of a table that is there
	for range 2 {
		h.execute("DROP TABLE d.up")
		told(true, false, false)
		h.want(h.do("POST", writePath+"?db=d", snap(series1(up, sample))), 204, "")
		told(true, false, false)
		h.want(send("d"), 204, "")
		told(true, true, true)
	}
}
