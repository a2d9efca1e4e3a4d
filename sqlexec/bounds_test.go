package sqlexec

import (
	"testing"

	"varve/engine/status"
	"varve/sqlexec/exec"
)

// TestWritesAreBounded has statements that collect rows without end.
func TestWritesAreBounded(t *testing.T) {
	pool := exec.NewPool(8<<20, nil)
	x := New(openStore(t), Options{Workers: 2, Memory: pool})
	outcomeOf(t, x, "CREATE TABLE t (v BIGINT, ts TIMESTAMP(3) TIME INDEX);")
	refused(t, x, "INSERT INTO t SELECT number, number FROM generate_series(0, 4999999) AS n(number);", "memory", status.RuntimeResourcesExhausted)
	outcomeOf(t, x, "INSERT INTO t SELECT number, number FROM generate_series(0, 99999) AS n(number);")
	x.mostInserted = 1 << 20
	refused(t, x, "INSERT INTO t SELECT number, number FROM generate_series(0, 99999) AS n(number);", "more than 1 MiB", status.RuntimeResourcesExhausted)
	if used := pool.Used(); used != 0 {
		t.Errorf("%d bytes are not given back", used)
	}
	x.o.CopyDir = t.TempDir()
	outcomeOf(t, x, "COPY t TO 't.csv';")
	pool = exec.NewPool(100_000, nil)
	x.o.Memory = pool
	refused(t, x, "DELETE FROM t;", "memory", status.RuntimeResourcesExhausted)
	refused(t, x, "COPY t FROM 't.csv';", "memory", status.RuntimeResourcesExhausted)
	if used := pool.Used(); used != 0 {
		t.Errorf("%d bytes are not given back", used)
	}
}
