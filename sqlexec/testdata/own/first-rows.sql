-- The first row of each key: DISTINCT ON, and row_number() = 1 over a subquery

CREATE TABLE fr (host STRING, svc STRING, ts TIMESTAMP TIME INDEX, v DOUBLE, PRIMARY KEY (host));

INSERT INTO fr VALUES ('h1', 'a', 1000, 1.5), ('h1', 'b', 2000, 0.5), ('h1', 'a', 3000, NULL), ('h2', NULL, 1000, 7), ('h2', 'a', 2000, 7), (NULL, 'b', 5000, 2), (NULL, 'b', 6000, 3), ('h3', 'c', 500, -1);

SELECT DISTINCT ON (host) host, ts, v FROM fr ORDER BY host, ts DESC;

SELECT DISTINCT ON (host, svc) svc, host, v FROM fr ORDER BY host, svc, v NULLS FIRST;

SELECT DISTINCT ON (svc) svc, ts FROM fr ORDER BY svc, ts LIMIT 2 OFFSET 1;

SELECT host, ts, v FROM (SELECT host, ts, v, row_number() OVER (PARTITION BY host ORDER BY ts DESC) AS r FROM fr) WHERE r = 1 ORDER BY host;

SELECT host, v FROM (SELECT host, v, row_number() OVER (PARTITION BY host ORDER BY v DESC NULLS LAST, ts) AS r FROM fr) WHERE r < 2 AND v > 1 ORDER BY host;

SELECT host, ts, r FROM (SELECT host, ts, row_number() OVER (PARTITION BY host ORDER BY ts) AS r FROM fr) WHERE r <= 2 ORDER BY host, ts;

SELECT host, ts, c FROM (SELECT host, ts, row_number() OVER (PARTITION BY host ORDER BY ts) AS r, count(*) OVER (PARTITION BY host ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS c FROM fr) WHERE r = 1 ORDER BY host;

SELECT ts FROM (SELECT ts, row_number() OVER (ORDER BY ts DESC) AS r FROM fr) WHERE r = 1;

SELECT s, ts FROM (SELECT svc AS s, ts, row_number() OVER (PARTITION BY svc ORDER BY ts) AS r FROM fr WHERE v IS NOT NULL) WHERE r = 1 AND s <> 'b' ORDER BY s;

SELECT host, ts, r FROM (SELECT host, ts, row_number() OVER (PARTITION BY host ORDER BY ts DESC) AS r FROM fr) WHERE r <= 2 ORDER BY host, r;

SELECT host, v, r FROM (SELECT host, v, rank() OVER (PARTITION BY host ORDER BY v DESC NULLS LAST) AS r FROM fr) WHERE r < 2 ORDER BY host, v;

SELECT svc, ts, n, r, d FROM (SELECT svc, ts, row_number() OVER w AS n, rank() OVER w AS r, dense_rank() OVER w AS d FROM fr WINDOW w AS (PARTITION BY svc ORDER BY ts)) WHERE n BETWEEN 2 AND 3 ORDER BY svc, ts;

SELECT svc, ts FROM (SELECT svc, ts, dense_rank() OVER (PARTITION BY svc ORDER BY ts DESC) AS d FROM fr) WHERE d <= 1 ORDER BY svc, ts;

SELECT host, ts FROM (SELECT host, ts, rank() OVER (PARTITION BY host ORDER BY v) AS r, max(v) OVER (PARTITION BY host) AS m FROM fr) WHERE r = 1 AND m > 1 ORDER BY host, ts;

SELECT host, ts, row_number() OVER (PARTITION BY host ORDER BY ts) AS r FROM fr QUALIFY r <= 1 ORDER BY host;

SELECT host, ts, r FROM (SELECT host, ts, rank() OVER (PARTITION BY host ORDER BY ts) AS r FROM fr) WHERE r = 2 ORDER BY host;

SELECT count(*) AS n FROM (SELECT row_number() OVER (PARTITION BY host ORDER BY ts) AS r FROM fr) WHERE r <= 0;
