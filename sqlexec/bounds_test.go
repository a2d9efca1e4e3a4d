package sqlexec

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vfs"
	"varve/sqlexec/exec"
)

// TestWritesAreBounded has statements that collect rows without end.
func TestWritesAreBounded(t *testing.T) {
	pool := exec.NewPool(8 << 20)
	x := New(openStore(t), Options{Workers: 2, Memory: pool})
	outcomeOf(t, x, "CREATE TABLE t (v BIGINT, ts TIMESTAMP(3) TIME INDEX);")
	refused(t, x, "INSERT INTO t SELECT number, number FROM generate_series(0, 4999999) AS n(number);", "memory",
		status.RuntimeResourcesExhausted)
	outcomeOf(t, x, "INSERT INTO t SELECT number, number FROM generate_series(0, 99999) AS n(number);")
	x.mostInserted = 1 << 20
	refused(t, x, "INSERT INTO t SELECT number, number FROM generate_series(0, 99999) AS n(number);", "more than 1 MiB",
		status.RuntimeResourcesExhausted)
	if used := pool.Used(); used != 0 {
		t.Errorf("%d bytes are not given back", used)
	}
	x.o.CopyDir = t.TempDir()
	outcomeOf(t, x, "COPY t TO 't.csv';")
	pool = exec.NewPool(100_000)
	x.o.Memory = pool
	refused(t, x, "DELETE FROM t;", "memory", status.RuntimeResourcesExhausted)
	refused(t, x, "COPY t FROM 't.csv';", "memory", status.RuntimeResourcesExhausted)
	if used := pool.Used(); used != 0 {
		t.Errorf("%d bytes are not given back", used)
	}
}

// TestInsertHoldsMemory: the memory of INSERT .. SELECT is held until its rows are written, which asks for the time.
func TestInsertHoldsMemory(t *testing.T) {
	pool := exec.NewPool(64 << 20)
	var used atomic.Int64
	e, err := engine.Open(engine.Options{FS: vfs.NewMem(), Dir: "data", NoBackground: true, MinFree: 1,
		Now: func() time.Time { used.Store(pool.Used()); return time.Now() }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background(), false)
	x := New(e, Options{Workers: 2, Memory: pool})
	outcomeOf(t, x, "CREATE TABLE t (v BIGINT, ts TIMESTAMP(3) TIME INDEX);")
	used.Store(-1)
	outcomeOf(t, x, "INSERT INTO t SELECT number, number FROM generate_series(0, 99999) AS n(number);")
	if got := used.Load(); got < 100_000*16 || pool.Used() != 0 {
		t.Errorf("%d bytes are held while the rows are written, %d afterwards", got, pool.Used())
	}
}

// TestSeriesTakeNoMemory counts millions of rows in FROM: what is allocated for them does not depend on their number.
func TestSeriesTakeNoMemory(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2, Memory: exec.NewPool(8 << 20)})
	for _, from := range []string{
		"generate_series(1, 4000000)",
		"generate_series(4000000, 1, -1)",
		"range(0, 8000000, 2) WITH ORDINALITY",
		"generate_series('2024-01-01'::TIMESTAMP(3), '2024-02-16 07:06:39'::TIMESTAMP(3), INTERVAL '1 second')",
		"generate_series(1, 2000000) AS a(x), generate_series(1, 2) AS b(y)",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := outcomeOf(t, x, "SELECT count(*) FROM "+from+";")
		runtime.ReadMemStats(&after)
		if want := "4000000"; !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", from, got, want)
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 24<<20 {
			t.Errorf("%s: %d MiB are allocated", from, bytes>>20)
		}
	}
}

// TestPlansTakeMemory has plans that keep rows of queries which run while they are made.
func TestPlansTakeMemory(t *testing.T) {
	pool := exec.NewPool(16 << 20)
	x := New(openStore(t), Options{Workers: 2, Memory: pool})
	for name, sql := range map[string]string{
		"recursion": "WITH RECURSIVE c AS (SELECT value AS a FROM generate_series(1, 300000) UNION ALL SELECT a + 300000 FROM c WHERE a < 2400000) SELECT count(*) FROM c;",
		"anchor":    "WITH RECURSIVE c AS (SELECT value AS a FROM generate_series(1, 2000000) UNION ALL SELECT a FROM c WHERE a < 0) SELECT count(*) FROM c;",
		"IN":        "SELECT count(*) FROM generate_series(1, 10) WHERE value + 1 IN (SELECT value FROM generate_series(1, 900000));",
		"lateral":   "SELECT count(*) FROM generate_series(1, 20) AS a(x), LATERAL (SELECT value + a.x AS y FROM generate_series(1, 50000)) AS b;",
		"unnest":    "SELECT count(*) FROM (SELECT range(x, x + 300000) AS l FROM generate_series(1, 2) AS a(x)) AS b, UNNEST(b.l);",
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, x, sql, "memory", status.RuntimeResourcesExhausted)
			if used := pool.Used(); used != 0 {
				t.Errorf("%d bytes are not given back", used)
			}
		})
	}
	x.o.Memory = exec.NewPool(1 << 30)
	outcomeOf(t, x,
		"SELECT count(*) FROM generate_series(1, 10) WHERE value + 1 IN (SELECT value FROM generate_series(1, 900000));")
}
