-- count with a filter
SELECT count(*) FROM web WHERE status <> 200;

-- plain sums and means
SELECT sum(bytes), count(*), avg(duration_ms), avg(width) FROM web;

-- mean of wide integers
SELECT avg(user_id), avg(client_ip) FROM web;

-- sums of x to x + 89
SELECT sum(width), sum(width + 1), sum(width + 2), sum(width + 3), sum(width + 4), sum(width + 5), sum(width + 6), sum(width + 7), sum(width + 8), sum(width + 9), sum(width + 10), sum(width + 11), sum(width + 12), sum(width + 13), sum(width + 14), sum(width + 15), sum(width + 16), sum(width + 17), sum(width + 18), sum(width + 19), sum(width + 20), sum(width + 21), sum(width + 22), sum(width + 23), sum(width + 24), sum(width + 25), sum(width + 26), sum(width + 27), sum(width + 28), sum(width + 29), sum(width + 30), sum(width + 31), sum(width + 32), sum(width + 33), sum(width + 34), sum(width + 35), sum(width + 36), sum(width + 37), sum(width + 38), sum(width + 39), sum(width + 40), sum(width + 41), sum(width + 42), sum(width + 43), sum(width + 44), sum(width + 45), sum(width + 46), sum(width + 47), sum(width + 48), sum(width + 49), sum(width + 50), sum(width + 51), sum(width + 52), sum(width + 53), sum(width + 54), sum(width + 55), sum(width + 56), sum(width + 57), sum(width + 58), sum(width + 59), sum(width + 60), sum(width + 61), sum(width + 62), sum(width + 63), sum(width + 64), sum(width + 65), sum(width + 66), sum(width + 67), sum(width + 68), sum(width + 69), sum(width + 70), sum(width + 71), sum(width + 72), sum(width + 73), sum(width + 74), sum(width + 75), sum(width + 76), sum(width + 77), sum(width + 78), sum(width + 79), sum(width + 80), sum(width + 81), sum(width + 82), sum(width + 83), sum(width + 84), sum(width + 85), sum(width + 86), sum(width + 87), sum(width + 88), sum(width + 89) FROM web;

-- least and greatest
SELECT min(ts), max(ts), min(duration_ms), max(bytes), min(path) FROM web;

-- rows by status
SELECT status, count(*) AS n FROM web WHERE status <> 200 GROUP BY status ORDER BY n DESC, status;

-- rows and means by hour
SELECT date_trunc('hour', ts) AS h, count(*), avg(duration_ms), sum(bytes) FROM web GROUP BY h ORDER BY h;

-- rows a minute of one host's bots
SELECT date_trunc('minute', ts) AS m, count(*) AS n FROM web WHERE host = 'frontend-000.web.example' AND is_bot = true GROUP BY m ORDER BY m LIMIT 100;

-- filters over six columns
SELECT path, count(*) AS n FROM web WHERE ts >= '2026-11-01 06:00:00' AND ts < '2026-11-01 12:00:00' AND is_bot = false AND is_mobile = true AND country IN ('us', 'de', 'fr') AND status < 400 GROUP BY path ORDER BY n DESC, path LIMIT 10;

-- events of one user
SELECT count(*), max(ts) FROM web WHERE user_id = 1234567;

-- distinct users
SELECT count(DISTINCT user_id) FROM web;

-- distinct queries
SELECT count(DISTINCT query) FROM web;

-- distinct users by country
SELECT country, count(DISTINCT user_id) AS u FROM web GROUP BY country ORDER BY u DESC, country LIMIT 10;

-- four aggregates and distinct users by city
SELECT city, sum(bytes), count(*) AS n, avg(width), count(DISTINCT user_id) FROM web GROUP BY city ORDER BY n DESC, city LIMIT 10;

-- approx_distinct by host
SELECT host, approx_distinct(user_id) AS u FROM web GROUP BY host ORDER BY host;

-- approx_distinct by city and hour
SELECT city, date_trunc('hour', ts) AS h, approx_distinct(session_id) AS u FROM web GROUP BY city, h ORDER BY city, h LIMIT 1000;

-- top users
SELECT user_id, count(*) AS n FROM web GROUP BY user_id ORDER BY n DESC, user_id LIMIT 10;

-- top paths
SELECT path, count(*) AS n FROM web GROUP BY path ORDER BY n DESC, path LIMIT 10;

-- top queries
SELECT query, count(*) AS n FROM web WHERE query <> '' GROUP BY query ORDER BY n DESC, query LIMIT 10;

-- top hosts and paths
SELECT host, path, count(*) AS n, avg(duration_ms) FROM web GROUP BY host, path ORDER BY n DESC, host, path LIMIT 10;

-- two keys: user and query
SELECT user_id, query, count(*) AS n FROM web GROUP BY user_id, query ORDER BY n DESC, user_id, query LIMIT 10;

-- two keys: session and address
SELECT session_id, client_ip, count(*) AS n, sum(bytes), avg(width) FROM web GROUP BY session_id, client_ip ORDER BY n DESC, session_id LIMIT 10;

-- three keys: user, minute and query
SELECT user_id, date_trunc('minute', ts) AS m, query, count(*) AS n FROM web GROUP BY user_id, m, query ORDER BY n DESC, user_id, m, query LIMIT 10;

-- a, a-1, a-2, a-3
SELECT client_ip, client_ip - 1, client_ip - 2, client_ip - 3, count(*) AS n FROM web GROUP BY client_ip, client_ip - 1, client_ip - 2, client_ip - 3 ORDER BY n DESC, client_ip LIMIT 10;

-- a constant and a text
SELECT 1, path, count(*) AS n FROM web GROUP BY 1, path ORDER BY n DESC, path LIMIT 10;

-- many groups with HAVING
SELECT count(*), sum(n) FROM (SELECT session_id, count(*) AS n FROM web GROUP BY session_id HAVING count(*) > 5) AS s;

-- LIKE on path
SELECT count(*) FROM web WHERE path LIKE '%garden%';

-- LIKE on path by query
SELECT query, min(path), count(*) AS n FROM web WHERE path LIKE '%/blog/%' AND query <> '' GROUP BY query ORDER BY n DESC, query LIMIT 10;

-- regular expression on JSON text
SELECT count(*) FROM web WHERE props ~ '"request":"[0-9a-f]*7f"';

-- LIKE on JSON text
SELECT count(*) FROM web WHERE props LIKE '%"plan":"pro"%"beta":true%';

-- LIKE on j::STRING
SELECT count(*) FROM web WHERE (props::JSON)::STRING LIKE '%"items":11%';

-- json_get_int
SELECT sum(json_get_int(props, 'cart.items')), count(*) FROM web;

-- json_get_string and json_get_float by plan
SELECT json_get_string(props, 'plan') AS p, avg(json_get_float(props, 'cart.total')) FROM web GROUP BY p ORDER BY p;

-- ::JSON -> over text
SELECT props::JSON -> 'cart' ->> 'items' AS k, count(*) AS n FROM web GROUP BY k ORDER BY k;

-- regexp_replace to domains
SELECT regexp_replace(referrer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') AS k, avg(length(referrer)), count(*) AS n, min(referrer) FROM web WHERE referrer <> '' GROUP BY k HAVING count(*) > 100 ORDER BY n DESC, k LIMIT 25;

-- length by host
SELECT host, avg(length(path)) AS l, count(*) AS n FROM web WHERE path <> '' GROUP BY host HAVING count(*) > 1000 ORDER BY l DESC, host LIMIT 25;

-- text functions
SELECT upper(substr(title, 1, 8)) AS k, count(*) AS n, max(concat(os, '/', browser)) FROM web GROUP BY k ORDER BY n DESC, k LIMIT 10;

-- split_part of paths
SELECT split_part(path, '/', 2) AS k, count(*) AS n FROM web GROUP BY k ORDER BY k;

-- scalar subquery: the latest before
SELECT r.host, r.build, (SELECT e.duration_ms FROM web e WHERE e.host = r.host AND e.ts <= r.ts ORDER BY e.ts DESC LIMIT 1) AS d FROM web_releases r;

-- lateral subquery: the latest before
SELECT r.host, l.path, l.bytes FROM web_releases r, LATERAL ( SELECT e.path, e.bytes FROM web e WHERE e.host = r.host AND e.ts < r.ts ORDER BY e.ts DESC LIMIT 1) AS l;

-- IN (SELECT ..) of 143k integers
SELECT count(*), sum(bytes) FROM web WHERE user_id IN (SELECT user_id FROM web_users WHERE bucket = 3);

-- LEFT JOIN, a condition on the right side
SELECT count(*), count(u.user_id), sum(u.score) FROM web e LEFT JOIN web_users u ON e.user_id = u.user_id AND u.plan = 'pro';

-- join with a small table
SELECT h.team, h.tier, count(*) AS n, avg(e.duration_ms) FROM web e JOIN web_hosts h ON e.host = h.host GROUP BY h.team, h.tier ORDER BY h.team, h.tier;

-- join with a large table
SELECT u.plan, u.home, count(*) AS n, sum(e.bytes) FROM web e JOIN web_users u ON e.user_id = u.user_id GROUP BY u.plan, u.home ORDER BY n DESC, u.plan, u.home LIMIT 20;

-- ASOF join
SELECT r.build, count(*) AS n, avg(e.duration_ms) FROM web e ASOF JOIN web_releases r ON e.host = r.host AND e.ts >= r.ts GROUP BY r.build ORDER BY n DESC, r.build LIMIT 10;

-- row_number by host
SELECT sum(n), max(n) FROM (SELECT row_number() OVER (PARTITION BY host ORDER BY ts) AS n FROM web) AS s;

-- RANGE window of a minute
SELECT max(n), sum(b) FROM (SELECT count(*) OVER w AS n, max(bytes) OVER w AS b FROM web WHERE ts < '2026-11-01 06:00:00' WINDOW w AS (PARTITION BY host ORDER BY ts RANGE BETWEEN INTERVAL '1 minute' PRECEDING AND CURRENT ROW)) AS s;

-- sessions: a sum PARTITION BY text
SELECT max(s), count(*) FROM (SELECT sum(bytes) OVER ( PARTITION BY session_id ORDER BY ts) AS s FROM web) AS x;

-- lag by session
SELECT count(*), count(b) FROM (SELECT path, lag(path) OVER ( PARTITION BY session_id ORDER BY ts) AS b FROM web) AS x;

-- OFFSET of a million
SELECT event_id, bytes FROM web ORDER BY bytes DESC, event_id LIMIT 10 OFFSET 1000000;

-- top 100 of all rows
SELECT event_id, duration_ms, path FROM web ORDER BY duration_ms DESC, event_id LIMIT 100;

-- top 3 of each country
SELECT country, event_id, bytes FROM (SELECT country, event_id, bytes, row_number() OVER (PARTITION BY country ORDER BY bytes DESC, event_id) AS n FROM web) AS s WHERE n <= 3;

-- first queries in time
SELECT query, ts FROM web WHERE query <> '' ORDER BY ts LIMIT 10;
