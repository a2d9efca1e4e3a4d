-- Rows of a plain scan come in the order of the key, which several workers would not keep: only where nothing above decides it.
SELECT msg FROM logs;

SELECT msg FROM logs WHERE status = 500 LIMIT 3;

SELECT msg FROM logs UNION ALL SELECT zone FROM hosts;

SELECT msg FROM logs ORDER BY took;

SELECT count(*), host FROM logs GROUP BY host;

SELECT DISTINCT host FROM logs;

SELECT l.msg FROM logs l JOIN hosts h ON l.host = h.host;

SELECT row_number() OVER (ORDER BY ts) FROM logs;

-- LIMIT joins the order below it: then only the first rows are kept.
SELECT msg FROM logs ORDER BY ts DESC LIMIT 10;

SELECT msg FROM logs ORDER BY took, ts LIMIT 10 OFFSET 5;

SELECT host, ts FROM (SELECT * FROM logs WHERE level = 'error') ORDER BY ts DESC LIMIT 10;

SELECT host, count(*) AS n FROM logs GROUP BY host ORDER BY n DESC LIMIT 3;

SELECT DISTINCT ON (host) host, msg FROM logs ORDER BY host, ts DESC;

SELECT host, msg FROM logs QUALIFY row_number() OVER (PARTITION BY host ORDER BY ts DESC) <= 2;

-- Many keys that are made for the order alone are made of the rows that the sort keeps.
SELECT host FROM events ORDER BY n * 2, n * 3, n * 4, n * 5, n * 6, n * 7, n * 8, n * 9, n * 10, n * 11, n * 12, n * 13, n * 14, n * 15, n * 16, n * 17;

-- Those of the first rows are made below, and so are those of which one is another each time.
SELECT host FROM events ORDER BY n * 2, n * 3, n * 4, n * 5, n * 6, n * 7, n * 8, n * 9, n * 10, n * 11, n * 12, n * 13, n * 14, n * 15, n * 16, n * 17 LIMIT 5;

SELECT host FROM events ORDER BY n * 2, n * 3, n * 4, n * 5, n * 6, n * 7, n * 8, n * 9, n * 10, n * 11, n * 12, n * 13, n * 14, n * 15, n * 16, n * 17, random();
