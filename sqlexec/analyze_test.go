package sqlexec

import (
	"context"
	"encoding/json"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/sqlexec/plan"
)

// TestAnalyze holds the figures of each node: rows in and out, what a join keeps, the blocks that a scan left out and
// why.
func TestAnalyze(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s,
		`CREATE TABLE big (ts TIMESTAMP TIME INDEX, n BIGINT, k BIGINT, msg STRING) WITH ('append_mode'='true');
		CREATE TABLE few (ts TIMESTAMP TIME INDEX, k BIGINT) WITH ('append_mode'='true');
		INSERT INTO big SELECT number, number, number % 100, concat('line ', number) FROM generate_series(0, 39999) AS n(number);
		INSERT INTO few SELECT number, number + 39990 FROM generate_series(0, 4) AS n(number);
		ADMIN flush_table('big')`)
	for _, c := range []struct {
		sql  string
		want []string // regular expressions, each found in a line of its own, in this order
	}{
		{"SELECT n FROM big WHERE upper(msg) = 'LINE 7'",
			[]string{`TableScan.*\[rows=1, .*blocks=5, pruned=0, read=5, rows_scanned=40000, bytes_read=[1-9]`}},
		{"SELECT n FROM big WHERE ts < 100", []string{`TableScan.*\[rows=100, .*pruned=4, pruned_by_time=4, read=1`}},
		{"SELECT n FROM big WHERE n = 39999", []string{`TableScan.*\[rows=1, .*pruned=4, pruned_by_zones=4, read=1`}},
		{"SELECT k, count(*) FROM big GROUP BY k ORDER BY k LIMIT 3",
			[]string{`Sort: .*\[rows=3, rows_in=100, `, `Aggregate: .*\[rows=100, rows_in=40000, .*memory_bytes=[1-9]`,
				`TableScan.*\[rows=40000`}},
		{"SELECT b.msg FROM big b JOIN few f ON b.n = f.k",
			[]string{`Join.*\[rows=5, rows_in=5, rows_kept=5, `,
				`TableScan: public.big.*\[rows=5, .*pruned_by_zones=4, read=1`, `TableScan: public.few.*\[rows=5`}},
		{"SELECT sum(n) OVER (ORDER BY ts) FROM big",
			[]string{`Window: .*\[rows=40000, rows_in=40000`, `Sort: .*\[rows=40000, rows_in=40000`,
				`TableScan.*\[rows=40000`}},
	} {
		o, err := answer(x, s, "EXPLAIN ANALYZE "+c.sql, false)
		if err != nil || o.err != nil {
			t.Fatalf("%s: %v %v", c.sql, err, o.err)
		}
		lines := strings.Split(o.rows[0][2], "\n")
		for _, want := range c.want {
			re := regexp.MustCompile(want)
			for len(lines) > 0 && !re.MatchString(lines[0]) {
				lines = lines[1:]
			}
			if len(lines) == 0 {
				t.Errorf("%s\n%s\nwants %s", c.sql, o.rows[0][2], want)
				break
			}
		}
	}
}

// TestExplainJSON: FORMAT JSON gives the plan as a tree, with the figures where it ran; other formats are refused.
func TestExplainJSON(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s, `CREATE TABLE t (ts TIMESTAMP TIME INDEX, n BIGINT); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)`)
	o, err := answer(x, s, "EXPLAIN ANALYZE FORMAT JSON SELECT n FROM t WHERE n > 1", false)
	if err != nil || o.err != nil {
		t.Fatal(err, o.err)
	}
	var got struct {
		Plan plan.Tree
		Rows int
	}
	if err := json.Unmarshal([]byte(o.rows[0][2]), &got); err != nil {
		t.Fatalf("%s: %v", o.rows[0][2], err)
	}
	if got.Rows != 2 || got.Plan.Figures["rows"] != 2 || got.Plan.Figures["time_ns"] <= 0 {
		t.Errorf("%s", o.rows[0][2])
	}
	o, err = answer(x, s, "EXPLAIN FORMAT JSON SELECT n FROM t", false)
	if err != nil || o.err != nil || len(o.rows) != 2 {
		t.Fatal(err, o.err, o.rows)
	}
	var tree plan.Tree
	if err := json.Unmarshal([]byte(o.rows[1][1]), &tree); err != nil || !strings.Contains(o.rows[1][1], "TableScan") {
		t.Errorf("%s: %v", o.rows[1][1], err)
	}
	if o, err = answer(x, s, "EXPLAIN FORMAT graphviz SELECT n FROM t", false); err != nil ||
		status.Of(o.err) != status.InvalidArguments {
		t.Errorf("another format: %v %v", err, o.err)
	}
}

// TestAnalyzing: the figures of EXPLAIN ANALYZE are there while the query runs, node by node, and grow. A plan that is
// built while parts of it run, as with the sides of joins, may be asked at any time.
func TestAnalyzing(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	s := &Session{}
	script(t, x, s, `CREATE TABLE big (ts TIMESTAMP TIME INDEX, n BIGINT) WITH ('append_mode'='true');
		INSERT INTO big SELECT number, number FROM generate_series(0, 39999) AS n(number)`)
	for _, sql := range []string{
		"SELECT count(*) FROM big a JOIN (SELECT n, count(*) AS c FROM big GROUP BY n) b ON a.n = b.n, big c, big d WHERE a.n + c.n * d.n = 7",
		"SELECT max(a.n) FROM big a, big b, big c WHERE a.n + b.n > c.n",
	} {
		list, err := x.Parse("EXPLAIN ANALYZE VERBOSE " + sql)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		begun, ended := make(chan func() Measured, 1), make(chan error, 1)
		s := &Session{Analyzing: func(sofar func() Measured) { begun <- sofar }}
		go func() {
			_, err := x.Execute(ctx, s, list[0])
			ended <- err
		}()
		sofar := <-begun
		rows := func() (most int64) {
			var walk func(plan.Tree)
			walk = func(n plan.Tree) {
				most = max(most, n.Figures["rows"])
				for _, in := range n.Inputs {
					walk(in)
				}
			}
			walk(sofar().Plan)
			return most
		}
		for first := int64(0); ; { // until a node has more rows than the table, and then more of them
			if n := rows(); n > 40000 && first == 0 {
				first = n
			} else if first > 0 && n > first {
				break
			}
			if len(ended) > 0 {
				t.Fatalf("%s ended: %v", sql, <-ended)
			}
			runtime.Gosched()
		}
		running := sofar().RunningNS
		cancel()
		if err := <-ended; status.Of(err) != status.Cancelled {
			t.Errorf("%s: %v", sql, err)
		}
		if got := sofar(); got.RunningNS < running || got.RunningNS != sofar().RunningNS ||
			!strings.Contains(got.Plan.Inputs[0].Node, "Aggregate") {
			t.Errorf("%s: in the end %+v", sql, got)
		}
	}

	// When it has run the figures are those of its answer.
	var sofar func() Measured
	o, err := answer(x, &Session{Analyzing: func(f func() Measured) { sofar = f }},
		"EXPLAIN ANALYZE FORMAT JSON SELECT n FROM big WHERE n < 10", false)
	if err != nil || o.err != nil {
		t.Fatal(err, o.err)
	}
	want, _ := json.Marshal(sofar())
	if got := o.rows[0][2]; got != string(want) {
		t.Errorf("the answer is\n%s\nafterwards\n%s", got, want)
	}
}
