-- A JSON column takes any JSON: sql.md 14.

CREATE TABLE trees (id INT PRIMARY KEY, j JSON, ts TIMESTAMP TIME INDEX);

INSERT INTO trees VALUES (1, '{"b": 1, "a": [1, 2.50]}', 0), (2, ' [1, {"x": null}] ', 0), (3, parse_json('{}'), 0), (4, NULL, 0);

INSERT INTO trees VALUES (5, '5', 0);

INSERT INTO trees VALUES (6, '"text"', 0);

INSERT INTO trees VALUES (7, parse_json('null'), 0);

INSERT INTO trees VALUES (5, '{bad', 0);

INSERT INTO trees VALUES (5, 5, 0);

SELECT id, j, json_to_string(j) AS text FROM trees ORDER BY id;

DROP TABLE trees;
