package server_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/server"
	"varve/server/servertest"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

// TestFailuresInTheLog: a failed statement is logged with what was asked, by whom and from where; what only its author
// can mend is no error of the server.
func TestFailuresInTheLog(t *testing.T) {
	log := &servertest.LogText{}
	h := servertest.Open(t, func(o *server.Options) {
		o.Users = servertest.Users(t, "static_user_provider:cmd:ann=a")
		o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	})
	h.Answers.Run = func(_ context.Context, st parse.Statement) (*sqlexec.Result, error) {
		if strings.Contains(st.Source(), "internal") {
			return nil, status.New(status.Internal, "a bug")
		}
		return nil, status.New(status.EngineExecuteQuery, "Divide by zero error")
	}
	ask := func(sql string) string {
		log.Reset()
		h.Do("GET", "/v1/sql?sql="+strings.ReplaceAll(sql, " ", "+"), "", "Authorization", servertest.Basic("ann", "a"))
		return log.String()
	}
	if line := ask("SELECT 1/0"); !strings.Contains(line, "level=WARN") ||
		!strings.Contains(line, `statement="SELECT 1/0"`) ||
		!strings.Contains(line, "user=ann") || !strings.Contains(line, "client=127.0.0.1:") {
		t.Errorf("logged %q", line)
	}
	if line := ask("SELECT internal"); !strings.Contains(line, "level=ERROR") ||
		!strings.Contains(line, `statement="SELECT internal"`) || !strings.Contains(line, `cause="a bug"`) {
		t.Errorf("logged %q", line)
	}
	if line := ask("SELECT internal_" + strings.Repeat("x", 5000)); len(line) > 1500 {
		t.Errorf("a line of %d bytes is logged", len(line))
	}
	if line := ask("SELEC 1"); line != "" {
		t.Errorf("a statement that cannot be parsed is logged: %q", line)
	}
}

// TestSeveralStatementsInOneTable: formats that hold one result refuse several statements before any is executed.
func TestSeveralStatementsInOneTable(t *testing.T) {
	h := servertest.Open(t, nil)
	executed := 0
	h.Answers.Run = func(context.Context, parse.Statement) (*sqlexec.Result, error) {
		executed++
		return servertest.One(7), nil
	}
	for _, format := range []string{"csv", "csvWithNames", "csvWithNamesAndTypes", "table", "json", "arrow", "null"} {
		h.Want(h.Do("GET", "/v1/sql?sql=drop+table+a;select+1&format="+format, ""), 400,
			"cannot output multi-statements result in")
	}
	if executed > 0 {
		t.Errorf("%d statements were executed", executed)
	}
	h.Want(h.Do("GET", "/v1/sql?sql=select+1;&format=csv", ""), 200, "7")
}
