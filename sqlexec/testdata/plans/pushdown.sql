-- Conditions move below what gives rows as they are: projections, sorts without a limit, distinct, unions.
SELECT * FROM (SELECT host AS h, took * 2 AS twice FROM logs) WHERE h = 'a';

-- What a projection computes is not computed twice.
SELECT * FROM (SELECT host, took * 2 AS twice FROM logs) WHERE twice > 1;

SELECT * FROM (SELECT host, status FROM logs ORDER BY took) WHERE status = 500;

SELECT * FROM (SELECT DISTINCT host, app FROM logs) WHERE host = 'a';

SELECT * FROM (SELECT host FROM logs UNION ALL SELECT host FROM hosts) WHERE host = 'a';

-- Not below a limit, a window or DISTINCT ON.
SELECT * FROM (SELECT host, status FROM logs ORDER BY took LIMIT 5) WHERE status = 500;

SELECT * FROM (SELECT host, row_number() OVER (PARTITION BY app ORDER BY ts) AS n FROM logs) WHERE host = 'a';

SELECT * FROM (SELECT DISTINCT ON (host) host, status FROM logs ORDER BY host, ts) WHERE status = 500;

-- Conditions on keys go below their aggregate, those on aggregates stay.
SELECT host, count(*) AS n FROM logs GROUP BY host HAVING host <> 'a' AND count(*) > 3;

-- Conditions on the rows go below unnest, those on the elements stay.
SELECT l.host, u.e FROM logs l CROSS JOIN UNNEST(make_array(app, level)) AS u(e) WHERE l.host = 'a' AND u.e = 'x';
