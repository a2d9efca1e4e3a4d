-- Forms of statements that come from other analytic dialects.

CREATE TABLE t (k STRING PRIMARY KEY, a BIGINT, j JSON, ts TIMESTAMP TIME INDEX);

INSERT INTO t VALUES ('x', 1, '[1,"a",{"z":2}]', 1000), ('y', 2, '[]', 2000), ('z', NULL, '{"q":1}', 3000), ('w', 2, NULL, 4000);

-- Multiplicities of INTERSECT ALL and EXCEPT ALL: the smaller count, and the difference.

SELECT * FROM (VALUES (1, 'a'), (1, 'a'), (2, 'b'), (NULL, NULL), (NULL, NULL)) AS l INTERSECT ALL SELECT * FROM (VALUES (1, 'a'), (1, 'a'), (1, 'a'), (NULL, NULL)) AS r ORDER BY 1;

SELECT * FROM (VALUES (1, 'a'), (1, 'a'), (2, 'b'), (NULL, NULL), (NULL, NULL)) AS l EXCEPT ALL SELECT * FROM (VALUES (1, 'a'), (NULL, NULL), (3, 'c')) AS r ORDER BY 1;

SELECT a FROM t EXCEPT ALL SELECT 2 ORDER BY a;

SELECT 1 EXCEPT ALL SELECT 1;

SELECT a AS v FROM t INTERSECT ALL (SELECT 2 UNION ALL SELECT 2 UNION ALL SELECT 2) ORDER BY v;

SELECT * FROM (SELECT a FROM t EXCEPT ALL SELECT 1) WHERE a > 1;

-- Unions by name.

SELECT 1 AS a, 2 AS b UNION ALL BY NAME SELECT 3 AS b, 'x' AS c ORDER BY a;

SELECT 1 AS a, 2 AS b UNION BY NAME SELECT 2 AS b, 1 AS a;

SELECT 1 AS a, 2 AS a UNION BY NAME SELECT 3 AS a;

SELECT 1 AS a INTERSECT BY NAME SELECT 1 AS a;

-- Names of views with their database.

CREATE VIEW v AS SELECT k, a FROM t;

SELECT public.v.k, service.public.v.a, v.a FROM v WHERE public.v.a = 1;

SELECT public.v.* FROM public.v ORDER BY k LIMIT 1;

SELECT public.v.k FROM v AS w;

-- Trailing commas.

WITH c AS (SELECT 1 AS x, 2 AS y,) SELECT x, y, FROM c, WHERE x IN (1, 2,) GROUP BY x, y, ORDER BY x, y,;

SELECT [1, 2,] AS l, coalesce(NULL, 3,) AS c,;

-- GROUP BY ALL and ORDER BY ALL.

SELECT a, count(*) AS n FROM t GROUP BY ALL ORDER BY ALL;

SELECT a % 2 AS odd, 'x' AS c, 7, sum(a) AS s, count(*) FROM t GROUP BY ALL ORDER BY ALL DESC NULLS LAST;

SELECT count(*) FROM t GROUP BY ALL;

SELECT k, a FROM t ORDER BY ALL DESC LIMIT 2;

SELECT a FROM t UNION SELECT 7 ORDER BY ALL;

SELECT sum(a) OVER (ORDER BY ALL) FROM t;

-- Groupings.

SELECT a, k, grouping_id(a, k) AS g, grouping_id() AS all_keys FROM t WHERE a < 2 GROUP BY ROLLUP (a, k) ORDER BY g;

-- WITH and its hints.

WITH c AS MATERIALIZED (SELECT 1 AS x), d AS NOT MATERIALIZED (SELECT x + 1 AS y FROM c) SELECT * FROM c, d;

-- Tuples.

SELECT k FROM t WHERE (k, a) IN (('x', 1), ('y', 2), ('w', 3)) ORDER BY k;

SELECT k FROM t WHERE (k, a) NOT IN (('x', 1), ('y', 2)) ORDER BY k;

SELECT k FROM t WHERE (k, a) IN (SELECT k, a FROM t WHERE a = 2) ORDER BY k;

SELECT k FROM t WHERE (k, a) NOT IN (SELECT k, a FROM t WHERE a = 2) ORDER BY k;

SELECT k FROM t WHERE (k, a) NOT IN (SELECT k, a FROM t WHERE k <> 'x') ORDER BY k;

SELECT k FROM t WHERE (k, 1) NOT IN (SELECT k, a FROM t) ORDER BY k;

SELECT k FROM t AS o WHERE (k, a) IN (SELECT i.k, i.a FROM t AS i WHERE i.ts = o.ts) ORDER BY k;

SELECT k, (k, a) IN (SELECT 'x', 1) AS is_x FROM t ORDER BY k;

SELECT (1, 2) IN ((1, 2), (NULL, 2)) AS a, (1, 3) IN ((1, 2), (NULL, 2)) AS b, (1, 2) NOT IN ((3, 4), (1, NULL)) AS c, (1, NULL) IN ((2, NULL)) AS d;

SELECT (1, 2) = (1, 2) AS a, (1, 2) <> (1, 3) AS b, (1, 2) < (1, 3) AS c, (2, 1) <= (1, 9) AS d, (1, NULL) < (2, 1) AS e, (1, NULL) = (1, 2) AS f, (1, 'b', 3) >= (1, 'a', 9) AS g;

SELECT k FROM t WHERE (k, ts) > ('x', '1970-01-01 00:00:01') ORDER BY k;

SELECT count(DISTINCT (a, k)) AS pairs, count(DISTINCT (a, 1)) AS with_null, count(DISTINCT a, k) AS without_null, count((a, k)) AS rows FROM t;

SELECT (1, 2) IN ((1, 2, 3));

SELECT (1, 2) + 1;

SELECT k FROM t WHERE (k, a) IN (SELECT k FROM t);

-- ANY and ALL over lists and arrays.

SELECT k FROM t WHERE a = ANY (ARRAY[2, 3]) ORDER BY k;

SELECT k FROM t WHERE a <> ALL (ARRAY[2, 3]) ORDER BY k;

SELECT 3 > ALL (ARRAY[1, 2]) AS a, 3 > ALL (ARRAY[1, NULL]) AS b, 3 > ANY (ARRAY[NULL, 5]) AS c, 3 = SOME (1, 2, 3) AS d, 3 = ANY ([]) AS e, 3 <> ALL ([]) AS f;

SELECT k, k = ANY (string_to_array(k || ',y', ',')) AS self, 'y' = ANY (string_to_array(k, ',')) AS is_y, a < ALL (make_array(a + 1, 3)) AS less FROM t ORDER BY k;

SELECT k, 'y' <> ALL (string_to_array(k || ',b', ',')) AS none, a >= ANY (make_array(a, NULL)) AS some FROM t ORDER BY k;

SELECT k FROM t WHERE k LIKE ANY ('y%', 'w_') OR k LIKE ANY (ARRAY['z']) ORDER BY k;

SELECT k FROM t WHERE k NOT LIKE ALL ('x%', 'y%') ORDER BY k;

SELECT k FROM t WHERE k NOT LIKE ANY ('x%', 'y%') AND k ILIKE ANY ('X', 'Y') ORDER BY k;

SELECT 'ab' LIKE ALL ('a%', '%b') AS a, 'ab' ~ ANY (ARRAY['^b', 'b$']) AS b, 'ab' LIKE ANY (ARRAY[NULL, 'x']) AS c;

SELECT k FROM t WHERE k = ANY (SELECT k FROM t WHERE a = 2) ORDER BY k;

SELECT 1 = ANY (string_to_array(k, ','), 2) FROM t;

-- Lists and JSON arrays in FROM.

SELECT k, e, n FROM t, unnest(t.j) WITH ORDINALITY AS x(e, n) WHERE a < 5 ORDER BY n;

SELECT k, e FROM t LEFT JOIN unnest(j) AS e ON TRUE ORDER BY k, json_to_string(e);

SELECT k, e, o FROM t LEFT JOIN unnest(string_to_array(nullif(k, 'x'), '')) WITH ORDINALITY AS u(e, o) ON TRUE ORDER BY k;

SELECT t.k, u.part, s.n FROM t CROSS JOIN unnest(string_to_array(k || '-' || k, '-')) AS u(part), unnest([1, 2]) AS s(n) WHERE k < 'y' ORDER BY ALL;

SELECT k, e FROM t JOIN json_array_elements_text(j) AS e ON e <> 'a' ORDER BY e;

SELECT value FROM json_array_elements(parse_json('[1, [2], null]'));

SELECT * FROM unnest([1, 2], ['a']) WITH ORDINALITY;

SELECT * FROM unnest(NULL), unnest([1]) AS b(x);

SELECT k, (SELECT count(*) FROM unnest(t.j) AS u(e)) AS n FROM t ORDER BY k;

SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM unnest(t.j) AS u(e) WHERE json_to_string(e) = '1');

SELECT * FROM generate_series(5, 7) WITH ORDINALITY AS g(v, n);

SELECT * FROM t, unnest(t.a) AS x;

SELECT * FROM t RIGHT JOIN unnest(t.j) AS x ON TRUE;

SELECT * FROM unnest([1]) AS x(a, b);

-- Other spellings.

FROM t WHERE a = 2 ORDER BY k;

FROM t SELECT k, a WHERE a = 1;

SELECT count(*) AS n FROM (FROM t);

TABLE t;

SELECT * EXCLUDE (j, ts) RENAME (k AS name, a AS b) FROM t ORDER BY name;

SELECT * RENAME (nothing AS x) FROM t;

SELECT a, count(*) AS n FROM t GROUP BY a WITH ROLLUP ORDER BY a, n;

SELECT k FROM t SEMI JOIN (SELECT 2 AS a) AS u USING (a) ORDER BY k;

SELECT k FROM t ANTI JOIN (SELECT 2 AS a) AS u ON t.a = u.a ORDER BY k;

SELECT k, a ISNULL AS none, a NOTNULL AS some FROM t WHERE k ~~ '%' AND k !~~ 'x%' AND k ~~* 'Z' ORDER BY k;

SELECT $$it's$$ AS t, ROW(1, 2) = (1, 2) AS same, ROW(1) = ROW(2) AS single;

SELECT 1 AS x MINUS SELECT 2;

SELECT * FROM t TABLESAMPLE BERNOULLI (10);

DROP VIEW v;

DROP TABLE t;
