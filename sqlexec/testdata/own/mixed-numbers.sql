-- Numbers of different types side by side: sql.md 2.2, 2.3, 3.3.

CREATE TABLE mixed (t TINYINT, i INT, u BIGINT UNSIGNED, d DECIMAL(10, 2), wide DECIMAL(20, 2), ts TIMESTAMP TIME INDEX);

INSERT INTO mixed VALUES (100, -5, 18446744073709551615, 12.3, '12345678901234567.89', 1), (-1, 7, 7, 7, 7, 2), (NULL, NULL, NULL, NULL, NULL, 3);

-- UInt64 with signed: each holds values that the other does not

SELECT u > -1 AS a, u = i AS b, i < u AS c, u IN (7, -1) AS d, u BETWEEN -1 AND 7 AS e, u <> 18446744073709551615 AS f FROM mixed ORDER BY ts;

SELECT u FROM mixed WHERE u > -1 ORDER BY u;

SELECT coalesce(u, 1) AS a, CASE WHEN i > 0 THEN u ELSE 0 END AS b, arrow_typeof(coalesce(u, 1)) AS t FROM mixed ORDER BY ts;

SELECT 18446744073709551615 > -1 AS a, 18446744073709551615 = -1 AS b, 18446744073709551615 AS c, 9223372036854775807 AS d;

SELECT 9223372036854775808, 9223372036854775807, -3, 1.5;

-- explicit types are no literals: integer with integer is the wider

SELECT arrow_typeof(1::TINYINT + 1::SMALLINT) AS a, arrow_typeof(1::INT + 1::BIGINT) AS b, arrow_typeof(1::UINT8 + 1::INT8) AS c, 100::TINYINT + 50::TINYINT AS wraps, 100::TINYINT + 100::BIGINT AS wide;

SELECT arrow_typeof(t + 1) AS a, arrow_typeof(t + 300) AS b, arrow_typeof(t + 1::INT) AS c, t + t AS wraps FROM mixed ORDER BY ts LIMIT 1;

-- a column of an enclosing query is no literal either

SELECT m.ts, (SELECT max(n.t + m.i) FROM mixed n WHERE n.t > m.t - 200) AS s FROM (SELECT ts, t::BIGINT AS t, 100::BIGINT AS i FROM mixed WHERE t = 100) m;

-- decimals are exact, beside integers too

SELECT wide = 12345678901234567 AS a, wide > 12345678901234567 AS b, d = 12.3 AS c, d = i AS e, d IN (7, 8) AS f, d >= 7 AS g FROM mixed ORDER BY ts;

SELECT coalesce(d, 0) AS a, arrow_typeof(coalesce(d, 0)) AS b FROM mixed ORDER BY ts;

SELECT '12345678901234567.89'::DECIMAL(20, 2) AS x UNION ALL SELECT 1;

SELECT 1.5::DECIMAL(5, 2) AS x UNION ALL SELECT 2.125::DECIMAL(6, 3);

SELECT 99999999999999999999999999999999999999::DECIMAL(38, 0) AS a, 12345678901234567890.123456789::DECIMAL(38, 9) AS b, -0.05::DECIMAL(5, 2) AS c, TRY_CAST(1000 AS DECIMAL(5, 2)) AS d;

SELECT 1000::DECIMAL(5, 2);

-- types by their arrow names

SELECT arrow_typeof(arrow_cast(1, 'Decimal128(10, 2)')) AS a, arrow_cast(1.5, 'Decimal128(10,2)') AS b, arrow_typeof('12:00'::TIME) AS c, arrow_typeof(arrow_cast('12:00', 'Time32(Second)')) AS d, arrow_typeof(now() - now()) AS e;

SELECT arrow_cast(1, 'Decimal128(39, 2)');

-- a minute has more nanoseconds than Int32 holds

SELECT date_part('nanosecond', '2024-01-01 00:00:59.999999999'::TIMESTAMP(9)) AS ns, arrow_typeof(date_part('nanosecond', now())) AS t, date_part('microsecond', '2024-01-01 00:00:59.999999'::TIMESTAMP(6)) AS us, arrow_typeof(date_part('microsecond', now())) AS tu;

DROP TABLE mixed;
