package pgwire_test

import (
	"slices"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
)

// TestPGKeys: the key is a constraint where no two rows have the same, in append mode an index like others.
func TestPGKeys(t *testing.T) {
	s := clientServer(t)
	c := s.connect("ann")
	for _, one := range []struct {
		sql  string
		want []string
	}{
		{"SELECT conname, contype, conkey, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'logs'::regclass",
			[]string{`logs_pkey|p|{2,3,1}|PRIMARY KEY (host, app, ts)`}},
		{"SELECT count(*) FROM pg_constraint WHERE conrelid = 'appended'::regclass", []string{"0"}},
		{"SELECT indexrelid::regclass IS NOT NULL, indisunique, indisprimary, indkey, indnatts FROM pg_index " +
			"WHERE indrelid = 'appended'::regclass", []string{"t|f|f|2 1|2"}},
		{"SELECT c.relname, i.indkey[0], i.indkey[1], 2 = ANY(i.indkey) FROM pg_index i JOIN pg_class c " +
			"ON c.oid = i.indexrelid WHERE indrelid = 'logs'::regclass AND indisprimary", []string{"logs_pkey|2|3|t"}},
		{"SELECT pg_get_indexdef(i.indexrelid), pg_get_indexdef(i.indexrelid, 1, true) FROM pg_index i JOIN pg_class c " +
			"ON c.oid = i.indexrelid WHERE c.relname = 'logs_app_inverted_idx'",
			[]string{"CREATE INDEX logs_app_inverted_idx ON public.logs USING inverted (app)|app"}},
		{"SELECT unnest(indkey) AS k, generate_subscripts(indkey, 1) AS n FROM pg_index WHERE indrelid = 'logs'::regclass " +
			"AND indisprimary", []string{"2|0", "3|1", "1|2"}},
		{"SELECT (k).x, n FROM (SELECT information_schema._pg_expandarray(conkey) AS k, " +
			"(information_schema._pg_expandarray(conkey)).n AS n FROM pg_constraint WHERE conname = 'logs_pkey') q",
			[]string{"2|1", "3|2", "1|3"}},
		{"SELECT attname FROM pg_attribute WHERE attrelid = 'logs_pkey'::regclass ORDER BY attnum",
			[]string{"host", "app", "ts"}},
		{"SELECT indexname FROM pg_indexes WHERE tablename = 'logs' ORDER BY 1",
			[]string{"logs_app_inverted_idx", "logs_body_fulltext_idx", "logs_pkey"}},
		{"SELECT pg_get_viewdef('failed'), (SELECT definition FROM pg_views WHERE viewname = 'failed') = " +
			"pg_get_viewdef('failed')", []string{"SELECT ts, host, status FROM logs WHERE status >= 500|t"}},
		{"SELECT format_type(atttypid, atttypmod), format_type(atttypid, NULL) FROM pg_attribute WHERE attname = 'dec'",
			[]string{"numeric(10,2)|numeric"}},
		{"SELECT setting FROM pg_settings WHERE name = 'TimeZone'", []string{"UTC"}},
		{"SELECT current_setting(name) = setting FROM pg_settings WHERE name = 'DateStyle'", []string{"t"}},
		{"SELECT current_setting('absent', true) IS NULL", []string{"t"}},
		{"SELECT c.tableoid = 'pg_class'::regclass FROM pg_class c WHERE relname = 'logs'", []string{"t"}},
		{"SELECT count(*) > 20 FROM pg_get_keywords()", []string{"t"}},
	} {
		if got := s.texts(c, one.sql); !slices.Equal(got, one.want) {
			t.Errorf("%s\n got %q\nwant %q", one.sql, got, one.want)
		}
	}
	// Numbers of tables and indexes are all different, also of many tables.
	for range 40 {
		s.do(c, "CREATE TABLE many"+strings.Repeat("x", len(s.texts(c, "SELECT 1 FROM pg_tables")))+
			" (ts TIMESTAMP TIME INDEX, a STRING PRIMARY KEY SKIPPING INDEX, b STRING INVERTED INDEX)")
	}
	if got := s.texts(c, "SELECT count(*) = count(DISTINCT oid), count(*) > 160 FROM pg_class"); got[0] != "t|t" {
		t.Errorf("numbers of tables: %q", got)
	}
}

// TestPGDashboardSQL: queries as the plug-in of a dashboard writes them.
func TestPGDashboardSQL(t *testing.T) {
	s := clientServer(t)
	c := s.connect("ann")
	path := "SELECT CASE WHEN trim(s[i]) = '\"$user\"' THEN user ELSE trim(s[i]) END FROM generate_series(" +
		"array_lower(string_to_array(current_setting('search_path'),','),1), " +
		"array_upper(string_to_array(current_setting('search_path'),','),1)) as i, " +
		"string_to_array(current_setting('search_path'),',') s"
	for _, one := range []struct {
		sql  string
		want []string
	}{
		{"SELECT floor(extract(epoch from ts)/60)*60 AS \"time\", avg(took) FROM logs WHERE ts BETWEEN " +
			"'2023-11-14T22:13:00.5Z' AND '2023-11-14T22:15:00Z' GROUP BY 1 ORDER BY 1",
			[]string{"1699999980|0.5", "1700000040|1.5"}},
		{"SELECT ts AS \"time\", host AS metric, took FROM logs WHERE extract(epoch from ts) >= 1700000060 AND " +
			"extract(epoch from ts) <= 1700000060 ORDER BY 1", []string{"2023-11-14 22:14:20+00|h2|1.5"}},
		{"SELECT CASE WHEN quote_ident(table_schema) IN (" + path + ") THEN quote_ident(table_name) ELSE " +
			"quote_ident(table_schema) || '.' || quote_ident(table_name) END AS \"table\" FROM information_schema.tables " +
			"WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog') AND table_name < 'v' ORDER BY 1",
			[]string{"appended", "failed", "logs", "numbers", "other.u"}},
		{"SELECT quote_ident(column_name) AS \"column\", data_type AS \"type\" FROM information_schema.columns WHERE " +
			"CASE WHEN array_length(parse_ident('public.logs'),1) = 2 THEN quote_ident(table_schema) = " +
			"(parse_ident('public.logs'))[1] AND quote_ident(table_name) = (parse_ident('public.logs'))[2] ELSE " +
			"quote_ident(table_name) = 'logs' END AND ordinal_position = 4", []string{"status|integer"}},
		{"SELECT quote_ident('a'), quote_ident('A b'), quote_ident('q\"'), quote_literal('it''s'), " +
			"format('%I.%s: %L%%', 'A', 1, NULL)", []string{`a|"A b"|"q"""|'it''s'|"A".1: NULL%`}},
		{"SET TimeZone = 'Europe/Berlin'; SELECT to_timestamp('2023-11-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US'), " +
			"to_timestamp('2023-07-01'), to_date('14/11/2023', 'DD/MM/YYYY'), to_timestamp(0)",
			[]string{"2023-11-01 00:00:00+01|2023-07-01 00:00:00+02|2023-11-14|1970-01-01 01:00:00+01"}},
	} {
		if got := s.texts(c, one.sql); !slices.Equal(got, one.want) {
			t.Errorf("%s\n got %q\nwant %q", one.sql, got, one.want)
		}
	}
	for sql, code := range map[string]string{
		"SELECT to_timestamp('x', 'YYYY')": "22007", "SELECT to_timestamp('2023-1', 'YYYY-MM-DD Q')": "22007",
		"SELECT to_timestamp('2023-01-01 25', 'YYYY-MM-DD HH24')": "", "SELECT (raw).y FROM logs": "0A000",
		"SELECT quote_ident(" + strings.Repeat("quote_ident(", 40) + "'a'" + strings.Repeat(")", 41): "42883",
	} {
		_, err := c.PgConn().Exec(t.Context(), sql).ReadAll()
		if code != "" {
			s.refused(err, code, "")
		} else if err == nil {
			t.Errorf("%s has an answer", sql)
		}
	}
}

// TestPGBytesBeside: a text takes the type of what is beside it.
func TestPGBytesBeside(t *testing.T) {
	s := clientServer(t)
	c := s.connect("ann")
	s.do(c, `INSERT INTO logs (ts, host, raw) VALUES (1, 'b', CASE WHEN 1 = 1 THEN '\x0102' ELSE '\x03' END)`)
	for sql, want := range map[string]string{
		`SELECT host FROM logs WHERE raw = '\x00ff'`:                                         "h1",
		`SELECT host FROM logs WHERE '\x0102' = raw`:                                         "b",
		`SELECT count(*) FROM logs WHERE raw IN ('\x00ff', '\x0102', '\001')`:                "2",
		`SELECT count(*) FROM logs WHERE raw BETWEEN '\x00' AND '\x01'`:                      "1",
		`SELECT count(*) FROM (SELECT raw AS r FROM logs) q WHERE r <> '\x00ff'`:             "1",
		`SELECT DISTINCT coalesce(raw, '\x07') FROM logs WHERE host = 'h2'`:                  `\x07`,
		`SELECT CASE WHEN host = 'b' THEN raw ELSE '\x05' END FROM logs ORDER BY ts LIMIT 1`: `\x0102`,
		`SELECT count(*) FROM logs WHERE body = '\x00ff'`:                                    "0",
		`SELECT '\x00ff'`: `\x00ff`,
	} {
		if got := s.texts(c, sql); len(got) != 1 || got[0] != want {
			t.Errorf("%s\n got %q\nwant %q", sql, got, want)
		}
		var got any
		if err := c.QueryRow(t.Context(), sql).Scan(&got); err != nil { // the extended protocol
			t.Errorf("%s: %v", sql, err)
		}
	}
	_, err := c.Exec(t.Context(), `SELECT host FROM logs WHERE raw = '\xzz'`)
	s.refused(err, "22P02", "")
}

// TestPGAdmin: a tool with a tree of objects asks these when it connects.
func TestPGAdmin(t *testing.T) {
	users := servertest.Users(t, "static_user_provider:cmd:ann:ro=pass")
	s := startPG(t, func(o *server.Options) { o.Users = users })
	c := s.connect("ann:pass")
	for sql, want := range map[string]string{
		"SELECT set_config('bytea_output','hex',false) FROM pg_show_all_settings() WHERE name = 'bytea_output'": "hex",
		"SELECT set_config('application_name','x',false) FROM pg_settings WHERE name = 'application_name'":      "x",
		`SELECT roles.rolname, roles.rolsuper, CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreatedb END AS can, CASE
			WHEN 'pg_signal_backend'=ANY(ARRAY(WITH RECURSIVE cte AS (
			SELECT pg_roles.oid,pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = roles.oid
			UNION ALL SELECT m.roleid,pgr.rolname FROM cte cte_1 JOIN pg_auth_members m ON m.member = cte_1.oid
			JOIN pg_roles pgr ON pgr.oid = m.roleid) SELECT rolname  FROM cte)) THEN True ELSE False END AS signals
			FROM pg_catalog.pg_roles as roles WHERE rolname = current_user`: "ann|f|f|f",
		`SELECT db.datname, ta.spcname, db.datallowconn, has_database_privilege(db.oid, 'CREATE'), descr.description
			FROM pg_catalog.pg_database db LEFT OUTER JOIN pg_catalog.pg_tablespace ta ON db.dattablespace = ta.oid
			LEFT OUTER JOIN pg_catalog.pg_shdescription descr ON (db.oid=descr.objoid AND
			descr.classoid='pg_database'::regclass) WHERE db.oid > 16383::OID`: "service|pg_default|t|f|NULL",
		`SELECT 'stats' AS name, pg_catalog.row_to_json(t) AS data FROM (SELECT (SELECT count(*) FROM
			pg_catalog.pg_stat_activity WHERE state = 'idle') AS "Idle") t`: `stats|{"Idle":0}`,
		"SELECT gss_authenticated FROM pg_stat_gssapi WHERE pid = pg_backend_pid() UNION ALL SELECT false": "f",
		"SELECT usename, array_to_string(pg_blocking_pids(pid), ',') FROM pg_stat_activity":                "ann|",
		"SELECT count(*) FROM pg_catalog.pg_locks l LEFT JOIN pg_database d ON l.database = d.oid":         "0",
	} {
		if got := s.texts(c, sql); len(got) != 1 || got[0] != want {
			t.Errorf("%s\n got %q\nwant %q", sql, got, want)
		}
	}
	if got := s.texts(c, "SELECT set_config('a','b',false) FROM pg_settings WHERE name = 'absent'"); len(got) > 0 {
		t.Errorf("a setting that is not there has %q", got)
	}
	if got := s.texts(c, "SHOW application_name"); got[0] != "x" {
		t.Errorf("set_config beside pg_settings left %q", got)
	}
}

// TestPGNamesOfCalls: a column that is a call has the name of its function.
func TestPGNamesOfCalls(t *testing.T) {
	s := clientServer(t)
	rows, err := s.connect("ann").Query(t.Context(), "SELECT count(*), max(status), now(), version(), current_database(), "+
		"CASE WHEN true THEN 1 END, count(*) AS \"f(x)\" FROM logs")
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	var got []string
	for _, f := range rows.FieldDescriptions() {
		got = append(got, f.Name)
	}
	want := []string{"count", "max", "now", "version", "current_database", "case", "f(x)"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
