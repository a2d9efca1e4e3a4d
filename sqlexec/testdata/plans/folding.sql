-- Constants are computed once, when the query is bound.
SELECT 1 + 2 * 3 AS x, upper('a') || 'b' AS y FROM logs;

SELECT msg FROM logs WHERE ts > '2024-01-01'::TIMESTAMP + INTERVAL '1 hour';

-- A condition that is true goes, one that is false leaves no rows.
SELECT msg FROM logs WHERE 1 = 1;

SELECT msg FROM logs WHERE 1 = 0 AND status = 3;

SELECT msg FROM logs WHERE NULL;

SELECT msg FROM logs WHERE status = 2 + 3;

-- A cast around a column moves to the constant.
SELECT msg FROM logs WHERE status = '200';

SELECT msg FROM logs WHERE ts = '2024-05-01';
