-- Words of the grammar are names of columns where nothing else can stand: sql.md 1.

CREATE TABLE words (timestamp TIMESTAMP TIME INDEX, value DOUBLE, id STRING PRIMARY KEY, name STRING, url STRING, desc STRING, text STRING, offset INT, align INT, full INT, window INT, limit INT, values INT, set INT, fetch INT, "order" INT, "select" INT);

INSERT INTO words (timestamp, value, id, name, url, desc, text, offset, align, full, window, limit, values, set, fetch, "order", "select") VALUES (1, 2.5, 'i', 'n', 'u', 'd', 't', 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);

SELECT timestamp, value, id, name, url, desc, text FROM words WHERE desc = 'd' AND timestamp = 1 AND value > 1 ORDER BY desc DESC, timestamp;

SELECT offset, align, full, window, limit, values, set, fetch, "order", "select" FROM words ORDER BY offset DESC;

SELECT offset + 1 AS a, 2 * align AS b FROM words WHERE window = 6 AND full > 2 GROUP BY offset, align HAVING max(limit) = 7 ORDER BY offset LIMIT 1 OFFSET 0;

SELECT timestamp, max(offset) RANGE '5s' AS m FROM words ALIGN '5s' FILL NULL;

SELECT 1 FROM words WHERE LIMIT 1;

SELECT 1 FROM words GROUP BY ORDER BY 1;

DROP TABLE words;

-- a view cannot read itself, by no way round

CREATE TABLE base (a INT, ts TIMESTAMP TIME INDEX);

CREATE VIEW one AS SELECT a FROM base;

CREATE VIEW two AS SELECT a FROM one;

CREATE OR REPLACE VIEW one AS SELECT a FROM one;

CREATE OR REPLACE VIEW one AS SELECT a FROM two;

SELECT count(*) FROM two;

DROP VIEW two;

DROP VIEW one;

DROP TABLE base;

-- no character has these numbers

SELECT chr(-1);

SELECT chr(1114112);

SELECT chr(55296);

SELECT chr(NULL) AS a, chr(233) AS b, chr(128512) AS c;

-- errors show the beginning of what they are about

SELECT repeat('x', 300)::INT;
