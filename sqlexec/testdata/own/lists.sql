-- Lists: sql.md 8 and 12.2.
SELECT ARRAY[1, 2, 3] AS a, [1, 2] AS b, ARRAY['x', NULL] AS c, ARRAY[1, 2.5] AS d, make_array() AS e;
SELECT ARRAY[10, 20][1] AS a, ARRAY[10, 20][2] AS b, ARRAY[10, 20][3] AS c, ARRAY[10, 20][-1] AS d, ARRAY['x'][1] AS e;
SELECT array_length(ARRAY[1, 2]) AS a, cardinality(ARRAY[1, 2, 3]) AS b, array_element(ARRAY['a', 'b'], 2) AS c, array_length(make_array()) AS d;
SELECT array_contains(ARRAY[1, 2], 2) AS a, array_has(ARRAY[1, 2], 3) AS b, array_has(ARRAY['a', 'b'], 'b') AS c, array_has(ARRAY[1.5, 2], 1.5) AS d;
SELECT array_to_string(ARRAY[1, NULL, 2], '-') AS a, array_to_string(ARRAY['a', 'b'], '') AS b, string_to_array('a b', ' ') AS c;
SELECT array_distinct(ARRAY[3, 1, 3, 1]) AS a, array_distinct(ARRAY['a', NULL, 'a', NULL]) AS b;
SELECT array_sort(ARRAY[3, 1, 2]) AS a, array_sort(ARRAY[3, 1, NULL, 2], 'DESC') AS b, array_sort(ARRAY[3, NULL, 1], 'ASC', 'NULLS LAST') AS c, array_sort(ARRAY['b', 'a']) AS d, array_sort(ARRAY[2.5, -1, 10]) AS e;
SELECT array_reverse(ARRAY[1, 2]) AS a, array_append(ARRAY[1], 2) AS b, array_position(ARRAY['a', 'b'], 'b') AS c, array_position(ARRAY[1], 7) AS d, array_remove_all(ARRAY[1, 2, 1], 1) AS e;
SELECT array_length('a');
SELECT array_sort(ARRAY[1], 'UP');
SELECT array_sort(1);
SELECT ARRAY[1, 'a'] AS mixed;
-- A row for each element.
SELECT unnest(ARRAY[1, 2, NULL, 3]) AS x;
SELECT unnest(ARRAY['b', 'a']) AS x ORDER BY x;
SELECT value, unnest(make_array(value, value * 10)) AS x, unnest(make_array(value, value * 10)) + 1 AS y FROM generate_series(1, 2) ORDER BY x;
SELECT count(*) AS n FROM (SELECT unnest(string_to_array('a b c', ' ')) AS w);
SELECT v, unnest(l) AS x FROM (SELECT value % 2 AS v, array_agg(value ORDER BY value) AS l FROM generate_series(1, 5) GROUP BY value % 2) ORDER BY v, x;
SELECT value % 2 AS g, unnest(array_agg(value ORDER BY value DESC)) AS x FROM generate_series(1, 4) GROUP BY value % 2 ORDER BY g, x LIMIT 3;
SELECT unnest(make_array()) AS none;
SELECT * FROM UNNEST(ARRAY[1, 2]);
SELECT x FROM UNNEST(ARRAY[1, 2]) AS x;
SELECT t.y + 1 AS z FROM UNNEST(ARRAY[1, 2]) AS t(y);
SELECT a.value, b.x FROM generate_series(1, 2) AS a CROSS JOIN UNNEST(ARRAY['p', 'q']) AS b(x) ORDER BY 1, 2;
SELECT unnest(1);
SELECT unnest();
SELECT * FROM UNNEST(1);

-- Several unnests stand side by side; shorter lists are NULL behind their end.
SELECT unnest([1, 2, 3]) AS a, unnest(['x', 'y']) AS b;
SELECT unnest([1, 2]) + unnest([10, 20]) AS s, unnest([1, 2]) AS u;
SELECT a, unnest(l) AS l, unnest(m) AS m FROM (VALUES (1, [1], ['x', 'y']), (2, [], NULL), (3, NULL, ['z'])) t(a, l, m);
SELECT unnest([1]), unnest(2);

-- The text of a list.
SELECT [1, 2]::STRING AS a, CAST(['x', 'y z'] AS STRING) AS b, [1.0, NULL]::STRING AS c, []::STRING AS d, concat('l=', [1]) AS e, ['2024-01-02'::DATE]::STRING AS f;
SELECT array_to_string([1, NULL, 3], ',', '*') AS a, array_to_string(['a', NULL], ',') AS b, array_to_string([1, 2], 5) AS c;

-- lists made of lists

SELECT array_prepend(0, [1, 2]) AS a, array_concat([1], [2, NULL]) AS b, array_remove([1, 2, 1], 1) AS c, array_remove([1], 5) AS d, array_replace([1, 2, 1], 1, 9) AS e, array_replace_all([1, 2, 1], 1, 9) AS f, array_pop_front([1, 2]) AS g, array_pop_back([1, 2]) AS h, array_pop_back(array_pop_back([1])) AS i;

SELECT array_slice([1, 2, 3, 4], 2, 3) AS a, array_slice([1, 2, 3, 4], -2, -1) AS b, array_slice([1, 2, 3], 0, 10) AS c, array_slice([1, 2, 3], 3, 1) AS d, array_slice([1, 2], 5, 9) AS e, array_slice([1, 2], NULL, 1) AS f;

SELECT array_union([1, 2, 2], [2, 3]) AS a, array_intersect([3, 2, 2], [2, 3, 4]) AS b, array_except([1, 2, 2, 3], [2]) AS c, array_has_all([1, 2, 3], [3, 1]) AS d, array_has_all([1], [1, 2]) AS e, array_has_any([1, 2], [5, 2]) AS f, array_has_any([1], []) AS g;

SELECT array_max([1, 3, NULL, 2]) AS a, array_min(['b', 'a']) AS b, array_max(array_pop_back([1])) AS c, empty(array_pop_back([1])) AS d, empty([1]) AS e;

SELECT array_concat([1], ['a']);

SELECT array_slice(1, 2, 3);

-- more rows than there are

SELECT x FROM (VALUES (1), (2), (3)) AS t (x) ORDER BY x LIMIT 18446744073709551615 OFFSET 1;

SELECT x FROM (VALUES (1), (2), (3)) AS t (x) ORDER BY x LIMIT 9223372036854775807 OFFSET 1;

SELECT x FROM (VALUES (1), (2), (3)) AS t (x) ORDER BY x LIMIT 1 OFFSET 9223372036854775807;

-- a negative number is a constant, no position

SELECT x FROM (VALUES (1), (2), (3)) AS t (x) ORDER BY -1, x DESC;

SELECT x FROM (VALUES (1), (2), (3)) AS t (x) ORDER BY 2;

-- NULL is a list that is not there

SELECT array_length(NULL) AS a, cardinality(NULL) AS b, array_contains(NULL, 1) AS c, array_to_string(NULL, ',') AS d, array_sort(NULL) AS e, array_concat(NULL, [1]) AS f, array_prepend(1, NULL) AS g, array_element(NULL, 1) AS h, array_max(NULL) AS i;

-- NULL as an element and as a list; elements of different types of numbers.

SELECT array_append([1, 2], NULL) AS a, array_append(NULL, 1) AS b, array_append([], 'x') AS c, array_prepend(NULL, [1]) AS d, array_concat([1], NULL) AS e, array_concat(NULL, NULL) AS f;

SELECT array_concat(l, m) AS c, l || m AS d, array_append(l, x) AS e, array_prepend(x, l) AS f FROM (VALUES ([1, 2], [3], 7), (NULL, [3], NULL), (NULL, NULL, 1)) t (l, m, x);

SELECT array_concat([1], [2.5], [3]) AS a, array_concat([], ['a']) AS b, array_append([1, 2], 2.5) AS c, array_union([1], [1.0, 2.5]) AS d;

SELECT array_position([1, 2, 3], 2.5) AS a, array_contains([1, 2, 3], 2.5) AS b, array_contains([1.5, 2.0], 2) AS c, array_has_any([1, 2], [2.0, 9.5]) AS d, array_has_all([1, 2], [1.0, 2.5]) AS e, array_remove([1, 2], 2.0) AS f;

SELECT [1, 2] = [1.0, 2.0] AS a, [1] <> [1.5] AS b, [1] IS DISTINCT FROM NULL AS c, [] = ['a'] AS d;

SELECT [1, 2, 3] < [1];

SELECT ['a'] = [1];

SELECT string_split('a,b', ',') AS a, regexp_matches('abc', '^b') AS b, strlen('é') AS c, isinf('-inf'::DOUBLE) AS d, isfinite(1.5) AS e, isfinite('NaN'::DOUBLE) AS f;
SELECT * FROM unnest(unnest([[1, 2], [3], [], NULL]));
SELECT x.e, x.n FROM (SELECT [[[1, 2]], [[3], [4]]] AS l) AS t, unnest(unnest(unnest(t.l))) WITH ORDINALITY AS x (e, n);
SELECT t.k, e FROM (VALUES (1, [[1, 2], [3]]), (2, NULL)) AS t (k, l) LEFT JOIN unnest(unnest(t.l)) AS u (e) ON true ORDER BY 1, 2;
SELECT * FROM unnest(unnest(1));
WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL WITH s AS (SELECT n + 1 AS n FROM r WHERE n < 4) SELECT n FROM s) SELECT * FROM r ORDER BY n;
SELECT 1 AS a UNION ALL WITH s AS (SELECT 2 AS b) SELECT b FROM s ORDER BY 1;
