-- Subqueries that meet the query around them in equalities are joins.
SELECT host FROM hosts h WHERE EXISTS (SELECT 1 FROM events e WHERE e.host = h.host AND e.n > 3);

SELECT host FROM hosts h WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.host = h.host);

SELECT host FROM hosts h WHERE zone IN (SELECT kind FROM events e WHERE e.host = h.host);

SELECT host FROM hosts h WHERE EXISTS (SELECT 1 FROM events e WHERE e.host = h.host AND e.n > h.cores);

-- Aggregates become an outer join with the groups of the subquery.
SELECT host, (SELECT max(n) FROM events e WHERE e.host = h.host) AS most FROM hosts h;

SELECT host, (SELECT count(*) FROM events e WHERE e.host = h.host) AS most FROM hosts h;

SELECT host FROM hosts h WHERE cores > (SELECT avg(n) FROM events e WHERE e.host = h.host);

-- Those that stand for themselves run before the query, which has constants then; EXPLAIN shows what stands for them.
SELECT host FROM hosts WHERE cores > (SELECT max(n) FROM events);

SELECT host FROM hosts WHERE host IN (SELECT host FROM events);

SELECT host FROM hosts WHERE (host, zone) IN (SELECT host, kind FROM events);

SELECT host FROM hosts WHERE (host, zone) NOT IN (SELECT host, kind FROM events);

SELECT h.host, x.kind FROM hosts h, LATERAL (SELECT kind FROM events e WHERE e.host = h.host AND e.n > h.cores) x;

-- Equal ones run once, and what they read themselves runs before them.
SELECT host, (SELECT max(n) FROM events) AS most FROM hosts WHERE cores < (SELECT max(n) FROM events) AND EXISTS (SELECT 1 FROM events WHERE n > (SELECT avg(cores) FROM hosts));

SELECT host FROM hosts WHERE cores > ALL (SELECT n FROM events) OR (host, zone) NOT IN (SELECT host, kind FROM events);

-- A plan that depends on the value itself is shown for NULL.
SELECT host FROM hosts ORDER BY host LIMIT (SELECT max(n) FROM events);

-- One that has no plan without the value is shown for the value: its subqueries run.
SELECT date_bin((SELECT INTERVAL '1 hour'), ts) AS t, count(*) AS c FROM events GROUP BY t;

-- What runs for each row of the query around it, and recursive queries, are noted and do not run.
SELECT h.host FROM hosts h WHERE (SELECT e.n FROM events e WHERE e.n > h.cores ORDER BY e.n LIMIT 1) > 3;

SELECT host, (SELECT count(*) FROM events e WHERE e.n > h.cores) AS more FROM hosts h;

SELECT h.host, l.n FROM hosts h, LATERAL (SELECT n FROM events e WHERE e.n > h.cores ORDER BY n LIMIT 2) AS l;

-- A recursive query.
SELECT * FROM (WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT n FROM c WHERE n > 2) AS x;
