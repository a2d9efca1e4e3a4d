package metricsapi_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"varve/server/protowire"
	"varve/server/servertest"
)

// encoded escapes the values of a form, given as name=value in turn.
func encoded(pairs ...string) string {
	var b strings.Builder
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		b.WriteString("&" + url.QueryEscape(name) + "=" + url.QueryEscape(value))
	}
	return strings.TrimPrefix(b.String(), "&")
}

// TestMetricsAPIAsGrafanaAsks: the requests of Grafana's data source for Prometheus, and the answers that it needs.
// Its back end sends queries, series and labels as forms, and everything else by GET.
func TestMetricsAPIAsGrafanaAsks(t *testing.T) {
	h := apiHouse(t)
	post := func(more ...string) string { return "POST " + encoded(more...) }
	get := func(more ...string) string { return "GET " + encoded(more...) }
	for _, c := range []struct{ what, path, request, want string }{
		{"health check", "query", post("query=1+1", "time=4"),
			`{"status":"success","data":{"resultType":"scalar","result":[4,"2"]}}`},
		{"panel, step in parts of a second", "query_range",
			post("end=2", "query=up{job=\"x\"}", "start=1", "step=0.5", "timeout=30s"),
			`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"x"},` +
				`"values":[[1,"1"],[1.500,"1"],[2,"2"]]}]}}`},
		{"panel over several lines, with a comment", "query_range",
			post("end=15", "query=sum by (job) (\n  up # of all\n)\n", "start=0", "step=15"),
			`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"job":"x"},"values":[[15,"2"]]},` +
				`{"metric":{"job":"y"},"values":[[15,"3"]]}]}}`},
		{"panel without data", "query_range", post("end=60", "query=nothing_of_the_kind", "start=0", "step=15"),
			`{"status":"success","data":{"resultType":"matrix","result":[]}}`},
		{"instant query, time with parts of a second", "query", post("query=up{job=\"x\"}", "time=2.123456789"),
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","job":"x"},` +
				`"value":[2.123,"2"]}]}}`},
		{"annotations of alerts", "query_range",
			post("end=60", "query=ALERTS{alertstate=\"firing\"}", "start=0", "step=60"),
			`{"status":"success","data":{"resultType":"matrix","result":[]}}`},
		{"ad-hoc filters", "query", post("query=up{job=\"y\", zone=~\"z|w\", job!=\"x\"}", "time=2"),
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","job":"y",` +
				`"zone":"z"},"value":[2,"3"]}]}}`},
		{"variable of several values", "query", post("query=count(up{job=~\"(x|y)\"})", "time=2"),
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[2,"2"]}]}}`},
		{"query_result(topk(1, up))", "query", post("query=topk(1, up)", "time=2"),
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","job":"y",` +
				`"zone":"z"},"value":[2,"3"]}]}}`},
		{"whether there are exemplars at all", "query_exemplars", post("end=2.5", "query=test", "start=1"),
			`{"status":"success","data":[]}`},
		{"labels for the query builder", "labels", post("limit=40000", "start=0", "end=60"),
			`{"status":"success","data":["__name__","job","le.x","zone"]}`},
		{"labels without a limit", "labels", post("limit=0", "start=0", "end=60"),
			`{"status":"success","data":["__name__","job","le.x","zone"]}`},
		{"labels of a metric", "labels", post("limit=40000", "start=0", "end=60", `match[]={__name__="up"}`),
			`{"status":"success","data":["__name__","job","zone"]}`},
		{"label_names(regular expression)", "labels", post("start=0", "end=60", `match[]={__name__=~".*up.*"}`),
			`{"status":"success","data":["__name__","job","zone"]}`},
		{"label_values(label)", "label/job/values", get("start=0", "end=60"),
			`{"status":"success","data":["x","y"]}`},
		{"label_values(metric, label)", "label/job/values", get("match[]=up{zone=\"z\"}", "start=0", "end=60"),
			`{"status":"success","data":["y"]}`},
		{"label whose name is no word", "label/U__le_2e_x/values",
			get("limit=40000", "start=0", "end=60", `match[]={__name__!=""}`), `{"status":"success","data":["1"]}`},
		{"names of metrics", "label/__name__/values", get("limit=40000", "start=0", "end=60"),
			`{"status":"success","data":["http.requests","up"]}`},
		{"names of metrics while one is typed", "label/__name__/values",
			get("limit=1000", "start=0", "end=60", `match[]={__name__=~"(?i).*UP.*"}`),
			`{"status":"success","data":["up"]}`},
		{"label without values", "label/pod/values", get("start=0", "end=60"), `{"status":"success","data":[]}`},
		{"all series", "series", post(`match[]={__name__!=""}`, "start=0", "end=60", "limit=40000"),
			`{"status":"success","data":[{"__name__":"http.requests","le.x":"1"},{"__name__":"up","job":"x"},` +
				`{"__name__":"up","job":"y","zone":"z"}]}`},
		{"series that have a label", "series", post(`match[]={"le.x"!=""}`, "start=0", "end=60", "limit=40000"),
			`{"status":"success","data":[{"__name__":"http.requests","le.x":"1"}]}`},
		{"series by a quoted name", "series", post(`match[]={"http.requests"}`, "start=0", "end=60"),
			`{"status":"success","data":[{"__name__":"http.requests","le.x":"1"}]}`},
		{"more series than the limit", "series", post(`match[]=up`, "start=0", "end=60", "limit=1"),
			`{"status":"success","data":[{"__name__":"up","job":"x"}],"warnings":["results truncated due to limit"]}`},
		{"help of metrics", "metadata", get("limit=40000"), `{"status":"success","data":{}}`},
		{"rules for the query editor", "rules", get(), `{"status":"success","data":{"groups":[]}}`},
		{"page of rules", "rules", get("exclude_alerts=true", "group_limit=100", "limit_alerts=16"),
			`{"status":"success","data":{"groups":[]}}`},
		{"alerts", "alerts", get(), `{"status":"success","data":{"alerts":[]}}`},
		{"whom alerts are sent to", "alertmanagers", get(),
			`{"status":"success","data":{"activeAlertmanagers":[],"droppedAlertmanagers":[]}}`},
	} {
		method, form, _ := strings.Cut(c.request, " ")
		for _, base := range []string{"/v1/metricsapi", ""} { // the address may be that of the host alone
			path := base + "/api/v1/" + c.path
			var a servertest.Answer
			if method == "POST" {
				a = h.Do("POST", path, form, "Content-Type", "application/x-www-form-urlencoded",
					"X-Dashboard-Uid", "d", "X-Panel-Id", "1", "FromAlert", "true")
			} else {
				a = h.Do("GET", path+"?"+form, "")
			}
			if a.Status != 200 || a.Body != c.want || a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %s: %d %s\n got %s\nwant %s", c.what, path, a.Status, a.Header.Get("Content-Type"),
					a.Body, c.want)
			}
		}
	}
}

// TestMetricsAPIKind: Grafana takes a server whose build names features for Mimir, then asks it for rules to edit at
// other paths. It reads the version as that of a stock server.
func TestMetricsAPIKind(t *testing.T) {
	h := apiHouse(t)
	var build struct {
		Status string
		Data   struct {
			Version  string
			Features map[string]string
		}
	}
	a := h.Do("GET", apiPath+"status/buildinfo", "")
	if err := json.Unmarshal([]byte(a.Body), &build); err != nil || a.Status != 200 || build.Status != "success" ||
		len(build.Data.Features) > 0 || strings.Count(build.Data.Version, ".") != 2 {
		t.Errorf("%v: %d %s", err, a.Status, a.Body)
	}
	for _, path := range []string{"/rules/test/test", "/config/v1/rules", "/api/v1/rules/test/test"} {
		if a := h.Do("GET", "/v1/metricsapi"+path, ""); a.Status != 404 {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// TestMetricsAPIErrorsAsGrafanaReads: a query with a fault is refused with 400, its type and text, once as a form and
// once more by GET, which Grafana tries after it.
func TestMetricsAPIErrorsAsGrafanaReads(t *testing.T) {
	h := apiHouse(t)
	form := encoded("query=sum(up", "time=4")
	for _, a := range []servertest.Answer{
		h.Do("POST", apiPath+"query", form, "Content-Type", "application/x-www-form-urlencoded"),
		h.Do("GET", apiPath+"query?"+form, ""),
	} {
		h.Want(a, 400, `{"status":"error","errorType":"bad_data","error":"1:`)
	}
}

// TestExemplarsAsGrafanaReads: the exemplars of what a panel of a histogram asks, with the labels of their series.
func TestExemplarsAsGrafanaReads(t *testing.T) {
	h := servertest.Real(t, nil)
	sample := func(m []byte) []byte {
		return protowire.AppendMessage(m, 2, func(s []byte) []byte {
			return protowire.AppendVarint(protowire.AppendDouble(s, 1, 1), 2, 1000)
		})
	}
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Series1(
		[]string{"__name__", "took_seconds_bucket", "le", "0.5", "job", "shop"}, sample,
		servertest.Exemplar1(0.3, 1500, "trace_id", "5b8efff798038103d269b633813fc60c")))), 204, "")
	for form, want := range map[string]string{
		"start=1&end=2": `{"status":"success","data":[{"seriesLabels":{"__name__":"took_seconds_bucket","job":"shop",` +
			`"le":"0.5"},"exemplars":[{"labels":{"trace_id":"5b8efff798038103d269b633813fc60c"},"value":"0.3",` +
			`"timestamp":1.500}]}]}`,
		"start=2&end=3.5": `{"status":"success","data":[]}`,
	} {
		a := h.Do("POST", apiPath+"query_exemplars", form+"&"+
			encoded("query=histogram_quantile(0.9, sum by (le) (rate(took_seconds_bucket{job=\"shop\"}[1m])))"),
			"Content-Type", "application/x-www-form-urlencoded")
		if a.Status != 200 || a.Body != want {
			t.Errorf("%s: %d %s, want %s", form, a.Status, a.Body, want)
		}
	}
}
