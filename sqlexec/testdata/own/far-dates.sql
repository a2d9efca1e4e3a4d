-- Seconds reach far beyond nanoseconds; points in time in days, seconds and nanoseconds compare exactly: sql.md 2.1, 9.1.

CREATE TABLE far (t0 TIMESTAMP(0) TIME INDEX, t9 TIMESTAMP(9), d DATE, v INT);

INSERT INTO far VALUES ('2300-01-01', '2024-01-01 00:00:00.000000001', '2300-01-01', 1), ('1600-01-01', '2024-01-01', '1600-01-01', 2), ('2024-01-01', '2024-01-01', '2024-01-01', 3), ('2024-01-02', NULL, NULL, 4);

SELECT v, t0 > t9 AS a, t0 = t9 AS b, t9 < t0 AS c, d <= t9 AS e, t9 <> d AS f, d = t0 AS g, t0 IS NOT DISTINCT FROM d AS h FROM far WHERE v <> 1 AND v <> 2 ORDER BY v;

SELECT v, t0 > t9 AS a, t0 = t9 AS b, t9 < t0 AS c, d <= t9 AS e, t9 <> d AS f, d = t0 AS g FROM far ORDER BY v;

SELECT v FROM far WHERE t0 > now() ORDER BY v;

SELECT v FROM far WHERE d > now() ORDER BY v;

SELECT v FROM far WHERE now() >= d ORDER BY v;

SELECT v FROM far WHERE d < '2024-01-01 12:00:00' ORDER BY v;

SELECT v FROM far WHERE d >= '2024-01-01 12:00:00' ORDER BY v;

SELECT v FROM far WHERE d = '2024-01-01 12:00:00' ORDER BY v;

SELECT v FROM far WHERE d <> '2024-01-01 12:00:00' ORDER BY v;

SELECT v FROM far WHERE d BETWEEN '2023-12-31 12:00:00' AND '2024-01-01' ORDER BY v;

SELECT a.v, b.v FROM far a JOIN far b ON a.d < b.t9 AND a.v <> b.v ORDER BY a.v, b.v;

SELECT '2300-01-01'::TIMESTAMP > '2024-01-01'::TIMESTAMP(9) AS a, '1500-01-01'::DATE < '2024-01-01'::TIMESTAMP(9) AS b, '2024-01-01'::DATE = '2024-01-01'::TIMESTAMP(9) AS c, '2024-01-01 00:00:00.5'::TIMESTAMP = '2024-01-01'::TIMESTAMP(0) AS d, '1969-12-31 23:59:59.5'::TIMESTAMP > '1969-12-31 23:59:59'::TIMESTAMP(0) AS e, '1969-12-31 23:59:59.5'::TIMESTAMP < '1970-01-01'::TIMESTAMP(0) AS f, '1969-12-31'::DATE <= '1969-12-31 00:00:00.5'::TIMESTAMP AS g, '9999-12-31'::DATE > '2262-04-11 23:47:16.854775807'::TIMESTAMP(9) AS h;

SELECT date_format(d, '%Y-%j'), to_char(t0, '%Y-%m-%d %H:%M:%S'), date_part('year', d), date_part('dow', t0), date_trunc('year', t0) AS y, date_bin('1 day', t0) AS b, to_unixtime(t0) FROM far ORDER BY v;

SELECT date_format('2024-01-02 03:04:05.678912'::TIMESTAMP(6), '%.3f %6f') AS a, date_format('1969-12-31 23:59:59.999'::TIMESTAMP, '%S.%3f') AS b, date_format('2024-01-02 03:04:05.123456789'::TIMESTAMP(9), '%9f') AS c;

-- a time less a time beside an interval

SELECT v FROM far WHERE t0 - '2024-01-01'::TIMESTAMP(0) > INTERVAL '12 hours' ORDER BY v;

SELECT '2024-01-02'::TIMESTAMP - '2024-01-01'::TIMESTAMP = INTERVAL '1 day' AS a, INTERVAL '25 hours' > '2024-01-02'::TIMESTAMP - '2024-01-01'::TIMESTAMP AS b, '2024-01-01'::TIMESTAMP - '2024-01-02'::TIMESTAMP < INTERVAL '0 s' AS c;

DROP TABLE far;

-- decimals are read digit by digit

SELECT '+1.5'::DECIMAL(5, 2) AS a, '-.5'::DECIMAL(5, 2) AS b, '5.'::DECIMAL(5, 2) AS c, ' 1e2 '::DECIMAL(5, 2) AS d, '1E-2'::DECIMAL(5, 2) AS e;

SELECT TRY_CAST('1/2' AS DECIMAL(5, 2)) AS a, TRY_CAST('0x10' AS DECIMAL(5, 2)) AS b, TRY_CAST('1_0' AS DECIMAL(5, 2)) AS c, TRY_CAST('.' AS DECIMAL(5, 2)) AS d, TRY_CAST('' AS DECIMAL(5, 2)) AS e, TRY_CAST('1e' AS DECIMAL(5, 2)) AS f, TRY_CAST('1e999999' AS DECIMAL(5, 2)) AS g;

SELECT '1/2'::DECIMAL(5, 2);
