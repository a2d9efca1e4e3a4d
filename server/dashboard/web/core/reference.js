// The functions of both query languages by subject, from the executor, docs/sql.md and the language of metrics;
// go test ./server/dashboard -update writes this file.

/** @type {Record<'sql'|'metrics', [string, string[]][]>} */
export const reference = {
 "metrics": [
  [
   "Aggregations",
   [
    "avg by (label) (vector)", "bottomk by (label) (parameter, vector)", "count by (label) (vector)", "count_values by (label) (parameter, vector)", "group by (label) (vector)", "limit_ratio by (label) (parameter, vector)", "limitk by (label) (parameter, vector)", "max by (label) (vector)", "min by (label) (vector)", "quantile by (label) (parameter, vector)", "stddev by (label) (vector)", "stdvar by (label) (vector)", "sum by (label) (vector)", "topk by (label) (parameter, vector)"
   ]
  ],
  [
   "Of ranges",
   [
    "absent_over_time(matrix)", "avg_over_time(matrix)", "changes(matrix)", "count_over_time(matrix)", "delta(matrix)", "deriv(matrix)", "double_exponential_smoothing(matrix, scalar, scalar)", "first_over_time(matrix)", "idelta(matrix)", "increase(matrix)", "irate(matrix)", "last_over_time(matrix)", "mad_over_time(matrix)", "max_over_time(matrix)", "min_over_time(matrix)", "predict_linear(matrix, scalar)", "present_over_time(matrix)", "quantile_over_time(scalar, matrix)", "rate(matrix)", "resets(matrix)", "stddev_over_time(matrix)", "stdvar_over_time(matrix)", "sum_over_time(matrix)", "ts_of_first_over_time(matrix)", "ts_of_last_over_time(matrix)", "ts_of_max_over_time(matrix)", "ts_of_min_over_time(matrix)"
   ]
  ],
  [
   "Of instants",
   [
    "abs(vector)", "absent(vector)", "acos(vector)", "acosh(vector)", "asin(vector)", "asinh(vector)", "atan(vector)", "atanh(vector)", "ceil(vector)", "clamp(vector, scalar, scalar)", "clamp_max(vector, scalar)", "clamp_min(vector, scalar)", "cos(vector)", "cosh(vector)", "day_of_month([vector])", "day_of_week([vector])", "day_of_year([vector])", "days_in_month([vector])", "deg(vector)", "end()", "exp(vector)", "floor(vector)", "histogram_avg(vector)", "histogram_count(vector)", "histogram_fraction(scalar, scalar, vector)", "histogram_quantile(scalar, vector)", "histogram_quantiles(vector, string, scalar, [scalar])", "histogram_stddev(vector)", "histogram_stdvar(vector)", "histogram_sum(vector)", "hour([vector])", "info(vector, [vector])", "label_join(vector, string, string, [string])", "label_replace(vector, string, string, string, string)", "ln(vector)", "log10(vector)", "log2(vector)", "max_of(scalar, scalar)", "min_of(scalar, scalar)", "minute([vector])", "month([vector])", "pi()", "rad(vector)", "range()", "round(vector, [scalar])", "scalar(vector)", "sgn(vector)", "sin(vector)", "sinh(vector)", "sort(vector)", "sort_by_label(vector, [string])", "sort_by_label_desc(vector, [string])", "sort_desc(vector)", "sqrt(vector)", "start()", "start_timestamp(vector)", "step()", "tan(vector)", "tanh(vector)", "time()", "timestamp(vector)", "vector(scalar)", "year([vector])"
   ]
  ]
 ],
 "sql": [
  [
   "Changing them",
   [
    "current_timestamp()"
   ]
  ],
  [
   "Subqueries and common table expressions",
   [
    "generate_series(from, to [, step])", "range(from, to [, step])"
   ]
  ],
  [
   "Windows",
   [
    "ntile(n)", "lag(x [, n [, default]])", "nth_value(x, n)", "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "lead", "last_value"
   ]
  ],
  [
   "Expressions",
   [
    "power(x, y)"
   ]
  ],
  [
   "Time",
   [
    "now()", "today()", "date_bin(interval, ts [, origin])", "date_trunc('unit', ts)", "time_bucket(interval, ts [, origin])", "date_part('unit', ts)", "year(ts)", "epoch_ms(ts)", "dayname(ts)", "monthname(ts)", "last_day(ts)", "date_diff('unit', a, b)", "datediff(b, a)", "age(b, a)", "date_format(ts, f)", "to_char(ts, f)", "strftime(ts, f)", "strptime(s, f ..)", "date_add(t, i)", "date_sub(t, i)", "to_unixtime(x)", "from_unixtime(n)", "to_timestamp(x [, f ..])", "to_date(x)", "make_date(y, m, d)", "date(x)", "to_local_time(ts)", "timezone()", "localtimestamp", "current_date", "curdate", "current_time", "curtime", "microsecond", "week", "quarter", "datepart", "extract", "millennium", "nanosecond", "isoyear", "yearweek", "isodow", "epoch", "julian", "month", "weekofyear", "day", "dayofmonth", "dayofweek", "weekday", "dayofyear", "decade", "century", "hour", "minute", "second", "millisecond", "epoch_us", "epoch_ns", "to_timestamp_seconds", "to_timestamp_millis", "to_timestamp_micros", "to_timestamp_nanos", "at_time_zone"
   ]
  ],
  [
   "Aggregates",
   [
    "count(*)", "sum(x)", "avg(x)", "mean(x)", "min(x)", "max(x)", "median(x)", "percentile_cont(x, p)", "percentile_disc(x, p)", "mode(x)", "arg_max(x, y)", "arg_min(x, y)", "count_if(b)", "approx_top_k(x, k)", "histogram(x)", "approx_percentile_cont(x, p)", "approx_median(x)", "approx_percentile_cont_with_weight(x, w, p)", "approx_distinct(x)", "stddev(x)", "var(x)", "stddev_pop(x)", "var_pop(x)", "skewness(x)", "kurtosis(x)", "first_value(x ORDER BY y)", "array_agg(x)", "string_agg(x, sep)", "json_agg(x)", "json_object_agg(k, x)", "bool_and(b)", "bool_or(b)", "bit_and(x)", "bit_or(x)", "bit_xor(x)", "corr(y, x)", "covar(y, x)", "regr_slope(y, x)", "count_hash(x)", "uddsketch_state(buckets, error, x)", "uddsketch_merge(buckets, error, state)", "uddsketch_calc(q, state)", "hll(x)", "hll_merge(state)", "hll_count(state)", "quantile_cont", "quantile_disc", "argmax", "max_by", "argmin", "min_by", "countif", "stddev_samp", "var_samp", "std", "variance", "skewness_pop", "kurtosis_pop", "first", "any_value", "last", "group_concat", "jsonb_agg", "json_group_array", "jsonb_object_agg", "json_group_object", "every", "covar_samp", "covar_pop", "regr_intercept", "regr_r2", "regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy"
   ]
  ],
  [
   "Text",
   [
    "length(s)", "upper(s)", "lower(s)", "initcap(s)", "reverse(s)", "concat(a, ..)", "concat_ws(sep, a, ..)", "substr(s, from [, n])", "left(s, n)", "right(s, n)", "trim(s)", "btrim(s [, set])", "lpad(s, n [, fill])", "replace(s, a, b)", "translate(s, from, to)", "overlay(s PLACING x FROM n FOR m)", "insert(s, from, n, x)", "repeat(s, n)", "space(n)", "strpos(s, x)", "position(x IN s)", "instr(s, x)", "locate(x, s)", "find_in_set(x, 'a,b')", "starts_with(s, x)", "ends_with(s, x)", "contains(s, x)", "split_part(s, sep, n)", "substr_index(s, sep, n)", "regexp_like(s, re [, flags])", "regexp_match(s, re)", "regexp_extract(s, re [, group [, flags]])", "regexp_extract_all(s, re [, group [, flags]])", "regexp_split_to_array(s, re [, flags])", "regexp_replace(s, re, with [, 'g'])", "ascii(s)", "chr(n)", "to_hex(n)", "encode(b, 'hex')", "decode(s, 'base64')", "md5(s)", "digest(s, 'sha256')", "uuid()", "elt(n, a, ..)", "field(x, a, ..)", "format(x, digits)", "levenshtein(a, b)", "char_length", "character_length", "octet_length", "strlen", "bit_length", "ucase", "lcase", "substring", "mid", "ltrim", "rtrim", "rpad", "substring_index", "regexp_matches", "string_split_regex", "str_split_regex", "regexp_count", "regexp_instr", "sha1", "sha224", "sha256", "sha384", "sha512"
   ]
  ],
  [
   "Values of any type",
   [
    "coalesce(a, ..)", "nullif(a, b)", "ifnull(a, b)", "nvl2(x, a, b)", "if(c, a, b)", "isnull(x)", "greatest(a, ..)", "least(a, ..)", "nvl"
   ]
  ],
  [
   "Numbers",
   [
    "abs(x)", "sign(x)", "ceil(x)", "floor(x)", "round(x [, digits])", "trunc(x [, digits])", "sqrt(x)", "exp(x)", "ln(x)", "log(x)", "log2(x)", "log10(x)", "mod(x, y)", "gcd(x, y)", "lcm(x, y)", "factorial(n)", "bitwise_not(n)", "clamp(x, low, high)", "clamp_min(x, low)", "clamp_max(x, high)", "isnan(x)", "isinf(x)", "isfinite(x)", "iszero(x)", "nanvl(x, y)", "width_bucket(x, low, high, n)", "pi()", "random()", "rand()", "atan2(y, x)", "signum", "ceiling", "cbrt", "pow", "sin", "cos", "tan", "cot", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "degrees", "radians"
   ]
  ],
  [
   "Lists",
   [
    "make_array(a, ..)", "array_length(l)", "cardinality(l)", "array_element(l, n)", "array_contains(l, x)", "array_position(l, x)", "array_append(l, x)", "array_remove_all(l, x)", "array_distinct(l)", "array_sort(l)", "array_reverse(l)", "array_to_string(l, sep [, for null])", "string_to_array(s, sep)", "array_prepend(x, l)", "array_pop_front(l)", "array_pop_back(l)", "array_slice(l, from, to)", "array_remove(l, x)", "array_replace(l, x, y)", "array_concat(a, b, ..)", "array_union(a, b)", "array_intersect(a, b)", "array_except(a, b)", "array_has_all(a, b)", "array_has_any(a, b)", "array_max(l)", "array_min(l)", "array_sum(l)", "array_avg(l)", "empty(l)", "list_transform(l, x -\u003e ..)", "list_filter(l, x -\u003e ..)", "list_reduce(l, (sum, x) -\u003e .. [, first])", "any_match(l, x -\u003e ..)", "array", "list_length", "list_element", "array_extract", "list_extract", "array_has", "list_contains", "list_position", "array_indexof", "list_append", "array_push_back", "list_remove_all", "list_distinct", "list_sort", "list_reverse", "list_to_string", "array_join", "string_split", "str_split", "list_prepend", "array_push_front", "list_pop_front", "list_pop_back", "list_slice", "list_remove", "list_replace", "array_replace_all", "list_replace_all", "array_cat", "list_concat", "list_cat", "list_union", "list_intersect", "list_except", "list_has_all", "list_has_any", "list_max", "list_min", "list_sum", "list_avg", "array_empty", "list_empty", "array_transform", "list_apply", "array_apply", "array_filter", "array_reduce", "list_any_match", "array_any_match", "all_match", "list_all_match", "array_all_match", "none_match", "list_none_match", "array_none_match"
   ]
  ],
  [
   "Networks",
   [
    "ipv4_string_to_num(s)", "ipv4_num_to_string(n)", "ipv4_to_cidr(s [, bits])", "ipv4_in_range(s, cidr)", "ipv6_string_to_num(s)", "ipv6_num_to_string(s)", "ipv6_to_cidr(s [, bits])", "ipv6_in_range(s, cidr)"
   ]
  ],
  [
   "The server",
   [
    "version()", "build()", "database()", "current_database()", "current_schema()", "schema()", "user()", "connection_id()", "pg_backend_pid()", "read_preference()", "current_user", "session_user"
   ]
  ],
  [
   "Search",
   [
    "matches_term(text, term)", "matches(text, query)"
   ]
  ],
  [
   "JSON",
   [
    "parse_json(s)", "json_to_string(j)", "json_get_int(j, path)", "json_get(j, path)", "json_extract(j, x)", "json_extract_string(j, x)", "json_array_length(j [, path])", "json_is_null(j)", "json_path_exists(j, path)", "json_path_match(j, '$.a == 1')", "json_object(k, v, ..)", "json_object_keys(j)", "json_get_float", "json_get_bool", "json_get_string", "json_get_object", "json_is_bool", "json_is_int", "json_is_float", "json_is_string", "json_is_object", "json_is_array"
   ]
  ],
  [
   "Others",
   [
    "and", "ilike", "like", "negate", "not", "or"
   ]
  ]
 ]
};
