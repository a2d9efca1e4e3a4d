-- JSON by operators, as lists, and gathered.
CREATE TABLE docs (id INT PRIMARY KEY, j JSON, raw STRING, ts TIMESTAMP TIME INDEX);
INSERT INTO docs VALUES (1, '[1, 2, 3]', '{"a": {"b": 5}}', 0), (2, '{"k": [1, {"z": "w"}], "n": null, "$x": 1}', '[]', 0), (3, NULL, NULL, 0), (4, '[]', '"s"', 0), (5, '[10, 9, "a", null]', '{"a": [1.50, true]}', 0);
SELECT j -> 'k' AS k, j -> 'k' -> 0 AS first, j -> 'k' -> -1 AS last, j -> 'k' -> 1 ->> 'z' AS text, j ->> 'n' AS null_text, j -> 'n' AS null_json, j ->> 'k' AS array_text, j -> '$.k[1].z' AS path, j ->> '$.k[1].z' AS path_text, j -> 'none' AS none FROM docs WHERE id = 2;
SELECT id, j -> 0 AS a, j ->> -1 AS b, j['k'] AS c, j[1] AS d, raw -> 'a' AS e, (raw ->> 'a') IS NULL AS f FROM docs ORDER BY id;
SELECT id FROM docs WHERE raw ->> 'a' = '{"b":5}' OR (j -> 0)::STRING = '10' ORDER BY id;
SELECT ('{"a": "5"}' ->> 'a')::INT + 1 AS x, '{"a": 5}' ->> 'a' || 'x' AS y, json_extract('{"a": [7]}', '$.a[0]') AS z, json_extract_string('{"a": "t"}', 'a') AS w;
SELECT 5 -> 'a';
SELECT '{}' -> true;
SELECT 'no json' -> 'a';
SELECT id, json_array_length(j) AS n, json_array_length(j, '$.k') AS k, array_length(j) AS l FROM docs ORDER BY id;
SELECT json_array_length(5);

-- An array of JSON is a list.
SELECT id, array_contains(j, 'a') AS has_a, array_contains(j, 9) AS has_9, array_position(j, 2) AS at, array_sum(j) AS sum, array_max(j) AS max, array_min(j) AS min, array_sort(j) AS sorted, array_to_string(j, '-') AS joined, array_slice(j, 1, 2) AS two, j[2:] AS rest FROM docs ORDER BY id;
SELECT array_append(j, 5) AS a, array_append(j, 'x') AS b, array_prepend('x', j) AS c, array_remove(j, 2) AS d, array_distinct(j) AS e, array_reverse(j) AS f, array_concat(j, [4]) AS g, array_intersect(j, [2, 3]) AS h, array_has_any(j, [3]) AS i, empty(j) AS k FROM docs WHERE id = 1;
SELECT array_max(parse_json('[9, 10, "a"]')) AS a, array_sort(parse_json('["b", 2, null, [1], 10, true, {"x": 1}]')) AS b;
SELECT parse_json('[1, 2, null]')::BIGINT[] AS a, [1, 2]::JSON AS b, parse_json('[1, "2"]')::STRING[] AS c, TRY_CAST(parse_json('{}') AS BIGINT[]) AS d, TRY_CAST(parse_json('[1, "x"]') AS BIGINT[]) AS e;
SELECT parse_json('[1, "x"]')::BIGINT[];
SELECT json_to_string(ARRAY[1, 2]::JSON) AS a, ARRAY[1, 2] -> 1 AS b;

-- Gathered.
SELECT json_agg(id ORDER BY id DESC) AS ids, json_agg(j ORDER BY id) AS js, json_agg(raw) FILTER (WHERE id > 3) AS some, json_object_agg(id, raw) AS o, arrow_typeof(json_agg(id)) AS t FROM docs;
SELECT id % 2 AS odd, json_agg(id ORDER BY id) AS ids, json_object_agg('k' || id, id * 1.5) AS o, json_group_object(id, j) AS j, json_group_array(id) FILTER (WHERE id > 9) AS none FROM docs GROUP BY id % 2 ORDER BY odd;
SELECT id, json_agg(id) OVER (ORDER BY id) AS a, json_object_agg(id % 2, id) OVER (ORDER BY id) AS o FROM docs ORDER BY id;
SELECT json_object_agg(k, v) AS o FROM (VALUES ('b', 1), ('a"', NULL)) t (k, v);
SELECT json_agg(DISTINCT id % 2 ORDER BY id % 2) AS d FROM docs;
SELECT json_agg(id) AS a, json_object_agg(id, id) AS o FROM docs WHERE id > 100;
SELECT json_object_agg(raw, id) FROM docs;
SELECT json_agg() FROM docs;
DROP TABLE docs;
SELECT id, unnest(j) AS e FROM (VALUES (1, parse_json('[1, "x", null]')), (2, parse_json('{}')), (3, NULL)) t (id, j) ORDER BY id;

-- Values by casts.
SELECT (j -> 'i')::INT + 1 AS i, (j -> 'f')::DOUBLE AS f, (j -> 'b')::BOOLEAN AS b, (j -> 't')::TIMESTAMP AS t, (j -> 'd')::DECIMAL(5, 2) AS d, (j -> 'n')::INT AS n, (j -> 'none')::INT AS none, TRY_CAST(j -> 's' AS INT) AS tried, parse_json('7')::BIGINT AS whole FROM (SELECT parse_json('{"i": 1, "f": 1.5, "b": true, "t": "2024-01-02", "d": 2.25, "n": null, "s": "x"}') AS j);
SELECT (parse_json('{"s": "x"}') -> 's')::INT;
SELECT parse_json('[1]')::INT;
