-- Aggregates: sql.md 12.1.
CREATE TABLE n (k STRING, y DOUBLE, x DOUBLE, i BIGINT, ts TIMESTAMP TIME INDEX, PRIMARY KEY (k));
INSERT INTO n VALUES ('a', 1, 1, 1, 1), ('a', 3, 2, 2, 2), ('a', 2, 3, 3, 3), ('a', 6, 4, 4, 4), ('b', 5, NULL, 7, 5), ('b', 5, 5, 7, 6), ('c', NULL, NULL, NULL, 7);
-- Of (1,1) (3,2) (2,3) (6,4): means 3 and 2.5, sxx 5, syy 14, sxy 7.
SELECT corr(y, x), covar(y, x), covar_samp(y, x), covar_pop(y, x) FROM n WHERE k = 'a';
SELECT regr_slope(y, x), regr_intercept(y, x), regr_r2(y, x), regr_count(y, x), regr_avgx(y, x), regr_avgy(y, x), regr_sxx(y, x), regr_syy(y, x), regr_sxy(y, x) FROM n WHERE k = 'a';
SELECT k, corr(y, x), covar_samp(y, x), covar_pop(y, x), regr_slope(y, x), regr_count(y, x), regr_r2(y, x) FROM n GROUP BY k ORDER BY k;
SELECT stddev(x), stddev_samp(x), stddev_pop(x), std(x), var(x), var_samp(x), var_pop(x), variance(x) FROM n WHERE k = 'a';
SELECT avg(i), mean(i), median(i), median(x), approx_median(x), sum(i), sum(x), min(k), max(k), min(ts), max(ts) FROM n;
SELECT percentile_cont(x, 0.25), quantile_cont(x, 0.5), approx_percentile_cont(x, 0.75), approx_percentile_cont(x, 0.75, 200) FROM n WHERE k = 'a';
SELECT approx_percentile_cont(0.5) WITHIN GROUP (ORDER BY x), percentile_cont(0.25) WITHIN GROUP (ORDER BY x DESC) FROM n WHERE k = 'a';
-- As if x were there i times: 1 2 2 3 3 3 4 4 4 4.
SELECT approx_percentile_cont_with_weight(x, i, 0.5) AS p50, approx_percentile_cont_with_weight(x, i, 0) AS p0, approx_percentile_cont_with_weight(x, i, 1) AS p100, approx_percentile_cont_with_weight(x, i, 0.9, 100) AS p90 FROM n WHERE k = 'a';
SELECT approx_percentile_cont_with_weight(x, 1, 0.5) AS p50, approx_percentile_cont(x, 0.5) AS same FROM n WHERE k = 'a';
SELECT first_value(i ORDER BY x DESC) AS f, last_value(i ORDER BY x) AS l, first_value(i) AS t, nth_value(i, 2 ORDER BY y) AS n2, nth_value(i, -1 ORDER BY y) AS n_last, nth_value(i, 9) AS n9 FROM n WHERE k = 'a';
SELECT bool_and(x > 1), bool_or(x > 1), bit_and(i), bit_or(i), bit_xor(i) FROM n WHERE k = 'a';
SELECT array_agg(i ORDER BY y DESC), string_agg(k, '-' ORDER BY ts), array_agg(DISTINCT k) FROM n WHERE k = 'a';
SELECT count(*), count(x), count(DISTINCT k), approx_distinct(k), count_hash(i), count_hash(k) FROM n;
SELECT k, count_hash(i) FROM n GROUP BY k ORDER BY k;
SELECT count(*) FILTER (WHERE x > 2), sum(i) FILTER (WHERE k = 'a'), sum(DISTINCT i), avg(DISTINCT i) FROM n;
-- Sketches. 1..1000 within 1 %.
SELECT abs(uddsketch_calc(0.5, uddsketch_state(128, 0.01, number)) - 500) < 5 AS p50, abs(uddsketch_calc(0.99, uddsketch_state(1024, 0.01, number)) - 990) < 10 AS p99 FROM (SELECT value AS number FROM generate_series(1, 1000));
SELECT abs(uddsketch_calc(0.5, uddsketch_merge(128, 0.01, s)) - 500) < 5 AS merged FROM (SELECT value % 7 AS g, uddsketch_state(128, 0.01, value) AS s FROM generate_series(1, 1000) GROUP BY value % 7);
SELECT uddsketch_calc(0.0, uddsketch_state(64, 0.1, x)) < 0 AS negative, uddsketch_calc(0.5, uddsketch_state(64, 0.1, x)) AS zero FROM (VALUES (-5.0), (0.0), (7.0)) AS t(x);
SELECT uddsketch_state(128, 0.01, x) IS NULL AS none, uddsketch_calc(0.5, NULL) AS nothing FROM n WHERE k = 'c';
SELECT hll_count(hll(number)) AS few, hll_count(hll(k)) AS texts FROM (SELECT value AS number, 'k' || (value % 3) AS k FROM generate_series(1, 100));
SELECT hll_count(hll_merge(h)) AS merged FROM (SELECT hll(value) AS h FROM generate_series(1, 60) UNION ALL SELECT hll(value) FROM generate_series(31, 90));
SELECT abs(hll_count(hll(value)) - 100000.0) < 3000 AS near FROM generate_series(1, 100000);
-- Nothing: counts 0, others NULL.
SELECT count(*), count(x), sum(x), avg(x), min(x), max(x), stddev(x), corr(x, y), regr_count(y, x), median(x), first_value(x), array_agg(x), approx_distinct(x), bool_and(x > 1), hll(x), nth_value(x, 1), uddsketch_state(8, 0.1, x), count_hash(x) FROM n WHERE k = 'z';
-- Errors.
SELECT corr(x) FROM n;
SELECT corr(k, x) FROM n;
SELECT sum(k) FROM n;
SELECT sum(ts) FROM n;
SELECT avg(ts) FROM n;
SELECT sum(x, y) FROM n;
SELECT approx_percentile_cont(x, 1.5) FROM n;
SELECT approx_percentile_cont(x, y) FROM n;
SELECT nth_value(x, 0) FROM n;
SELECT uddsketch_state(0, 0.1, x) FROM n;
SELECT uddsketch_state(8, 2, x) FROM n;
SELECT uddsketch_calc(1.5, uddsketch_state(8, 0.1, x)) FROM n;
SELECT uddsketch_calc(0.5, x'0102');
SELECT uddsketch_merge(8, 0.1, s) FROM (SELECT uddsketch_state(8, 0.2, x) AS s FROM n);
SELECT hll_count(x'00');
SELECT hll_merge(k) FROM n;
SELECT sum(max(x)) FROM n;
SELECT max(x) FROM n WHERE max(x) > 1;
SELECT k, max(x) FROM n;
DROP TABLE n;
