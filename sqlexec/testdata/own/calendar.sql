-- Parts of times, differences and buckets.
SELECT EXTRACT(isoyear FROM '2024-12-30'::DATE) AS isoyear, EXTRACT(decade FROM '2024-12-30'::DATE) AS decade, EXTRACT(century FROM '2000-12-30'::DATE) AS c20, EXTRACT(century FROM '2001-01-01'::DATE) AS c21, EXTRACT(millennium FROM '2001-01-01'::DATE) AS millennium, EXTRACT(julian FROM '2000-01-01 12:00'::TIMESTAMP) AS julian, EXTRACT(yearweek FROM '2024-12-30'::DATE) AS yearweek;
SELECT EXTRACT(century FROM '0000-01-01'::DATE) AS c, EXTRACT(century FROM '-0100-01-01'::DATE) AS c2, EXTRACT(millennium FROM '-0100-01-01'::DATE) AS m, EXTRACT(decade FROM '-0001-01-01'::DATE) AS d, EXTRACT(julian FROM '1969-12-31 18:00'::TIMESTAMP) AS j;
SELECT date_part('ms', t) AS ms, date_part('s', t) AS s, date_part('us', t) AS us, date_part('ns', t) AS ns, date_part('m', t) AS m, date_part('mons', t) AS mon, date_part('years', t) AS y, date_part('centuries', t) AS c, date_part('dayofweek', t) AS dow, date_part('dayofyear', t) AS doy FROM (SELECT '2024-02-10 11:22:33.456'::TIMESTAMP AS t);
SELECT year(t), quarter(t), month(t), week(t), day(t), hour(t), minute(t), second(t), millisecond(t), microsecond(t), nanosecond(t) FROM (SELECT '2024-02-10 11:22:33.456'::TIMESTAMP AS t);
SELECT dayofweek(t), weekday(t), isodow(t), dayofyear(t), dayofmonth(t), weekofyear(t), isoyear(t), yearweek(t), decade(t), century(t), millennium(t), julian(t) FROM (SELECT '2024-02-10'::DATE AS t);
SELECT epoch(t), epoch_ms(t), epoch_us(t), epoch_ns(t), dayname(t), monthname(t), last_day(t) FROM (SELECT '2024-02-10 11:22:33.456'::TIMESTAMP AS t);
SELECT year('2024-02-10') AS text, hour('10:20:30'::TIME) AS clock, year(INTERVAL '13 months') AS span, year(NULL) AS none, count(*) AS n FROM generate_series(1, 3) GROUP BY year('2024-02-10');
SELECT year(5);
SELECT year('10:20:30'::TIME);
SELECT epoch_ns('9999-01-01'::DATE);
SELECT dayname('soon');

SELECT date_diff('day', t, t + INTERVAL '2 minutes') AS d, date_diff('hour', t, t + INTERVAL '2 minutes') AS h, date_diff('minute', t, t + INTERVAL '2 minutes') AS m, date_diff('ms', t, t + INTERVAL '2 minutes') AS ms, date_diff('ns', t, t + INTERVAL '2 minutes') AS ns FROM (SELECT '2024-01-01 23:59:00'::TIMESTAMP AS t);
SELECT date_diff('year', '2024-12-31'::DATE, '2025-01-01'::DATE) AS y, date_diff('month', '2024-03-01'::DATE, '2024-01-31'::DATE) AS m, date_diff('week', '2024-01-07'::DATE, '2024-01-08'::DATE) AS w, date_diff('quarter', '2023-12-31'::DATE, '2024-04-01'::DATE) AS q, date_diff('decade', '2019-12-31'::DATE, '2020-01-01'::DATE) AS de, date_diff('isoyear', '2024-12-29'::DATE, '2024-12-30'::DATE) AS iy, date_diff('second', '1969-12-31 23:59:59.5'::TIMESTAMP, '1970-01-01'::TIMESTAMP(9)) AS s;
SELECT datediff('2024-01-03', '2024-01-01') AS days, date_diff('day', NULL, '2024-01-01'::DATE) AS none;
SELECT '2024-03-01'::DATE - '2024-02-01'::DATE AS days, arrow_typeof('2024-03-01'::DATE - '2024-02-01'::DATE) AS type, '2024-03-01'::DATE - '2024-02-29 12:00'::TIMESTAMP AS span, '2024-01-01'::DATE - NULL::DATE AS none;
SELECT date_diff('fortnight', '2024-01-01'::DATE, '2024-01-01'::DATE);
SELECT date_diff('day', 1, 2);
SELECT date_diff('ns', '-200000-01-01'::TIMESTAMP, '2024-01-01'::DATE);
SELECT age('2001-04-10'::TIMESTAMP, '1957-06-13'::TIMESTAMP) AS a, age('1957-06-13'::TIMESTAMP, '2001-04-10'::TIMESTAMP) AS b, age('2024-03-01'::DATE, '2024-02-29'::DATE) AS c, age('2024-01-01'::TIMESTAMP, '2023-12-31 23:59:59.5'::TIMESTAMP) AS d, age('2024-03-31'::DATE, '2024-02-29'::DATE) AS e, age(now()) < INTERVAL '2 days' AS f, age(NULL, now()) AS g;
SELECT age(1);

-- Buckets are counted from a Monday, those of months from 2000.
SELECT time_bucket(INTERVAL '1 week', '2024-01-10'::DATE) AS week, time_bucket('5 minutes', t) AS five, time_bucket('1 month', t) AS month, time_bucket('1 year', '2024-05-10'::DATE) AS year, time_bucket('2 weeks', '1999-12-30'::TIMESTAMP) AS before FROM (SELECT '2024-01-10 11:23:45'::TIMESTAMP AS t);
SELECT time_bucket('10 minutes', t, INTERVAL '3 minutes') AS off, time_bucket('10 minutes', t, '3 minutes') AS text, time_bucket('10 minutes', t, '2024-01-01 00:07'::TIMESTAMP) AS origin, time_bucket('10 minutes', t, '2024-01-01 00:07:00') AS origin2, time_bucket('1 day', t, INTERVAL '-2 hours') AS back, time_bucket('1 day', NULL::TIMESTAMP) AS none FROM (SELECT '2024-01-10 11:23:45'::TIMESTAMP AS t);
SELECT time_bucket('1 month', '2024-03-10'::DATE, INTERVAL '5 days') AS m;
SELECT time_bucket('0 s', now());
SELECT time_bucket('5 minutes', 5);
SELECT strftime('2024-01-10 11:23:45'::TIMESTAMP, '%Y/%m') AS a, strftime('%d', '2024-01-10'::DATE) AS b, strptime('10.01.2024', '%d.%m.%Y') AS c;
SELECT strptime('x', '%d');
SELECT width_bucket(5.35, 0.024, 10.06, 5) AS a, width_bucket(-1, 0, 10, 5) AS below, width_bucket(10, 0, 10, 5) AS above, width_bucket(9, 10, 0, 5) AS down, width_bucket(NULL, 0, 1, 2) AS none, width_bucket('inf'::DOUBLE, 0, 1, 2) AS inf;
SELECT width_bucket(1, 0, 10, 0);
SELECT width_bucket(1, 2, 2, 3);
SELECT width_bucket('NaN'::DOUBLE, 0, 2, 3);
SELECT width_bucket(true, 0, 2, 3);
SELECT width_bucket(5, [1, 3, 4, 10]) AS a, width_bucket(0.5, [1.0, 2]) AS b, width_bucket(4, parse_json('[1, 4, 9]')) AS c, width_bucket(NULL, [1]) AS d, width_bucket(1, NULL) AS e, width_bucket(10, []) AS f;
SELECT width_bucket(1, 2, 3);
SELECT width_bucket('a', ['b']);
SELECT strftime(5, '%Y');
