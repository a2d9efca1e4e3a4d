-- count of one hour
SELECT count(*) FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000;

-- rows a minute
SELECT date_bin(INTERVAL '1 minute', ts) AS t, count(*) FROM access GROUP BY t ORDER BY t;

-- minute and status, one service, one hour
SELECT date_bin(INTERVAL '1 minute', ts) AS t, status, count(*) FROM access WHERE service = 'cart' AND ts >= 1793527200000 AND ts < 1793530800000 GROUP BY t, status ORDER BY t, status;

-- top 10 paths
SELECT path, count(*) AS n FROM access GROUP BY path ORDER BY n DESC LIMIT 10;

-- rows by status
SELECT status, count(*) FROM access GROUP BY status ORDER BY status;

-- errors by service
SELECT service, count(*) AS n FROM access WHERE level = 'error' GROUP BY service ORDER BY n DESC;

-- count, mean, p99 latency by service
SELECT service, count(*), avg(latency_ms), approx_percentile_cont(latency_ms, 0.99) FROM access GROUP BY service ORDER BY service;

-- distinct clients
SELECT count(DISTINCT client_ip) FROM access;

-- distinct users
SELECT count(DISTINCT user_id) FROM access;

-- one trace id
SELECT * FROM access WHERE trace_id = '594d160c92f06a1afbaf0d997b01ad22';

-- phrase in message
SELECT count(*) FROM access WHERE message LIKE '%lease held by another node%';

-- rare word in message
SELECT * FROM access WHERE matches_term(message, 'sdw6l7o32iz4');

-- substring in message
SELECT count(*) FROM access WHERE message LIKE '%OfMemory%';

-- word in message, any case
SELECT count(*) FROM access WHERE message ILIKE '%PASSWORD%';

-- regular expression on path
SELECT count(*) FROM access WHERE path ~ '^/api/v[12]/orders/[0-9a-f]*77/';

-- latest 100, two filters
SELECT * FROM access WHERE service = 'cart' AND level = 'error' ORDER BY ts DESC LIMIT 100;

-- latest 100 rows
SELECT * FROM access ORDER BY ts DESC LIMIT 100;

-- mean latency by host and minute, one hour
SELECT host, date_bin(INTERVAL '1 minute', ts) AS t, avg(latency_ms) FROM access WHERE ts >= 1793527200000 AND ts < 1793530800000 GROUP BY host, t ORDER BY host, t;

-- AND/OR over four columns
SELECT count(*) FROM access WHERE (service = 'payment' OR region = 'eu-west-1') AND (status >= 500 OR latency_ms > 1000);

-- top 10 clients by bytes
SELECT client_ip, sum(bytes) AS b FROM access GROUP BY client_ip ORDER BY b DESC LIMIT 10;

-- rows and errors a minute, six hours
SELECT date_bin(INTERVAL '1 minute', ts) AS t, count(*), sum(CASE WHEN status >= 500 THEN 1 ELSE 0 END) FROM access WHERE ts >= 1793534400000 AND ts < 1793556000000 GROUP BY t ORDER BY t;

-- top 10 agents of 404s
SELECT user_agent, count(*) AS n FROM access WHERE status = 404 GROUP BY user_agent ORDER BY n DESC LIMIT 10;

-- bytes by region and hour
SELECT region, date_bin(INTERVAL '1 hour', ts) AS t, sum(bytes) FROM access GROUP BY region, t ORDER BY region, t;
