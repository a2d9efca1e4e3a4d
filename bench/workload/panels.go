package workload

// panelQueries are the kinds of statement that dashboards send, over access rows: a log list with its histogram and its
// filters, rates, percentiles, gauges by host, spans. Requests stand for spans and hosts for series. The two kinds that
// are written in the metrics language belong to the metrics sets.
var panelQueries = []Query{
	{"panel: newest rows of an hour", false, `SELECT * FROM $t WHERE $hour ORDER BY ts DESC LIMIT 100`, ""},
	{"panel: newest rows with a term", false, `SELECT ts, service, level, message FROM $t WHERE $hour AND matches_term(message, 'timeout') ORDER BY ts DESC LIMIT 100`, ""},
	{"panel: newest rows that match", false, `SELECT ts, service, level, message FROM $t WHERE $hour AND message ~ 'of size [0-9]+7 from' ORDER BY ts DESC LIMIT 100`, ""},
	{"panel: histogram above the list", false, `SELECT date_bin('30s'::INTERVAL, ts) AS t, count(*) FROM $t WHERE $hour GROUP BY t ORDER BY t`, ""},
	{"panel: histogram by level", false, `SELECT date_bin('1 minute'::INTERVAL, ts) AS t, level, count(*) FROM $t WHERE $six GROUP BY t, level ORDER BY t, level`, ""},
	{"panel: top values of a column", false, `SELECT host, count(*) AS n FROM $t WHERE $six GROUP BY host ORDER BY n DESC LIMIT 20`, ""},
	{"panel: values of a drop-down", false, `SELECT DISTINCT service FROM $t ORDER BY service`, ""},
	{"panel: error rate", false, `SELECT date_bin('1 minute'::INTERVAL, ts) AS t, count(*) FILTER (WHERE status >= 500) * 1.0 / count(*) AS errors FROM $t WHERE $six GROUP BY t ORDER BY t`, ""},
	{"panel: percentiles by bucket and service", false, `SELECT date_bin('5 minutes'::INTERVAL, ts) AS t, service, approx_percentile_cont(latency_ms, 0.5), approx_percentile_cont(latency_ms, 0.99) FROM $t WHERE $six GROUP BY t, service ORDER BY t, service`, ""},
	{"panel: mean and greatest by bucket and host", false, `SELECT date_bin('5 minutes'::INTERVAL, ts) AS t, host, avg(latency_ms), max(latency_ms) FROM $t WHERE $six GROUP BY t, host ORDER BY t, host`, ""},
	{"panel: aligned means, gaps filled", false, `SELECT ts, service, avg(latency_ms) RANGE '5m' FILL PREV FROM $t WHERE $hour ALIGN '1m' BY (service) ORDER BY service, ts`, ""},
	{"panel: latest row by host, DISTINCT ON", false, `SELECT DISTINCT ON (host) host, ts, latency_ms FROM $t WHERE $hour ORDER BY host, ts DESC`, ""},
	{"panel: latest value by host, aggregate", false, `SELECT host, last_value(latency_ms ORDER BY ts) FROM $t WHERE $hour GROUP BY host ORDER BY host`, ""},
	{"panel: latest row by host, window", false, `SELECT host, ts, latency_ms FROM (SELECT host, ts, latency_ms, row_number() OVER (PARTITION BY host ORDER BY ts DESC) AS r FROM $t WHERE $hour) WHERE r = 1 ORDER BY host`, ""},
	{"panel: increase by bucket, lag", false, `SELECT t, host, b - lag(b) OVER (PARTITION BY host ORDER BY t) AS d FROM (SELECT date_bin('1 minute'::INTERVAL, ts) AS t, host, max(bytes) AS b FROM $t WHERE $hour GROUP BY t, host) ORDER BY host, t`, ""},
	{"panel: spans of a trace", false, `SELECT * FROM $t WHERE trace_id = '$trace' ORDER BY ts`, ""},
	{"panel: slowest spans", false, `SELECT ts, service, path, trace_id, latency_ms FROM $t WHERE $six ORDER BY latency_ms DESC LIMIT 20`, ""},
	{"panel: rate, errors and duration", false, `SELECT service, method, count(*), count(*) FILTER (WHERE status >= 500) * 1.0 / count(*), approx_percentile_cont(latency_ms, 0.95) FROM $t WHERE $six GROUP BY service, method ORDER BY service, method`, ""},
	{"panel: spans joined with logs", false, `SELECT a.ts, a.path, b.message FROM $t a JOIN $t b ON a.trace_id = b.trace_id WHERE $a_hour AND a.service = 'payment' AND a.status >= 500 AND $b_hour ORDER BY a.ts LIMIT 100`, ""},
	{"panel: completion", false, `SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = '$db' AND table_name = '$t' ORDER BY column_name`, ""},
	{"panel: extent of a table", false, `SELECT count(*), min(ts), max(ts) FROM $t`, ""},
}
