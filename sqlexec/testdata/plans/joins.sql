-- Equalities of both sides are keys, conditions of one side go there.
SELECT l.msg, h.zone FROM logs l, hosts h WHERE l.host = h.host AND l.status = 500 AND h.cores > 4;

SELECT l.msg, h.zone FROM logs l JOIN hosts h ON l.host = h.host AND l.took > h.cores WHERE h.zone = 'z';

-- Of an outer join, conditions go to the side that is given in full.
SELECT l.msg, h.zone FROM logs l LEFT JOIN hosts h ON l.host = h.host WHERE l.status = 500 AND h.zone = 'z';

SELECT l.msg, h.zone FROM logs l RIGHT JOIN hosts h ON l.host = h.host WHERE l.status = 500 AND h.zone = 'z';

SELECT l.msg, h.zone FROM logs l FULL JOIN hosts h ON l.host = h.host WHERE l.status = 500 AND h.zone = 'z';

-- All columns of a semi or anti join are the left side's; right forms are left ones with the sides exchanged.
SELECT host FROM logs l LEFT SEMI JOIN hosts h ON l.host = h.host WHERE status = 500;

SELECT host FROM logs l LEFT ANTI JOIN hosts h ON l.host = h.host WHERE status = 500;

SELECT zone FROM logs l RIGHT SEMI JOIN hosts h ON l.host = h.host;

SELECT zone FROM logs l RIGHT ANTI JOIN hosts h ON l.host = h.host;

SELECT * FROM hosts NATURAL JOIN events;

SELECT host, zone, kind FROM hosts FULL JOIN events USING (host);

-- What conditions say about the keys and times of the left side of an ASOF join holds for the right side.
SELECT l.msg, e.kind FROM logs l ASOF JOIN events e ON l.host = e.host AND l.ts >= e.ts WHERE l.host = 'a' AND l.ts < '2024-01-01';

SELECT l.msg, e.kind FROM logs l ASOF LEFT JOIN events e ON l.host = e.host AND l.ts < e.ts WHERE l.ts >= '2024-01-01';

-- The example of docs/decisions/0075.
SELECT h.zone, count(*) AS n FROM logs l JOIN hosts h ON l.host = h.host WHERE l.status = 500 GROUP BY h.zone ORDER BY n DESC LIMIT 3;
