-- What information_schema, SHOW and DESC tell of tables, views and the table of numbers: sql.md 5, 7, 15, 17, 18.

CREATE TABLE shown (host STRING PRIMARY KEY, v DOUBLE, b BINARY DEFAULT x'00ff', n INT DEFAULT -5, t TIMESTAMP DEFAULT '2024-01-01 00:00:00', ts TIMESTAMP TIME INDEX);

CREATE VIEW seen AS SELECT host, max(v) AS top FROM shown GROUP BY host;

CREATE VIEW named (h, w) AS SELECT host, v FROM shown;

SELECT table_name, table_type, temporary FROM information_schema.tables WHERE table_schema = 'public' AND table_name IN ('shown', 'seen', 'numbers') ORDER BY table_name;

SELECT table_name, column_name, ordinal_position, data_type, service_data_type, semantic_type, column_key, is_nullable FROM information_schema.columns WHERE table_schema = 'public' AND table_name IN ('seen', 'named', 'numbers') ORDER BY table_name, ordinal_position;

SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'seen' ORDER BY ordinal_position;

SHOW FULL TABLES LIKE 'se%';

-- a view without its table has no columns

DROP TABLE shown;

SELECT column_name FROM information_schema.columns WHERE table_name = 'seen';

CREATE TABLE shown (host STRING PRIMARY KEY, v DOUBLE, b BINARY DEFAULT x'00ff', n INT DEFAULT -5, t TIMESTAMP DEFAULT '2024-01-01 00:00:00', ts TIMESTAMP TIME INDEX);

-- the text is taken as input again and means the same

SHOW CREATE TABLE shown;

DESC shown;

INSERT INTO shown (host, ts) VALUES ('a', 0);

SELECT b, n, t FROM shown;

-- a default time is read in the zone of the request, and shown so that it means the same in every other

SET time_zone = '+08:00';

CREATE TABLE zoned (t TIMESTAMP DEFAULT '2024-01-01 00:00:00', u TIMESTAMP DEFAULT '2024-01-01 00:00:00Z', ts TIMESTAMP TIME INDEX);

SET time_zone = 'UTC';

SHOW CREATE TABLE zoned;

INSERT INTO zoned (ts) VALUES (0);

SELECT t, u FROM zoned;

DROP TABLE zoned;

DROP VIEW seen;

DROP VIEW named;

DROP TABLE shown;

-- defaults of all kinds read back

CREATE TABLE kinds (a TIMESTAMP DEFAULT 0, b TIMESTAMP(0) DEFAULT -1, c DATE DEFAULT 19723, d DATE DEFAULT '2024-01-01', e INT DEFAULT 1 + 1, f STRING DEFAULT '5', g STRING DEFAULT 'it''s', h DOUBLE DEFAULT -1.5e3, i BOOLEAN DEFAULT FALSE, j JSON DEFAULT '{"a":1}', k TIMESTAMP DEFAULT '2024-01-01'::TIMESTAMP, l BINARY DEFAULT 'ab', m STRING DEFAULT upper('x'), n INT DEFAULT '7', o DECIMAL(5, 2) DEFAULT 1.5, ts TIMESTAMP TIME INDEX);

SHOW CREATE TABLE kinds;

INSERT INTO kinds (ts) VALUES (0);

SELECT * FROM kinds;

CREATE TABLE again (a TIMESTAMP(3) NULL DEFAULT 0, b TIMESTAMP(0) NULL DEFAULT -1, c DATE NULL DEFAULT 19723, e INT NULL DEFAULT 2, k TIMESTAMP(3) NULL DEFAULT '2024-01-01T00:00:00', l VARBINARY NULL DEFAULT x'6162', ts TIMESTAMP TIME INDEX);

INSERT INTO again (ts) VALUES (0);

SELECT * FROM again;

DROP TABLE kinds;

DROP TABLE again;

-- the empty text is a default

CREATE TABLE blank (s STRING DEFAULT '', b BINARY DEFAULT x'', n STRING DEFAULT NULL, ts TIMESTAMP TIME INDEX);

SHOW CREATE TABLE blank;

SHOW COLUMNS FROM blank;

INSERT INTO blank (ts) VALUES (0);

SELECT s = '' AS s, b = x'' AS b, n IS NULL AS n FROM blank;

DROP TABLE blank;
