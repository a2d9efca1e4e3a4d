-- ROLLUP, CUBE, GROUPING SETS and grouping(): sql.md 7 and 12.1.
CREATE TABLE g (a STRING, b STRING, x BIGINT, ts TIMESTAMP TIME INDEX, PRIMARY KEY (a, b));
INSERT INTO g VALUES ('p', 'u', 1, 1), ('p', 'v', 2, 2), ('q', 'u', 4, 3), ('q', NULL, 8, 4);
SELECT a, b, sum(x) AS s, grouping(a) AS ga, grouping(b) AS gb, grouping(a, b) AS g FROM g GROUP BY ROLLUP (a, b) ORDER BY g, a, b;
SELECT a, b, sum(x) AS s, grouping(b, a) AS g FROM g GROUP BY CUBE (a, b) ORDER BY g, a, b;
SELECT a, sum(x) AS s, grouping(a) AS g FROM g GROUP BY GROUPING SETS ((a), ()) ORDER BY g, a;
SELECT a, b, count(*) AS c FROM g GROUP BY GROUPING SETS ((a, b), (b)) ORDER BY a, b, c;
SELECT a, grouping(a) AS g, sum(x) AS s FROM g GROUP BY a ORDER BY a;
SELECT a, sum(x) AS s FROM g GROUP BY ROLLUP (a) HAVING grouping(a) = 1;
SELECT a, sum(x) AS s FROM g GROUP BY ROLLUP (a) ORDER BY grouping(a) DESC, a;
SELECT CASE WHEN grouping(a) = 1 THEN 'all' ELSE a END AS k, sum(x) AS s FROM g GROUP BY ROLLUP (a) ORDER BY k;
SELECT a, b, sum(x) AS s FROM g GROUP BY a, ROLLUP (b) ORDER BY a, b, s;
SELECT grouping(x) FROM g GROUP BY a;
SELECT grouping() FROM g GROUP BY a;
DROP TABLE g;
