-- COLUMNS(..): an item for each column.

CREATE TABLE t (host STRING PRIMARY KEY, cpu_user DOUBLE, cpu_sys DOUBLE, mem BIGINT, ts TIMESTAMP TIME INDEX);

INSERT INTO t VALUES ('a', 1, 10, 100, 1), ('a', 2, 20, 200, 2), ('b', 3, NULL, 300, 3);

SELECT COLUMNS(*) FROM t ORDER BY ts LIMIT 1;

SELECT COLUMNS('^cpu'), host FROM t ORDER BY ts;

SELECT max(COLUMNS('cpu|mem')), count(*) FROM t;

SELECT host, sum(COLUMNS('^cpu_(.*)')) AS '\1_total' FROM t GROUP BY host ORDER BY host;

SELECT COLUMNS(* EXCLUDE (ts, host)) * 2 FROM t ORDER BY ts LIMIT 1;

SELECT COLUMNS(c -> c LIKE 'c%' AND length(c) > 7) FROM t ORDER BY ts LIMIT 1;

SELECT COLUMNS(lambda c: c = 'mem') FROM t ORDER BY ts LIMIT 1;

SELECT COLUMNS(['mem', 'host']) FROM t ORDER BY ts LIMIT 1;

SELECT t.COLUMNS('s$') FROM t, (SELECT 1 AS bus) AS o ORDER BY ts LIMIT 1;

SELECT * LIKE 'cpu%' FROM t ORDER BY cpu_user LIMIT 1;

SELECT * NOT ILIKE 'CPU%', count(*) OVER () AS n FROM t ORDER BY ts LIMIT 1;

SELECT COLUMNS('cpu') + COLUMNS('cpu') AS twice FROM t ORDER BY ts LIMIT 1;

SELECT COLUMNS('cpu') + COLUMNS('mem') FROM t;

SELECT host FROM t WHERE COLUMNS('cpu') > 1 ORDER BY ts;

SELECT count(COLUMNS(*)) FROM t;

SELECT host, coalesce(COLUMNS('^cpu'), 0) FROM t GROUP BY ALL ORDER BY ALL;

SELECT row_number() OVER (PARTITION BY host ORDER BY COLUMNS('^cpu')) AS '\0' FROM t ORDER BY ts;

SELECT COLUMNS('nothing') FROM t;

SELECT COLUMNS('(') FROM t;

SELECT COLUMNS(['nothing']) FROM t;

SELECT COLUMNS(c -> cpu_user > 1) FROM t;

SELECT COLUMNS(1) FROM t;

SELECT COLUMNS('a');

SELECT host FROM t ORDER BY COLUMNS('cpu');

SELECT column_name FROM information_schema.columns WHERE table_name = 't' AND columns.column_name LIKE 'c%' ORDER BY 1;

CREATE VIEW v AS SELECT COLUMNS('^cpu') FROM t;

SELECT * FROM v ORDER BY ALL;

SHOW CREATE VIEW v;

DROP VIEW v;

DROP TABLE t;
