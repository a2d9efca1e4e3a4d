package sqlexec

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"varve/engine/status"
	"varve/sqlexec/exec"
	"varve/sqlexec/promql"
)

// TestTablesOfTQLTakeMemory: an answer of the language of metrics is counted as the table it becomes: few labels of
// many steps, and many labels.
func TestTablesOfTQLTakeMemory(t *testing.T) {
	pool := exec.NewPool(4 << 20)
	x := New(openStore(t), Options{Workers: 2, Memory: pool})
	names, values := "", ""
	for i := range 100 {
		names, values = names+fmt.Sprintf(", l%d STRING", i), values+fmt.Sprintf(", '%d'", i)
	}
	keys := strings.ReplaceAll(strings.TrimPrefix(names, ", "), " STRING", "")
	outcomeOf(t, x, "CREATE TABLE wide (ts TIMESTAMP TIME INDEX"+names+", v DOUBLE, PRIMARY KEY ("+keys+
		")); INSERT INTO wide (ts, "+keys+", v) VALUES (0"+values+", 1);")
	for _, c := range []struct {
		sql   string
		taken bool // it is too much
	}{
		{"TQL EVAL (0, 1000, '1s') vector(1)", false},
		{"TQL EVAL (0, 1000, '1s', '1h') wide", false},                                    // 416 bytes a row
		{"TQL EVAL (0, 10900, '1s', '6h') wide", true},                                    // 4.5 MB
		{"WITH q AS (TQL EVAL (0, 10900, '1s', '6h') wide) SELECT count(*) FROM q", true}, // as it is read elsewhere
		{"TQL ANALYZE (0, 10900, '1s', '6h') wide", true},
	} {
		got, err := answer(x, &Session{}, c.sql, false)
		if err == nil {
			err = got.err
		}
		if (status.Of(err) == status.RuntimeResourcesExhausted) != c.taken || !c.taken && err != nil {
			t.Errorf("%s: %v", c.sql, err)
		}
		if pool.Used() != 0 {
			t.Errorf("%s: %d bytes are still taken", c.sql, pool.Used())
		}
	}
}

// TestTQLHasTheLimitsOfMetrics: lookback, samples and queries at a time are those of the HTTP API.
func TestTQLHasTheLimitsOfMetrics(t *testing.T) {
	service := promql.NewService(promql.Limits{Lookback: 30 * time.Second, MaxSamples: 4, MaxConcurrent: 1})
	x := New(openStore(t), Options{Workers: 2, Metrics: service})
	outcomeOf(t, x, "CREATE TABLE m (ts TIMESTAMP TIME INDEX, v DOUBLE); "+
		"INSERT INTO m VALUES (100000, 3), (101000, 3), (102000, 3), (103000, 3), (104000, 3);")
	ctx := context.Background()
	ask := func(ctx context.Context, sql string) (string, error) {
		statements, err := x.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Execute(ctx, &Session{}, statements[0])
		if err != nil {
			return "", err
		}
		o, err := read(r)
		return fmt.Sprint(len(o.rows)), err
	}
	for _, c := range []struct {
		sql, want string
		code      status.Code
	}{
		{"TQL EVAL (134, 134, '1s') m", "0", status.Success}, // the last one is as old as the lookback
		{"TQL EVAL (133, 133, '1s') m", "1", status.Success},
		{"TQL EVAL (133, 133, '1s', '10s') m", "0", status.Success},
		{"TQL EVAL (140, 140, '1s', '40s') m", "1", status.Success},
		{"TQL EVAL (100, 103, '1s') m", "4", status.Success},
		{"TQL EVAL (100, 104, '1s') m", "", status.EngineExecuteQuery},
	} {
		if got, err := ask(ctx, c.sql); got != c.want || status.Of(err) != c.code {
			t.Errorf("%s: %q rows, %v, want %q, %v", c.sql, got, err, c.want, c.code)
		}
	}

	release, err := service.Admit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := ask(short, "TQL EVAL (100, 100, '1s') m"); status.Of(err) != status.DeadlineExceeded {
		t.Errorf("while another query has the only place: %v", err)
	}
	release()
	for range 2 { // a statement gives its place back
		if got, err := ask(ctx, "TQL EVAL (100, 100, '1s') m"); got != "1" || err != nil {
			t.Errorf("with a free place: %q rows, %v", got, err)
		}
	}
}

// TestTQL: grids of every form, names of columns, labels that a series lacks, expressions inside queries.
func TestTQL(t *testing.T) {
	now := time.Unix(100, 0)
	x := New(openStore(t), Options{Workers: 2, Now: func() time.Time { return now }})
	s := &Session{}
	for _, sql := range []string{
		"CREATE TABLE m (ts TIMESTAMP TIME INDEX, host STRING, zone STRING, val DOUBLE, PRIMARY KEY (host, zone))",
		"INSERT INTO m VALUES (40000, 'a', 'z', 1), (100000, 'a', 'z', 3), (100000, 'b', NULL, 5)",
		"CREATE TABLE two (ts TIMESTAMP(9) TIME INDEX, f DOUBLE, g BIGINT, name STRING)",
		"INSERT INTO two VALUES (100000000000, 1.5, 7, 'x')",
		"CREATE VIEW seen AS WITH q (at, h, z, v) AS (TQL EVAL (100, 100, '1s') m) SELECT h, v FROM q",
		"CREATE TABLE copied (ts TIMESTAMP TIME INDEX, host STRING PRIMARY KEY, val DOUBLE)",
		"INSERT INTO copied (ts, host, val) WITH q AS (TQL EVAL (100, 100, '1s') m) SELECT ts, host, val FROM q",
	} {
		if o, err := answer(x, s, sql, false); err != nil || o.err != nil {
			t.Fatal(sql, err, o.err)
		}
	}
	for _, c := range []struct{ sql, want string }{
		{"TQL EVAL (100, 100, '1s') m", "[ts host zone val] [[1970-01-01T00:01:40 a z 3] [1970-01-01T00:01:40 b  5]]"},
		{"TQL EVAL (now() - INTERVAL '1 minute', now(), '1m') m{host='a'}",
			"[ts host zone val] [[1970-01-01T00:00:40 a z 1] [1970-01-01T00:01:40 a z 3]]"},
		{"TQL EVAL ('1970-01-01T00:01:40Z', '100.0', 60) sum(m)", "[ts sum(m)] [[1970-01-01T00:01:40 8]]"},
		{"TQL EVAL ('1970-01-01 00:01:40'::TIMESTAMP, 100, 0.5) count(m) AS \"how many\"",
			"[ts how many] [[1970-01-01T00:01:40 2]]"},
		{"TQL EVAL ('1969-12-31T23:59:59.999999999'::TIMESTAMP(9), 0, '1ms') 1",
			"[time value] [[1969-12-31T23:59:59.999 1] [1970-01-01T00:00:00 1]]"},
		{"TQL EVALUATE (150, 150, '1s', '40s') m", "[time value] []"},
		{"TQL EVAL (100, 100, '1s') two{__field__=\"g\"}", "[ts g] [[1970-01-01T00:01:40 7]]"},
		{"TQL EVAL (100, 100, '1s') two",
			"[ts __field__ value] [[1970-01-01T00:01:40 f 1.5] [1970-01-01T00:01:40 g 7]]"},
		{"TQL EVAL (100, 100, '1s') two AS both",
			"[ts __field__ both] [[1970-01-01T00:01:40 f 1.5] [1970-01-01T00:01:40 g 7]]"},
		{"TQL EVAL (100, 100, '1s') two + 0",
			"[ts __field__ two + 0] [[1970-01-01T00:01:40 f 1.5] [1970-01-01T00:01:40 g 7]]"},
		{"WITH q (at, h, z, v) AS (TQL EVAL (100, 100, '1s') m) SELECT h, v FROM q WHERE z IS NULL", "[h v] [[b 5]]"},
		{"WITH q AS (TQL EVAL (40, 100, '60s') sum(m) AS v) SELECT a.v, b.v FROM q a JOIN q b ON a.ts < b.ts",
			"[v v] [[1 8]]"},
		{"SELECT h, v FROM seen ORDER BY v", "[h v] [[a 3] [b 5]]"},
		{"SELECT host, val FROM copied ORDER BY host", "[host val] [[a 3] [b 5]]"},
		{"TQL EVAL (100, 100, '1s') sort_desc(m{host='a'})", "[ts host zone val] [[1970-01-01T00:01:40 a z 3]]"},
		{"TQL EVAL (100, 100, '1s') sort_by_label(m, 'host')",
			"[ts host zone val] [[1970-01-01T00:01:40 a z 3] [1970-01-01T00:01:40 b  5]]"},
		{"TQL EVAL (100, 100, '1s') label_replace(m{host='a'}, 'zone', 'y', '', '')",
			"[ts host zone val] [[1970-01-01T00:01:40 a y 3]]"},
		{"TQL EVAL (100, 100, '1s') label_join(m{host='a'}, 'zone', '-', 'host', 'zone')",
			"[ts host zone val] [[1970-01-01T00:01:40 a a-z 3]]"},
		{"TQL EVAL (100, 100, '1s') topk(1, m)", "[ts host val] [[1970-01-01T00:01:40 b 5]]"},
		{"TQL EVAL (100, 100, '1s') bottomk(1, (m))", "[ts host zone val] [[1970-01-01T00:01:40 a z 3]]"},
		{"TQL EVAL (100, 100, '1s') absent(m{host='c'})", "[ts host val] [[1970-01-01T00:01:40 c 1]]"},
		{"TQL EVAL (100, 100, '1s') timestamp(m{host='a'})", "[ts host zone val] [[1970-01-01T00:01:40 a z 100]]"},
		{"TQL EVAL (100, 100, '1s') histogram_quantile(0.5, label_replace(m{host='a'}, 'le', '+Inf', '', ''))",
			"[ts host zone val] [[1970-01-01T00:01:40 a z NaN]]"},
		{"TQL EVAL (100, 100, '1s') m and m{host='b'}", "[ts host val] [[1970-01-01T00:01:40 b 5]]"},
		{"TQL EVAL (100, 100, '1s') m{host='a'} or sum(m{host='c'})",
			"[ts host zone val] [[1970-01-01T00:01:40 a z 3]]"},
		{"TQL EVAL (100, 100, '1s') m unless m{host='a'}", "[ts host val] [[1970-01-01T00:01:40 b 5]]"},
		{"TQL EVAL (100, 100, '1s') sort(sum(m))", "[ts sort(sum(m))] [[1970-01-01T00:01:40 8]]"},
		{"TQL EVAL (100, 100, '1s') m == bool 3",
			"[ts host zone m == bool 3] [[1970-01-01T00:01:40 a z 1] [1970-01-01T00:01:40 b  0]]"},
		{"TQL EVAL (100, 100, '1s') vector(scalar(sum(m)))", "[ts service_value] [[1970-01-01T00:01:40 8]]"},
		{"TQL EVAL (100, 100, '1s') vector(2)", "[time service_value] [[1970-01-01T00:01:40 2]]"},
		{"TQL EVAL (100, 100, '1s') time()", "[time service_value] [[1970-01-01T00:01:40 100]]"},
		{"TQL EVAL (100, 100, '1s') 1 + 1", "[time value] [[1970-01-01T00:01:40 2]]"},
		{"tql eval (100, 100, '1s'), sum(m)", "[ts sum(m)] [[1970-01-01T00:01:40 8]]"},
		{"WITH q AS (TQL EVAL (100, 100, '1s') , sum(m) AS v) SELECT v FROM q", "[v] [[8]]"},
		{"tql eval vector(3) + 1", "[time value] [[1970-01-01T00:00:00 4]]"},
		{"tql eval m{host=\"a\"}", "[time value] []"},
		{"TQL EXPLAIN sum(rate(m[5m]))", "[plan_type plan] [[logical_plan sum(rate(m[5m]))] [physical_plan aggregate sum: adds series as they are " +
			"read\n  function rate\n    windows of 5m\n      series {__name__=\"m\"}: reads no labels]]"},
	} {
		o, err := answer(x, s, c.sql, false)
		if got := fmt.Sprint(o.names, " ", o.rows); err != nil || o.err != nil ||
			strings.ReplaceAll(got, "<nil>", "") != c.want && strings.ReplaceAll(got, "NULL", "") != c.want {
			if c.want == "[time value] []" && fmt.Sprint(o.rows) == "[]" {
				continue // no rows; the table is known
			}
			t.Errorf("%s: %s, %v %v, want %s", c.sql, got, err, o.err, c.want)
		}
	}
	if o, err := answer(x, s, "TQL ANALYZE (100, 100, '1s') m", false); err != nil || o.err != nil ||
		!strings.Contains(fmt.Sprint(o.rows), `[[0 0 series {__name__="m"}] [1 0 Total rows: 2, `) {
		t.Errorf("ANALYZE: %v %v %v", o.rows, o.err, err)
	}
	for sql, code := range map[string]status.Code{
		"TQL EVAL (100, 0, '1s') m":                                               status.InvalidArguments,
		"TQL EVAL (0, 100, '0s') m":                                               status.InvalidArguments,
		"TQL EVAL (0, 100, 'soon') m":                                             status.InvalidArguments,
		"TQL EVAL (0, 100, INTERVAL '-200000 days') m":                            status.InvalidArguments,
		"TQL EVAL (NULL, 100, '1s') m":                                            status.InvalidSyntax,
		"TQL EVAL (0, 100000, '1s') m":                                            status.InvalidArguments,
		"TQL EVAL (0, 1, '1s') two{__field__='name'}":                             status.InvalidArguments,
		"TQL EVAL (0, 1, '1s') m / two{__field__='h'}":                            status.InvalidArguments,
		"TQL EVAL (0, 1, '1s') m{__database__=''}":                                status.InvalidArguments,
		"TQL EVAL (0, 1, '1s') m[5m]":                                             status.InvalidArguments,
		"WITH q AS (TQL EXPLAIN (0, 1, '1s') m) SELECT * FROM q":                  status.InvalidSyntax,
		"WITH q (a, b, c, d, e) AS (TQL EVAL (100, 100, '1s') m) SELECT * FROM q": status.PlanQuery,
	} {
		if o, err := answer(x, s, sql, false); err != nil || status.Of(o.err) != code {
			t.Errorf("%s: %v %v, want %d", sql, o.err, err, code)
		}
	}
	if len(x.Running()) != 0 {
		t.Errorf("%d statements are still listed", len(x.Running()))
	}
}

// TestTQLTimes: times of a grid that milliseconds cannot count, or that lie outside of the years of the language, are
// errors, whatever type they come in.
func TestTQLTimes(t *testing.T) {
	x, s := New(openStore(t), Options{Workers: 2}), &Session{}
	for _, at := range []string{
		"to_timestamp_seconds(9223372036854775807)", "to_timestamp_seconds(-9223372036854775)",
		"to_timestamp_millis(9223372036855)", "to_timestamp_micros(9223372036855000)", "'5000-01-01'::DATE",
		"'1600-01-01'::DATE", "'5000-01-01T00:00:00Z'", "1e12",
	} {
		o, err := answer(x, s, "TQL EVAL ("+at+", "+at+", '1s') 1", false)
		if err == nil {
			err = o.err
		}
		if status.Of(err) != status.InvalidArguments || !strings.Contains(err.Error(), "1677 and 2262") {
			t.Errorf("%s: %v", at, err)
		}
	}
	for _, at := range []string{
		"'1700-01-01'::DATE", "'2200-01-01'::TIMESTAMP(0)", "to_timestamp_millis(9223372036853)",
	} {
		if o, err := answer(x, s, "TQL EVAL ("+at+", "+at+", '1s') 1", false); err != nil || o.err != nil ||
			len(o.rows) != 1 {
			t.Errorf("%s: %v, %v, %v", at, o.rows, err, o.err)
		}
	}
}
