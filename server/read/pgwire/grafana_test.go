package pgwire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// searchPath is the condition by which Grafana finds the tables that need no schema before their names.
const searchPath = ` quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
  FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1),
    array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
    string_to_array(current_setting('search_path'),',') s)`

// columnsOf are the columns of a table as Grafana's query builder asks for them.
func columnsOf(table string) string {
	return strings.ReplaceAll(`SELECT quote_ident(column_name) AS "column", data_type AS "type"
  FROM information_schema.columns WHERE CASE WHEN array_length(parse_ident(?),1) = 2
    THEN quote_ident(table_schema) = (parse_ident(?))[1] AND quote_ident(table_name) = (parse_ident(?))[2]
    ELSE quote_ident(table_name) = ? AND`+searchPath+` END`, "?", "'"+table+"'")
}

// TestPGGrafana: what Grafana's data source for PostgreSQL asks: when it is set up, in the query builder, and in
// panels, whose macros it expands before it sends them. All goes by the simple protocol.
func TestPGGrafana(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, `INSERT INTO t VALUES ('2023-11-14T22:13:20.5Z','a',1.5,1), ('2023-11-14T22:14:20Z','b',2.5,2),
		('2023-11-14T22:18:20Z','a',3,3)`, `CREATE DATABASE "other"`,
		`CREATE TABLE other."Odd-Name" (ts TIMESTAMP(3) TIME INDEX, seconds BIGINT, nanos BIGINT)`,
		`INSERT INTO other."Odd-Name" VALUES (0, 1700000000, 1700000000000000000)`)
	const day = `ts BETWEEN '2023-11-14T00:00:00Z' AND '2023-11-14T23:59:59.999Z'`
	for _, one := range []struct {
		what, sql string
		want      []string
	}{
		{"version", "SELECT current_setting('server_version_num')::int/100 as version", []string{"1500"}},
		{"no time-series extension", "SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'", nil},
		{"schemas", `SELECT schema_name AS "name" FROM information_schema.schemata WHERE schema_name NOT IN (
			'information_schema', 'pg_catalog', 'pg_toast') AND schema_name NOT LIKE 'service%' ORDER BY schema_name`,
			[]string{"other", "public"}},
		{"tables", `SELECT CASE WHEN` + searchPath + ` THEN quote_ident(table_name)
			ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table" FROM information_schema.tables
			WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', 'service_private')
			ORDER BY CASE WHEN` + searchPath + ` THEN 0 ELSE 1 END, 1`, []string{"numbers", "t", `other."Odd-Name"`}},
		{"tables of a schema", `SELECT quote_ident(table_name) AS "table" FROM information_schema.tables
			WHERE quote_ident(table_schema) = 'other' ORDER BY 1`, []string{`"Odd-Name"`}},
		{"$__timeFilter", `SELECT ts AS "time", v FROM t WHERE ts BETWEEN '2023-11-14T22:13:20.5Z' AND
			'2023-11-14T22:14:20.123Z' ORDER BY 1`, []string{"2023-11-14 22:13:20.5+00|1.5", "2023-11-14 22:14:20+00|2.5"}},
		{"$__timeFrom, $__timeTo", `SELECT count(*) FROM t WHERE ts > '2023-11-14T22:14:00Z' AND
			ts < '2023-11-14T23:00:00.5Z'`, []string{"2"}},
		{"$__timeEpoch", `SELECT extract(epoch from ts) as "time", v FROM t WHERE ` + day + ` ORDER BY 1 LIMIT 1`,
			[]string{"1.7000000005e+09|1.5"}},
		{"$__timeGroupAlias with a metric", `SELECT floor(extract(epoch from ts)/300)*300 AS "time", host AS metric,
			avg(v) AS v FROM t WHERE ` + day + ` GROUP BY 1, host ORDER BY 1, 2`,
			[]string{"1699999800|a|1.5", "1699999800|b|2.5", "1700000100|a|3"}},
		{"grouped by the alias", `SELECT floor(extract(epoch from ts)/0.5)*0.5 AS "time", sum(v) FROM t
			GROUP BY "time" ORDER BY "time"`, []string{"1.7000000005e+09|1.5", "1700000060|2.5", "1700000300|3"}},
		{"$__timeGroup of the extension", `SELECT time_bucket('300.000s',ts) AS "time", avg(v) AS v FROM t
			GROUP BY 1 ORDER BY 1`, []string{"2023-11-14 22:10:00+00|2", "2023-11-14 22:15:00+00|3"}},
		{"$__timeGroup in a window", `SELECT ts AS "time", sum(v) OVER (ORDER BY floor(extract(epoch from ts)/60)*60)
			FROM t ORDER BY 1`, []string{"2023-11-14 22:13:20.5+00|1.5", "2023-11-14 22:14:20+00|4",
			"2023-11-14 22:18:20+00|7"}},
		{"$__unixEpochFilter, $__unixEpochGroup", `SELECT floor((seconds)/60)*60 AS "time", count(*) AS n
			FROM other."Odd-Name" WHERE seconds >= 1699999999 AND seconds <= 1700003600 GROUP BY 1`,
			[]string{"1699999980|1"}},
		{"$__unixEpochNanoFilter", `SELECT nanos FROM other."Odd-Name" WHERE nanos >= 1699999999000000000 AND
			nanos <= 1700003600000000000`, []string{"1700000000000000000"}},
		{"variable", "SELECT DISTINCT host FROM t ORDER BY 1", []string{"a", "b"}},
		{"variable with texts", `SELECT host AS __text, host AS __value FROM t WHERE host LIKE '%' GROUP BY host
			ORDER BY 1`, []string{"a|a", "b|b"}},
		{"variable of several values", "SELECT count(*) FROM t WHERE host IN ('a','b')", []string{"3"}},
		{"query builder", `SELECT AVG(v) AS "avg", COUNT("host") FROM public.t WHERE ("host" IN ('a', 'b') AND v >= 1)
			GROUP BY "host" ORDER BY AVG(v) DESC LIMIT 50 `, []string{"2.5|1", "2.25|2"}},
		{"annotations", `SELECT extract(epoch from ts) AS time, extract(epoch from ts) + 60 AS timeend, host AS text,
			'x,y' AS tags FROM t WHERE ` + day + ` AND host = 'b'`, []string{"1700000060|1700000120|b|x,y"}},
		{"values of columns", `SELECT 'host' AS col_name, "host"::text AS val FROM (SELECT DISTINCT "host" FROM "public"."t"
			WHERE "host" IS NOT NULL ORDER BY "host" LIMIT 100) sub_0 UNION ALL SELECT 'n' AS col_name, "n"::text AS val
			FROM (SELECT DISTINCT "n" FROM "public"."t" WHERE "n" IS NOT NULL ORDER BY "n" LIMIT 100) sub_1`,
			[]string{"host|a", "host|b", "n|1", "n|2", "n|3"}},
	} {
		got := s.texts(c, one.sql)
		if one.what == "values of columns" {
			slices.Sort(got) // of the parts of a UNION ALL
		}
		if !slices.Equal(got, one.want) {
			t.Errorf("%s: %s\n got %q\nwant %q", one.what, one.sql, got, one.want)
		}
	}
	for _, table := range []string{"t", "public.t"} {
		want := []string{"ts|timestamp with time zone", "host|text", "v|double precision", "n|integer"}
		if got := s.texts(c, columnsOf(table)); !slices.Equal(got, want) {
			t.Errorf("columns of %s: %q, want %q", table, got, want)
		}
	}
}

// TestPGGrafanaHealth: the health check is a statement that is a comment alone, or a semicolon in older versions.
func TestPGGrafanaHealth(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"-- ping", ";"} {
		if results, err := c.PgConn().Exec(t.Context(), text).ReadAll(); err != nil || len(results) > 1 ||
			len(results) == 1 && len(results[0].Rows) > 0 {
			t.Errorf("%q: %v, %v", text, results, err)
		}
	}
}

// TestPGGrafanaTypes: Grafana makes fields of columns by the numbers of their types. The time of a panel has to be a
// time, or a number of seconds.
func TestPGGrafanaTypes(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	s.do(c, pgTable, "INSERT INTO t VALUES ('2023-11-14T22:13:20.5Z','a',1.5,1)")
	results, err := c.PgConn().Exec(t.Context(), `SELECT ts AS "time", host AS metric, v, n, count(*) AS c,
		floor(extract(epoch from ts)/300)*300 AS g, v > 1 AS b FROM t GROUP BY ts, host, v, n`).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []uint32
	for _, f := range results[0].FieldDescriptions {
		got = append(got, f.DataTypeOID)
	}
	if want := []uint32{pgtype.TimestamptzOID, pgtype.TextOID, pgtype.Float8OID, pgtype.Int4OID, pgtype.Int8OID,
		pgtype.Float8OID, pgtype.BoolOID}; !slices.Equal(got, want) {
		t.Errorf("types %v, want %v", got, want)
	}
	rows, err := c.Query(t.Context(), `SELECT table_name FROM information_schema.tables
		WHERE table_schema = $1 AND table_type IN ('BASE TABLE', 'VIEW') ORDER BY table_name`, "public")
	if err != nil {
		t.Fatal(err)
	}
	if tables, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || !slices.Equal(tables, []string{"t"}) {
		t.Errorf("tables %q, %v", tables, err)
	}
	rows, err = c.Query(t.Context(), `SELECT column_name, data_type, udt_name, numeric_precision, numeric_scale
		FROM information_schema.columns c WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position`,
		"public", "t")
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var name, shown, short string
		var precision, scale *int
		err := row.Scan(&name, &shown, &short, &precision, &scale)
		return name + " " + short, err
	})
	if want := []string{"ts timestamptz", "host text", "v float8", "n int4"}; err != nil ||
		!slices.Equal(columns, want) {
		t.Errorf("columns %q, %v, want %q", columns, err, want)
	}
}
