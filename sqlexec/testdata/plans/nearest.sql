-- A subquery that picks the row with the nearest time is an ASOF join.
SELECT host, (SELECT n FROM events e WHERE e.host = l.host AND e.ts <= l.ts ORDER BY e.ts DESC LIMIT 1) AS n FROM logs l;

SELECT host, (SELECT n FROM events e WHERE e.ts > l.ts ORDER BY e.ts LIMIT 1) AS n FROM logs l;

-- What concerns the subquery alone stands below it, what bounds the time on the other side is tested on the row found.
SELECT host, (SELECT n + 1 FROM events e WHERE e.host = l.host AND kind = 'deploy' AND e.ts < l.ts AND e.ts > l.ts - INTERVAL '1 hour' AND l.ok ORDER BY 1 + 0, e.ts DESC, n LIMIT 1) AS n FROM logs l;

-- Several columns of one row.
SELECT l.msg, x.* FROM logs l CROSS JOIN LATERAL (SELECT kind, n AS t FROM events e WHERE e.host = l.host AND l.ts >= e.ts ORDER BY e.ts DESC LIMIT 1) x;

SELECT l.msg, x.* FROM logs l LEFT JOIN LATERAL (SELECT kind, l.status + n AS t, ts AS at FROM events e WHERE e.ts BETWEEN l.ts AND l.ts + INTERVAL '1 minute' AND e.host = l.host ORDER BY at LIMIT 1) x ON true;

SELECT host FROM logs l WHERE status > (SELECT n FROM events e WHERE e.host = l.host AND e.ts <= l.ts ORDER BY e.ts DESC LIMIT 1) AND app = 'web';

SELECT host, (SELECT n FROM events e WHERE e.n <= l.status ORDER BY e.n DESC, e.ts DESC LIMIT 1) AS n FROM logs l;
