-- Numbers: sql.md 2.3 and 12.3.
SELECT 7 / 2 AS a, -7 / 2 AS b, 6 + 1 / 2 AS c, 7 % 3 AS d, -7 % 3 AS e, 7.0 / 2 AS f, 2 ^ 2 + 1 AS g, 5 & 3 | 8 AS h, 1 << 4 AS i, 16 >> 2 AS j, ~5 AS k;
SELECT 1 / 0;
SELECT 1 % 0;
SELECT 1.0 / 0 AS a, -1.0 / 0 AS b, 0.0 / 0 AS c;
SELECT 100::TINYINT + 50::TINYINT AS a, 9223372036854775807 + 1 AS b, 18446744073709551615 AS c;
SELECT abs(-3) AS a, abs(-2.5) AS b, ceil(1.2) AS c, ceiling(-1.2) AS d, floor(-1.2) AS e, floor(3) AS f, sign(-2) AS g, signum(0.5) AS h;
SELECT round(2.5) AS a, round(-2.5) AS b, round(1.2345, 2) AS c, round(1250, -2) AS d, trunc(1.79) AS e, trunc(-1.79, 1) AS f;
SELECT sqrt(9) AS a, cbrt(27) AS b, power(2, 10) AS c, pow(2, -1) AS d, exp(0) AS e, ln(1) AS f, log(100) AS g, log(2, 8) AS h, log2(8) AS i, log10(1000) AS j;
SELECT mod(7, 3) AS a, mod(-7, 3) AS b, mod(7.5, 2) AS c, pi() AS d, random() < 1 AS e, rand() >= 0 AS f;
SELECT clamp(5, 1, 3) AS a, clamp(-5, 1, 3) AS b, clamp(2, 1, 3) AS c, clamp_min(1, 2) AS d, clamp_max(5, 2) AS e, clamp(2.5, 1, 2) AS f;
SELECT isnan('nan'::DOUBLE) AS a, isnan(1.0) AS b, iszero(0) AS c, iszero(0.0) AS d, iszero(1) AS e, nanvl('nan'::DOUBLE, 1) AS f;
SELECT sin(0) AS a, cos(0) AS b, tan(0) AS c, asin(0) AS d, acos(1) AS e, atan(0) AS f, atan2(0, 1) AS g, sinh(0) AS h, cosh(0) AS i, tanh(0) AS j, degrees(pi()) AS k, radians(180) = pi() AS l;
SELECT factorial(5) AS a, gcd(12, 18) AS b, lcm(4, 6) AS c, greatest(1, 2.5, NULL) AS d, least(3, 1) AS e;
SELECT 'nan'::DOUBLE > 1e308 AS a, 'nan'::DOUBLE = 'nan'::DOUBLE AS b, NULL AND FALSE AS c, NULL OR TRUE AS d, NOT NULL AS e;
SELECT 'abc'::INT;
SELECT '0.5'::INT;
SELECT 'nan'::DOUBLE::INT;
SELECT 300::TINYINT;
SELECT 1.9::INT AS a, -1.9::INT AS b, TRY_CAST('x' AS INT) AS c, TRY_CAST('12' AS INT) AS d, '12'::BIGINT AS e, 1::BOOLEAN AS f, 'yes'::BOOLEAN AS g, true::INT AS h;
SELECT 0.1::DECIMAL(10, 2) + 0.25::DECIMAL(10, 2) AS a, 1.5::DECIMAL(5, 1) * 1.5::DECIMAL(5, 1) AS b;
SELECT factorial(21);
SELECT sqrt('x');
SELECT power(1);
SELECT clamp(1, 'a', 2);
SELECT true = 1;

-- Decimals are added exactly; binary is measured and hashed by its bytes.
SELECT sum(x) AS s, avg(x) AS a, min(x) AS lo, abs(min(x)) AS abs, arrow_typeof(sum(x)) AS t FROM (VALUES ('0.10'::DECIMAL(10, 2)), ('0.20'::DECIMAL(10, 2)), ('-99999999.99'::DECIMAL(10, 2)), (NULL)) v(x);
SELECT x, sum(x) OVER (ORDER BY x) AS s, avg(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS a FROM (VALUES ('0.10'::DECIMAL(10, 2)), ('0.20'::DECIMAL(10, 2)), ('0.30'::DECIMAL(10, 2))) v(x) ORDER BY x;
SELECT k, sum(x) AS s FROM (VALUES (1, '99999999999999999999999999999999999999'::DECIMAL(38, 0)), (2, '-1'::DECIMAL(38, 0)), (2, NULL), (3, NULL)) v(k, x) GROUP BY k ORDER BY k;
SELECT sum(x) FROM (VALUES ('99999999999999999999999999999999999999'::DECIMAL(38, 0)), ('1'::DECIMAL(38, 0))) v(x);
SELECT octet_length(x'616263') AS n, bit_length(x'00') AS b, md5(x'616263') = md5('abc') AS same, sha256(x'ff') <> sha256('ff') AS other;

-- series of numbers and of times

SELECT value FROM generate_series(1::TINYINT, 3::INT) ORDER BY value;

SELECT value FROM generate_series(9223372036854775806, 9223372036854775807) ORDER BY value;

SELECT value FROM generate_series(-9223372036854775808, 9223372036854775807, 9223372036854775807) ORDER BY value;

SELECT value FROM range(3, 0, -1) ORDER BY value;

SELECT count(*) AS n FROM range(0, -9223372036854775808);

SELECT value FROM generate_series('2024-01-31'::TIMESTAMP, '2024-05-01'::TIMESTAMP, INTERVAL '1 month') ORDER BY value;

SELECT t FROM generate_series('2024-01-01'::DATE, '2024-01-03'::DATE, INTERVAL '1 day') AS s (t) ORDER BY t;

SELECT value FROM generate_series('2024-01-01 01:00'::TIMESTAMP(9), '2024-01-01'::TIMESTAMP(9), INTERVAL '-30 minutes') ORDER BY value;

SELECT value FROM range('2024-01-01'::TIMESTAMP(0), '2024-01-01 00:00:02'::TIMESTAMP(0), INTERVAL '1 second') ORDER BY value;

SELECT count(*) AS n FROM generate_series('2024-01-02'::TIMESTAMP, '2024-01-01'::TIMESTAMP, INTERVAL '1 day');

SELECT value FROM generate_series('2024-01-01'::TIMESTAMP, '2024-01-02'::TIMESTAMP);

SELECT value FROM generate_series('2024-01-01'::TIMESTAMP, '2024-01-02'::TIMESTAMP, INTERVAL '0 s');

SELECT value FROM generate_series(1, 5, 0);

SELECT value FROM generate_series(1, 100000000);

SELECT value FROM generate_series('a', 'b');
