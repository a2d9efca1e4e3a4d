-- Functions of texts: sql.md 12.2. Positions count characters from 1.
SELECT length('añb'), char_length('añb'), character_length(''), octet_length('añb'), bit_length('añb');
SELECT upper('añb'), ucase('x'), lower('AÑB'), lcase('X'), reverse('añb'), initcap('hello wORLD-x 1st');
SELECT concat('a', NULL, 1, true), concat_ws('-', 'a', NULL, 'b'), concat_ws(NULL, 'a'), 'a' || 1 || true;
SELECT NULL || 'a';
SELECT substr('alphabet', 3), substr('alphabet', 3, 2), substring('alphabet', 3, 100), mid('alphabet', 1, 2);
SELECT substring('alphabet' FROM 3 FOR 2), substring('alphabet' FROM 3), substring('alphabet' FOR 2);
SELECT left('añbc', 2), right('añbc', 2), left('abc', -1), right('abc', -1), left('abc', 10);
SELECT trim('  a '), btrim('xxaxx', 'x'), '[' || ltrim('  a ') || ']', '[' || rtrim(' a  ') || ']', trim(BOTH 'x' FROM 'xax'), trim(LEADING 'x' FROM 'xax'), trim(TRAILING 'x' FROM 'xax');
SELECT lpad('7', 3, '0'), rpad('7', 3, 'ab'), lpad('abcd', 2), lpad('a', 3), rpad('ñ', 3, 'é'), lpad('a', -1), lpad('a', 3, '');
SELECT replace('aXbX', 'X', '--'), replace('abc', '', 'x'), repeat('ab', 3), repeat('ab', 0), repeat('ab', -1), space(2) || 'x';
SELECT split_part('a,b,c', ',', 2), split_part('a,b,c', ',', -1), split_part('a,b,c', ',', 9), split_part('abc', '', 1);
SELECT strpos('alphabet', 'ha'), position('ha' IN 'alphabet'), instr('alphabet', 'z'), strpos('ñab', 'b'), strpos('a', '');
SELECT locate('a', 'banana'), locate('a', 'banana', 3), locate('a', 'banana', 7), locate('x', 'banana', 2), locate('', 'abc', 4);
SELECT starts_with('alphabet', 'al'), ends_with('alphabet', 'bet'), contains('alphabet', 'pha'), contains('alphabet', 'PHA');
SELECT regexp_like('Error 42', '\d+'), regexp_like('ERROR', 'error', 'i'), regexp_match('k=v', '(\w)=(\w)'), regexp_match('abc', 'b'), regexp_match('abc', 'x');
SELECT regexp_replace('aaa', 'a', 'b'), regexp_replace('aaa', 'a', 'b', 'g'), regexp_replace('John Smith', '(\w+) (\w+)', '\2 \1'), regexp_replace('AbA', 'a', 'x', 'gi');
SELECT regexp_extract('id=42;', '\d+'), regexp_extract('id', '\d+'), regexp_count('banana', 'a'), regexp_count('banana', 'a', 3), regexp_count('BANANA', 'a', 1, 'i');
SELECT regexp_instr('banana', 'n'), regexp_instr('banana', 'n', 4), regexp_instr('banana', 'n', 1, 2), regexp_instr('banana', 'x');
SELECT coalesce(NULL, NULL, 3), nullif(1, 1), nullif(1, 2), ifnull(NULL, 'x'), nvl('a', 'b'), nvl2(NULL, 'a', 'b'), nvl2(1, 'a', 'b'), if(1 > 2, 'a', 'b'), isnull(NULL), isnull(1);
SELECT greatest(1, NULL, 3), least(2, NULL, 1), greatest('a', 'b'), greatest(1, 2.5);
SELECT md5('abc'), sha256('abc');
SELECT sha224('abc'), sha384('abc');
SELECT sha512('abc');
SELECT digest('abc', 'md5'), digest('abc', 'sha256');
SELECT digest('abc', 'crc32');
SELECT to_hex(255), to_hex(-1), encode('abc', 'hex'), encode('abc', 'base64'), decode('616263', 'hex')::STRING, decode('YWJj', 'base64')::STRING;
SELECT length(uuid()), chr(241), ascii('ñ'), ascii(''), translate('12345', '143', 'ax');
SELECT levenshtein('kitten', 'sitting'), find_in_set('b', 'a,b,c'), find_in_set('x', 'a,b,c'), substr_index('www.a.com', '.', 2), substring_index('www.a.com', '.', -2);
SELECT overlay('Txxxxas' PLACING 'hom' FROM 2 FOR 4), overlay('Txxxxas' PLACING 'hom' FROM 2), overlay('abc' PLACING 'X' FROM 3), overlay('abc', 'X', 2, 1);
SELECT elt(1, 'a', 'b'), elt(2, 'a', 'b'), elt(3, 'a', 'b'), elt(0, 'a'), elt(NULL, 'a'), elt(2, 'a', NULL);
SELECT field('b', 'a', 'b', 'c'), field('x', 'a', 'b'), field(NULL, 'a'), field(3, 1, 2, 3), field('a', NULL, 'a');
SELECT insert('Quadratic', 3, 4, 'What'), insert('Quadratic', -1, 4, 'What'), insert('Quadratic', 3, 100, 'What'), insert('abc', 4, 1, 'x'), insert('abc', 1, 0, 'x');
SELECT format(1234567.891, 2), format(12.5, 0), format(-1234.5, 1), format(0, 2), format(999.995, 2), format(1234), format(-0.001, 2);
SELECT string_to_array('a,b,c', ','), array_to_string(string_to_array('a,b,c', ','), '|');
-- NULL in, NULL out.
SELECT upper(NULL), length(NULL), substr(NULL, 1), overlay(NULL, 'x', 1), insert('abc', NULL, 1, 'x'), format(NULL, 2), locate(NULL, 'a');
-- Errors: unknown names with the nearest one, numbers and types of arguments, patterns, lengths.
SELECT uper('a');
SELECT nosuchfunctionatall('a');
SELECT length();
SELECT substr('a');
SELECT replace('a', 'b');
SELECT lpad('a', 'x');
SELECT upper(ARRAY[1]);
SELECT regexp_like('a', '(');
SELECT 'a' ~ '(';
SELECT regexp_replace('a', '[', 'b');
SELECT repeat('abcdefgh', 100000000);
SELECT length(lpad('x', 20000000));
SELECT replace(repeat('a', 1000000), 'a', repeat('b', 1000));
SELECT decode('zz', 'hex');
SELECT encode('a', 'rot13');

-- letters, not bytes

SELECT levenshtein('日本', '日x') AS a, levenshtein('kitten', 'sitting') AS b, levenshtein('', 'é') AS c, levenshtein(NULL, 'a') AS d;

SELECT levenshtein(repeat('a', 20000), repeat('b', 20000));

-- the empty text, NULL, and characters that become several in upper case

SELECT replace('hello', '', 'x') AS a, replace('', '', 'x') AS b, replace('é日', '', '-') AS c, replace('a', 'a', '') AS d, replace('a', NULL, 'x') AS e, replace('', 'a', 'x') AS f;

SELECT string_to_array('a b', NULL) AS a, string_to_array('a b', '') AS b, string_to_array(NULL, ' ') AS c, string_to_array(NULL, NULL) AS d, string_to_array('', NULL) AS e, string_to_array('é日', NULL) AS f;

SELECT string_to_array('a,,NULL,"b"', ',', '') AS a, string_to_array('a,,NULL', ',', 'NULL') AS b, string_to_array('a,b', ',', NULL) AS c, string_to_list('a.b', '.') AS d, string_split('abc', '') AS e, string_split('abc', NULL) AS f;

SELECT string_to_array(s, d) AS a, string_to_array(s, d, n) AS b FROM (VALUES ('a-b', '-', 'b'), ('a-b', NULL, '-'), (NULL, '-', 'a'), ('a-b', '', 'a-b'), ('a-b', '-', NULL)) AS t(s, d, n);

SELECT upper('ß') AS a, upper('äöüß straße') AS b, upper('ﬁne ŉ ΐ և') AS c, upper('') AS d, upper(NULL) AS e, ucase('ﬃ') AS f, initcap('ßa ﬁne éa') AS g, length(upper('ΐ')) AS h, lower('ÄÖÜ') AS i;

SELECT upper(s) AS u, count(*) AS n FROM (VALUES ('straße'), ('STRASSE'), ('strasse'), (NULL)) AS t(s) GROUP BY upper(s) ORDER BY u;
