-- INSERT .. SELECT: sql.md 6.1. Columns match by position, others take their defaults, NOT NULL holds for every row.

CREATE TABLE src (id INT, s STRING, v DOUBLE, ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true');

INSERT INTO src VALUES (1, 'a', 1.5, 1), (2, NULL, 2.5, 2), (3, 'c', NULL, 3), (NULL, 'a', 4.5, 4);

CREATE TABLE dst (k STRING PRIMARY KEY, n INT, d INT NOT NULL DEFAULT 7, f STRING DEFAULT 'x', ts TIMESTAMP TIME INDEX);

INSERT INTO dst (ts, n, k) SELECT ts, id, s FROM src;

SELECT * FROM dst ORDER BY ts;

INSERT INTO dst (ts, d) SELECT ts + INTERVAL '1 second', id FROM src ORDER BY ts;

SELECT count(*) FROM dst;

INSERT INTO dst (ts, d, f, k) SELECT ts, id * 10, NULL, concat(s, 'k') FROM src WHERE id IS NOT NULL;

SELECT * FROM dst ORDER BY ts, k;

INSERT INTO dst SELECT 'q', number, number, concat('f', number), number::TIMESTAMP(3) FROM numbers LIMIT 5;

SELECT * FROM dst WHERE k = 'q' ORDER BY ts;

INSERT INTO dst (k, n) SELECT s, id FROM src;

INSERT INTO dst (k, ts) SELECT s, ts FROM src WHERE id > 100;

SELECT count(*) FROM dst;
