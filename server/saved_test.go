package server_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestDashboards saves, lists and deletes definitions.
func TestDashboards(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("GET", "/v1/dashboards", ""), 200, `{"dashboards":[],`)
	h.Want(h.Do("GET", "/v1/dashboards/view.a", ""), 404, "Dashboard not found: view.a")
	h.Want(h.Do("DELETE", "/v1/dashboards/view.a", ""), 404, "Dashboard not found: view.a")
	text := "{\"kind\":\"view\",\n\"q\":\"a ' \\\" \\\\ é 🙂\"}"
	h.Want(h.Do("POST", "/v1/dashboards/view.a", "old"), 200, `{"dashboards":[{"name":"view.a"}],"execution_time_ms"`)
	h.Want(h.Do("POST", "/v1/dashboards/view.a", text, "Content-Type", "text/plain"), 200, "view.a")
	h.Want(h.Do("POST", "/v1/dashboards/query.%C3%A9%20%2F", "", "Content-Type", "application/json"), 200,
		`"query.é /"`)
	var list struct {
		Dashboards []struct{ Name, Definition string }
	}
	if err := json.Unmarshal([]byte(h.Do("GET", "/v1/dashboards", "").Body), &list); err != nil {
		t.Fatal(err)
	}
	if d := list.Dashboards; len(d) != 2 || d[0].Name != "query.é /" || d[0].Definition != "" ||
		d[1].Name != "view.a" || d[1].Definition != text {
		t.Errorf("got %q", d)
	}
	h.Want(h.SQL("SELECT name FROM service_private.dashboard ORDER BY name"), 200, `[["query.é /"],["view.a"]]`)
	h.Want(h.Do("DELETE", "/v1/dashboards/view.a", ""), 200, `{"dashboards":[{"name":"view.a"}],`)
	h.Want(h.Do("GET", "/v1/dashboards/view.a", ""), 404, "")
	h.Want(h.Do("POST", "/v1/dashboards/view.a", "again"), 200, "")
	h.Want(h.Do("GET", "/v1/dashboards/view.a", ""), 200, `"definition":"again"`)
}

// TestBoundsOfBodiesMeet: a body has to keep to the bound of the server and to that of its route. One that is over the
// first and not over the second is refused, not taken for empty.
func TestBoundsOfBodiesMeet(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.BodyLimit = 1 << 10 })
	h.Want(h.Do("POST", "/v1/dashboards/a", "small"), 200, "")
	h.Want(h.Do("POST", "/v1/dashboards/a", strings.Repeat("x", 2<<10)), 413, "")
	h.Want(h.Do("GET", "/v1/dashboards/a", ""), 200, `"definition":"small"`)
	h = servertest.Real(t, func(o *server.Options) { o.BodyLimit = 0 })
	h.Want(h.Do("POST", "/api/v2/buckets", `{"name":"b"}`+strings.Repeat(" ", 64<<10)), 413, "")
}

// TestDashboardBounds goes past the limits.
func TestDashboardBounds(t *testing.T) {
	h := servertest.Real(t, nil)
	for _, c := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"name", "/v1/dashboards/" + strings.Repeat("n", 257), "x", 400, "257 bytes, the limit is 256"},
		{"control character", "/v1/dashboards/a%00", "x", 400, "is not valid text in a URL"},
		{"bytes that are no text", "/v1/dashboards/%ff", "x", 400, "is not valid text in a URL"},
		{"definition", "/v1/dashboards/a", strings.Repeat("x", 256<<10+1), 413, ""},
		{"definition that is not text", "/v1/dashboards/a", "\xff", 400, "not valid UTF-8"},
		{"largest", "/v1/dashboards/" + strings.Repeat("n", 256), strings.Repeat("x", 256<<10), 200, ""},
	} {
		if a := h.Do("POST", c.path, c.body); a.Status != c.status || !strings.Contains(a.Body, c.want) {
			t.Errorf("%s: got %d %.200q, want %d with %q", c.name, a.Status, a.Body, c.status, c.want)
		}
	}
	// 64 of the largest come to 16 MiB with their names.
	most := strings.Repeat("x", 256<<10)
	for i := range 62 {
		if a := h.Do("POST", "/v1/dashboards/"+strconv.Itoa(i), most); a.Status != 200 {
			t.Fatalf("%d: %d %.200q", i, a.Status, a.Body)
		}
	}
	h.Want(h.Do("POST", "/v1/dashboards/one-too-many", most), 400, "delete some")
	h.Want(h.Do("POST", "/v1/dashboards/5", most), 200, "") // in place of itself
}

// TestDashboardRights: who may read sees what was saved, who may write saves.
func TestDashboardRights(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:boss=b,reader:ro=r,writer:wo=w")
		o.Admin.Version = "1.2.3"
	})
	boss, reader, writer := servertest.Basic("boss", "b"), servertest.Basic("reader", "r"), servertest.Basic("writer",
		"w")
	for _, c := range []struct {
		method, path, who string
		status            int
		want              string
	}{
		{"GET", "/v1/dashboards", "", 401, ""},
		{"POST", "/v1/dashboards/a", reader, 403, `"code":7006`},
		{"POST", "/v1/dashboards/a", writer, 200, ""},
		{"GET", "/v1/dashboards", writer, 403, ""},
		{"GET", "/v1/dashboards", reader, 200, `"name":"a"`},
		{"GET", "/v1/dashboards/a", reader, 200, `"name":"a"`},
		{"DELETE", "/v1/dashboards/a", reader, 403, ""},
		{"DELETE", "/v1/dashboards/a", boss, 200, ""},
		{"GET", "/v1/session", "", 401, ""},
		{"GET", "/v1/session", boss, 200,
			`{"user":"boss","mode":"rw","auth_required":true,"version":"1.2.3","default_timezone":"UTC","features":["analyze_stream","dashboards","dry_run_trace","error_position","`},
		{"GET", "/v1/session", reader, 200, `{"user":"reader","mode":"ro","auth_required":true,`},
		{"GET", "/v1/session", writer, 200, `{"user":"writer","mode":"wo","auth_required":true,`},
	} {
		a := h.Do(c.method, c.path, "{}", "Authorization", c.who)
		if a.Status != c.status || !strings.Contains(a.Body, c.want) {
			t.Errorf("%s %s as %q: got %d %s, want %d with %s", c.method, c.path, c.who, a.Status, a.Body, c.status,
				c.want)
		}
	}
	// The dashboard opens its own dialogue, not the browser's.
	for client, want := range map[string]string{"": `Basic realm="varve"`, "dashboard/1.2.3": "",
		"other/1": `Basic realm="varve"`} {
		if got := h.Do("GET", "/v1/session", "", "x-service-client", client).Header.Get("WWW-Authenticate"); got !=
			want {
			t.Errorf("client %q: WWW-Authenticate %q, want %q", client, got, want)
		}
	}
}

func TestSessionWithoutUsers(t *testing.T) {
	open := servertest.Open(t, nil)
	open.Want(open.Do("GET", "/v1/session", ""), 200,
		`{"user":"","mode":"rw","auth_required":false,"version":"1.2.3","default_timezone":"UTC","features":["analyze_stream","dry_run_trace","error_position","jsonput","lineproto","logpush","otlp"]}`)
	open.Want(open.Do("GET", "/v1/dashboards", ""), 404, "")
}
