-- What stands in FROM and sees the tables before it.

CREATE TABLE t (k STRING PRIMARY KEY, n BIGINT, ts TIMESTAMP TIME INDEX);

INSERT INTO t VALUES ('a', 2, 1000), ('b', 0, 2000), ('c', NULL, 3000), ('d', 3, 4000);

SELECT k, value FROM t, generate_series(1, t.n) ORDER BY k, value;

SELECT t.k, g.i, g.o FROM t CROSS JOIN LATERAL generate_series(n, 1, -1) WITH ORDINALITY AS g(i, o) ORDER BY k, o;

SELECT k, r.value FROM t LEFT JOIN range(n) AS r ON TRUE ORDER BY k, value;

SELECT k, g.value FROM t, generate_series(ts, ts + INTERVAL '2 seconds', INTERVAL '1 second') AS g WHERE k < 'c' ORDER BY k, g.value;

SELECT k, count(*) AS c FROM t, range(0, n) AS a, range(a.value, n) AS b(y) GROUP BY k ORDER BY k;

SELECT k, (SELECT sum(value) FROM generate_series(1, t.n)) AS s FROM t ORDER BY k;

SELECT count(*) FROM generate_series(1, (SELECT max(n) FROM t));

SELECT generate_series(1, 3) AS a, range(3) AS b, range(5, 0, -2) AS c, generate_series('2024-01-31'::DATE, '2024-04-01'::DATE, INTERVAL '1 month') AS d, generate_series(1, NULL) AS e, arrow_typeof(range(1)) AS f;

SELECT list_transform(range(3), x -> x * x) AS squares;

SELECT k FROM t, generate_series(1, t.n, 0);

SELECT k FROM t, generate_series(1, t.k);

SELECT * FROM generate_series(1, x);

SELECT t.k, g.m FROM t CROSS JOIN LATERAL (SELECT t.n * 2 AS m) AS g ORDER BY k;

SELECT t.k, g.m FROM t LEFT JOIN LATERAL (SELECT u.n AS m FROM t AS u WHERE u.n > t.n) AS g ON true ORDER BY k, m;

SELECT t.k, g.m FROM t JOIN LATERAL (SELECT u.k AS m FROM t AS u WHERE u.n < t.n ORDER BY u.n DESC LIMIT 1) AS g ON g.m <> 'x' ORDER BY k;

SELECT t.k, g.m, h.p FROM t, LATERAL (SELECT max(u.n) AS m FROM t AS u WHERE u.n < t.n) AS g, LATERAL (SELECT g.m + 1 AS p) AS h ORDER BY k;

SELECT t.k, g.value FROM t, LATERAL (SELECT value FROM generate_series(1, t.n)) AS g ORDER BY ALL;

SELECT t.k FROM t RIGHT JOIN LATERAL (SELECT t.n AS m) AS g ON true;

DROP TABLE t;
