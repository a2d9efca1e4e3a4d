package manage_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/server"
	"varve/server/rules"
	"varve/server/servertest"
	"varve/sqlexec"
)

// ruled is a server that evaluates rules.
func ruled(t *testing.T, change func(o *server.Options, r *rules.Options)) *servertest.House {
	t.Helper()
	return servertest.Real(t, func(o *server.Options) {
		r := rules.Options{Store: o.Saved, Samples: o.Metrics.Samples, SQL: o.Query.Executor,
			Attend: o.Query.Executor.(*sqlexec.Executor).Attend}
		if change != nil {
			change(o, &r)
		}
		var err error
		if o.Rules, err = rules.New(r); err != nil {
			t.Fatal(err)
		}
		o.Rules.Start()
	})
}

const always = `groups:
- name: %s
  interval: 20ms
  rules:
  - {alert: %s, expr: vector(7), labels: {severity: page}, annotations: {is: "{{ $value }}"}}
  - {record: "r:%s", expr: vector(1)}
`

// until asks until the answer has a text.
func until(h *servertest.House, path, want string) {
	h.Helper()
	var last servertest.Answer
	found := false
	defer func() {
		if !found {
			h.Errorf("%s: %d %s, want %s", path, last.Status, last.Body, want)
		}
	}()
	h.Eventually(func() bool {
		last = h.Do("GET", path, "")
		found = strings.Contains(last.Body, want)
		return found
	})
}

// TestDocuments saves, lists, changes and deletes rules, and sees them evaluated.
func TestDocuments(t *testing.T) {
	h := ruled(t, nil)
	h.Want(h.Do("GET", "/v1/rules", ""), 200, `{"rules":[],"status":{"groups":0,`)
	h.Want(h.Do("GET", "/v1/rules/web", ""), 404, "there are no rules of this name")
	h.Want(h.Do("DELETE", "/v1/rules/web", ""), 404, "there are no rules of this name")
	h.Want(h.Do("PUT", "/v1/rules/web", fmt.Sprintf(always, "g", "Seven", "a")), 200, `{"rules":[{"name":"web"}],`)
	h.Want(h.Do("GET", "/v1/rules/web", ""), 200, `"definition":"groups:\n- name: g\n`)
	until(h, "/api/v1/query?query=ALERTS", `"alertname":"Seven","alertstate":"firing","severity":"page"`)
	until(h, "/api/v1/query?query=r:a", `"r:a"`)
	until(h, "/v1/rules", `"status":{"groups":1,"alerting":1,"recording":1,"failing":0,"pending":0,"firing":1,`)
	h.Want(h.Do("PUT", "/v1/rules/web", "groups:\n- name: g\n  rules:\n  - {alert: A, expr: up =}"), 400,
		`document:web:4: group \"g\", rule \"A\": could not parse the expression`)
	h.Want(h.Do("PUT", "/v1/rules/web", "groups: []"), 400, "web has no rules")
	h.Want(h.Do("PUT", "/v1/rules/web", "\xff"), 400, "not valid UTF-8")
	h.Want(h.Do("PUT", "/v1/rules/"+strings.Repeat("n", 257), "groups: []"), 400, "has 257 bytes")
	until(h, "/v1/metricsapi/api/v1/alerts", `"alertname":"Seven"`)
	h.Want(h.Do("PUT", "/v1/rules/web", fmt.Sprintf(always, "g", "Eight", "a")), 200, "")
	until(h, "/v1/metricsapi/api/v1/alerts", `"alertname":"Eight"`)
	h.Want(h.Do("DELETE", "/v1/rules/web", ""), 200, `{"rules":[{"name":"web"}],`)
	h.Want(h.Do("GET", "/v1/metricsapi/api/v1/alerts", ""), 200, `{"status":"success","data":{"alerts":[]}}`)
	h.Want(h.Do("GET", "/v1/metricsapi/api/v1/rules", ""), 200, `{"status":"success","data":{"groups":[]}}`)
}

// TestRulesAPI: the lists of rules and alerts have the form that dashboards read, and the filters choose.
func TestRulesAPI(t *testing.T) {
	h := ruled(t, func(_ *server.Options, r *rules.Options) {
		r.Notify.Alertmanagers = []string{"http://user:hush@127.0.0.1:1/am/"}
	})
	for _, name := range []string{"a", "b", "c"} {
		h.Want(h.Do("PUT", "/v1/rules/"+name, fmt.Sprintf(always, "g"+name, "Alert"+name, name)), 200, "")
		until(h, "/api/v1/rules?rule_name[]=Alert"+name, `"state":"firing"`)
		until(h, "/api/v1/rules?rule_name[]=Alert"+name, `"health":"ok"`) // it fires before its evaluation is over
		until(h, "/api/v1/rules?rule_name[]=r:"+name, `"health":"ok"`)    // the last of its group
	}
	type answer struct {
		Status string
		Data   struct {
			Groups []struct {
				Name, File, Document string
				Interval             float64
				Rules                []map[string]any
			}
			GroupNextToken string
		}
	}
	ask := func(path string) (a answer) {
		t.Helper()
		got := h.Do("GET", path, "")
		if err := json.Unmarshal([]byte(got.Body), &a); err != nil || got.Status != 200 {
			t.Fatalf("%s: %d %s", path, got.Status, got.Body)
		}
		return a
	}
	all := ask("/v1/metricsapi/api/v1/rules")
	g := all.Data.Groups[0]
	if len(all.Data.Groups) != 3 || g.Name != "ga" || g.File != "document:a" || g.Document != "a" ||
		g.Interval != 0.02 {
		t.Fatalf("the groups are %+v", all)
	}
	alert := g.Rules[0]
	if alert["type"] != "alerting" || alert["health"] != "ok" || alert["query"] != "vector(7)" ||
		alert["duration"] != 0.0 ||
		alert["alerts"].([]any)[0].(map[string]any)["value"] != "7e+00" || g.Rules[1]["type"] != "recording" ||
		fmt.Sprint(alert["annotations"]) != "map[is:{{ $value }}]" ||
		alert["alerts"].([]any)[0].(map[string]any)["annotations"].(map[string]any)["is"] != "7" {
		t.Errorf("the rules are %+v", g.Rules)
	}
	for query, want := range map[string]string{
		"type=alert": "Alerta Alertb Alertc", "type=record": "r:a r:b r:c",
		"rule_name[]=Alertb&rule_name[]=r:c": "Alertb r:c",
		"rule_group[]=ga":                    "Alerta r:a", "file[]=document:b": "Alertb r:b",
		"match[]={severity=\"page\"}": "Alerta Alertb Alertc",
		"match[]={severity=\"low\"}":  "", "rule_name[]=nothing": "",
		"match[]={severity=\"low\"}&match[]={severity=~\"p.*\"}&rule_group[]=gc": "Alertc",
	} {
		var names []string
		for _, g := range ask("/api/v1/rules?" + strings.ReplaceAll(query, " ", "%20")).Data.Groups {
			for _, r := range g.Rules {
				names = append(names, r["name"].(string))
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s gives %q, want %q", query, got, want)
		}
	}
	token, seen := "", ""
	for range 3 {
		page := ask("/api/v1/rules?group_limit=1&group_next_token=" + token)
		seen, token = seen+page.Data.Groups[0].Name+" ", page.Data.GroupNextToken
	}
	if seen != "ga gb gc " || token != "" {
		t.Errorf("the pages are %q, then %q", seen, token)
	}
	without := ask("/api/v1/rules?exclude_alerts=true&type=alert")
	if list, ok := without.Data.Groups[0].Rules[0]["alerts"].([]any); !ok || len(list) != 0 {
		t.Errorf("without alerts there are %v", list)
	}
	for _, query := range []string{"type=other", "exclude_alerts=maybe", "match[]=(", "group_limit=-1", "group_limit=x",
		"group_next_token=x", "group_next_token=x&group_limit=1"} {
		h.Want(h.Do("GET", "/api/v1/rules?"+query, ""), 400, `"errorType":"bad_data"`)
	}
	managers := h.Do("GET", "/api/v1/alertmanagers", "").Body
	if strings.Contains(managers, "hush") || !strings.Contains(managers, "@127.0.0.1:1/am/api/v2/alerts") {
		t.Errorf("the Alertmanagers are %s", managers)
	}
}

// TestFiles: files are read again when they are asked to be; of one that is wrong the rules from before stay.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.yml", fmt.Sprintf(always, "g", "One", "x"))
	h := ruled(t, func(_ *server.Options, r *rules.Options) { r.Files = []string{filepath.Join(dir, "*.yml")} })
	until(h, "/api/v1/alerts", `"One"`)
	write("a.yml", "groups: [{nome: g}]")
	write("b.yml", fmt.Sprintf(always, "g", "Two", "y"))
	h.Want(h.Do("POST", "/-/reload", ""), 400, `a.yml:1: unknown field \"nome\"`)
	until(h, "/api/v1/alerts", `"Two"`)
	until(h, "/api/v1/alerts", `"One"`)
	h.Want(h.Do("GET", "/v1/rules", ""), 200, `"groups":1,"rules":2,"error":"`+filepath.Join(dir, "a.yml"))
	h.Want(h.Do("GET", "/metrics", ""), 200, "varve_rule_files_wrong 1\n")
	if err := os.Remove(filepath.Join(dir, "a.yml")); err != nil {
		t.Fatal(err)
	}
	h.Want(h.Do("POST", "/-/reload", ""), 200, "")
	if a := h.Do("GET", "/api/v1/alerts", ""); strings.Contains(a.Body, `"One"`) {
		t.Errorf("after its file is gone a rule still has %s", a.Body)
	}
}

// TestKill: rules of both languages are seen while they are evaluated, and KILL ends them.
func TestKill(t *testing.T) {
	h := ruled(t, nil)
	for language, expr := range map[string]string{
		"promql": "sum_over_time(sum_over_time(vector(1)[1h:1s])[2h:1s])",
		"sql": "SELECT sum(a.v * b.v * c.v) AS value FROM generate_series(1, 3000) AS a(v), " +
			"generate_series(1, 3000) AS b(v), generate_series(1, 3000) AS c(v)",
	} {
		h.Want(h.Do("PUT", "/v1/rules/"+language, fmt.Sprintf("groups: [{name: g, interval: 50ms, rules: "+
			"[{record: slow, language: %s, expr: '%s'}]}]", language, expr)), 200, "")
		listed := "SELECT id FROM information_schema.process_list WHERE query LIKE '" + expr[:12] + "%'"
		id := ""
		h.Eventually(func() bool { // the rule is among the running statements
			rows := h.Ask(listed)
			if len(rows) > 0 {
				id = fmt.Sprint(rows[0][0])
			}
			return len(rows) > 0
		})
		h.Execute("KILL '" + id + "'")
		began := time.Now()
		until(h, "/api/v1/rules", "killed")
		t.Logf("%s: it ended after %s", language, time.Since(began))
		h.Want(h.Do("DELETE", "/v1/rules/"+language, ""), 200, "")
	}
}

// TestSlowRules: rules of both languages are in the log of slow statements, with the results that they had.
func TestSlowRules(t *testing.T) {
	var mu sync.Mutex
	ended := map[string]sqlexec.Ended{}
	h := ruled(t, func(o *server.Options, r *rules.Options) {
		x := sqlexec.New(o.Saved, sqlexec.Options{Ended: func(e sqlexec.Ended) {
			mu.Lock()
			defer mu.Unlock()
			ended[e.Text] = e
		}})
		o.Query.Executor, r.SQL, r.Attend = x, x, x.Attend
	})
	for i, want := range []struct {
		language, expr string
		metrics, fails bool
		rows           int64
	}{
		{"promql", "vector(41) or vector(42)", true, false, 1},
		{"promql", "sum(1, 2)", true, true, -1},
		{"promql", "label_replace(vector(1), 'a', '$1', 'b', '(x|')", true, true, -1},
		{"sql", "SELECT 1 AS value, 'a' AS host UNION ALL SELECT 2, 'b'", false, false, 2},
	} {
		a := h.Do("PUT", fmt.Sprintf("/v1/rules/r%d", i), fmt.Sprintf("groups: [{name: g, interval: 50ms, rules: "+
			"[{record: slow, language: %s, expr: %q}]}]", want.language, want.expr))
		if a.Status != 200 { // a document that cannot be evaluated is refused
			if !want.fails {
				t.Errorf("%s: %d %s", want.expr, a.Status, a.Body)
			}
			continue
		}
		var got sqlexec.Ended
		h.Eventually(func() bool {
			mu.Lock()
			defer mu.Unlock()
			var there bool
			got, there = ended[want.expr]
			return there
		})
		if got.Metrics != want.metrics || got.Rows != want.rows || (got.Err != nil) != want.fails ||
			want.metrics && (got.Grid == nil || got.Grid.Start != got.Grid.End || got.Grid.Start == 0) {
			t.Errorf("%s: ended as %+v", want.expr, got)
		}
	}
}

// TestRights: who may read sees and tries rules, only administrators change them.
func TestRights(t *testing.T) {
	h := ruled(t, func(o *server.Options, _ *rules.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:admin=p,reader:ro=p,writer:wo=p")
	})
	text := fmt.Sprintf(always, "g", "A", "r")
	one := "groups: [{name: g, rules: [{alert: A, expr: vector(1)}]}]"
	for _, c := range []struct {
		method, path, body    string
		reader, writer, admin int
	}{
		{"PUT", "/v1/rules/web", text, 403, 403, 200}, {"GET", "/v1/rules/web", "", 200, 403, 200},
		{"GET", "/v1/rules", "", 200, 403, 200}, {"POST", "/v1/rules/try", one, 200, 403, 200},
		{"GET", "/api/v1/rules", "", 200, 403, 200}, {"POST", "/-/reload", "", 403, 403, 200},
		{"GET", "/v1/silences", "", 200, 403, 200}, {"POST", "/v1/silences", "{}", 403, 403, 400},
		{"DELETE", "/v1/silences/x", "", 403, 403, 400}, // there is no Alertmanager
		{"DELETE", "/v1/rules/web", "", 403, 403, 200},
	} {
		for _, who := range []struct {
			name string
			want int
		}{{"reader", c.reader}, {"writer", c.writer}, {"admin", c.admin}} {
			a := h.Do(c.method, c.path, c.body, "Authorization", servertest.Basic(who.name, "p"))
			if a.Status != who.want {
				t.Errorf("%s %s by %s: %d %s, want %d", c.method, c.path, who.name, a.Status, a.Body, who.want)
			}
		}
	}
}

// TestTry: a trial answers with states and points, and refuses what cannot be tried.
func TestTry(t *testing.T) {
	h := ruled(t, nil)
	a := h.Do("POST", "/v1/rules/try?from=1700000000&to=1700003600",
		"groups: [{name: g, interval: 1m, rules: [{alert: A, expr: 'vector(3)', for: 5m}]}]")
	h.Want(a, 200, `"states":[{"state":"pending","from":1700000000,"to":1700000240},`+
		`{"state":"firing","from":1700000300,"to":1700003600}]`)
	h.Want(a, 200, `"points":[[1700000000,"3"],`)
	h.Want(h.Do("POST", "/v1/rules/try", "groups: [{name: g, rules: [{alert: A, expr: 'absent(x)'}]}]"), 200,
		`"step":60,`)
	for body, want := range map[string]string{
		"groups: []": "one group of one rule is tried at a time", "groups: [{name: g}]": "one rule is tried at a time",
		"{": "body", "groups: [{name: g, rules: [{alert: A, expr: 'x ='}]}]": "could not parse",
		"groups: [{name: g, rules: [{alert: A, language: sql, expr: 'SELECT nothing FROM nowhere'}]}]": "nowhere",
	} {
		h.Want(h.Do("POST", "/v1/rules/try", body), 400, want)
	}
	h.Want(h.Do("POST", "/v1/rules/try?from=x", "groups: []"), 400, "from")
	h.Want(h.Do("POST", "/v1/rules/try?from=5&to=4", "groups: [{name: g, rules: [{alert: A, expr: x}]}]"), 400,
		"ends after it begins")
}
