-- What a row does not need is not computed for it, constants included.
SELECT CASE WHEN true THEN 1 ELSE 1 / 0 END AS a, if(false, 1 / 0, 2) AS b, coalesce(3, 1 / 0) AS c, nvl2(NULL, 1 / 0, 4) AS d, ifnull(5, 'x'::INT) AS e, coalesce(NULL, 6, 1 / 0) AS f;
SELECT CASE WHEN false THEN 1 ELSE 1 / 0 END;
SELECT coalesce(NULL, 1 / 0);
SELECT x, if(x = 0, 0, 10 / x) AS a, coalesce(nullif(x, 0), 1 / (x + 1), 9) AS b, CASE x WHEN 0 THEN 'zero' WHEN 'y'::INT THEN 'y' END AS c FROM (VALUES (0)) t(x);
SELECT x, if(x = 0, 0, 10 / x) AS a, coalesce(10 / nullif(x, 0), -1) AS b FROM (VALUES (0), (5), (NULL)) t(x) ORDER BY x;
SELECT coalesce(x, y::INT, 7) AS v FROM (VALUES (1, 'a'), (NULL, '5'), (NULL, NULL)) t(x, y) ORDER BY v;
SELECT sum(CASE WHEN x > 0 THEN 10 / x ELSE 0 END) AS s FROM (VALUES (0), (5)) t(x);
SELECT x FROM (VALUES (0), (5)) t(x) WHERE if(x = 0, false, 10 / x = 2);
CREATE TABLE br (a INT, s STRING, ts TIMESTAMP(3) TIME INDEX);
INSERT INTO br VALUES (CASE WHEN true THEN 1 ELSE 1 / 0 END, lower(uuid()), 1), (coalesce(2, 1 / 0), 'x', 2);
INSERT INTO br VALUES (CASE WHEN true THEN 1 / 0 END, 'y', 3);
SELECT a, length(s) AS n FROM br ORDER BY a;
