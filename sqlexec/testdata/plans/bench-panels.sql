-- newest rows of an hour
SELECT * FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000 ORDER BY ts DESC LIMIT 100;

-- newest rows with a term
SELECT ts, service, level, message FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000 AND matches_term(message, 'timeout') ORDER BY ts DESC LIMIT 100;

-- newest rows that match
SELECT ts, service, level, message FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000 AND message ~ 'of size [0-9]+7 from' ORDER BY ts DESC LIMIT 100;

-- histogram above the list
SELECT date_bin('30s'::INTERVAL, ts) AS t, count(*) FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000 GROUP BY t ORDER BY t;

-- histogram by level
SELECT date_bin('1 minute'::INTERVAL, ts) AS t, level, count(*) FROM access WHERE ts >= 1793534400000 AND ts < 1793556000000 GROUP BY t, level ORDER BY t, level;

-- top values of a column
SELECT host, count(*) AS n FROM access WHERE ts >= 1793534400000 AND ts < 1793556000000 GROUP BY host ORDER BY n DESC LIMIT 20;

-- values of a drop-down
SELECT DISTINCT service FROM access ORDER BY service;

-- error rate
SELECT date_bin('1 minute'::INTERVAL, ts) AS t, count(*) FILTER (WHERE status >= 500) * 1.0 / count(*) AS errors FROM access WHERE ts >= 1793534400000 AND ts < 1793556000000 GROUP BY t ORDER BY t;

-- percentiles by bucket and service
SELECT date_bin('5 minutes'::INTERVAL, ts) AS t, service, approx_percentile_cont(latency_ms, 0.5), approx_percentile_cont(latency_ms, 0.99) FROM access WHERE ts >= 1793534400000 AND ts < 1793556000000 GROUP BY t, service ORDER BY t, service;

-- mean and greatest by bucket and host
SELECT date_bin('5 minutes'::INTERVAL, ts) AS t, host, avg(latency_ms), max(latency_ms) FROM access WHERE ts >= 1793534400000 AND ts < 1793556000000 GROUP BY t, host ORDER BY t, host;

-- aligned means, gaps filled
SELECT ts, service, avg(latency_ms) RANGE '5m' FILL PREV FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000 ALIGN '1m' BY (service) ORDER BY service, ts;

-- latest row by host, DISTINCT ON
SELECT DISTINCT ON (host) host, ts, latency_ms FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000 ORDER BY host, ts DESC;

-- latest value by host, aggregate
SELECT host, last_value(latency_ms ORDER BY ts) FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000 GROUP BY host ORDER BY host;

-- latest row by host, window
SELECT host, ts, latency_ms FROM (SELECT host, ts, latency_ms, row_number() OVER (PARTITION BY host ORDER BY ts DESC) AS r FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000) WHERE r = 1 ORDER BY host;

-- increase by bucket, lag
SELECT t, host, b - lag(b) OVER (PARTITION BY host ORDER BY t) AS d FROM (SELECT date_bin('1 minute'::INTERVAL, ts) AS t, host, max(bytes) AS b FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000 GROUP BY t, host) ORDER BY host, t;

-- spans of a trace
SELECT * FROM access WHERE trace_id = '594d160c92f06a1afbaf0d997b01ad22' ORDER BY ts;

-- slowest spans
SELECT ts, service, path, trace_id, latency_ms FROM access WHERE ts >= 1793534400000 AND ts < 1793556000000 ORDER BY latency_ms DESC LIMIT 20;

-- rate, errors and duration
SELECT service, method, count(*), count(*) FILTER (WHERE status >= 500) * 1.0 / count(*), approx_percentile_cont(latency_ms, 0.95) FROM access WHERE ts >= 1793534400000 AND ts < 1793556000000 GROUP BY service, method ORDER BY service, method;

-- spans joined with logs
SELECT a.ts, a.path, b.message FROM access a JOIN access b ON a.trace_id = b.trace_id WHERE a.ts >= 1793527200000 AND a.ts < 1793530800000 AND a.service = 'payment' AND a.status >= 500 AND b.ts >= 1793527200000 AND b.ts < 1793530800000 ORDER BY a.ts LIMIT 100;

-- completion
SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'access' ORDER BY column_name;

-- extent of a table
SELECT count(*), min(ts), max(ts) FROM access;
