-- Constants are no keys, unless they are all that there is: without keys there is a group of no rows.
SELECT 1 AS one, host, count(*) FROM logs GROUP BY 1, host;

SELECT 'x' AS x, 2 AS y, count(*) FROM logs GROUP BY 1, 2;

-- Keys that depend on other keys alone are computed once for each group.
SELECT status, status - 1, status - 2, count(*) FROM logs GROUP BY status, status - 1, status - 2;

SELECT date_trunc('hour', ts) AS h, extract(hour FROM date_trunc('hour', ts)) AS n, count(*) FROM logs GROUP BY h, n HAVING n < 5;

-- Zeros of both signs are one group, but not one value: what depends on a float stays a key. So does what differs each time.
SELECT took, took * 2, count(*) FROM logs GROUP BY took, took * 2;

SELECT status, status + random() AS r, count(*) FROM logs GROUP BY status, r;

-- Sums of integers that differ by constants are one sum.
SELECT sum(status), sum(status + 1), sum(status - 2), sum(7 + status), avg(status + 1) FROM logs;

SELECT host, sum(n + 1) FILTER (WHERE kind = 'a'), sum(n + 2) FILTER (WHERE kind = 'a'), sum(n) FROM events GROUP BY host;

-- Sums of floats round.
SELECT sum(took), sum(took + 1) FROM logs;
