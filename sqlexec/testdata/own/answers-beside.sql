-- Aggregates with NULL, empty matches and other answers that differed from those of other engines

CREATE TABLE ab (id INT, ts TIMESTAMP TIME INDEX, g STRING, x INT, s STRING, PRIMARY KEY (id)) WITH (append_mode='true');

INSERT INTO ab VALUES (1, 1, 'a', 4, 'p'), (2, 2, 'a', NULL, NULL), (3, 3, 'a', 4, 'p'), (4, 4, 'a', NULL, NULL), (5, 5, 'b', 5, 'q'), (6, 6, 'c', NULL, NULL);

-- DISTINCT keeps NULL where the aggregate does
SELECT g, array_agg(DISTINCT x ORDER BY x) AS a, json_agg(DISTINCT x ORDER BY x) AS j, array_agg(DISTINCT s ORDER BY s) AS s FROM ab GROUP BY g ORDER BY g;

SELECT array_agg(DISTINCT x ORDER BY x) AS a, array_agg(DISTINCT x ORDER BY x DESC) AS b, json_agg(DISTINCT s ORDER BY s NULLS FIRST) AS j FROM ab;

SELECT g, count(DISTINCT x) AS c, sum(DISTINCT x) AS s, string_agg(DISTINCT s, ',' ORDER BY s) AS t, min(DISTINCT x) AS n, avg(DISTINCT x) AS m, count(DISTINCT x, s) AS cc FROM ab GROUP BY g ORDER BY g;

SELECT mode(DISTINCT s) AS m, median(DISTINCT x) AS d, first_value(DISTINCT x ORDER BY x NULLS FIRST) AS f, bool_and(DISTINCT x > 1) AS b, stddev_pop(DISTINCT x) AS p FROM ab;

SELECT id, array_agg(DISTINCT x ORDER BY x) OVER (PARTITION BY g) AS a FROM ab ORDER BY id;

-- the median of integers lies between two of them
SELECT median(x) AS a, arrow_typeof(median(x)) AS b, percentile_cont(x, 0.5) AS c, median(x::BIGINT UNSIGNED) AS d, median(x::TINYINT) AS e FROM (VALUES (4), (5)) AS v(x);

SELECT string_agg(s, NULL) AS a, string_agg(s, '-') AS b FROM (VALUES ('a'), ('b')) AS v(s);

SELECT uddsketch_calc(0.0, s) AS a, round(uddsketch_calc(0.5, s)) AS b, round(uddsketch_calc(1.0, s)) AS c FROM (SELECT uddsketch_state(128, 0.01, x) AS s FROM (VALUES (0), (10), (20), (30)) AS v(x));

SELECT round(uddsketch_calc(1.0, s)) AS a FROM (SELECT uddsketch_state(128, 0.01, x) AS s FROM (VALUES (-10), (-20)) AS v(x));

-- texts that take the place of a match
SELECT regexp_replace('abc', 'b', '$1') AS a, regexp_replace('abc', '(b)', '[\1\0\&$0${1}\\]') AS b, regexp_replace('abc', 'b', '$$') AS c, regexp_replace('abc', '(b)|(c)', '[\2]', 'g') AS d, regexp_replace('abc', 'b', '\x') AS e, regexp_replace('', 'x*', '-', 'g') AS f, regexp_replace('baac', 'a*', '-', 'g') AS g;

-- empty matches
SELECT regexp_extract_all('baac', 'a*') AS a, regexp_extract_all('abc', 'x*') AS b, regexp_extract_all('', 'x*') AS c, regexp_extract_all('aé日', '') AS d, regexp_extract_all('ab', '(x)?', 1) AS e;

SELECT regexp_split_to_array('abc', '') AS a, regexp_split_to_array('abc', 'x*') AS b, regexp_split_to_array('', 'a') AS c, regexp_like('', 'x*') AS d, regexp_match('abc', 'x*') AS e, regexp_count('abc', '') AS f, regexp_instr('abc', 'x*') AS g, regexp_extract('abc', 'x*') AS h;

-- %f of strptime has the digits of the fraction
SELECT strptime('2024-01-02 03:04:05.5', '%Y-%m-%d %H:%M:%S.%f') AS a, strptime('2024-01-02 03:04:05.123', '%Y-%m-%d %H:%M:%S.%f') AS b, strptime('2024-01-02 03:04:05.000001', '%Y-%m-%d %H:%M:%S.%f') AS c, strptime('2024-01-02 03:04:05,25', '%Y-%m-%d %H:%M:%S,%f') AS d;

-- each unit of date_trunc
SELECT date_trunc('decade', t) AS a, date_trunc('century', t) AS b, date_trunc('millennium', t) AS c, date_trunc('decades', t) AS d, date_trunc('years', t) AS e, date_trunc('min', t) AS f FROM (VALUES ('2024-05-06 01:02:03'::TIMESTAMP), ('2000-05-06 01:02:03'::TIMESTAMP), ('1969-05-06 01:02:03'::TIMESTAMP), ('0999-05-06 01:02:03'::TIMESTAMP)) AS v(t);

SELECT date_trunc('week', t) AS a, date_trunc('quarter', t) AS b, date_trunc('month', t) AS c, date_trunc('day', t) AS d, date_trunc('hour', t) AS e, date_trunc('second', t) AS f, date_trunc('ms', t) AS g FROM (VALUES ('1969-05-06 01:02:03.456'::TIMESTAMP)) AS v(t);

-- numbers
SELECT floor(5::BIGINT) AS a, ceil(5::BIGINT UNSIGNED) AS b, arrow_typeof(floor(5::BIGINT)) AS c, arrow_typeof(ceiling(5::TINYINT)) AS d, floor(NULL) AS e, round(5) AS f;

-- the longest decimals
SELECT round('9999999999999999999999999999999999999.9'::DECIMAL(38,1)) AS a, ceil('9999999999999999999999999999999999999.1'::DECIMAL(38,1)) AS b, round('1.25'::DECIMAL(38,2), 1) AS c, round('-1.5'::DECIMAL(38,1)) AS d, round('1.25'::DECIMAL(10,2), 1) AS e, round('99.99'::DECIMAL(38,2), -1) AS f;

-- grouping sets within grouping sets
SELECT a, b, sum(x) AS s FROM (VALUES ('p', 'q', 1), ('p', 'r', 2)) AS v(a, b, x) GROUP BY GROUPING SETS (ROLLUP (a, b), (b)) ORDER BY a, b;

SELECT a, b, count(*) AS n, grouping(a, b) AS g FROM (VALUES ('p', 'q', 1), ('p', 'r', 2)) AS v(a, b, x) GROUP BY GROUPING SETS (CUBE (a, b), ROLLUP (a)) ORDER BY a, b, g;

SELECT a, b, count(*) AS n FROM (VALUES ('p', 'q', 1), ('p', 'r', 2)) AS v(a, b, x) GROUP BY GROUPING SETS (GROUPING SETS (a, ROLLUP (b)), (a, b), ()) ORDER BY a, b;

SELECT a, b, count(*) AS n FROM (VALUES ('p', 'q', 1), ('p', 'r', 2)) AS v(a, b, x) GROUP BY a, GROUPING SETS (ROLLUP (b)) ORDER BY a, b;

-- WITH within a recursive query
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL (WITH s AS (SELECT n + 1 AS m FROM r WHERE n < 4) SELECT m FROM s)) SELECT * FROM r ORDER BY n;

WITH RECURSIVE r(n) AS (WITH a AS (SELECT 1 AS x) SELECT x FROM a UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r ORDER BY n;

WITH RECURSIVE r(n) AS (WITH a AS (SELECT 10 AS x) SELECT 1 UNION ALL SELECT n + x FROM r, a WHERE n < 30) SELECT * FROM r ORDER BY n;

-- unnest within unnest
SELECT unnest(unnest([[1,2],[3]])) AS u;

SELECT unnest(unnest([[1,2],[3]])) * 10 + 1 AS u, 7 AS k;

SELECT unnest(unnest(unnest([[[1,2]],[[3],[4]]]))) AS u;

SELECT unnest([[1,2],[3]]) AS l, unnest(unnest([[1,2],[3]])) AS u;

-- an hour that the clock is set forward over moves forward
SET time_zone = 'Europe/Berlin';

SELECT to_unixtime('2024-03-31 02:30:00') AS a, to_unixtime('2024-03-31 03:30:00') AS b, to_unixtime('2024-10-27 02:30:00') AS c, date_add('2024-03-31 02:59:59', INTERVAL '1 second') AS d;

SELECT count(*) AS n FROM ab WHERE ts < '2024-03-31 02:30:00';

SET time_zone = 'UTC';

-- slots from an offset on
SELECT ts, count(x) RANGE '4ms' AS n FROM ab ALIGN '4ms' TO (INTERVAL '1 millisecond') BY () ORDER BY ts;

SELECT ts, count(x) RANGE '4ms' AS n FROM ab ALIGN '4ms' TO (now() - (now() + INTERVAL '1 millisecond')) BY () ORDER BY ts;
