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
