-- Aliases of items in the items after them, in WHERE and inside GROUP BY: where nothing else has the name.

CREATE TABLE t (k STRING PRIMARY KEY, a BIGINT, ts TIMESTAMP TIME INDEX);

INSERT INTO t VALUES ('x', 1, 1000), ('y', 2, 2000), ('z', 3, 3000), ('w', NULL, 4000);

SELECT a + 1 AS q, q * 10 AS r, r - q AS s FROM t ORDER BY ts;

SELECT k, a + 1 AS q FROM t WHERE q > 2 ORDER BY q;

SELECT a + 1 AS a, a AS b FROM t WHERE a = 1;

SELECT a % 2 AS m, count(*) AS n, n * 2 AS twice FROM t WHERE m IS NOT NULL GROUP BY m HAVING n > 0 ORDER BY m;

SELECT m + 1 AS n, count(*) FROM (SELECT a AS m FROM t) GROUP BY n ORDER BY n;

SELECT a % 2 AS m, count(*) AS c FROM t GROUP BY m, m + 1 ORDER BY m;

SELECT sum(a) AS s, s / 2 AS half, half + s AS more FROM t;

SELECT count(*) AS n FROM t WHERE n > 1;

SELECT row_number() OVER (ORDER BY a) AS r FROM t WHERE r = 1;

SELECT k, row_number() OVER (ORDER BY a) AS r, r + 1 AS next FROM t ORDER BY r LIMIT 2;

SELECT q + 1 AS q FROM t;

SELECT r AS q, q AS r FROM t;

SELECT q + 1 AS q FROM t WHERE q > 1;

SELECT k FROM t AS o WHERE EXISTS (SELECT 1 AS k FROM t i WHERE i.a = 1 AND k = 'x');

SELECT (SELECT max(b) FROM (SELECT o.a AS b)) AS m, m + 1 AS n FROM t AS o ORDER BY m LIMIT 1;
