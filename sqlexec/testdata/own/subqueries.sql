-- Correlated subqueries, recursive queries, functions as tables: sql.md 7.
CREATE TABLE s (k STRING, x BIGINT, ts TIMESTAMP TIME INDEX, PRIMARY KEY (k));
INSERT INTO s VALUES ('a', 1, 1), ('a', 5, 2), ('b', 3, 3), ('c', NULL, 4);
CREATE TABLE r (k STRING, y BIGINT, ts TIMESTAMP TIME INDEX, PRIMARY KEY (k));
INSERT INTO r VALUES ('a', 2, 1), ('b', 9, 2), ('d', 4, 3);
SELECT k, x, (SELECT y FROM r WHERE r.k = s.k) AS y FROM s ORDER BY k, x;
SELECT k, x, (SELECT max(x) FROM s AS i WHERE i.k = s.k) - x AS below FROM s ORDER BY k, x;
SELECT k, EXISTS (SELECT 1 FROM r WHERE r.k = s.k) AS e, x IN (SELECT y - 1 FROM r WHERE r.k = s.k) AS i, x < ALL (SELECT y FROM r WHERE r.k = s.k) AS l FROM s ORDER BY k, x;
SELECT k, count(*) AS c, (SELECT sum(y) FROM r WHERE r.k = s.k) AS y FROM s GROUP BY k ORDER BY k;
SELECT k, x FROM s ORDER BY (SELECT y FROM r WHERE r.k = s.k) DESC NULLS LAST, x;
SELECT k, x, row_number() OVER (ORDER BY ts) AS n, (SELECT count(*) FROM r WHERE r.y > s.x) AS greater FROM s ORDER BY ts;
SELECT *, (SELECT count(*) FROM r WHERE r.k = s.k) AS c FROM s ORDER BY ts;
SELECT DISTINCT (SELECT count(*) FROM r WHERE r.k = s.k) AS c FROM s ORDER BY c;
SELECT k FROM s WHERE x > (SELECT avg(x) FROM s AS i WHERE i.k = s.k) OR x IS NULL ORDER BY k;
SELECT k FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k);
SELECT (SELECT x FROM s WHERE s.k = r.k) FROM r;
SELECT (SELECT x, k FROM s) FROM r;
SELECT x FROM s WHERE x = (SELECT y FROM r);
-- Recursive.
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT n, n * n AS q FROM t ORDER BY n;
WITH RECURSIVE t AS (SELECT 1 AS n UNION SELECT (n % 3) + 1 FROM t) SELECT n FROM t ORDER BY n;
WITH RECURSIVE e(f, t) AS (VALUES ('a', 'b'), ('b', 'c'), ('c', 'a'), ('c', 'd')), p(x) AS (SELECT 'a' UNION SELECT e.t FROM e JOIN p ON e.f = p.x) SELECT x FROM p ORDER BY x;
WITH RECURSIVE f(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f WHERE b < 50) SELECT max(b) AS m, count(*) AS c FROM f;
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t;
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n, n FROM t) SELECT 1;
WITH RECURSIVE t AS (SELECT 7 AS n) SELECT n FROM t;
WITH t AS (SELECT 1), t AS (SELECT 2) SELECT * FROM t;
SELECT value FROM generate_series(1, 5, 2);
SELECT count(*) AS n, min(value) AS lo, max(value) AS hi FROM range(0, 10);
DROP TABLE s, r;
-- Lateral.
SELECT t.x, u.y FROM (VALUES (1), (2), (2)) AS t(x), LATERAL (SELECT t.x * 2 AS y) AS u ORDER BY 1;
SELECT t.k, u.v FROM (VALUES ('a', 2), ('b', 1), ('c', 0)) AS t(k, n) CROSS JOIN LATERAL (SELECT value AS v FROM generate_series(1, 5) WHERE value > 5 - t.n) AS u ORDER BY k, v;
SELECT t.k, u.v FROM (VALUES ('a', 2), ('c', 0)) AS t(k, n) LEFT JOIN LATERAL (SELECT value AS v FROM generate_series(1, 5) WHERE value > 5 - t.n) AS u ON true ORDER BY k, v;
SELECT * FROM (VALUES (1), (2)) AS t(x) JOIN LATERAL (SELECT t.x + 1 AS y, t.x * 10 AS z) AS u ON u.y > 2;
SELECT t.x, u.y FROM (VALUES (1)) AS t(x), LATERAL (SELECT 7 AS y) AS u;
SELECT t.x FROM (VALUES (1)) AS t(x) FULL JOIN LATERAL (SELECT t.x AS y) AS u ON true;
SELECT u.y FROM LATERAL (SELECT 1 AS y) AS u;

-- Correlated subqueries in the ON of joins.
CREATE TABLE jn (host STRING, val BIGINT, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (host));
INSERT INTO jn VALUES ('h1', 0, 0), ('h1', 1, 1), ('h1', 2, 2), ('h2', 3, 0), ('h2', 4, 1), ('h2', 5, 2);
SELECT a.host, a.val FROM jn a JOIN jn b ON a.val = b.val AND a.val < (SELECT max(val) FROM jn x WHERE x.host = b.host) ORDER BY a.val;
SELECT a.val AS a, b.val AS b FROM jn a JOIN jn b ON EXISTS (SELECT 1 FROM jn x WHERE x.val = a.val + b.val + 4) ORDER BY a, b;
SELECT a.val AS a, b.val AS b FROM jn a LEFT JOIN jn b ON a.ts = b.ts AND EXISTS (SELECT 1 FROM jn x WHERE x.val = b.val + 3) ORDER BY a, b;
SELECT a.val AS a, b.val AS b FROM jn a LEFT JOIN jn b ON a.val = b.val AND a.val = (SELECT max(val) FROM jn x WHERE x.host = a.host) ORDER BY a;
SELECT a.val AS a, b.val AS b FROM jn a FULL JOIN jn b ON a.val = b.val AND a.val = (SELECT max(val) FROM jn x WHERE x.host = a.host) AND b.val IN (SELECT x.val FROM jn x WHERE x.ts = b.ts) ORDER BY a, b;
SELECT a.val FROM jn a LEFT ANTI JOIN jn b ON a.val = b.val AND b.val > (SELECT min(val) FROM jn x WHERE x.host = b.host) ORDER BY a.val;
SELECT a.val AS a, b.val AS b FROM jn a LEFT JOIN jn b ON EXISTS (SELECT 1 FROM jn x WHERE x.val = a.val + b.val) ORDER BY a, b;
SELECT a.val AS a, b.val AS b FROM jn a LEFT JOIN jn b ON a.val <> b.val AND b.val > 0 AND EXISTS (SELECT 1 FROM jn x WHERE x.val = a.val + b.val) ORDER BY a, b;
SELECT a.val AS a, b.val AS b FROM jn a RIGHT JOIN jn b ON a.val > 0 AND EXISTS (SELECT 1 FROM jn x WHERE x.val = a.val + b.val) ORDER BY a, b;
SELECT a.val AS a, b.val AS b FROM jn a FULL JOIN jn b ON a.val > 0 AND b.val > 0 AND 5 = (SELECT max(x.val) FROM jn x WHERE x.val >= a.val + b.val) ORDER BY a, b;
SELECT a.val FROM jn a LEFT SEMI JOIN jn b ON b.val > 0 AND EXISTS (SELECT 1 FROM jn x WHERE x.val = a.val + b.val) ORDER BY a.val;
SELECT a.val FROM jn a LEFT ANTI JOIN jn b ON b.val > 0 AND EXISTS (SELECT 1 FROM jn x WHERE x.val = a.val + b.val) ORDER BY a.val;
SELECT u.v AS v, b.val AS b FROM (VALUES (1), (1), (NULL), (9)) AS u(v) LEFT JOIN jn b ON b.val IN (SELECT x.val FROM jn x WHERE x.val = u.v + b.val - 1) AND b.val < 2 ORDER BY v, b;

-- HAVING may refer to subqueries that refer to the groups

CREATE TABLE grp (h STRING PRIMARY KEY, v INT, ts TIMESTAMP TIME INDEX);

INSERT INTO grp VALUES ('a', 1, 1), ('a', 2, 2), ('a', NULL, 3), ('b', 5, 1), ('b', 3, 2), ('c', 7, 1);

SELECT h, sum(v) AS s FROM grp o GROUP BY h HAVING sum(v) > (SELECT max(v) FROM grp i WHERE i.h = o.h) ORDER BY h;

SELECT h FROM grp o GROUP BY h HAVING EXISTS (SELECT 1 FROM grp i WHERE i.h = o.h AND i.v = 5) OR count(*) = 1 ORDER BY h;

SELECT h, max(v) AS m, (SELECT min(v) FROM grp i WHERE i.h = o.h) AS least FROM grp o GROUP BY h HAVING m = (SELECT max(v) FROM grp i WHERE i.h = o.h) ORDER BY (SELECT max(v) FROM grp i WHERE i.h = o.h) DESC;

SELECT h FROM grp o GROUP BY h HAVING (SELECT max(v) FROM grp i WHERE i.ts = o.ts) > 2;

DROP TABLE grp;
WITH g(a) AS (VALUES (1), (3), (NULL)) SELECT a, (WITH RECURSIVE t(n) AS (SELECT a UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT sum(n) FROM t) AS s FROM g ORDER BY a;
WITH g(a) AS (VALUES (1), (3)) SELECT a, (WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < a) SELECT count(*) FROM t) AS c FROM g ORDER BY a;
WITH e(f, t) AS (VALUES ('a', 'b'), ('b', 'c'), ('c', 'a'), ('d', 'e')) SELECT x.f FROM (SELECT DISTINCT f FROM e) x WHERE 'a' IN (WITH RECURSIVE p(y) AS (SELECT x.f UNION SELECT e.t FROM e JOIN p ON e.f = p.y) SELECT y FROM p) ORDER BY 1;
WITH g(a) AS (VALUES (1), (3)) SELECT a, (WITH t AS (SELECT a * 2 AS b) SELECT b + 1 FROM t) AS c FROM g ORDER BY a;
WITH g(a) AS (VALUES (1), (2)) SELECT a, (WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT count(*) FROM t WHERE n > a) AS c FROM g ORDER BY a;
WITH g(a) AS (VALUES (1), (2)) SELECT a, (WITH RECURSIVE t(n) AS (SELECT a UNION ALL SELECT n, n FROM t) SELECT 1 FROM t) AS c FROM g;
WITH g(a) AS (VALUES (1), (3)) SELECT a, (SELECT count(*) FROM (WITH RECURSIVE t(n) AS (SELECT a UNION ALL SELECT n + 1 FROM t WHERE n < (SELECT max(n) + 1 FROM t) AND n < 4) SELECT n FROM t) q) AS c FROM g ORDER BY a;
