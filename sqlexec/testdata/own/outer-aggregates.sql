-- Aggregates of a query around, in its subqueries: sql.md 8. Answers are DuckDB's.
CREATE TABLE t (ts TIMESTAMP TIME INDEX, k INT, b INT, a INT);
CREATE TABLE u (ts TIMESTAMP TIME INDEX, x INT, k INT);
INSERT INTO t VALUES
  ('2024-01-01 00:00:00',0,0,7), ('2024-01-01 00:00:01',1,0,4), ('2024-01-01 00:00:02',2,2,0),
  ('2024-01-01 00:00:03',3,NULL,6), ('2024-01-01 00:00:04',0,1,7), ('2024-01-01 00:00:05',1,0,2),
  ('2024-01-01 00:00:06',2,2,7), ('2024-01-01 00:00:07',3,2,5), ('2024-01-01 00:00:08',0,0,2),
  ('2024-01-01 00:00:09',1,0,7), ('2024-01-01 00:00:10',2,2,NULL), ('2024-01-01 00:00:11',3,NULL,1),
  ('2024-01-01 00:00:12',0,NULL,3), ('2024-01-01 00:00:13',1,NULL,3), ('2024-01-01 00:00:14',2,2,5),
  ('2024-01-01 00:00:15',3,2,5), ('2024-01-01 00:00:16',0,2,1), ('2024-01-01 00:00:17',1,1,0),
  ('2024-01-01 00:00:18',2,NULL,1), ('2024-01-01 00:00:19',3,2,2), ('2024-01-01 00:00:20',0,1,5),
  ('2024-01-01 00:00:21',1,1,5), ('2024-01-01 00:00:22',2,2,4), ('2024-01-01 00:00:23',3,2,2),
  ('2024-01-01 00:00:24',0,1,NULL), ('2024-01-01 00:00:25',1,1,1), ('2024-01-01 00:00:26',2,1,7),
  ('2024-01-01 00:00:27',3,NULL,2), ('2024-01-01 00:00:28',0,1,3), ('2024-01-01 00:00:29',1,NULL,0);
INSERT INTO u VALUES
  ('2024-01-01 00:00:00',14,0), ('2024-01-01 00:00:01',26,1), ('2024-01-01 00:00:02',19,2),
  ('2024-01-01 00:00:03',14,3), ('2024-01-01 00:00:04',1,0), ('2024-01-01 00:00:05',10,1),
  ('2024-01-01 00:00:06',24,2), ('2024-01-01 00:00:07',1,3), ('2024-01-01 00:00:08',12,0),
  ('2024-01-01 00:00:09',27,1), ('2024-01-01 00:00:10',3,2), ('2024-01-01 00:00:11',NULL,3),
  ('2024-01-01 00:00:12',8,0), ('2024-01-01 00:00:13',12,1), ('2024-01-01 00:00:14',23,2),
  ('2024-01-01 00:00:15',12,3), ('2024-01-01 00:00:16',26,0), ('2024-01-01 00:00:17',2,1),
  ('2024-01-01 00:00:18',0,2), ('2024-01-01 00:00:19',18,3), ('2024-01-01 00:00:20',18,0),
  ('2024-01-01 00:00:21',23,1), ('2024-01-01 00:00:22',0,2), ('2024-01-01 00:00:23',11,3);
SELECT (SELECT max(t.a)) FROM t;
SELECT (SELECT max(t.a) FROM u) FROM t;
SELECT (SELECT max(t.a) FROM u WHERE u.x = 3) FROM t;
SELECT k, (SELECT sum(t.a)) AS s FROM t GROUP BY k ORDER BY k;
SELECT k, (SELECT count(*) FROM u WHERE u.x < sum(t.a)) AS s FROM t GROUP BY k ORDER BY k;
SELECT k, (SELECT count(*) FROM u WHERE u.x = sum(t.a)) AS s FROM t GROUP BY k ORDER BY k;
SELECT k FROM t GROUP BY k HAVING EXISTS (SELECT 1 FROM u WHERE u.x = sum(t.a)) ORDER BY k;
SELECT k FROM t GROUP BY k HAVING NOT EXISTS (SELECT 1 FROM u WHERE u.x > sum(t.a)) ORDER BY k;
SELECT k FROM t GROUP BY k HAVING sum(t.a) IN (SELECT u.x FROM u WHERE u.x >= max(t.a)) ORDER BY k;
SELECT k FROM t GROUP BY k HAVING 3 < ANY (SELECT u.x + min(t.a) FROM u) ORDER BY k;
SELECT k FROM t GROUP BY k ORDER BY (SELECT -count(t.b)), k;
SELECT k FROM t GROUP BY k ORDER BY (SELECT count(*) FROM u WHERE u.x < sum(t.a)), k;
SELECT k, (SELECT (SELECT sum(t.a))) AS s FROM t GROUP BY k ORDER BY k;
SELECT k, (SELECT count(*) FROM u WHERE EXISTS (SELECT 1 FROM u AS v WHERE v.x = u.x + min(t.a))) AS s FROM t GROUP BY k ORDER BY k;
SELECT k, (SELECT max(u.x) + sum(t.a) FROM u WHERE u.k = t.k) AS s FROM t GROUP BY k ORDER BY k;
SELECT k, (SELECT sum(t.a) FROM u WHERE u.k = t.k LIMIT 1) AS s FROM t GROUP BY k ORDER BY k;
SELECT k, (SELECT sum(u.x + t.k) FROM u) AS s FROM t GROUP BY k ORDER BY k;
SELECT k, b, (SELECT sum(t.a)) AS s FROM t GROUP BY ROLLUP(k, b) ORDER BY k, b;
SELECT k, b, (SELECT count(*) FROM u WHERE u.x <= sum(t.a)) AS s FROM t GROUP BY ROLLUP(k, b) ORDER BY k, b, s;
SELECT k, b FROM t GROUP BY CUBE(k, b) HAVING EXISTS (SELECT 1 FROM u WHERE u.x = sum(t.a)) ORDER BY k, b;
SELECT (SELECT count(DISTINCT t.a)), (SELECT count(t.a) FILTER (WHERE t.b = 1)) FROM t;
SELECT k, sum(a), (SELECT sum(t.a)), (SELECT sum(t.a) + 1) FROM t GROUP BY k ORDER BY k;
SELECT k, a FROM t WHERE a = (SELECT max(t.a)) ORDER BY k;
SELECT (SELECT max(t.a)), b FROM t;
SELECT (SELECT sum(x) FROM u WHERE u.k = t.k) FROM t ORDER BY ts;
SELECT k, (SELECT sum(k) FROM u WHERE u.x > max(t.a)) FROM t GROUP BY k ORDER BY k;
SELECT (SELECT y FROM (SELECT max(t.a) AS y) AS d) FROM t;
SELECT k, (SELECT max(t.a) UNION ALL SELECT 1 LIMIT 1) FROM t GROUP BY k ORDER BY k;
SELECT k, CASE WHEN EXISTS (SELECT 1 FROM u WHERE u.x = sum(t.a)) THEN 'y' ELSE 'n' END FROM t GROUP BY k ORDER BY k;
SELECT k, (SELECT string_agg(u.x, ',' ORDER BY u.x) FROM u WHERE u.x < count(t.a)) FROM t GROUP BY k ORDER BY k;
SELECT (SELECT max(t.a) + min(t.b)) + max(t.k) FROM t;
SELECT (SELECT sum(max(t.a))) FROM t;
SELECT (SELECT max(t.a)) FROM t WHERE false;
SELECT count(*) FROM t HAVING (SELECT max(t.a)) > 3;
SELECT k FROM t GROUP BY k HAVING (SELECT max(t.a)) > 3 AND (SELECT min(u.x) FROM u WHERE u.x > min(t.a)) < 9 ORDER BY k;
SELECT k, (SELECT count(*) + t.k FROM u WHERE u.k = t.k) FROM t GROUP BY k ORDER BY k;
SELECT k, (SELECT count(*) + max(t.a) FROM u WHERE u.k = t.k) FROM t GROUP BY k ORDER BY k;
SELECT k, (SELECT sum(t.a + v.x) FROM u) FROM t, (SELECT 1 AS x) v GROUP BY k ORDER BY k;
SELECT (SELECT (SELECT sum(u.x)) FROM u) FROM t ORDER BY ts;
SELECT (SELECT (SELECT sum(u.x + t.a)) FROM u) FROM t ORDER BY ts;
SELECT k, row_number() OVER (ORDER BY (SELECT sum(t.a)), k) AS r FROM t GROUP BY k ORDER BY k;
SELECT DISTINCT (SELECT max(t.a)) FROM t GROUP BY k ORDER BY 1;
SELECT k FROM t GROUP BY k HAVING count(*) IN (SELECT u.x FROM u WHERE u.k >= t.k) ORDER BY k;
SELECT k, sum(t.a) NOT IN (SELECT u.x FROM u WHERE u.x IS NOT NULL AND u.k = t.k) FROM t GROUP BY k ORDER BY k;
SELECT k, max(a) > ALL (SELECT u.x FROM u WHERE u.x < max(t.a)) FROM t GROUP BY k ORDER BY k;
SELECT k, (SELECT count(x) + t.k FROM u WHERE u.k = t.k) FROM t ORDER BY ts;
SELECT k, (SELECT count(x) + t.k FROM u WHERE u.k = t.k + 3) FROM t ORDER BY ts;
SELECT t.k FROM t JOIN u ON t.k = u.k GROUP BY t.k HAVING EXISTS (SELECT 1 FROM u AS v WHERE v.x = sum(u.x) - sum(t.a)) ORDER BY 1;
SELECT k, (SELECT avg(u.x) FROM u WHERE u.x > avg(t.a)) FROM t GROUP BY k HAVING (SELECT count(*) FROM u WHERE u.x > avg(t.a)) > 3 ORDER BY (SELECT max(t.b)), k;
DROP TABLE t, u;
