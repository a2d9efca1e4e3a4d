-- ASOF JOIN: the row of the right side with equal keys and the nearest time.

CREATE TABLE logs (host STRING, line STRING, ts TIMESTAMP TIME INDEX, PRIMARY KEY (host));

CREATE TABLE load (host STRING, v DOUBLE, ts TIMESTAMP(9) TIME INDEX, PRIMARY KEY (host));

INSERT INTO logs VALUES ('a', 'one', 1000), ('a', 'two', 2000), ('a', 'three', 2500), ('b', 'four', 500), ('b', 'five', 9000), ('c', 'six', 1000), (NULL, 'seven', 3000);

INSERT INTO load VALUES ('a', 1, '1970-01-01 00:00:00.5'), ('a', 2, '1970-01-01 00:00:02'), ('a', 3, '1970-01-01 00:00:08'), ('b', 4, '1970-01-01 00:00:01'), ('b', 5, '1970-01-01 00:00:02'), ('d', 6, '1970-01-01 00:00:00'), (NULL, 7, '1970-01-01 00:00:01');

SELECT l.host, l.line, m.v FROM logs l ASOF JOIN load m ON l.host = m.host AND l.ts >= m.ts ORDER BY line;

SELECT l.host, l.line, m.v, m.host AS mh FROM logs l ASOF LEFT JOIN load m ON l.host = m.host AND l.ts >= m.ts ORDER BY line;

SELECT l.line, m.v FROM logs l ASOF JOIN load m ON l.host = m.host AND l.ts > m.ts ORDER BY line;

SELECT l.line, m.v FROM logs l ASOF JOIN load m ON l.host = m.host AND l.ts <= m.ts ORDER BY line;

SELECT l.line, m.v FROM logs l ASOF LEFT JOIN load m ON m.ts > l.ts AND m.host = l.host ORDER BY line;

SELECT host, line, v, ts FROM logs ASOF JOIN load USING (host, ts) ORDER BY line;

SELECT l.line, m.v FROM logs l ASOF JOIN load m ON l.ts >= m.ts ORDER BY line;

SELECT l.line, m.v FROM logs l ASOF LEFT JOIN load m ON l.host = m.host AND l.ts >= m.ts WHERE l.host = 'a' AND l.ts < 2500 ORDER BY line;

SELECT l.line, m.v FROM logs l ASOF LEFT JOIN load m ON l.host = m.host AND l.ts >= m.ts WHERE m.v IS NULL OR m.v = 2 ORDER BY line;

SELECT l.host, count(*) AS n, max(m.v) AS v FROM logs l ASOF JOIN load m ON l.host = m.host AND l.ts >= m.ts GROUP BY l.host ORDER BY l.host;

SELECT a.x, b.y FROM (VALUES (1), (5), (NULL)) AS a(x) ASOF JOIN (VALUES (0), (4), (5), (NULL)) AS b(y) ON a.x > b.y ORDER BY x;

SELECT a.x, b.y FROM (VALUES (1), (5), (NULL)) AS a(x) ASOF LEFT JOIN (VALUES (0), (4), (5), (NULL)) AS b(y) ON a.x < b.y ORDER BY x;

SELECT a.x FROM (VALUES (1)) AS a(x) ASOF LEFT JOIN (SELECT 1 AS y WHERE FALSE) AS b ON a.x >= b.y;

SELECT a.s, b.d FROM (VALUES (1.5), (2.25)) AS a(s) ASOF JOIN (SELECT d::DECIMAL(10, 3) AS d FROM (VALUES ('1.25'), ('2.25'), ('3')) AS x(d)) AS b ON a.s >= b.d ORDER BY s;

SELECT count(*) FROM (SELECT value % 7 AS k, value AS t FROM generate_series(1, 20000)) AS a ASOF JOIN (SELECT value % 7 AS k, value AS t FROM generate_series(1, 20000)) AS b ON a.k = b.k AND a.t > b.t WHERE a.t - b.t = 7;

-- Against a join of all pairs, over several batches.

WITH a AS (SELECT value AS id, value * 37 % 31 AS k, value * 7919 % 10007 AS t FROM generate_series(1, 9000)), b AS (SELECT value * 41 % 29 AS k, value * 104729 % 9973 AS t FROM generate_series(1, 9000)) SELECT count(*) AS rows, count(got) AS partners, count(*) FILTER (WHERE got IS DISTINCT FROM want) AS wrong FROM (SELECT a.id, b.t AS got FROM a ASOF LEFT JOIN b ON a.k = b.k AND a.t >= b.t) AS x JOIN (SELECT a.id, max(b.t) AS want FROM a LEFT JOIN b ON a.k = b.k AND a.t >= b.t GROUP BY a.id) AS y ON x.id = y.id;

WITH a AS (SELECT value AS id, value * 37 % 31 AS k, value * 7919 % 10007 AS t FROM generate_series(1, 9000)), b AS (SELECT value * 41 % 29 AS k, value * 104729 % 9973 AS t FROM generate_series(1, 9000)) SELECT count(*) AS rows, count(got) AS partners, count(*) FILTER (WHERE got IS DISTINCT FROM want) AS wrong FROM (SELECT a.id, b.t AS got FROM a ASOF LEFT JOIN b ON a.k = b.k AND a.t > b.t) AS x JOIN (SELECT a.id, max(b.t) AS want FROM a LEFT JOIN b ON a.k = b.k AND a.t > b.t GROUP BY a.id) AS y ON x.id = y.id;

WITH a AS (SELECT value AS id, value * 37 % 31 AS k, value * 7919 % 10007 AS t FROM generate_series(1, 9000)), b AS (SELECT value * 41 % 29 AS k, value * 104729 % 9973 AS t FROM generate_series(1, 9000)) SELECT count(*) AS rows, count(got) AS partners, count(*) FILTER (WHERE got IS DISTINCT FROM want) AS wrong FROM (SELECT a.id, b.t AS got FROM a ASOF LEFT JOIN b ON a.k = b.k AND a.t <= b.t) AS x JOIN (SELECT a.id, min(b.t) AS want FROM a LEFT JOIN b ON a.k = b.k AND a.t <= b.t GROUP BY a.id) AS y ON x.id = y.id;

WITH a AS (SELECT value AS id, value * 37 % 31 AS k, value * 7919 % 10007 AS t FROM generate_series(1, 9000)), b AS (SELECT value * 41 % 29 AS k, value * 104729 % 9973 AS t FROM generate_series(1, 9000)) SELECT count(*) AS rows, count(got) AS partners, count(*) FILTER (WHERE got IS DISTINCT FROM want) AS wrong FROM (SELECT a.id, b.t AS got FROM a ASOF LEFT JOIN b ON a.k = b.k AND a.t < b.t) AS x JOIN (SELECT a.id, min(b.t) AS want FROM a LEFT JOIN b ON a.k = b.k AND a.t < b.t GROUP BY a.id) AS y ON x.id = y.id;

-- Subqueries that pick the nearest row are the same joins.

SELECT l.line, (SELECT m.v FROM load m WHERE m.host = l.host AND m.ts <= l.ts ORDER BY m.ts DESC LIMIT 1) AS v FROM logs l ORDER BY line;

SELECT l.line, (SELECT m.v FROM load m WHERE m.host = l.host AND m.ts > l.ts ORDER BY m.ts LIMIT 1) AS v FROM logs l ORDER BY line;

SELECT l.line, m.v, m.t FROM logs l LEFT JOIN LATERAL (SELECT v, ts AS t FROM load WHERE load.host = l.host AND ts < l.ts AND ts >= l.ts - INTERVAL '1 second' ORDER BY t DESC LIMIT 1) m ON true ORDER BY line;

SELECT l.line, m.v FROM logs l, LATERAL (SELECT coalesce(v, 0) + 1 AS v FROM load WHERE v <> 3 AND ts >= l.ts ORDER BY ts, v DESC LIMIT 1) m ORDER BY line;

-- Errors.

SELECT l.line FROM logs l ASOF JOIN load m ON l.host = m.host;

SELECT l.line FROM logs l ASOF JOIN load m ON l.host = m.host AND l.ts >= m.ts AND l.ts > m.ts;

SELECT l.line FROM logs l ASOF JOIN load m ON l.host = m.host AND l.ts >= m.ts AND m.v > 1;

SELECT l.line FROM logs l ASOF RIGHT JOIN load m ON l.host = m.host AND l.ts >= m.ts;

DROP TABLE logs, load;
