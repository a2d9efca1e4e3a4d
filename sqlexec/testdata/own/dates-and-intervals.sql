-- Dates, timestamps and intervals: sums keep each part of the interval, comparisons are exact

CREATE TABLE di (id INT, ts TIMESTAMP(3) TIME INDEX, s TIMESTAMP(0), us TIMESTAMP(6), ns TIMESTAMP(9), d DATE, PRIMARY KEY (id));

INSERT INTO di VALUES (1, '2024-03-09 23:00:00', '2024-03-10 01:00:00', '2024-03-10 00:00:00.000001', '2024-03-10 00:00:00.000000001', '2024-03-10'), (2, '2024-03-10 12:00:00', '2024-03-09 22:59:59', '2024-03-09 23:59:59.999999', '2024-03-09 23:59:59.999999999', '1969-12-31'), (3, '2024-03-08 00:00:00', NULL, NULL, NULL, NULL);

-- whole days stay a date, parts of a day make a timestamp
SELECT '2024-03-10'::DATE + INTERVAL '36 hours' AS a, '2024-03-10'::DATE - INTERVAL '1 hour' AS b, '2024-03-10'::DATE + INTERVAL '1 day' AS c, '2024-01-31'::DATE + INTERVAL '1 month' AS d, INTERVAL '90 minutes' + '2024-03-10'::DATE AS e, '2024-03-10'::DATE + INTERVAL '1 month 1 second' AS f;

SELECT arrow_typeof('2024-03-10'::DATE + INTERVAL '36 hours') AS a, arrow_typeof('2024-03-10'::DATE + INTERVAL '1 day') AS b, arrow_typeof('2024-03-10'::DATE + INTERVAL '1 microsecond') AS c, arrow_typeof('2024-03-10'::DATE - INTERVAL '1 nanosecond') AS d;

SELECT date_add('2024-03-10'::DATE, INTERVAL '36 hours') AS a, date_sub('2024-03-10'::DATE, '30 minutes') AS b, date_add('2024-03-10'::DATE, INTERVAL '2 days') AS c, '2024-03-10'::DATE + '36 hours' AS d;

SELECT id, d + INTERVAL '36 hours' AS a, d - INTERVAL '1 second' AS b, d + INTERVAL '1 month' AS c FROM di ORDER BY id;

-- an interval that is computed, and durations
SELECT id, d + id * INTERVAL '6 hours' AS a, d + (ts - '2024-03-09'::TIMESTAMP) AS b, d - (ts - '2024-03-09'::TIMESTAMP) AS c FROM di ORDER BY id;

-- far dates
SELECT '9999-12-31'::DATE + INTERVAL '1 hour' AS a, '0001-01-01'::DATE - INTERVAL '1 hour' AS b;

-- timestamps of any unit keep what the interval has
SELECT s + INTERVAL '500 milliseconds' AS a, ts + INTERVAL '1 microsecond' AS b, us + INTERVAL '1 nanosecond' AS c, ns - INTERVAL '1 nanosecond' AS d, s + INTERVAL '1 hour' AS e FROM di WHERE id = 1;

SELECT s + (ns - '2024-03-10'::TIMESTAMP(9)) AS a, arrow_typeof(s + INTERVAL '1 hour') AS b, arrow_typeof(s + INTERVAL '1ms') AS c FROM di WHERE id = 1;

-- comparisons with a date an hour before or after midnight, for each unit
SELECT id FROM di WHERE ts >= '2024-03-10'::DATE - INTERVAL '1 hour' ORDER BY id;

SELECT id FROM di WHERE ts > '2024-03-10'::DATE - INTERVAL '1 hour' ORDER BY id;

SELECT id FROM di WHERE s < '2024-03-10'::DATE + INTERVAL '1 hour' ORDER BY id;

SELECT id FROM di WHERE us > '2024-03-10'::DATE - INTERVAL '1 microsecond' AND us <= '2024-03-10'::DATE + INTERVAL '1 microsecond' ORDER BY id;

SELECT id FROM di WHERE ns >= '2024-03-10'::DATE - INTERVAL '1 nanosecond' AND ns < '2024-03-10'::DATE + INTERVAL '1 nanosecond' ORDER BY id;

SELECT id FROM di WHERE ts BETWEEN '2024-03-10'::DATE - INTERVAL '1 hour' AND '2024-03-10'::DATE + INTERVAL '12 hours' ORDER BY id;

SELECT id FROM di WHERE d + INTERVAL '1 hour' > ts ORDER BY id;

SELECT count(*) AS n FROM di WHERE ts >= current_date - INTERVAL '1 hour';

-- frames
SELECT id, count(*) OVER (ORDER BY d RANGE BETWEEN INTERVAL '36 hours' PRECEDING AND CURRENT ROW) AS n FROM (VALUES (1, '2024-03-10'::DATE), (2, '2024-03-11'::DATE), (3, '2024-03-12'::DATE), (4, '2024-03-20'::DATE)) AS v(id, d) ORDER BY id;

SELECT id, count(*) OVER (ORDER BY t RANGE BETWEEN INTERVAL '1500 milliseconds' PRECEDING AND CURRENT ROW) AS n FROM (VALUES (1, '2024-03-10 00:00:00'::TIMESTAMP(0)), (2, '2024-03-10 00:00:01'::TIMESTAMP(0)), (3, '2024-03-10 00:00:03'::TIMESTAMP(0))) AS v(id, t) ORDER BY id;
