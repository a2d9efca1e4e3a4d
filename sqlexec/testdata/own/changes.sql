-- Tables that change while they hold rows: sql.md 5.3, 6.2, 6.3. The answers are the same wherever the rows are.

CREATE TABLE ch (host STRING PRIMARY KEY, v DOUBLE, s STRING, n INT, ts TIMESTAMP TIME INDEX);

INSERT INTO ch VALUES ('a', 1.5, '12', 1, 1), ('a', 2.5, 'x', 2, 2), ('b', NULL, NULL, NULL, 1), (NULL, 4, '4', 4, 3);

ALTER TABLE ch ADD COLUMN d INT NOT NULL DEFAULT 7, ADD COLUMN e STRING FIRST, ADD COLUMN f BOOLEAN DEFAULT true AFTER v;

SELECT * FROM ch ORDER BY host, ts;

INSERT INTO ch (host, v, ts, d, f) VALUES ('a', 9.5, 2, 8, false), ('c', 1, 9, DEFAULT, NULL);

SELECT * FROM ch ORDER BY host, ts;

SELECT count(*), count(d), sum(d), count(f), count(e) FROM ch;

SELECT host, d FROM ch WHERE d = 7 AND f ORDER BY host, ts;

-- a column dropped and added again is another one

ALTER TABLE ch DROP COLUMN s;

ALTER TABLE ch ADD COLUMN s INT DEFAULT 5;

SELECT host, ts, s FROM ch ORDER BY host, ts;

INSERT INTO ch (host, ts, s) VALUES ('a', 1, NULL);

SELECT host, ts, s, v, d FROM ch WHERE host = 'a' ORDER BY ts;

-- types: what does not convert reads NULL

ALTER TABLE ch ADD COLUMN t STRING;

INSERT INTO ch (host, ts, t) VALUES ('m', 1, '12'), ('m', 2, 'x'), ('m', 3, '300'), ('m', 4, NULL);

ALTER TABLE ch MODIFY COLUMN t TINYINT;

SELECT ts, t FROM ch WHERE host = 'm' ORDER BY ts;

SELECT ts FROM ch WHERE t = 12;

SELECT count(*) FROM ch WHERE host = 'm' AND t IS NULL;

INSERT INTO ch (host, ts, t) VALUES ('m', 5, 100);

SELECT ts, t FROM ch WHERE host = 'm' AND t > 50;

ALTER TABLE ch MODIFY COLUMN n DOUBLE;

SELECT host, n, n / 2 AS h FROM ch WHERE n IS NOT NULL ORDER BY n;

-- a tag added later: old rows have NULL there

ALTER TABLE ch ADD COLUMN zone STRING PRIMARY KEY;

INSERT INTO ch (host, zone, ts, v) VALUES ('b', 'z1', 1, 10), ('b', NULL, 1, 11);

SELECT host, zone, ts, v FROM ch WHERE host = 'b' ORDER BY zone;

DELETE FROM ch WHERE host = 'b' AND zone IS NULL;

SELECT host, zone, ts, v FROM ch WHERE host = 'b' ORDER BY zone;

-- defaults changed later act on later rows only

ALTER TABLE ch MODIFY COLUMN d SET DEFAULT 70;

INSERT INTO ch (host, ts) VALUES ('q', 1);

SELECT host, d FROM ch WHERE host IN ('a', 'q') ORDER BY host, ts;

-- deleting and writing again

DELETE FROM ch WHERE host = 'a';

SELECT count(*) FROM ch WHERE host = 'a';

INSERT INTO ch (host, ts, v) VALUES ('a', 1, 0.5);

SELECT host, ts, v, s, n FROM ch WHERE host = 'a';

DELETE FROM ch WHERE ts > 1;

SELECT host, ts FROM ch ORDER BY host, ts;

TRUNCATE ch;

SELECT count(*), min(ts), max(v) FROM ch;

INSERT INTO ch (host, ts) VALUES ('a', 1);

SELECT host, ts, v, d FROM ch;

ALTER TABLE ch RENAME chr2;

SELECT host, d FROM chr2;

DROP TABLE chr2;

-- last_non_null field by field, deletes between

CREATE TABLE lnn (k STRING PRIMARY KEY, a INT, b STRING, c DOUBLE DEFAULT 1.5, ts TIMESTAMP TIME INDEX) WITH (merge_mode = 'last_non_null');

INSERT INTO lnn (k, a, ts) VALUES ('x', 1, 1);

INSERT INTO lnn (k, b, c, ts) VALUES ('x', 'b1', NULL, 1), ('y', NULL, NULL, 1);

INSERT INTO lnn (k, a, b, ts) VALUES ('x', NULL, 'b2', 1), ('y', 5, NULL, 1), ('y', NULL, 'last', 1);

SELECT * FROM lnn ORDER BY k;

SELECT count(*), count(a), count(b), sum(a), max(c) FROM lnn;

SELECT k FROM lnn WHERE b = 'b1';

SELECT k FROM lnn WHERE a IS NULL;

DELETE FROM lnn WHERE k = 'x';

INSERT INTO lnn (k, c, ts) VALUES ('x', 9, 1);

SELECT * FROM lnn ORDER BY k;

ALTER TABLE lnn ADD COLUMN d INT DEFAULT 3;

INSERT INTO lnn (k, d, ts) VALUES ('y', NULL, 1);

SELECT * FROM lnn ORDER BY k;

DROP TABLE lnn;

-- an upsert table that becomes an append table

CREATE TABLE up (k STRING PRIMARY KEY, v INT, ts TIMESTAMP TIME INDEX);

INSERT INTO up VALUES ('a', 1, 1), ('a', 2, 1);

SELECT * FROM up;

ALTER TABLE up SET 'append_mode' = 'true';

INSERT INTO up VALUES ('a', 3, 1), ('a', 3, 1);

SELECT v FROM up ORDER BY v;

DELETE FROM up WHERE k = 'a';

DROP TABLE up;

-- keys of all types, NULL among them

CREATE TABLE keys (i INT, d DATE, b BOOLEAN, n STRING, u BIGINT UNSIGNED, v INT, ts TIMESTAMP(9) TIME INDEX, PRIMARY KEY (i, d, b, n, u));

INSERT INTO keys VALUES (-1, '1969-12-31', false, '', 0, 1, 1), (1, '2024-01-01', true, 'é', 18446744073709551615, 2, 1), (NULL, NULL, NULL, NULL, NULL, 3, 1), (NULL, NULL, NULL, '', NULL, 4, 1), (-1, '1969-12-31', false, '', 0, 5, 1), (NULL, NULL, NULL, NULL, NULL, 6, 1);

SELECT * FROM keys ORDER BY v;

SELECT v FROM keys WHERE i IS NULL AND n IS NULL;

SELECT v FROM keys WHERE u = 18446744073709551615 AND n = 'é' AND b;

DELETE FROM keys WHERE i IS NULL AND n = '';

SELECT i, v FROM keys ORDER BY i, v;

DROP TABLE keys;
-- A column whose type changes twice: what did not convert stays lost, whether the parts were merged in between or not.
CREATE TABLE twice (ts TIMESTAMP TIME INDEX, v DOUBLE, s STRING) WITH (append_mode = 'true');
CREATE TABLE merged (ts TIMESTAMP TIME INDEX, v DOUBLE, s STRING) WITH (append_mode = 'true');
INSERT INTO twice VALUES (1, 1.5, '12'), (2, -2.25, 'x');
INSERT INTO merged VALUES (1, 1.5, '12'), (2, -2.25, 'x');
ADMIN flush_table('twice');
ADMIN flush_table('merged');
INSERT INTO twice VALUES (3, 300, '7.5');
INSERT INTO merged VALUES (3, 300, '7.5');
ALTER TABLE twice MODIFY COLUMN v TINYINT;
ALTER TABLE merged MODIFY COLUMN v TINYINT;
ALTER TABLE twice MODIFY COLUMN s BIGINT;
ALTER TABLE merged MODIFY COLUMN s BIGINT;
ADMIN compact_table('merged');
INSERT INTO twice VALUES (4, 9, 10);
INSERT INTO merged VALUES (4, 9, 10);
ALTER TABLE twice MODIFY COLUMN v DOUBLE;
ALTER TABLE merged MODIFY COLUMN v DOUBLE;
ALTER TABLE twice MODIFY COLUMN s STRING;
ALTER TABLE merged MODIFY COLUMN s STRING;
SELECT * FROM twice ORDER BY ts;
SELECT * FROM merged ORDER BY ts;
SELECT count(*) AS n FROM (SELECT * FROM twice EXCEPT SELECT * FROM merged);
