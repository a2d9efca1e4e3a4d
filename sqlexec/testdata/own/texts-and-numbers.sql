-- Texts beside numbers, and what numbers become: sql.md 1, 2.2, 2.3.

CREATE TABLE tn (s STRING, i SMALLINT, n INT, b BIGINT, u BIGINT UNSIGNED, f DOUBLE, d DECIMAL(10, 2), ts TIMESTAMP TIME INDEX);
INSERT INTO tn VALUES ('100', 100, 100, 9007199254740993, 18446744073709551615, 100.0, '1.28', 1), ('9', 9, 9, 9, 9, 9.5, '2.56', 2), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3);
SELECT ts FROM tn WHERE i >= '100' ORDER BY ts;
SELECT ts FROM tn WHERE i < ' 99.5 ' ORDER BY ts;
SELECT ts FROM tn WHERE f BETWEEN '9' AND '10' ORDER BY ts;
SELECT ts FROM tn WHERE n IN ('9', '10', 100) ORDER BY ts;
SELECT ts FROM tn WHERE n NOT IN ('9', '10') ORDER BY ts;
SELECT ts FROM tn WHERE b = '9007199254740993' ORDER BY ts;
SELECT ts FROM tn WHERE b = '9007199254740992' ORDER BY ts;
SELECT ts FROM tn WHERE u = '18446744073709551615' ORDER BY ts;
SELECT ts FROM tn WHERE d = '1.280' ORDER BY ts;
SELECT ts FROM tn WHERE d > '1.285' ORDER BY ts;
SELECT ts FROM tn WHERE s > 9 ORDER BY ts;
SELECT ts FROM tn WHERE s = b OR s = i ORDER BY ts;
SELECT ts FROM tn WHERE s IN (9, 100.0) ORDER BY ts;
SELECT ts FROM tn WHERE s BETWEEN 10 AND 1000;
SELECT ts FROM tn WHERE i = 'x';
SELECT ts FROM tn WHERE i IN (1, 'x');
SELECT ts FROM tn WHERE f > '';
SELECT count(*) AS c FROM (VALUES ('1'), ('x')) AS v(s) WHERE s > 0;
SELECT '10' > 9 AS a, 5 = '5' AS b, 5 IS DISTINCT FROM '5.0' AS c, CASE 5 WHEN '5' THEN 'yes' ELSE 'no' END AS d, 'nan' = 'NaN'::DOUBLE AS e;
SELECT i + 32767 AS a, n * 2000000000 AS b, -i - 1 AS c, i + i AS d, u - 1 AS e, arrow_typeof(i + 1) AS f, arrow_typeof(n * 2) AS g, arrow_typeof(u + 1) AS h FROM tn ORDER BY ts LIMIT 1;
SELECT sum(x) AS a FROM (VALUES (9223372036854775807), (1), (-2)) AS t(x);
SELECT sum(x) FROM (VALUES (9223372036854775807), (1)) AS t(x);
SELECT sum(x) FROM (VALUES (-9223372036854775807), (-2)) AS t(x);
SELECT sum(x) FROM (VALUES (18446744073709551615), (1)) AS t(x);
SELECT sum(x) OVER (ORDER BY x ROWS BETWEEN CURRENT ROW AND CURRENT ROW) AS a FROM (VALUES (9223372036854775807), (9223372036854775806)) AS t(x);
SELECT sum(x) OVER (ORDER BY x) AS a FROM (VALUES (9223372036854775807), (9223372036854775806)) AS t(x);
SELECT 0xff AS a, 0xFFFFFFFFFFFFFFFF AS b, 1_000 AS c, 1_0.5_0 AS d, 1e1_0 AS e;
SELECT 0x;
SELECT 0x1ffffffffffffffff;
SELECT 1_000_;
SELECT 12abc;
SELECT 1e;
DROP TABLE tn;

-- Decimals stay decimals.
SELECT round(d, 1) AS a, round(d) AS b, ceil(d) AS c, floor(d) AS d, trunc(d, 1) AS e, round(d, -1) AS f, arrow_typeof(ceil(d)) AS g FROM (VALUES ('1.25'::DECIMAL(4, 2)), ('-1.25'::DECIMAL(4, 2)), ('99.99'::DECIMAL(4, 2)), (NULL)) AS v(d);
SELECT avg(d) AS a, arrow_typeof(avg(d)) AS b, avg(DISTINCT d) AS c, avg(d) FILTER (WHERE d > 100) AS e FROM (VALUES ('1.00'::DECIMAL(4, 2)), ('1.00'::DECIMAL(4, 2)), ('0.00'::DECIMAL(4, 2)), (NULL)) AS v(d);

-- Times, dates and intervals.
SELECT TIMESTAMPTZ '2024-01-02 03:04:05+08:00' AS a, TIMESTAMP '2024-01-02 03:04:05.123456789'::TIMESTAMP(9) AS b, TIMESTAMP '2024-01-02 03:04:05.1234' AS c, arrow_typeof(TIMESTAMP '2024-01-02') AS d;
SELECT DATE '2024-03-01' - DATE '2024-02-01' AS a, arrow_typeof(DATE '2024-03-01' - DATE '2024-02-01') AS b, DATE '2024-02-01' - DATE '2024-03-01' AS c;
SELECT INTERVAL 'P3Y3M700DT1H' AS a, INTERVAL 'P1Y' AS b;
SELECT to_unixtime(5) AS a, to_unixtime('5') AS b, to_unixtime(DATE '1970-01-02') AS c;

-- Others.
SELECT regexp_extract('abc123', '([a-z]+)([0-9]+)(x)?', 2) AS a, regexp_extract('abc123', '([a-z]+)([0-9]+)', 0) AS b, regexp_extract('abc123', '([a-z]+)([0-9]+)(x)?', 3) AS c, regexp_extract('abc', '[0-9]', 0) AS d, regexp_extract('aBC', 'b', 'i') AS e;
SELECT regexp_extract('abc123', '([a-z]+)', 2);
SELECT approx_percentile_cont(value, 1.0) AS a, approx_percentile_cont(value, 0) AS b FROM generate_series(1, 100000);
SELECT count(*) FROM numbers TABLESAMPLE BERNOULLI (10);
SELECT count(*) AS c, min(number) AS a, max(number) AS b FROM numbers;
SELECT number FROM numbers WHERE 1 / (number - number) > 0 LIMIT 0;

CREATE TABLE zoned (a TIMESTAMP DEFAULT '2024-01-01 00:00:00', b TIMESTAMP(6) DEFAULT '2024-01-01 00:00:00.5+08:00', c TIMESTAMP DEFAULT 5, ts TIMESTAMP TIME INDEX);
SHOW CREATE TABLE zoned;
SET time_zone = '+08:00';
INSERT INTO zoned (ts) SELECT '2024-01-02 00:00:00';
INSERT INTO zoned (ts) VALUES ('2024-01-03 00:00:00');
SELECT a, b, c, ts FROM zoned ORDER BY ts;
SET time_zone = 'UTC';
DROP TABLE zoned;

-- Text literals beside booleans.

SELECT TRUE = 'true' AS a, FALSE <> 'no' AS b, TRUE = 't' AS c, (number > 5) = 'false' AS d FROM numbers LIMIT 1;

SELECT count(*) AS n FROM numbers WHERE 'true' = (number > 90);

SELECT TRUE = 'x';

SELECT (number > 5) = 'maybe' FROM numbers;

SELECT TRUE = NULL::STRING AS a;
