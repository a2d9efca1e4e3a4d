package workload

import (
	"fmt"
	"strings"
)

// Statement is one statement of the mode analytics, in the dialects of those who answer it. In the texts $t stands for
// the table of events, $u for users, $h for hosts, $r for releases.
type Statement struct {
	Name   string
	SQL    string
	DuckDB string // empty: as SQL
	ChDB   string // empty: as SQL
	// Tolerance is how far numbers of answers may lie apart, relative to the greater; 0: as far as rounding explains.
	Tolerance float64
}

// For returns the text for an engine: varve, duckdb or chdb.
func (s *Statement) For(engine string) string {
	switch {
	case engine == "duckdb" && s.DuckDB != "":
		return s.DuckDB
	case engine == "chdb" && s.ChDB != "":
		return s.ChDB
	}
	return s.SQL
}

// Analytics returns the statements whose name contains choice, or all, over a table of events named so; the names of
// its dimension tables begin with that name.
func Analytics(table, choice string) ([]Statement, error) {
	fill := strings.NewReplacer("$t", table, "$u", table+"_users", "$h", table+"_hosts", "$r", table+"_releases")
	var out []Statement
	for _, s := range analyticsStatements() {
		if choice == "all" || choice == "dashboard" || strings.Contains(s.Name, choice) {
			s.SQL, s.DuckDB, s.ChDB = fill.Replace(s.SQL), fill.Replace(s.DuckDB), fill.Replace(s.ChDB)
			out = append(out, s)
		}
	}
	if len(out) == 0 && choice != "none" {
		return nil, fmt.Errorf("-queries %s: none, all, or a part of a name", choice)
	}
	return out, nil
}

// analyticsStatements are the statements in the order of a report.
func analyticsStatements() []Statement {
	var all []Statement
	for _, part := range [][]Statement{plainStatements, keyStatements, textStatements, joinStatements,
		windowStatements} {
		all = append(all, part...)
	}
	return all
}

// manySums is the sums of width, width + 1 and so on to width + 89.
func manySums() string {
	var b strings.Builder
	b.WriteString("SELECT sum(width)")
	for i := 1; i < 90; i++ {
		fmt.Fprintf(&b, ", sum(width + %d)", i)
	}
	return b.String() + " FROM $t"
}

// plainStatements read all rows, or those of a filter, into few groups.
var plainStatements = []Statement{
	{Name: "count with a filter", SQL: `SELECT count(*) FROM $t WHERE status <> 200`},
	{Name: "plain sums and means", SQL: `SELECT sum(bytes), count(*), avg(duration_ms), avg(width) FROM $t`},
	{Name: "mean of wide integers", SQL: `SELECT avg(user_id), avg(client_ip) FROM $t`},
	{Name: "sums of x to x + 89", SQL: manySums()},
	{Name: "least and greatest", SQL: `SELECT min(ts), max(ts), min(duration_ms), max(bytes), min(path) FROM $t`},
	{Name: "rows by status", SQL: `SELECT status, count(*) AS n FROM $t WHERE status <> 200 GROUP BY status
		ORDER BY n DESC, status`},
	{Name: "rows and means by hour", SQL: `SELECT date_trunc('hour', ts) AS h, count(*), avg(duration_ms), sum(bytes)
		FROM $t GROUP BY h ORDER BY h`},
	{Name: "rows a minute of one host's bots", SQL: `SELECT date_trunc('minute', ts) AS m, count(*) AS n FROM $t
		WHERE host = 'frontend-000.web.example' AND is_bot = true GROUP BY m ORDER BY m LIMIT 100`},
	{Name: "filters over six columns", SQL: `SELECT path, count(*) AS n FROM $t
		WHERE ts >= '2026-11-01 06:00:00' AND ts < '2026-11-01 12:00:00' AND is_bot = false AND is_mobile = true
		AND country IN ('us', 'de', 'fr') AND status < 400 GROUP BY path ORDER BY n DESC, path LIMIT 10`},
	{Name: "events of one user", SQL: `SELECT count(*), max(ts) FROM $t WHERE user_id = 1234567`},
	{Name: "distinct users", SQL: `SELECT count(DISTINCT user_id) FROM $t`},
	{Name: "distinct queries", SQL: `SELECT count(DISTINCT query) FROM $t`},
	{Name: "distinct users by country", SQL: `SELECT country, count(DISTINCT user_id) AS u FROM $t GROUP BY country
		ORDER BY u DESC, country LIMIT 10`},
	{Name: "four aggregates and distinct users by city", SQL: `SELECT city, sum(bytes), count(*) AS n, avg(width),
		count(DISTINCT user_id) FROM $t GROUP BY city ORDER BY n DESC, city LIMIT 10`},
	{Name: "approx_distinct by host", Tolerance: 0.05,
		SQL:    `SELECT host, approx_distinct(user_id) AS u FROM $t GROUP BY host ORDER BY host`,
		DuckDB: `SELECT host, approx_count_distinct(user_id) AS u FROM $t GROUP BY host ORDER BY host`,
		ChDB:   `SELECT host, uniqHLL12(user_id) AS u FROM $t GROUP BY host ORDER BY host`},
	{Name: "approx_distinct by city and hour", Tolerance: 0.05,
		SQL: `SELECT city, date_trunc('hour', ts) AS h, approx_distinct(session_id) AS u FROM $t GROUP BY city, h
			ORDER BY city, h LIMIT 1000`,
		DuckDB: `SELECT city, date_trunc('hour', ts) AS h, approx_count_distinct(session_id) AS u FROM $t GROUP BY city, h
			ORDER BY city, h LIMIT 1000`,
		ChDB: `SELECT city, date_trunc('hour', ts) AS h, uniqHLL12(session_id) AS u FROM $t GROUP BY city, h
			ORDER BY city, h LIMIT 1000`},
}

// keyStatements make many groups.
var keyStatements = []Statement{
	{Name: "top users", SQL: `SELECT user_id, count(*) AS n FROM $t GROUP BY user_id ORDER BY n DESC, user_id LIMIT 10`},
	{Name: "top paths", SQL: `SELECT path, count(*) AS n FROM $t GROUP BY path ORDER BY n DESC, path LIMIT 10`},
	{Name: "top queries", SQL: `SELECT query, count(*) AS n FROM $t WHERE query <> '' GROUP BY query
		ORDER BY n DESC, query LIMIT 10`},
	{Name: "top hosts and paths", SQL: `SELECT host, path, count(*) AS n, avg(duration_ms) FROM $t GROUP BY host, path
		ORDER BY n DESC, host, path LIMIT 10`},
	{Name: "two keys: user and query", SQL: `SELECT user_id, query, count(*) AS n FROM $t GROUP BY user_id, query
		ORDER BY n DESC, user_id, query LIMIT 10`},
	{Name: "two keys: session and address", SQL: `SELECT session_id, client_ip, count(*) AS n, sum(bytes), avg(width)
		FROM $t GROUP BY session_id, client_ip ORDER BY n DESC, session_id LIMIT 10`},
	{Name: "three keys: user, minute and query",
		SQL: `SELECT user_id, date_trunc('minute', ts) AS m, query, count(*) AS n FROM $t GROUP BY user_id, m, query
			ORDER BY n DESC, user_id, m, query LIMIT 10`},
	{Name: "a, a-1, a-2, a-3", SQL: `SELECT client_ip, client_ip - 1, client_ip - 2, client_ip - 3, count(*) AS n FROM $t
		GROUP BY client_ip, client_ip - 1, client_ip - 2, client_ip - 3 ORDER BY n DESC, client_ip LIMIT 10`},
	{Name: "a constant and a text", SQL: `SELECT 1, path, count(*) AS n FROM $t GROUP BY 1, path
		ORDER BY n DESC, path LIMIT 10`},
	{Name: "many groups with HAVING", SQL: `SELECT count(*), sum(n) FROM (SELECT session_id, count(*) AS n FROM $t
		GROUP BY session_id HAVING count(*) > 5) AS s`},
}

// textStatements look into texts and JSON.
var textStatements = []Statement{
	{Name: "LIKE on path", SQL: `SELECT count(*) FROM $t WHERE path LIKE '%garden%'`},
	{Name: "LIKE on path by query", SQL: `SELECT query, min(path), count(*) AS n FROM $t
		WHERE path LIKE '%/blog/%' AND query <> '' GROUP BY query ORDER BY n DESC, query LIMIT 10`},
	{Name: "regular expression on JSON text", SQL: `SELECT count(*) FROM $t WHERE props ~ '"request":"[0-9a-f]*7f"'`,
		DuckDB: `SELECT count(*) FROM $t WHERE regexp_matches(props, '"request":"[0-9a-f]*7f"')`,
		ChDB:   `SELECT count(*) FROM $t WHERE match(props, '"request":"[0-9a-f]*7f"')`},
	{Name: "LIKE on JSON text", SQL: `SELECT count(*) FROM $t WHERE props LIKE '%"plan":"pro"%"beta":true%'`},
	{Name: "LIKE on j::STRING",
		SQL:  `SELECT count(*) FROM $t WHERE (props::JSON)::STRING LIKE '%"items":11%'`,
		ChDB: `SELECT count(*) FROM $t WHERE toString(props) LIKE '%"items":11%'`},
	{Name: "json_get_int", SQL: `SELECT sum(json_get_int(props, 'cart.items')), count(*) FROM $t`,
		DuckDB: `SELECT sum((props ->> '$.cart.items')::BIGINT), count(*) FROM $t`,
		ChDB:   `SELECT sum(JSONExtractInt(props, 'cart', 'items')), count(*) FROM $t`},
	{Name: "json_get_string and json_get_float by plan",
		SQL: `SELECT json_get_string(props, 'plan') AS p, avg(json_get_float(props, 'cart.total')) FROM $t
			GROUP BY p ORDER BY p`,
		DuckDB: `SELECT props ->> '$.plan' AS p, avg((props ->> '$.cart.total')::DOUBLE) FROM $t GROUP BY p ORDER BY p`,
		ChDB: `SELECT JSONExtractString(props, 'plan') AS p, avg(JSONExtractFloat(props, 'cart', 'total')) FROM $t
			GROUP BY p ORDER BY p`},
	{Name: "::JSON -> over text", SQL: `SELECT props::JSON -> 'cart' ->> 'items' AS k, count(*) AS n FROM $t
		GROUP BY k ORDER BY k`,
		DuckDB: `SELECT props::JSON -> 'cart' ->> 'items' AS k, count(*) AS n FROM $t GROUP BY k ORDER BY k`,
		ChDB:   `SELECT JSONExtractRaw(props, 'cart', 'items') AS k, count(*) AS n FROM $t GROUP BY k ORDER BY k`},
	{Name: "regexp_replace to domains",
		SQL: `SELECT regexp_replace(referrer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') AS k, avg(length(referrer)),
			count(*) AS n, min(referrer) FROM $t WHERE referrer <> '' GROUP BY k HAVING count(*) > 100
			ORDER BY n DESC, k LIMIT 25`,
		ChDB: `SELECT replaceRegexpOne(referrer, '^https?://(?:www\\.)?([^/]+)/.*$', '\\1') AS k, avg(length(referrer)),
			count(*) AS n, min(referrer) FROM $t WHERE referrer <> '' GROUP BY k HAVING count(*) > 100
			ORDER BY n DESC, k LIMIT 25`},
	{Name: "length by host", SQL: `SELECT host, avg(length(path)) AS l, count(*) AS n FROM $t WHERE path <> ''
		GROUP BY host HAVING count(*) > 1000 ORDER BY l DESC, host LIMIT 25`},
	{Name: "text functions", SQL: `SELECT upper(substr(title, 1, 8)) AS k, count(*) AS n, max(concat(os, '/', browser))
		FROM $t GROUP BY k ORDER BY n DESC, k LIMIT 10`},
	{Name: "split_part of paths", SQL: `SELECT split_part(path, '/', 2) AS k, count(*) AS n FROM $t GROUP BY k ORDER BY k`,
		ChDB: `SELECT splitByChar('/', path)[2] AS k, count(*) AS n FROM $t GROUP BY k ORDER BY k`},
}

// joinStatements join, and ask in subqueries.
var joinStatements = []Statement{
	{Name: "scalar subquery: the latest before", SQL: `SELECT r.host, r.build, (SELECT e.duration_ms FROM $t e
			WHERE e.host = r.host AND e.ts <= r.ts ORDER BY e.ts DESC LIMIT 1) AS d FROM $r r`,
		ChDB: `SELECT r.host, r.build, e.duration_ms AS d FROM $r r ASOF LEFT JOIN $t e
			ON r.host = e.host AND r.ts >= e.ts SETTINGS join_use_nulls = 1`},
	{Name: "lateral subquery: the latest before", SQL: `SELECT r.host, l.path, l.bytes FROM $r r, LATERAL (
			SELECT e.path, e.bytes FROM $t e WHERE e.host = r.host AND e.ts < r.ts ORDER BY e.ts DESC LIMIT 1) AS l`,
		ChDB: `SELECT r.host, e.path, e.bytes FROM $r r ASOF JOIN $t e ON r.host = e.host AND r.ts > e.ts`},
	{Name: "IN (SELECT ..) of 143k integers", SQL: `SELECT count(*), sum(bytes) FROM $t
		WHERE user_id IN (SELECT user_id FROM $u WHERE bucket = 3)`},
	{Name: "LEFT JOIN, a condition on the right side",
		SQL: `SELECT count(*), count(u.user_id), sum(u.score) FROM $t e LEFT JOIN $u u
			ON e.user_id = u.user_id AND u.plan = 'pro'`,
		ChDB: `SELECT count(*), count(u.user_id), sum(u.score) FROM $t e LEFT JOIN $u u
			ON e.user_id = u.user_id AND u.plan = 'pro' SETTINGS join_use_nulls = 1`},
	{Name: "join with a small table", SQL: `SELECT h.team, h.tier, count(*) AS n, avg(e.duration_ms) FROM $t e
		JOIN $h h ON e.host = h.host GROUP BY h.team, h.tier ORDER BY h.team, h.tier`},
	{Name: "join with a large table", SQL: `SELECT u.plan, u.home, count(*) AS n, sum(e.bytes) FROM $t e
		JOIN $u u ON e.user_id = u.user_id GROUP BY u.plan, u.home ORDER BY n DESC, u.plan, u.home LIMIT 20`},
	{Name: "ASOF join", SQL: `SELECT r.build, count(*) AS n, avg(e.duration_ms) FROM $t e ASOF JOIN $r r
			ON e.host = r.host AND e.ts >= r.ts GROUP BY r.build ORDER BY n DESC, r.build LIMIT 10`},
}

// windowStatements order rows, within windows and without. Their outer aggregates keep answers short.
var windowStatements = []Statement{
	{Name: "row_number by host", SQL: `SELECT sum(n), max(n) FROM (SELECT row_number() OVER (PARTITION BY host
		ORDER BY ts) AS n FROM $t) AS s`},
	{Name: "RANGE window of a minute", SQL: `SELECT max(n), sum(b) FROM (SELECT count(*) OVER w AS n,
			max(bytes) OVER w AS b FROM $t WHERE ts < '2026-11-01 06:00:00'
			WINDOW w AS (PARTITION BY host ORDER BY ts RANGE BETWEEN INTERVAL '1 minute' PRECEDING AND CURRENT ROW)) AS s`,
		ChDB: `SELECT max(n), sum(b) FROM (SELECT count(*) OVER w AS n, max(bytes) OVER w AS b
			FROM (SELECT host, bytes, toInt64(toUnixTimestamp64Micro(ts)) AS us FROM $t WHERE ts < '2026-11-01 06:00:00')
			WINDOW w AS (PARTITION BY host ORDER BY us RANGE BETWEEN 60000000 PRECEDING AND CURRENT ROW)) AS s`},
	{Name: "sessions: a sum PARTITION BY text", SQL: `SELECT max(s), count(*) FROM (SELECT sum(bytes) OVER (
		PARTITION BY session_id ORDER BY ts) AS s FROM $t) AS x`},
	{Name: "lag by session", SQL: `SELECT count(*), count(b) FROM (SELECT path, lag(path) OVER (
			PARTITION BY session_id ORDER BY ts) AS b FROM $t) AS x`,
		ChDB: `SELECT count(*), count(b) FROM (SELECT path, lagInFrame(toNullable(path)) OVER (
			PARTITION BY session_id ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS b FROM $t) AS x`},
	{Name: "OFFSET of a million", SQL: `SELECT event_id, bytes FROM $t ORDER BY bytes DESC, event_id
		LIMIT 10 OFFSET 1000000`},
	{Name: "top 100 of all rows", SQL: `SELECT event_id, duration_ms, path FROM $t ORDER BY duration_ms DESC, event_id
		LIMIT 100`},
	{Name: "top 3 of each country", SQL: `SELECT country, event_id, bytes FROM (SELECT country, event_id, bytes,
		row_number() OVER (PARTITION BY country ORDER BY bytes DESC, event_id) AS n FROM $t) AS s WHERE n <= 3`},
	{Name: "first queries in time", SQL: `SELECT query, ts FROM $t WHERE query <> '' ORDER BY ts LIMIT 10`},
}
