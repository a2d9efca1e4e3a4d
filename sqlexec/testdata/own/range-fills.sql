-- FILL takes what can be read as the type of its expression: sql.md 10.

CREATE TABLE gaps (host STRING PRIMARY KEY, i INT, d DOUBLE, s STRING, ts TIMESTAMP TIME INDEX);

INSERT INTO gaps VALUES ('a', 1, 0.5, 'x', 0), ('a', 3, 1.5, 'y', 10000);

SELECT ts, max(i) RANGE '5s' FILL 7 AS i, max(d) RANGE '5s' FILL 7 AS d, max(s) RANGE '5s' FILL 'none' AS s, max(i) RANGE '5s' FILL '8' AS t FROM gaps ALIGN '5s' ORDER BY ts;

SELECT ts, max(i) RANGE '5s' FILL 7.0 AS i FROM gaps ALIGN '5s' ORDER BY ts;

SELECT ts, max(i) RANGE '5s' FILL 7.5 FROM gaps ALIGN '5s';

SELECT ts, max(i) RANGE '5s' FILL 9999999999 FROM gaps ALIGN '5s';

SELECT ts, max(i) RANGE '5s' FILL 'seven' FROM gaps ALIGN '5s';

SELECT ts, max(d) RANGE '5s' FILL 'x' FROM gaps ALIGN '5s';

SELECT ts, max(s) RANGE '5s' FILL LINEAR FROM gaps ALIGN '5s';

SELECT ts, max(s) RANGE '5s' FROM gaps ALIGN INTERVAL '300000 days';

DROP TABLE gaps;
