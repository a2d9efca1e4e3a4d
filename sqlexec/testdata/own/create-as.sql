-- CREATE TABLE .. AS: a table with the rows of a query.

CREATE TABLE src (host STRING, v DOUBLE, ts TIMESTAMP(9) TIME INDEX, PRIMARY KEY (host));

INSERT INTO src VALUES ('a', 1, 1), ('a', 2, 2), ('b', 3, 1), ('b', NULL, 2);

CREATE TABLE c1 AS SELECT * FROM src;

SELECT host, v, ts FROM c1 ORDER BY host, ts;

SHOW CREATE TABLE c1;

CREATE TABLE c2 (PRIMARY KEY (host)) WITH (ttl = '100000 days') AS SELECT host, v * 2 AS twice, ts, now() AS at FROM src WHERE v > 1;

DESC TABLE c2;

SELECT host, twice FROM c2 ORDER BY host;

CREATE TABLE c3 (k STRING PRIMARY KEY, n INT, t TIMESTAMP(0) TIME INDEX) AS SELECT host, count(*), '2024-01-01'::TIMESTAMP FROM src GROUP BY host;

SELECT * FROM c3 ORDER BY k;

CREATE TABLE c4 (TIME INDEX (b)) AS SELECT ts AS a, ts + INTERVAL '1 second' AS b, NULL AS nothing FROM src;

DESC c4;

SELECT count(*) FROM c4;

CREATE TABLE IF NOT EXISTS c4 AS SELECT 1;

CREATE TABLE IF NOT EXISTS c4 AS SELECT now() AS ts;

CREATE TABLE c4 AS SELECT now() AS ts;

-- What cannot be leaves no table.

CREATE TABLE c5 AS SELECT host FROM src;

CREATE TABLE c5 AS SELECT ts + INTERVAL '1 second' AS a, ts + INTERVAL '2 seconds' AS b FROM src;

CREATE TABLE c5 AS SELECT ts, [1] AS l FROM src;

CREATE TABLE c5 AS SELECT ts, v AS x, host AS x FROM src;

CREATE TABLE c5 AS SELECT CASE WHEN v > 1 THEN ts END AS ts FROM src;

CREATE TABLE c5 AS SELECT host::INT AS n, ts FROM src;

CREATE TABLE c5 (a INT, ts TIMESTAMP TIME INDEX) AS SELECT ts FROM src;

CREATE TABLE c5 (TIME INDEX (ts));

CREATE TABLE c5;

SHOW TABLES LIKE 'c%';

DROP TABLE src, c1, c2, c3, c4;

-- CREATE OR REPLACE: the old table is there until the new one is whole.

CREATE TABLE src (host STRING, v DOUBLE, ts TIMESTAMP(9) TIME INDEX, PRIMARY KEY (host));

INSERT INTO src VALUES ('a', 1, 1), ('b', 3, 1);

CREATE OR REPLACE TABLE src (PRIMARY KEY (host)) AS SELECT host, v * 10 AS v, ts FROM src;

CREATE OR REPLACE TABLE src AS SELECT host::INT AS host, ts FROM src;

SELECT * FROM src ORDER BY host;

SHOW TABLES LIKE 'src%';

CREATE OR REPLACE TABLE phy (host STRING PRIMARY KEY, v DOUBLE, ts TIMESTAMP TIME INDEX) ENGINE = metric WITH (physical_metric_table = '');

CREATE OR REPLACE TABLE m1 (host STRING PRIMARY KEY, v DOUBLE, ts TIMESTAMP TIME INDEX) ENGINE = metric WITH (on_physical_table = 'phy');

INSERT INTO m1 (host, v, ts) VALUES ('a', 1, 1);

CREATE OR REPLACE TABLE m1 (host STRING PRIMARY KEY, v DOUBLE, ts TIMESTAMP TIME INDEX) ENGINE = metric WITH (on_physical_table = 'phy');

SELECT count(*) FROM m1;

CREATE OR REPLACE TABLE phy (host STRING PRIMARY KEY, v DOUBLE, ts TIMESTAMP TIME INDEX) ENGINE = metric WITH (physical_metric_table = '');

DROP TABLE m1;

DROP TABLE src, phy;
