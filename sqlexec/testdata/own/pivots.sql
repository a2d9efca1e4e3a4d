-- PIVOT, UNPIVOT and SUMMARIZE, as statements and in FROM.

CREATE TABLE cities (country STRING, name STRING, year BIGINT, people BIGINT, ts TIMESTAMP TIME INDEX, PRIMARY KEY (country, name, year));

INSERT INTO cities VALUES ('NL', 'Amsterdam', 2000, 1005, 1), ('NL', 'Amsterdam', 2010, 1065, 1), ('NL', 'Amsterdam', 2020, 1158, 1), ('US', 'Seattle', 2000, 564, 1), ('US', 'Seattle', 2010, 608, 1), ('US', 'Seattle', 2020, 738, 1), ('US', 'New York', 2000, 8015, 1), ('US', 'New York', 2010, 8175, 1), ('US', 'New York', 2020, NULL, 1);

PIVOT cities ON year USING sum(people) ORDER BY name;

PIVOT cities ON year USING sum(people) GROUP BY country ORDER BY country;

PIVOT cities ON year IN (2000, 2020 AS latest) USING sum(people) AS total, max(people) AS top GROUP BY country ORDER BY country;

PIVOT cities ON country, name USING sum(people) GROUP BY year ORDER BY year LIMIT 1;

PIVOT cities ON country || '_' || name USING max(people), count(*) GROUP BY year ORDER BY year LIMIT 1;

PIVOT (SELECT country, year FROM cities) ON year;

SELECT * FROM cities PIVOT (sum(people) FOR year IN (2000, 2010) GROUP BY country) ORDER BY country;

SELECT p.country, p."2000" + p."2010" AS both FROM cities PIVOT (sum(people) AS s FOR year IN (2000 AS "2000", 2010) GROUP BY country) AS p (country, "2000", "2010") ORDER BY country;

SELECT * FROM (PIVOT cities ON year IN (2000) USING sum(people) / 1000.0 GROUP BY country) AS p JOIN (SELECT 'NL' AS country) AS c ON c.country = p.country;

WITH big AS (SELECT * FROM cities WHERE people > 1000) PIVOT big ON country USING count(DISTINCT name) FILTER (year < 2020) GROUP BY year ORDER BY year;

SELECT * FROM cities PIVOT (sum(people) FOR year IN (2000) country IN ('NL', 'US') GROUP BY name) ORDER BY name;

PIVOT cities ON year USING people;

PIVOT cities ON nothing USING sum(people);

PIVOT (SELECT 1 AS a, 2 AS b WHERE false) ON a;

-- Columns to rows.

CREATE TABLE sales (dept STRING PRIMARY KEY, jan BIGINT, feb BIGINT, mar DOUBLE, ts TIMESTAMP TIME INDEX);

INSERT INTO sales VALUES ('car', 1, 2, NULL, 1), ('toy', NULL, 20, 30.5, 1);

UNPIVOT sales ON jan, feb, mar INTO NAME month VALUE amount ORDER BY dept, month;

UNPIVOT sales ON COLUMNS(* EXCLUDE (dept, ts)) ORDER BY ALL;

UNPIVOT INCLUDE NULLS sales ON jan AS january, feb INTO NAME m VALUE v ORDER BY ALL;

SELECT * FROM sales UNPIVOT (amount FOR month IN (jan, feb)) ORDER BY dept, month;

SELECT dept, month, amount FROM sales UNPIVOT INCLUDE NULLS (amount FOR month IN (jan, mar)) AS u ORDER BY ALL;

SELECT q, a, b FROM sales UNPIVOT ((a, b) FOR q IN ((jan, feb) AS early, (feb, mar) AS late)) ORDER BY ALL;

SELECT month, sum(amount) AS total FROM (UNPIVOT sales ON jan, feb, mar INTO NAME month VALUE amount) GROUP BY month ORDER BY month;

UNPIVOT sales ON jan, dept;

UNPIVOT sales ON jan INTO NAME m VALUE a, b;

PIVOT (UNPIVOT sales ON jan, feb INTO NAME month VALUE amount) ON month USING sum(amount) GROUP BY dept ORDER BY dept;

-- What columns hold.

SUMMARIZE sales;

SUMMARIZE SELECT country, people, people::DECIMAL(10, 2) AS d, people > 1000 AS big, [people] AS l, parse_json('{"a": 1}') AS j, '2024-01-01'::DATE AS day, ts FROM cities;

SELECT column_name, null_percentage FROM (SUMMARIZE cities) AS s WHERE max IS NOT NULL ORDER BY 1;

SUMMARIZE SELECT 1 AS x WHERE false;

SUMMARIZE nothing;

DESCRIBE SUMMARIZE sales;

CREATE VIEW v AS FROM (SUMMARIZE sales);

SELECT column_name, count FROM v;

CREATE OR REPLACE VIEW v AS PIVOT cities ON year IN (2000) USING sum(people) GROUP BY country;

SELECT * FROM v ORDER BY ALL;

CREATE TABLE made AS PIVOT cities ON year IN (2000, 2010) USING sum(people) AS s GROUP BY ts;

INSERT INTO made BY NAME PIVOT cities ON year IN (2010, 2020) USING sum(people) AS s GROUP BY ts;

SELECT "2000_s", "2010_s" FROM made;

DROP TABLE made;

SELECT pivot, unpivot AS x, summarize FROM (SELECT 1 AS pivot, 2 AS unpivot, 3 AS summarize) WHERE (pivot = 1) AND (summarize IN (3));

DROP VIEW v;

DROP TABLE cities, sales;
