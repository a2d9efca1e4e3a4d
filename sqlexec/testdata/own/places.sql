-- Errors say where in the text they are.
CREATE TABLE pl (host STRING, val BIGINT, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (host));
SELECT 1 UNION SELECT 1, 2;
SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 1, 2;
SELECT 1
  UNION SELECT nope FROM pl;
SELECT min(val) RANGE '5s' FROM pl;
SELECT ts, min(val) FROM pl ALIGN '5s';
SELECT ts, host RANGE '5s' FROM pl ALIGN '5s';
SELECT ts, min(val) RANGE '5s' FROM pl ALIGN 'x';
SELECT ts, min(val) RANGE '5s' FROM pl ALIGN '5s' TO 'x';
SELECT ts, min(val) RANGE '5s' FROM (SELECT * FROM pl) ALIGN '5s';
SELECT DISTINCT host FROM pl ORDER BY val;
WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a;
INSERT INTO pl VALUES ('a', 1, 1), ('b', 'x', 2);
INSERT INTO pl VALUES ('a', 1, 'x');
