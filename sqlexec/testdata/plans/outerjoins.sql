-- Conditions of ON on the side that may stay without a partner go there, those on the other side decide on pairs.
SELECT l.msg, h.zone FROM logs l LEFT JOIN hosts h ON l.host = h.host AND h.cores > 4 AND l.status = 500;

SELECT l.msg, h.zone FROM logs l RIGHT JOIN hosts h ON l.host = h.host AND h.cores > 4 AND l.status = 500;

SELECT l.msg, h.zone FROM logs l FULL JOIN hosts h ON l.host = h.host AND h.cores > 4 AND l.status = 500;

SELECT l.msg, h.zone FROM logs l JOIN hosts h ON l.host = h.host AND h.cores > 4 AND l.status = 500 AND l.took > h.cores;

SELECT l.msg FROM logs l LEFT SEMI JOIN hosts h ON l.host = h.host AND h.cores > 4 AND l.status = 500;

SELECT l.msg FROM logs l LEFT ANTI JOIN hosts h ON l.host = h.host AND h.cores > 4 AND l.status = 500;

SELECT l.msg, h.zone FROM logs l LEFT JOIN hosts h ON l.host = h.host AND h.cores > 4 * random();
