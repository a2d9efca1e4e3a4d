-- Parts of lists and texts.
SELECT a[1:2] AS a, a[2:] AS b, a[:2] AS c, a[:] AS d, a[-2:] AS e, a[3:1] AS f, a[1:-2] AS g, a[5:9] AS h, a[0:1] AS i, a[1 + 1:length('abc')] AS j FROM (SELECT [1, 2, 3] AS a);
SELECT 'hello'[1:3] AS a, 'hello'[2] AS b, 'hello'[-3:] AS c, 'héllo'[2:2] AS d, 'hello'[0:2] AS e, 'hello'[:-2] AS f, 'hello'[9:] AS g, 'hello'[-9:2] AS h;
SELECT id, a[id:] AS rest, s[id] AS letter, s[:id] AS head FROM (VALUES (1, [1, 2], 'xyz'), (2, NULL, NULL), (3, [], ''), (NULL, [1], 'a')) t (id, a, s);
SELECT [1, 2, 3][2:][1] AS a, 'ab' || 'cd'[1:1] AS b, ([1::SMALLINT, 2])[1:1] AS c;
SELECT [1][1.5:2];
SELECT 5[1:2];
SELECT array_slice('hello', 2, 3) AS a, array_slice(NULL, 1, 2) AS b;

-- Elements of every type are read as they were written.
SELECT [1.5::DECIMAL(5, 2), NULL][1] AS d, [INTERVAL '1 day 2 hours'][1] AS i, [x'00ff'][1] AS b, ['2024-01-02'::DATE][1] AS dt, [true][1] AS t, [18446744073709551615][1] AS u, [[1, 2], [3]][2] AS l, ['2024-01-02'::TIMESTAMP(9)][1] AS ts;
SELECT array_agg(x ORDER BY x)[2] AS d, array_max(array_agg(x)) AS m, array_sort(array_agg(x), 'DESC') AS s FROM (VALUES (1.5::DECIMAL(5, 2)), (10.25::DECIMAL(5, 2))) t (x);

SELECT array_sum([1, 2, NULL]) AS a, array_avg([1, 2]) AS b, array_sum([]) AS c, array_sum([1.5, 2]) AS d, array_sum([1.5::DECIMAL(5, 2), 2.25::DECIMAL(5, 2)]) AS e, array_avg([1.5::DECIMAL(5, 2)]) AS f, list_sum([1::BIGINT UNSIGNED]) AS g, list_avg([NULL]) AS h, list_max([3, 1]) AS i, list_min(['b', 'a']) AS j, array_sum(NULL) AS k;
SELECT id, array_sum(a) AS s, array_avg(a) AS m FROM (VALUES (1, [1, 2]), (2, NULL), (3, []), (4, [NULL, 5])) t (id, a) ORDER BY id;
SELECT array_sum([9223372036854775807, 1]);
SELECT array_sum(['a']);
SELECT array_avg(5);

-- Groups of regular expressions.
SELECT regexp_extract('GET /a 200', '(\w+) (\S+) (\d+)', 2) AS a, regexp_extract('GET /a 200', '(\w+) (\S+) (\d+)') AS b, regexp_extract('GET', 'get', 'i') AS c, regexp_extract('GET', '(g)(x)?', 2, 'i') AS d, regexp_extract('none', '(\d)', 1) AS e, regexp_extract('GET', '(g)', 1, 'i') AS f, regexp_extract('ab', '(?<first>a)(b)', 0) AS g;
SELECT regexp_extract_all('a1b22', '([a-z])(\d+)', 2) AS a, regexp_extract_all('a1b22', '\d+') AS b, regexp_extract_all('x', '\d') AS c, regexp_extract_all('ab', '(a)|b', 1) AS d;
SELECT id, regexp_extract(s, '(\d)(\d)?', id) AS g FROM (VALUES (1, 'x12'), (2, 'x1'), (2, 'x12'), (0, 'y'), (1, NULL), (NULL, '12')) t (id, s);
SELECT regexp_extract('a', '(a)', 2);
SELECT regexp_extract('a', '(a)', -1);
SELECT regexp_extract('a', '(a', 1);
SELECT regexp_split_to_array('a, b;c', '[,;]\s*') AS a, regexp_split_to_array('abc', '') AS b, regexp_split_to_array('', ',') AS c, regexp_split_to_array(',a,', ',') AS d, regexp_split_to_array('aXbxc', 'x', 'i') AS e, regexp_split_to_array(NULL, 'x') AS f, string_split_regex('é1ü', '\d') AS g;
SELECT regexp_split_to_array('a', '(');
