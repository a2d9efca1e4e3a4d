-- Aggregates that pick values: percentile_disc, mode, arg_max and arg_min, approx_top_k, histogram, count_if.
CREATE TABLE picks (g STRING PRIMARY KEY, i BIGINT, n TINYINT, u BIGINT UNSIGNED, f DOUBLE, d DECIMAL(10, 2), s STRING, b BOOLEAN, ts TIMESTAMP TIME INDEX);
INSERT INTO picks VALUES
  ('a', 3, 1, 10, 1.5, 1.25, 'x', true, 1000),
  ('a', 1, -2, 20, 2.5, 10.5, 'y', false, 2000),
  ('a', 3, NULL, NULL, NULL, NULL, NULL, NULL, 3000),
  ('a', 2, 5, 18446744073709551615, 'NaN'::DOUBLE, -1.25, 'x', true, 4000),
  ('b', NULL, 7, 0, 9.0, 3.75, 'z', true, 5000);

-- The first value that has the share up to it, of every type.
SELECT percentile_disc(i, 0.5) AS i, percentile_disc(n, 0.5) AS n, percentile_disc(u, 1) AS u, percentile_disc(f, 0.5) AS f, percentile_disc(d, 0) AS d, percentile_disc(s, 0.9) AS s, percentile_disc(b, 0.25) AS b, percentile_disc(ts, 1) AS ts, quantile_disc(i, 0.25) AS q FROM picks;
SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY value) AS up, percentile_disc(0.25) WITHIN GROUP (ORDER BY value DESC) AS down, percentile_disc(value, 0.26) AS next FROM generate_series(1, 4);
SELECT g, percentile_disc(f, 0.5) AS p, percentile_disc(DISTINCT i, 0.5) AS di, percentile_disc(i, 0.5) FILTER (WHERE i > 1) AS big FROM picks GROUP BY g ORDER BY g;
SELECT ts, percentile_disc(i, 0.5) OVER (ORDER BY ts ROWS 1 PRECEDING) AS p FROM picks ORDER BY ts;
SELECT percentile_disc(i, 0.5) AS none FROM picks WHERE i > 100;
SELECT percentile_disc(i) FROM picks;
SELECT percentile_disc(i, 1.5) FROM picks;
SELECT percentile_disc(i, f) FROM picks;

-- The most frequent value, of several the least.
SELECT mode(i) AS i, mode(u) AS u, mode(f) AS f, mode(d) AS d, mode(s) AS s, mode(b) AS b, mode() WITHIN GROUP (ORDER BY u DESC) AS ud, mode() WITHIN GROUP (ORDER BY s) AS so FROM picks;
SELECT g, mode(s) AS s, mode(DISTINCT i) AS di, mode(i) FILTER (WHERE ts < '1970-01-01 00:00:03') AS early FROM picks GROUP BY g ORDER BY g;
SELECT ts, mode(s) OVER (ORDER BY ts) AS m FROM picks ORDER BY ts;
SELECT mode(i) AS none FROM picks WHERE i > 100;
SELECT mode(i, 2) FROM picks;

-- The value of the row where another is greatest; NULLs in either do not count.
SELECT g, arg_max(s, i) AS a, arg_min(s, i) AS b, max_by(i, f) AS c, min_by(d, ts) AS d, argmax(b, ts) AS e, argmin(f, s) AS f FROM picks GROUP BY g ORDER BY g;
SELECT arg_max(s, d) AS by_decimal, arg_max(i, s) AS by_text, arg_max(s, b) AS by_truth, arg_min(ts, u) AS by_unsigned, arg_max(s, i) FILTER (WHERE f < 2) AS filtered FROM picks;
SELECT ts, arg_max(i, ts) OVER (ORDER BY ts) AS m FROM picks ORDER BY ts;
SELECT arg_max(s, i) AS none FROM picks WHERE i > 100;
SELECT arg_max(i) FROM picks;

-- Counts of values.
SELECT count_if(b) AS b, count_if(i > 1) AS i, count_if(DISTINCT i > 1) AS di, count_if(b) FILTER (WHERE g = 'b') AS fb, countif(NULL) AS n FROM picks;
SELECT g, count_if(i = 3) AS three, sum(count_if(b)) OVER () AS all_true FROM picks GROUP BY g ORDER BY g;
SELECT count_if(b) AS none FROM picks WHERE i > 100;
SELECT count_if(i) FROM picks;
SELECT approx_top_k(s, 2) AS s, approx_top_k(i, 1) AS i, approx_top_k(d, 10) AS d, approx_top_k(b, 2) AS b FROM picks;
SELECT value % 2 AS odd, approx_top_k(value % 5, 2) AS top FROM generate_series(1, 12) GROUP BY value % 2 ORDER BY odd;
SELECT approx_top_k(i, 2) AS none FROM picks WHERE i > 100;
SELECT approx_top_k(i, 0) FROM picks;
SELECT approx_top_k(i, n) FROM picks;
SELECT histogram(i) AS i, histogram(s) AS s, histogram(d) AS d, histogram(b) AS b, histogram(f) AS f FROM picks;
SELECT g, histogram(s) AS s, histogram(i) FILTER (WHERE i < 3) AS small, histogram(DISTINCT i) AS di FROM picks GROUP BY g ORDER BY g;
SELECT ts, histogram(s) OVER (ORDER BY ts) AS h FROM picks ORDER BY ts;
SELECT histogram(i) AS none FROM picks WHERE i > 100;

-- The shape of a distribution: of a sample, and of all.
SELECT round(skewness(value), 10) AS s, round(skewness_pop(value), 10) AS sp, round(kurtosis(value), 10) AS k, round(kurtosis_pop(value), 10) AS kp FROM (VALUES (1), (2), (3), (4), (10)) t (value);
SELECT skewness(value) AS s, skewness_pop(value) AS sp, kurtosis(value) AS k, kurtosis_pop(value) AS kp FROM (VALUES (1), (2)) t (value);
SELECT skewness(value) AS s, kurtosis(value) AS k, kurtosis_pop(value) AS kp FROM (VALUES (5), (5), (5), (5)) t (value);
SELECT g, round(skewness(d), 10) AS s, skewness(DISTINCT i) AS di, kurtosis(i) FILTER (WHERE i > 2) AS k FROM picks GROUP BY g ORDER BY g;
SELECT kurtosis(i) AS none FROM picks WHERE i > 100;
SELECT kurtosis(s) FROM picks;
SELECT skewness(ts) FROM picks;

-- By time where no order is given, under all names.
SELECT first_value(s) AS fv, first(s) AS f, any_value(s) AS a, last_value(i) AS lv, last(s) AS l FROM (SELECT * FROM picks ORDER BY ts DESC);
DROP TABLE picks;

-- The ends of approximate percentiles are the least and the greatest value, of many values too.
SELECT approx_percentile_cont(value, 0.0) AS least, approx_percentile_cont(value, 1.0) AS greatest, approx_percentile_cont(value * 0.1, 1) AS f FROM generate_series(1, 5000);
