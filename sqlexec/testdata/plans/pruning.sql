-- Columns that nobody needs are not read; projections of plain columns melt into one.
SELECT host FROM (SELECT * FROM (SELECT host, app, msg, upper(level) AS l FROM logs));

SELECT count(*) FROM (SELECT host, upper(msg) FROM logs) AS t;

SELECT host FROM (SELECT host, app, max(took) AS m, min(took) AS least FROM logs GROUP BY host, app);

SELECT h.zone FROM logs l JOIN hosts h ON l.host = h.host WHERE l.took > h.cores;

SELECT a FROM (SELECT host AS a, app AS b FROM logs UNION ALL SELECT host, zone FROM hosts);

SELECT host FROM (SELECT host, took, lag(status) OVER (ORDER BY ts) AS before FROM logs);

SELECT host FROM (SELECT host, msg, unnest(make_array(app, level)) AS e FROM logs);

SELECT host FROM (SELECT DISTINCT host, app FROM logs);

SELECT kind FROM (SELECT l.msg, e.kind, e.n FROM logs l ASOF JOIN events e ON l.host = e.host AND l.ts >= e.ts);
