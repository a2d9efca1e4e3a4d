// Package workload holds the queries that benchmarks run on the data of bench/gen and bench/fleet.
package workload

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"varve/bench/gen"
)

// Query is one measured statement. In lists $t stands for the table, $db for its database, $trace for the trace id of
// the set's middle row, $word for a word of a message near it that hardly any other has, $hour for a condition that
// selects one hour, $six for one that selects six; $a_hour and $b_hour are $hour of the tables a and b of a join.
type Query struct {
	Name      string
	Dashboard bool // one of the ten that a log dashboard lives on
	SQL       string
	Path      string // instead of SQL: a path below the address of the server; its rows are spans
}

var accessQueries = []Query{
	{"count of one hour", true, `SELECT count(*) FROM $t WHERE $hour`, ""},
	{"rows a minute", true, `SELECT date_bin(INTERVAL '1 minute', ts) AS t, count(*) FROM $t GROUP BY t ORDER BY t`,
		""},
	{"minute and status, one service, one hour", false,
		`SELECT date_bin(INTERVAL '1 minute', ts) AS t, status, count(*) FROM $t WHERE service = 'cart' AND $hour GROUP BY t, status ORDER BY t, status`, ""},
	{"top 10 paths", true, `SELECT path, count(*) AS n FROM $t GROUP BY path ORDER BY n DESC LIMIT 10`, ""},
	{"rows by status", false, `SELECT status, count(*) FROM $t GROUP BY status ORDER BY status`, ""},
	{"errors by service", true,
		`SELECT service, count(*) AS n FROM $t WHERE level = 'error' GROUP BY service ORDER BY n DESC`, ""},
	{"count, mean, p99 latency by service", true,
		`SELECT service, count(*), avg(latency_ms), approx_percentile_cont(latency_ms, 0.99) FROM $t GROUP BY service ORDER BY service`, ""},
	{"distinct clients", false, `SELECT count(DISTINCT client_ip) FROM $t`, ""},
	{"distinct users", true, `SELECT count(DISTINCT user_id) FROM $t`, ""},
	{"one trace id", true, `SELECT * FROM $t WHERE trace_id = '$trace'`, ""},
	{"phrase in message", false, `SELECT count(*) FROM $t WHERE message LIKE '%lease held by another node%'`, ""},
	{"rare word in message", false, `SELECT * FROM $t WHERE matches_term(message, '$word')`, ""},
	{"substring in message", true, `SELECT count(*) FROM $t WHERE message LIKE '%OfMemory%'`, ""},
	{"word in message, any case", false, `SELECT count(*) FROM $t WHERE message ILIKE '%PASSWORD%'`, ""},
	{"regular expression on path", false, `SELECT count(*) FROM $t WHERE path ~ '^/api/v[12]/orders/[0-9a-f]*77/'`, ""},
	{"latest 100, two filters", true,
		`SELECT * FROM $t WHERE service = 'cart' AND level = 'error' ORDER BY ts DESC LIMIT 100`, ""},
	{"latest 100 rows", false, `SELECT * FROM $t ORDER BY ts DESC LIMIT 100`, ""},
	{"mean latency by host and minute, one hour", true,
		`SELECT host, date_bin(INTERVAL '1 minute', ts) AS t, avg(latency_ms) FROM $t WHERE $hour GROUP BY host, t ORDER BY host, t`, ""},
	{"AND/OR over four columns", false,
		`SELECT count(*) FROM $t WHERE (service = 'payment' OR region = 'eu-west-1') AND (status >= 500 OR latency_ms > 1000)`, ""},
	{"top 10 clients by bytes", false,
		`SELECT client_ip, sum(bytes) AS b FROM $t GROUP BY client_ip ORDER BY b DESC LIMIT 10`, ""},
	{"rows and errors a minute, six hours", false,
		`SELECT date_bin(INTERVAL '1 minute', ts) AS t, count(*), sum(CASE WHEN status >= 500 THEN 1 ELSE 0 END) FROM $t WHERE $six GROUP BY t ORDER BY t`, ""},
	{"top 10 agents of 404s", false,
		`SELECT user_agent, count(*) AS n FROM $t WHERE status = 404 GROUP BY user_agent ORDER BY n DESC LIMIT 10`, ""},
	{"bytes by region and hour", false,
		`SELECT region, date_bin(INTERVAL '1 hour', ts) AS t, sum(bytes) FROM $t GROUP BY region, t ORDER BY region, t`,
		""},
}

var nestedQueries = []Query{
	{"rows", true, `SELECT count(*) FROM $t`, ""},
	{"rows by collection", true,
		`SELECT "commit.collection", count(*) AS n FROM $t GROUP BY "commit.collection" ORDER BY n DESC`, ""},
	{"top 10 accounts", true, `SELECT did, count(*) AS n FROM $t GROUP BY did ORDER BY n DESC LIMIT 10`, ""},
	{"posts by hour", true,
		`SELECT date_bin(INTERVAL '1 hour', time_us) AS t, count(*) FROM $t WHERE "commit.collection" = 'feed.post' GROUP BY t ORDER BY t`, ""},
	{"mean lag by region", true,
		`SELECT "relay.region", avg("relay.lag_ms") FROM $t GROUP BY "relay.region" ORDER BY "relay.region"`, ""},
	{"substring in post", true, `SELECT count(*) FROM $t WHERE "commit.record.text" LIKE '%coffee morning%'`, ""},
	{"latest 100", true, `SELECT * FROM $t ORDER BY time_us DESC LIMIT 100`, ""},
}

var textQueries = []Query{
	{"rows", true, `SELECT count(*) FROM $t`, ""},
	{"substring", true, `SELECT count(*) FROM $t WHERE message LIKE '% 503 %'`, ""},
	{"latest 100", true, `SELECT * FROM $t ORDER BY service_timestamp DESC LIMIT 100`, ""},
}

// traceQueries are what a user of traces waits for: one trace by its id, and the slowest ones of a service in an hour,
// by SQL and as dashboards ask for them.
var traceQueries = []Query{
	{"one trace id", true, `SELECT * FROM $t WHERE trace_id = '$trace' ORDER BY timestamp`, ""},
	{"slowest traces of a service in an hour", true,
		`SELECT trace_id, max(duration_nano) AS d FROM $t WHERE service_name = 'cart' AND $ns_hour GROUP BY trace_id ORDER BY d DESC LIMIT 20`, ""},
	{"slowest spans of a service in an hour", true,
		`SELECT timestamp, trace_id, span_name, duration_nano FROM $t WHERE service_name = 'cart' AND $ns_hour ORDER BY duration_nano DESC LIMIT 20`, ""},
	{"trace API: one trace", true, "", "/v1/jaeger/api/traces/$trace?db=$db"},
	{"trace API: traces of a service in an hour", true, "",
		"/v1/jaeger/api/traces?db=$db&service=cart&limit=20&$us_hour"},
	{"trace API: slow traces of a service in an hour", true, "",
		"/v1/jaeger/api/traces?db=$db&service=cart&minDuration=900ms&limit=20&$us_hour"},
}

// For returns the statements of a choice (none, dashboard, all, or a part of a name) over a data set.
func For(set *gen.Set, db, table, choice string) ([]Query, error) {
	all := map[string][]Query{"access": slices.Concat(accessQueries, panelQueries), "nested": nestedQueries,
		"text": textQueries, "traces": traceQueries}[set.Name]
	start, hour := gen.Start+10*time.Hour.Milliseconds(), time.Hour.Milliseconds()
	fill := strings.NewReplacer("$ns_hour",
		fmt.Sprintf("timestamp >= %d AND timestamp < %d", start*1e6, (start+hour)*1e6), "$us_hour",
		fmt.Sprintf("start=%d&end=%d", start*1e3, (start+hour)*1e3-1),
		"$trace", traceID(set), "$word", sessionOf(set), "$t", table, "$db", db, "$hour", window("", 10, 1), "$six",
		window("", 12, 6),
		"$a_hour", window("a.", 10, 1), "$b_hour", window("b.", 10, 1))
	var out []Query
	for _, q := range all {
		if choice == "all" || choice == "dashboard" && q.Dashboard ||
			choice != "dashboard" && strings.Contains(q.Name, choice) {
			q.SQL, q.Path = fill.Replace(q.SQL), fill.Replace(q.Path)
			out = append(out, q)
		}
	}
	if len(out) == 0 && choice != "none" && len(all) > 0 { // there are none for the sets of OTLP
		return nil, fmt.Errorf("-queries %s: none, dashboard, all, or a part of a name", choice)
	}
	return out, nil
}

// window is the condition that selects some hours of the access set's day, on the time of a table with its point.
func window(table string, from, hours int64) string {
	start := gen.Start + from*time.Hour.Milliseconds()
	return fmt.Sprintf("%[1]sts >= %[2]d AND %[1]sts < %[3]d", table, start, start+hours*time.Hour.Milliseconds())
}

// traceID is the trace id of the row in the middle of the set; empty when its rows have none.
func traceID(set *gen.Set) string {
	if id := set.TraceID(set.Rows / 2); id != "" {
		return id
	}
	return between(set.Append(nil, set.Rows/2, set.Rows/2+1), `"trace_id":"`, `"`)
}

// sessionOf is the session in the first message from the middle row on that names one; empty when there is none nearby.
func sessionOf(set *gen.Set) string {
	return between(set.Append(nil, set.Rows/2, min(set.Rows, set.Rows/2+1000)), `"message":"session `, " ")
}

// between returns what stands behind the first from, up to the next to; empty when from is not there.
func between(b []byte, from, to string) string {
	_, rest, _ := bytes.Cut(b, []byte(from))
	s, _, _ := bytes.Cut(rest, []byte(to))
	return string(s)
}
