-- ALTER TABLE .. RENAME COLUMN: rows in memory, in files and in the log are found under the new name.

CREATE TABLE t (host STRING PRIMARY KEY, a BIGINT DEFAULT 7, b BIGINT, ts TIMESTAMP TIME INDEX);

INSERT INTO t VALUES ('x', 1, 10, 1), ('y', 2, 20, 2);

ADMIN flush_table('t');

INSERT INTO t VALUES ('z', 3, 30, 3);

CREATE VIEW v AS SELECT host, a FROM t;

ALTER TABLE t RENAME COLUMN a TO first;

SELECT * FROM t WHERE first > 1 ORDER BY host;

SELECT a FROM t;

SELECT * FROM v;

INSERT INTO t (host, a, ts) VALUES ('q', 1, 1);

INSERT INTO t (host, b, ts) VALUES ('q', 40, 4);

-- Two columns exchange their names.

ALTER TABLE t RENAME COLUMN first TO tmp, RENAME b TO first, RENAME COLUMN tmp TO b;

SELECT * FROM t ORDER BY host;

INSERT INTO t VALUES ('r', 5, 50, 5);

ADMIN flush_table('t');

ADMIN compact_table('t');

SELECT host, b, first FROM t ORDER BY host;

-- Tags and the time index.

ALTER TABLE t RENAME COLUMN host TO "Node.name", RENAME ts TO at;

SELECT * FROM t WHERE "Node.name" >= 'y' AND at < 5 ORDER BY at;

SHOW CREATE TABLE t;

INSERT INTO t BY POSITION SELECT 'p', 6, 60, 6::TIMESTAMP;

INSERT INTO t BY POSITION SELECT 'p', 6;

INSERT INTO t (at, b, "Node.name") BY POSITION SELECT 7::TIMESTAMP, 70, 'p';

SELECT * FROM t WHERE "Node.name" = 'p' ORDER BY at;

-- What cannot be.

ALTER TABLE t RENAME COLUMN nothing TO x;

ALTER TABLE t RENAME COLUMN b TO first;

ALTER TABLE t RENAME COLUMN b TO b;

ALTER TABLE t RENAME COLUMN b;

ALTER TABLE v RENAME COLUMN a TO b;

CREATE TABLE phy (host STRING PRIMARY KEY, v DOUBLE, ts TIMESTAMP TIME INDEX) ENGINE = metric WITH (physical_metric_table = '');

CREATE TABLE m (host STRING PRIMARY KEY, v DOUBLE, ts TIMESTAMP TIME INDEX) ENGINE = metric WITH (on_physical_table = 'phy');

ALTER TABLE m RENAME COLUMN host TO node;

ALTER TABLE phy RENAME COLUMN host TO node;

ALTER TABLE t RENAME to_t;

ALTER TABLE to_t RENAME TO t;

DROP VIEW v;

DROP TABLE t, m;

DROP TABLE phy;
