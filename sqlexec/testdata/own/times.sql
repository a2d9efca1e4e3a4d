-- Time: sql.md 9.
SELECT date_bin('1m', '2024-01-02 03:04:05'::TIMESTAMP) AS a, date_bin(INTERVAL '5 minutes', '2024-01-02 03:04:05'::TIMESTAMP) AS b, date_bin(INTERVAL '1 hour', '1969-12-31 23:30:00'::TIMESTAMP) AS c, date_bin(INTERVAL '1 day', '2024-01-02 03:04:05'::TIMESTAMP, '2024-01-01 12:00:00'::TIMESTAMP) AS d;
SELECT date_trunc('year', t) AS y, date_trunc('quarter', t) AS q, date_trunc('month', t) AS mo, date_trunc('week', t) AS w, date_trunc('day', t) AS d FROM (SELECT '2024-08-14 15:16:17.123'::TIMESTAMP AS t);
SELECT date_trunc('hour', t) AS h, date_trunc('minute', t) AS m, date_trunc('second', t) AS s, date_trunc('millisecond', t) AS ms FROM (SELECT '2024-08-14 15:16:17.123'::TIMESTAMP AS t);
SELECT date_part('year', t) AS y, date_part('quarter', t) AS q, date_part('month', t) AS mo, date_part('week', t) AS w, date_part('day', t) AS d, date_part('hour', t) AS h, date_part('minute', t) AS mi FROM (SELECT '2024-08-14 15:16:17.123'::TIMESTAMP AS t);
SELECT date_part('second', t) AS s, date_part('millisecond', t) AS ms, date_part('microsecond', t) AS us, date_part('dow', t) AS dow, date_part('doy', t) AS doy, date_part('epoch', t) AS e, date_part('isodow', t) AS iso, extract(year FROM t) AS ey, datepart('month', t) AS dm FROM (SELECT '2024-08-14 15:16:17.123'::TIMESTAMP AS t);
SELECT date_part('dow', '2024-01-07'::TIMESTAMP) AS sunday, date_part('isodow', '2024-01-07'::TIMESTAMP) AS iso;
SELECT date_format('2024-01-02 03:04:05.678'::TIMESTAMP, '%Y-%m-%d %H:%M:%S.%3f') AS a, date_format('2024-01-02'::DATE, '%d/%m/%y %A %j') AS b, to_char('2024-01-02 13:04:05'::TIMESTAMP, '%I:%M %p %b %e') AS c;
SELECT date_add('2024-01-31'::DATE, INTERVAL '1 month') AS a, date_sub('2024-03-31 00:00:00'::TIMESTAMP, INTERVAL '1 month') AS b, date_add('2024-01-02 03:04:05'::TIMESTAMP, '1 day 2 hours') AS c;
SELECT '2024-01-31'::TIMESTAMP + INTERVAL '1 month' AS a, '2023-01-31'::TIMESTAMP + INTERVAL '1 month' AS b, '2024-03-31'::TIMESTAMP - INTERVAL '1 month' AS c, INTERVAL '1 day' + '2024-01-01'::TIMESTAMP AS d;
SELECT '2024-01-02 00:00:01.5'::TIMESTAMP - '2024-01-02'::TIMESTAMP AS a, '2024-01-02'::TIMESTAMP - '2024-01-02'::TIMESTAMP AS b, INTERVAL '1 day' + INTERVAL '2 hours' AS c, INTERVAL '6 years' = INTERVAL '72 months' AS d;
SELECT INTERVAL '14 months 3 days 4 hours 5 minutes 6.0001 seconds' AS a, INTERVAL '5' minute AS b, INTERVAL 1 MINUTE AS c, '5 minutes'::INTERVAL AS d, INTERVAL '1y2mon3w4d5h6m7s8ms9us10ns' AS e, INTERVAL '1.5 year' AS f, INTERVAL '-1h5m' AS g, INTERVAL '0 s' AS h;
SELECT to_unixtime('2024-01-02 03:04:05') AS a, to_unixtime('2024-01-02'::DATE) AS b, to_unixtime(1500) AS c, to_unixtime('soon') AS d, to_unixtime('1970-01-01 00:00:09'::TIMESTAMP) AS e;
SELECT to_timestamp(60) AS a, to_timestamp_seconds(60) AS b, to_timestamp_millis(60) AS c, to_timestamp_micros(60) AS d, to_timestamp_nanos(60) AS e, to_timestamp('2024-01-02 03:04:05') AS f;
SELECT from_unixtime(60) AS a, to_date('2024-01-02') AS b, make_date(2024, 2, 29) AS c, '03:04:05.5'::TIME AS d;
SELECT '2024-01-02T03:04:05Z'::TIMESTAMP AS a, '2024-01-02 03:04:05+08:00'::TIMESTAMP AS b, '2024-01-02 03:04:05+0800'::TIMESTAMP AS c, ' 2024-01-02 '::TIMESTAMP AS d, '2024-01-02 03:04'::TIMESTAMP AS e;
SELECT ('2024-01-02 03:04:05.5'::TIMESTAMP)::STRING AS a, ('2024-01-02 03:04:05'::TIMESTAMP(9))::STRING AS b, '2024-01-02'::DATE::STRING AS c;
SELECT '2024-01-02 03:04:05'::TIMESTAMP AT TIME ZONE '+08:00' AS a, timezone() AS z;
SELECT now() = now() AS a, current_timestamp() = now() AS b, current_date = today() AS c;
SELECT 'soon'::TIMESTAMP;
SELECT date_trunc('fortnight', '2024-01-02'::TIMESTAMP);
SELECT date_part('era', '2024-01-02'::TIMESTAMP);
SELECT date_bin(INTERVAL '0 s', '2024-01-02'::TIMESTAMP);
SELECT date_bin('often', '2024-01-02'::TIMESTAMP);
SELECT make_date(2023, 2, 29);
SELECT INTERVAL '1 fortnight';
SELECT INTERVAL '1 day' * 2;
SELECT '2024-01-02'::TIMESTAMP + '2024-01-02'::TIMESTAMP;

-- parts of a time of day

SELECT date_part('hour', '10:20:30.5'::TIME) AS h, extract(minute FROM '10:20:30.5'::TIME) AS m, date_part('millisecond', '10:20:30.5'::TIME(3)) AS ms, date_part('epoch', '10:20:30.5'::TIME) AS e, date_part('nanosecond', '23:59:59.999999999'::TIME) AS ns;

SELECT date_part('year', '10:20:30'::TIME);

SELECT to_timestamp(1.5) AS a, to_timestamp(-0.25) AS b, to_timestamp(9223372036.0) AS c;
SELECT to_timestamp('NaN'::DOUBLE);
SELECT to_timestamp(1e300);
SELECT to_timestamp(-9223372037.5);
SELECT to_timestamp(if(v > 1, v, NULL)) AS a FROM (VALUES (0.5), (1.5)) AS t (v);
