package sqlexec

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"

	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// doomed is a context that is cancelled when it has been asked n times.
type doomed struct {
	context.Context
	left atomic.Int64
}

func (d *doomed) Err() error {
	if d.left.Add(-1) >= 0 {
		return nil
	}
	return context.Canceled
}

// TestCancelEverywhere cancels queries of all kinds at many of the places where they ask whether they still run: they
// end with the context's error, or had an answer before, and give back the memory they had taken. The whole run of a
// query over many rows asks every few thousand of them.
func TestCancelEverywhere(t *testing.T) {
	points := int64(12) // at which each statement is cancelled
	if os.Getenv("VARVE_LONG") != "" {
		points = 200
	}
	pool := exec.NewPool(0)
	x, s := New(openStore(t), Options{Workers: 2, Memory: pool}), &Session{}
	script(t, x, s,
		`CREATE TABLE log (ts TIMESTAMP TIME INDEX, n BIGINT, k BIGINT, msg STRING) WITH ('append_mode'='true');
		CREATE TABLE cpu (host STRING, ts TIMESTAMP TIME INDEX, v DOUBLE, PRIMARY KEY (host));
		INSERT INTO log SELECT number, number, number % 1000, concat('line ', number) FROM generate_series(0, 59999) AS n(number);
		INSERT INTO cpu SELECT concat('h', number % 10), number, number % 7 FROM generate_series(0, 19999) AS n(number);
		ADMIN flush_table('log');
		ADMIN flush_table('cpu');
		INSERT INTO cpu SELECT concat('h', number % 10), number, number % 7 FROM generate_series(0, 499) AS n(number)`)
	for _, sql := range []string{
		"SELECT * FROM cpu",
		"SELECT * FROM log WHERE msg LIKE '%7%'",
		"SELECT host, avg(v) FROM cpu GROUP BY host",
		"SELECT msg, count(*), max(n) FROM log GROUP BY msg",
		"SELECT count(DISTINCT msg), median(n), array_agg(n ORDER BY msg) FROM log",
		"SELECT msg FROM log ORDER BY msg",
		"SELECT msg FROM log ORDER BY msg LIMIT 5000",
		"SELECT * FROM log ORDER BY ts DESC LIMIT 5000",
		"SELECT a.msg FROM log a JOIN log b ON a.n = b.k",
		"SELECT count(*) FROM log a FULL JOIN log b ON a.n = b.n + 30000",
		"SELECT count(*) FROM log a, cpu b WHERE a.n + b.v < 0 AND a.n < 100",
		"SELECT sum(n) OVER (PARTITION BY k ORDER BY ts), lag(n) OVER (ORDER BY msg) FROM log",
		"SELECT msg FROM log UNION SELECT host FROM cpu",
		"SELECT msg FROM log EXCEPT SELECT msg FROM log WHERE n > 1000",
		"SELECT DISTINCT ON (k) k, n FROM log ORDER BY k, n DESC",
		"SELECT ts, host, avg(v) RANGE '1s' FILL PREV FROM cpu ALIGN '100ms' BY (host)",
		"SELECT count(*) FROM (SELECT unnest(make_array(n, k, 1)) AS u FROM log)",
		"SELECT count(*) FROM log WHERE regexp_replace(msg, '[0-9]', 'x', 'g') = 'y'",
	} {
		t.Run(sql, func(t *testing.T) {
			st, err := parse.Parse(sql)
			if err != nil {
				t.Fatal(err)
			}
			run := func(ctx context.Context) error {
				ectx := x.context(s)
				n, err := x.statement(s, ectx).Complete(context.Background(), st[0].(*parse.SelectStmt).Query)
				if err != nil {
					t.Fatal(err)
				}
				err = drain(ctx, x.physical(s), plan.Optimize(ectx, n, 0), new(atomic.Int64))
				return err
			}
			whole := &doomed{Context: context.Background()}
			whole.left.Store(1 << 60)
			if err := run(whole); err != nil {
				t.Fatal(err)
			}
			asked := 1<<60 - whole.left.Load()
			if asked < 10 {
				t.Errorf("it asks %d times", asked)
			}
			for n := int64(0); n < asked; n += max(1, asked/points) {
				ctx := &doomed{Context: context.Background()}
				ctx.left.Store(n)
				if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
					t.Fatalf("cancelled at question %d of %d: %v", n, asked, err)
				}
				if held := pool.Used(); held != 0 {
					t.Fatalf("cancelled at question %d of %d, it holds %d bytes", n, asked, held)
				}
			}
		})
	}
}
