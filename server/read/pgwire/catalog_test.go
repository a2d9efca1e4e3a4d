package pgwire_test

import (
	"context"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestPGCatalog(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, "CREATE DATABASE other", "CREATE TABLE other.u (ts TIMESTAMP TIME INDEX, d DECIMAL(10, 2) DEFAULT 1)",
		"CREATE VIEW w AS SELECT host, n + 1 AS m FROM t")
	for _, one := range []struct {
		sql  string
		want []string
	}{
		{"SELECT c.relname, c.relkind FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace " +
			"WHERE n.nspname = 'public' ORDER BY 1", []string{"numbers|v", "t|r", "t_pkey|i", "w|v"}},
		{"SELECT relname FROM pg_class WHERE pg_catalog.pg_table_is_visible(oid) AND relname OPERATOR(pg_catalog.~) '^[tu]$' " +
			"COLLATE pg_catalog.default ORDER BY 1", []string{"t"}},
		{"SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass " +
			"AND attnum > 0 ORDER BY attnum", []string{"ts|timestamp with time zone|t", "host|text|f",
			"v|double precision|f", "n|integer|f"}},
		{"SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d WHERE d.adrelid = 'other.u'::regclass",
			[]string{"1"}},
		{"SELECT (atttypmod - 4) / 65536, (atttypmod - 4) % 65536 FROM pg_attribute WHERE attname = 'd'",
			[]string{"10|2"}},
		{"SELECT typname FROM pg_type WHERE oid = 'timestamptz'::regtype", []string{"timestamptz"}},
		{"SELECT t.typname FROM pg_type e JOIN pg_type t ON t.oid = e.typarray WHERE e.typname = 'int8'",
			[]string{"_int8"}},
		{"SELECT 1184::regtype::text, 'absent'::regclass IS NULL, to_regtype('absent') IS NULL",
			[]string{"timestamp with time zone|t|t"}},
		{"SELECT datname FROM pg_database", []string{"service"}},
		{"SELECT current_database(), current_schemas(false), has_table_privilege('t', 'SELECT')",
			[]string{"service|{public}|t"}},
		{"SELECT current_setting('TimeZone'), set_config('application_name', 'x', false)", []string{"UTC|x"}},
		{"SELECT current_setting('application_name')", []string{"x"}},
		{"SELECT viewname FROM pg_views WHERE schemaname = 'public'", []string{"w"}},
	} {
		if got := s.texts(c, one.sql); !slices.Equal(got, one.want) {
			t.Errorf("%s\n got %q\nwant %q", one.sql, got, one.want)
		}
	}
}

func TestPGSavepoints(t *testing.T) {
	s := startPG(t, nil)
	var notices []string
	config, err := pgx.ParseConfig(s.url("ann", "sslmode=disable"))
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Message) }
	c, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	s.do(c, pgTable, "BEGIN", "SAVEPOINT a")
	_, err = c.PgConn().Exec(t.Context(), "SELECT x FROM t").ReadAll()
	s.refused(err, "42703", "x")
	s.do(c, "ROLLBACK TO SAVEPOINT a", "SELECT 1")
	if len(notices) > 0 {
		t.Errorf("nothing was written, and ROLLBACK TO said %q", notices)
	}
	s.do(c, "INSERT INTO t VALUES (1, 'a', 1, 1)", "ROLLBACK TO a")
	if len(notices) != 1 || !strings.Contains(notices[0], "1 statements") {
		t.Errorf("ROLLBACK TO after a write said %q", notices)
	}
	s.do(c, "RELEASE a")
	_, err = c.PgConn().Exec(t.Context(), "ROLLBACK TO a").ReadAll()
	s.refused(err, "3B001", "does not exist")
}

// TestPGShell asks with psql what its users ask first.
func TestPGShell(t *testing.T) {
	psql := debian(t, "psql")
	if psql == "" {
		return
	}
	s := startPG(t, nil)
	s.do(s.connect("ann"), pgTable, "INSERT INTO t VALUES (0, 'a', 1.5, NULL), (1000000, 'b c', NULL, 3)")
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct{ command, want string }{
		{"SELECT * FROM t ORDER BY ts", "1970-01-01 00:00:01+00 | b c  |     | 3"},
		{`\dt`, "public | t    | table | ann"},
		{`\d`, "public | numbers | view  | ann"},
		{`\d t`, "ts     | timestamp with time zone |           | not null |"},
		{`\d+ t`, "n      | integer"},
		{`\l`, "service | ann   | UTF8"},
		{`\dn`, "public"},
		{`\df`, "(0 rows)"},
		{`\timing`, "Timing is on"},
		{`\x \\ SELECT 1 AS one`, "one | 1"},
		{`\set FETCH_COUNT 7 \\ SELECT count(*) FROM numbers`, "100"},
		{`\set FETCH_COUNT 7 \\ SELECT number FROM numbers ORDER BY 1`, "(100 rows)"},
		{"SELECT $$it's$$ || $a$b$a$", "it'sb"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		cmd := exec.CommandContext(ctx, psql, "-X", "-w", "-d",
			"host="+host+" port="+port+" user=ann dbname=public sslmode=disable")
		cmd.Env, cmd.Stdin = []string{"PATH=/usr/bin:/bin", "PAGER="}, strings.NewReader(one.command+"\n")
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil || !strings.Contains(string(out), one.want) || strings.Contains(string(out), "ERROR") {
			t.Errorf("%s: %v\n got %s\nwant %s", one.command, err, out, one.want)
		}
	}
}
