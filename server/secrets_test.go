package server_test

import (
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestPasswordsAreNotLogged: a password in a path, a query or a header stands in no line of the log, at any level.
func TestPasswordsAreNotLogged(t *testing.T) {
	log := &servertest.LogText{}
	h := servertest.Real(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:a=hush_secret")
		o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug - 10}))
	})
	for _, secret := range []string{"hush_secret", "wrong_secret"} {
		for _, path := range []string{"/v1/input/a:" + secret, "/v1/datadog/v1/input/a:" + secret,
			"/v1/input?api_key=a:" + secret, "/api/v2/logs?dd-api-key=a:" + secret,
			"/v1/lineproto/write?u=a&p=" + secret, "/write?u=a&p=" + secret, "/v1/lineproto/query?q=x&u=a&p=" + secret,
			"/v1/ingest?password=" + secret, "/v1/ingest?token=" + secret,
			"/v1/sql?sql=SELECT&token=" + secret, "/nowhere?password=" + secret, "/v1/nowhere/" + "?token=" + secret} {
			if a := h.Do("POST", path, "no body of the protocol {", "Content-Type",
				"application/json"); strings.Contains(a.Body+a.Header.Get("x-service-err-msg"), secret) {
				t.Errorf("%s is answered with the password: %s", path, a.Body)
			}
		}
		for _, header := range []string{"Authorization", "x-service-auth"} {
			h.Do("POST", "/v1/ingest?table=t", "{", "Content-Type", "application/json", header, "Basic a:"+secret)
			h.Do("POST", "/v1/ingest?table=t", "{", "Content-Type", "application/json", header,
				servertest.Basic("a", secret))
		}
		h.Do("POST", "/services/collector", "{", "Authorization", "Splunk a:"+secret)
	}
	text := log.String()
	if !strings.Contains(text, "request failed") {
		t.Error("nothing was logged")
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, "_secret") ||
			strings.Contains(line, strings.TrimPrefix(servertest.Basic("a", "hush_secret"), "Basic ")) {
			t.Errorf("logged: %s", line)
		}
	}
}

// secretStatements have a password, each in another place; %s stands for it.
var secretStatements = []string{
	"COPY t TO 'x.csv' WITH (FORMAT='csv', password='%s')",
	"COPY t TO 's3://b/x.parquet' CONNECTION (ACCESS_KEY_ID='AKIA', SECRET_ACCESS_KEY='%s')",
	"COPY t FROM 'https://ann:%s@host/x.csv'", "COPY t FROM 'https://ann:%s@host/x.csv' WITH (FORMAT='cs')",
	"CREATE USER u IDENTIFIED BY '%s'", "ALTER USER u PASSWORD '%s'",
	"SET PASSWORD = '%s'", "SET password '%s'", "SET PASSWORD '%s",
	"CREATE TABLE x (ts TIMESTAMP TIME INDEX) WITH (password='%s')", "SELECT * FROM nowhere WHERE token = '%s'",
	"INSERT INTO t (ts, secret) VALUES (1, token '%s')",
}

// TestPasswordsInStatementsAreNotShown: a password in the text of a statement stands in no line of the log at any
// level, nor in the log of slow statements, the list of those at work, or an error.
func TestPasswordsInStatementsAreNotShown(t *testing.T) {
	log := &servertest.LogText{}
	h := servertest.Recording(t, func(o *server.Options) {
		o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug - 10}))
	})
	h.Want(h.SQL("CREATE TABLE t (ts TIMESTAMP TIME INDEX, v BIGINT)"), 200, "")
	refused := 0
	for _, form := range secretStatements {
		sql := strings.ReplaceAll(form, "%s", "hush_secret")
		for _, path := range []string{"/v1/sql", "/v1/sql/parse", "/v1/sql/analyze/stream"} {
			a := h.Do("POST", path, "sql="+url.QueryEscape(sql), "Content-Type", "application/x-www-form-urlencoded")
			if a.Status >= 400 {
				refused++
			}
			if shown := a.Body + a.Header.Get("x-service-err-msg"); a.Status >= 400 && strings.Contains(shown, "hush") {
				t.Errorf("%s %s is answered with the password: %s", path, sql, a.Body)
			}
		}
	}
	if refused < len(secretStatements) || !strings.Contains(log.String(), "***") {
		t.Errorf("%d statements were refused, log\n%s", refused, log.String())
	}
	asks(h,
		"SELECT repeat('x', 1000) FROM (SELECT value, 'a' AS token FROM generate_series(0, 9999999)) WHERE token <> 'hush_secret'").Read(make([]byte, 100))
	for _, sql := range []string{"SHOW PROCESSLIST", "SHOW FULL PROCESSLIST",
		"SELECT * FROM information_schema.process_list"} {
		if a := h.SQL(sql); a.Status != 200 || strings.Contains(a.Body, "hush") ||
			!strings.Contains(a.Body, "token <> '***'") {
			t.Errorf("%s: %d %s", sql, a.Status, a.Body)
		}
	}
	h.Slow.Close(t.Context())
	if a := h.SQL("SELECT query, error FROM service_private.slow_queries"); a.Status != 200 ||
		strings.Count(a.Body, "***") < 5 || strings.Contains(a.Body, "hush") {
		t.Errorf("slow statements: %d %s", a.Status, a.Body)
	}
	for line := range strings.SplitSeq(log.String(), "\n") {
		if strings.Contains(line, "hush") {
			t.Errorf("logged: %s", line)
		}
	}
}
