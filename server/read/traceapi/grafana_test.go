package traceapi_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"testing"

	"varve/server/servertest"
)

// TestTraceAPIAsGrafanaAsks: the requests of Grafana's data source for Jaeger. The health check is the list of
// services; a search has its tags as JSON and times in microseconds; newer versions ask for a trace within the times
// of the dashboard, in milliseconds, and for the graph of services.
func TestTraceAPIAsGrafanaAsks(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, path := range []string{"/v1/jaeger/api/services", "/api/services"} { // healthy without a single span
		h.Want(h.Do("GET", path, ""), 200, `{"data":null,"total":0,"limit":0,"offset":0,"errors":[]}`)
	}
	h.Want(h.OTLP("traces", shopped), 200, "{}")
	h.Want(traced(h, "services"), 200,
		`{"data":["db","it's a \"shop\"/100%25"],"total":2,"limit":0,"offset":0,"errors":[]}`)
	// a name is one segment of the path, whatever is in it
	h.Want(h.Do("GET", "/v1/jaeger/api/services/"+url.PathEscape(shop)+"/operations", ""), 200,
		`{"data":["GET /o'clock","query"],"total":2,"limit":0,"offset":0,"errors":[]}`)
	for _, c := range []struct {
		want string
		with []string
	}{
		{"af76:3", []string{"limit", "20", "start", "1699999990000000", "end", "1700000030000000"}},
		{"abcd:1 af76:3", []string{"limit", "20"}},
		{"abcd:1", []string{"limit", "1"}},
		{"abcd:1", []string{"operation", "vacuum", "minDuration", "1s", "maxDuration", "2m"}},
		{"abcd:1", []string{"tags", `{"http.response.status_code":"200"}`}},
		{"af76:3", []string{"service", shop, "tags", `{"error":"true","http.response.status_code":"500"}`}},
		{"", []string{"service", shop, "tags", `{"error":"false","http.response.status_code":"500"}`}},
		{"", []string{"start", "1800000000000000", "end", "1800000060000000"}},
	} {
		if !slices.Contains(c.with, "service") {
			c.with = append(c.with, "service", "db")
		}
		if !slices.Contains(c.with, "start") {
			c.with = append(c.with, "start", "1699996400000000", "end", "1700000120000000")
		}
		a := traced(h, "traces", c.with...)
		if got := found(h, a); got != c.want {
			t.Errorf("%q: got %q, want %q", c.with, got, c.want)
		}
		if root := h.Do("GET", "/api/traces?"+pairs(c.with), ""); root.Body != a.Body { // versions that drop the path
			t.Errorf("%q: at the root %d %s", c.with, root.Status, root.Body)
		}
	}
	h.Want(traced(h, "dependencies", "endTs", "1700000120000", "lookback", "3600000"), 200,
		`{"data":[{"parent":"it's a \"shop\"/100%25","child":"db","callCount":1}],"total":1,`)
	h.Want(traced(h, "traces/ffff"), 404, `"errors":[{"code":404,`)
	for _, with := range [][]string{nil, {"start", "1699999990000", "end", "1700000030000"}} {
		wantTrace(t, traced(h, "traces/0af7651916cd43dd8448eb211c80319c", with...))
	}
}

// pairs are parameters, names and values in turn.
func pairs(with []string) string {
	v := url.Values{}
	for i := 0; i+1 < len(with); i += 2 {
		v.Add(with[i], with[i+1])
	}
	return v.Encode()
}

// wantTrace holds the spans of a trace, as Grafana reads them, against what was sent.
func wantTrace(t *testing.T, a servertest.Answer) {
	t.Helper()
	type pair struct {
		Key, Type string
		Value     any
	}
	var out struct {
		Data []struct {
			TraceID string
			Spans   []struct {
				TraceID, SpanID, ProcessID, OperationName string
				StartTime, Duration                       int64
				References                                []struct{ RefType, SpanID, TraceID string }
				Tags                                      []pair
				Logs                                      []struct {
					Timestamp int64
					Fields    []pair
				}
				Warnings []string
			}
			Processes map[string]struct {
				ServiceName string
				Tags        []pair
			}
		}
	}
	if err := json.Unmarshal([]byte(a.Body), &out); err != nil || a.Status != 200 || len(out.Data) != 1 ||
		len(out.Data[0].Spans) != 3 {
		t.Fatalf("%v: %d %s", err, a.Status, a.Body)
	}
	const id = "0af7651916cd43dd8448eb211c80319c"
	services, parents := map[string]string{}, map[string]string{}
	for _, s := range out.Data[0].Spans {
		p, ok := out.Data[0].Processes[s.ProcessID]
		if s.TraceID != id || !ok || s.Warnings != nil {
			t.Errorf("span %+v of %+v", s, p)
		}
		services[s.SpanID] = p.ServiceName
		for _, r := range s.References {
			if r.RefType == "CHILD_OF" {
				parents[s.SpanID] = r.SpanID
			}
		}
		if s.SpanID == "b7ad6b7169203331" && (s.OperationName != "GET /o'clock" || s.StartTime != 1700000000000001 ||
			s.Duration != 1500 || len(s.Logs) != 1 || s.Logs[0].Timestamp != 1700000000000500 || len(s.Tags) == 0) {
			t.Errorf("span %+v", s)
		}
	}
	if out.Data[0].TraceID != id || services["b7ad6b7169203331"] != shop || services["b7ad6b7169203333"] != "db" ||
		len(parents) != 2 || parents["b7ad6b7169203332"] != "b7ad6b7169203331" ||
		parents["b7ad6b7169203333"] != "b7ad6b7169203332" {
		t.Errorf("services %v, parents %v", services, parents)
	}
}
