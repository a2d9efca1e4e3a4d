-- Functions of lists with lambdas.

CREATE TABLE t (k STRING PRIMARY KEY, n BIGINT, tags STRING, j JSON, ts TIMESTAMP TIME INDEX);

INSERT INTO t VALUES ('a', 1, 'x y z', '[1, "b", null, 2.5]', 1), ('b', 2, '', '[]', 2), ('c', NULL, NULL, NULL, 3), ('d', 4, 'long words here and there', '{"o": 1}', 4);

SELECT list_transform([1, 2, 3], x -> x + 1) AS a, array_transform(['a', 'b'], (x, i) -> x || i) AS b, list_apply([1, NULL], x -> x IS NULL) AS c, array_apply([], x -> 1 / 0) AS d, list_transform(NULL, x -> x) AS e, list_transform([1.5, 2], lambda x, i: x * i) AS f;

SELECT list_filter([1, 2, 3, NULL], x -> x > 1) AS a, array_filter(['a', 'b', 'c'], (x, i) -> i % 2 = 1) AS b, list_filter([1], x -> NULL) AS c, list_filter([1, 2], x -> true) AS d;

SELECT list_reduce([1, 2, 3], (s, x) -> s + x) AS a, array_reduce([1, 2, 3], (s, x) -> s * x, 10) AS b, list_reduce([1, 2], (s, x) -> s / 2.0 + x) AS c, list_reduce([], (s, x) -> s + x, 5) AS d, list_reduce(['a', 'b', 'c'], (s, x, i) -> s || x || i) AS e, list_reduce([1, 2, 3], (s, x) -> s || ',' || x, '') AS f, list_reduce([7], (s, x) -> 1 / 0) AS g;

SELECT list_reduce([], (s, x) -> s);

SELECT any_match([1, 2], x -> x > 1) AS a, any_match([1, NULL], x -> x > 1) AS b, any_match([], x -> true) AS c, all_match([2, 3], x -> x > 1) AS d, all_match([2, NULL], x -> x > 1) AS e, all_match([1, NULL], x -> x > 1) AS f, none_match([1], x -> x > 1) AS g, none_match([2, NULL], x -> x > 1) AS h, list_any_match(NULL, x -> true) AS i, array_all_match([], x -> false) AS j;

-- Columns, keys, aggregates and subqueries of the row around.

SELECT k, list_transform(string_to_array(tags, ' '), w -> w || '-' || k || n) AS a, list_filter(string_to_array(tags, ' '), w -> length(w) > n) AS b FROM t ORDER BY k;

SELECT k, list_transform([1, 2], k -> k + 1) AS shadow, list_transform([1], n -> n + t.n) AS qualified, list_transform([1], x -> x - t.n) AS c, list_transform([1], n -> t.n - n) AS d FROM t ORDER BY k;

SELECT k, list_transform([1, 2], x -> list_transform([10, 20], y -> x * y + n)) AS nested, list_transform([1], x -> list_reduce([1, 2], (s, y) -> s + y + x + n, 0)) AS deep FROM t ORDER BY k;

SELECT k FROM t WHERE any_match(string_to_array(tags, ' '), w -> w LIKE 'w%') ORDER BY k;

SELECT list_transform(array_agg(n ORDER BY n), x -> x - avg(n)) AS d FROM t WHERE n IS NOT NULL;

SELECT n % 2 AS odd, list_transform([1], x -> x + n % 2) AS l FROM t WHERE n > 0 GROUP BY n % 2 ORDER BY odd;

SELECT list_transform([1], x -> x + (SELECT max(n) FROM t)) AS a, list_transform([1], x -> x IN (SELECT n FROM t)) AS b;

SELECT k, list_transform([1], x -> x + (SELECT max(u.n) FROM t AS u WHERE u.n < t.n)) AS below FROM t ORDER BY k;

SELECT k, list_transform([1], x -> x + row_number() OVER (ORDER BY ts)) AS w FROM t ORDER BY k;

SELECT x + 1 AS y, list_transform([1], z -> z + y) AS l FROM (VALUES (1), (2)) AS v(x) ORDER BY y;

-- JSON arrays; the arrow of JSON stays where no lambda may be.

SELECT k, list_filter(j, x -> json_is_int(x)) AS whole, list_transform(j, x -> json_to_string(x)) AS texts FROM t ORDER BY k;

SELECT j -> 0 AS a, list_transform(j -> '$', x -> x ->> '$') AS b FROM t WHERE k = 'a';

SELECT list_transform(parse_json('[{"a": 1}, {"a": 2}]'), x -> (x -> 'a')::BIGINT + 1) AS l;

-- Types and errors.

SELECT arrow_typeof(list_transform([1], x -> 'a')) AS a, arrow_typeof(list_filter(['a'], x -> true)) AS b, arrow_typeof(list_reduce([1], (s, x) -> s + 0.5)) AS c;

SELECT list_transform([1, 2], x -> x::TIMESTAMP) AS a, list_transform([1], x -> x::DECIMAL(5, 2)) AS b, list_reduce(list_transform([1, 2, 3, 4, 5, 6], x -> x::DECIMAL(5, 2)), (s, x) -> s + x) AS c;

SELECT list_transform([1], x -> y);

SELECT list_transform([1, 0], x -> 1 / x);

SELECT list_transform(1, x -> x);

SELECT list_transform([1], x);

SELECT list_transform([1], 1);

SELECT list_transform([1], (x, i, z) -> x);

SELECT list_reduce([1], x -> x);

SELECT list_filter([1], x -> x);

SELECT list_transform([1], (x, x) -> x);

SELECT length(lambda x: x);

SELECT lambda, count(*) AS n FROM (VALUES (1)) AS t(lambda) GROUP BY lambda;

CREATE VIEW v AS SELECT list_transform([1, 2], (x, i) -> x * i + 1) AS l;

SELECT * FROM v;

SHOW CREATE VIEW v;

DROP VIEW v;

DROP TABLE t;
