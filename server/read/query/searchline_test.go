package query_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"varve/server/servertest"
	"varve/sqlexec/search"
)

// TestSearchLines runs the condition of every search line, and of its negation: each row fulfils one of the two.
func TestSearchLines(t *testing.T) {
	text, err := os.ReadFile("../../dashboard/testdata/search.json")
	if err != nil {
		t.Fatal(err)
	}
	var script struct {
		Message string
		Columns []search.Column
		Cases   []struct {
			Name, Line, Where string
			AnyCase           bool `json:"any_case"`
			NoMessage         bool `json:"no_message"`
		}
	}
	if err := json.Unmarshal(text, &script); err != nil {
		t.Fatal(err)
	}
	h := servertest.Real(t, nil)
	h.Want(
		h.SQL(
			`CREATE TABLE lines (ts TIMESTAMP(9) TIME INDEX, message STRING, level STRING, host STRING, path STRING, status BIGINT, bytes BIGINT UNSIGNED, `+
				`ratio DOUBLE, ok BOOLEAN, "day" DATE, "user" STRING, "ctx.user.id" BIGINT, labels JSON, "labels.static" STRING, raw BINARY, `+
				`"A""b" STRING, "a b" STRING, "größe" BIGINT, "select" STRING)`), 200, "")
	h.Want(h.SQL(`INSERT INTO lines (ts) VALUES (1)`), 200, "")
	h.Want(
		h.SQL(
			`INSERT INTO lines VALUES ('2026-11-21T03:46:00Z', 'connection reset: timeout 🙂 ok', 'error', 'web-1', '/api/v1', 500, 15, 0.25, true, '2026-11-21', 'o''brien', 7, `+
				`'{"app":"web","n":5,"on":true}', 'x', 'b', 'x', 'x', 6, 'x')`), 200, "")
	h.Want(
		h.SQL(
			`INSERT INTO lines VALUES ('2026-11-21T03:47:00Z', 'a b 50%_\ time*', 'debug', 'web-3', 'health', 200, 5, 1, false, '2026-11-20', 'p', 8, `+
				`'{"app":"db","n":"5"}', 'y', 'c', 'y', 'y', 4, 'y')`), 200, "")
	const rows = 3
	count := func(table search.Table, line string) (n int) {
		where, err := table.Where(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if where == "" {
			where = "true"
		}
		a := h.Do("GET", "/v1/sql?format=csv&sql="+url.QueryEscape("SELECT count(*) FROM lines WHERE ("+where+")"), "")
		if _, err := fmt.Sscan(a.Body, &n); err != nil || a.Status != 200 {
			t.Errorf("%s: %s: %d %s", line, where, a.Status, a.Body)
		}
		return n
	}
	table := search.Table{Columns: script.Columns, Message: script.Message}
	for _, c := range script.Cases {
		if table.AnyCase = c.AnyCase; c.Where == "" || c.NoMessage {
			continue
		}
		if yes, no := count(table, c.Line), count(table, "-("+c.Line+")"); yes+no != rows {
			t.Errorf("%s: %s: %d rows fulfil it and %d its negation, there are %d", c.Name, c.Line, yes, no, rows)
		}
	}
	for _, c := range []struct {
		line string
		want int
	}{
		{"", 3}, {"timeout", 1}, {`"connection reset"`, 1}, {"time*", 2}, {`~50%_\\`, 1}, {"level:error", 1},
		{"-level:error", 2}, {"-timeout", 2},
		{"status:>=200", 2}, {"labels.n:5", 2}, {"labels.app:(web,db)", 2}, {"labels.on:true", 1}, {"-labels.app:*", 1},
		{"user:*", 2}, {"-user:*", 1},
		{"ts:>=2026-11-21T03:47:00Z", 1}, {"day:2026-11-20..2026-11-21", 2}, {"path:/^\\/api/", 1}, {"path:~API", 1},
		{`"🙂 ok"`, 1}, {strings.Repeat("(", 40) + "a" + strings.Repeat(")", 40), 1},
	} {
		if got := count(table, c.line); got != c.want {
			t.Errorf("%s: %d rows, want %d", c.line, got, c.want)
		}
	}
}
