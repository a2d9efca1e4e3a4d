-- Logical tables on a physical one: the value may have a default.

CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH ('physical_metric_table' = '');

CREATE TABLE l (ts TIMESTAMP TIME INDEX, val DOUBLE DEFAULT 2.5, host STRING PRIMARY KEY) ENGINE=metric WITH ('on_physical_table' = 'phy');

INSERT INTO l (ts, host) VALUES (1, 'a');

INSERT INTO l (ts, host, val) VALUES (2, 'a', 7), (3, 'b', NULL);

SELECT * FROM l ORDER BY ts;

SHOW CREATE TABLE l;

SELECT host, val FROM phy ORDER BY ts;

CREATE TABLE bad (ts TIMESTAMP TIME INDEX, val DOUBLE, host STRING DEFAULT 'x' PRIMARY KEY) ENGINE=metric WITH ('on_physical_table' = 'phy');

DROP TABLE l;

DROP TABLE phy;

-- Time and value have the names that they have in the physical table.

CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH ('physical_metric_table' = '');

CREATE TABLE bad (ts TIMESTAMP TIME INDEX, other DOUBLE, host STRING PRIMARY KEY) ENGINE=metric WITH ('on_physical_table' = 'phy');

CREATE TABLE bad (at TIMESTAMP TIME INDEX, val DOUBLE, host STRING PRIMARY KEY) ENGINE=metric WITH ('on_physical_table' = 'phy');

-- The tags that the server makes are shown where the keys are sparse; the definition that is shown makes the table anew.

CREATE TABLE l (ts TIMESTAMP TIME INDEX, val DOUBLE, host STRING PRIMARY KEY) ENGINE=metric WITH ('on_physical_table' = 'phy');

INSERT INTO l (ts, host, val) VALUES (1, 'a', 1), (2, 'b', 2), (1, 'c', 3);

SELECT * FROM phy ORDER BY ts, host;

SELECT p.*, __tsid > 0 AS key FROM phy p WHERE p.__table_id > 0 ORDER BY host LIMIT 1;

SELECT host, count(*) AS n FROM phy GROUP BY host ORDER BY host;

DESC phy;

SHOW CREATE TABLE phy;

SHOW COLUMNS FROM phy;

SELECT column_name FROM information_schema.columns WHERE table_name = 'phy' ORDER BY ordinal_position;

CREATE TABLE sparse (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH ('physical_metric_table' = '', 'primary_key_encoding' = 'sparse');

DESC sparse;

SHOW CREATE TABLE sparse;

CREATE TABLE alike LIKE sparse;

DESC alike;

CREATE TABLE bad (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH ('physical_metric_table' = '', 'primary_key_encoding' = 'thin');
