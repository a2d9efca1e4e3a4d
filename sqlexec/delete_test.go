package sqlexec

import (
	"fmt"
	"strings"
	"testing"

	"varve/sqlexec/exec"
)

// TestDeleteTakesSteps deletes more keys than the query's memory holds: a memtable takes a write whole, with a few
// times the memory of its keys.
func TestDeleteTakesSteps(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	outcomeOf(t, x, "CREATE TABLE t (k STRING, v BIGINT, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (k));")
	for i := range 4 {
		outcomeOf(t, x,
			fmt.Sprintf(
				"INSERT INTO t SELECT repeat('x', 2000) || number, number, number FROM generate_series(%d, %d) AS n(number);", i*3000, i*3000+2999))
	}
	pool := exec.NewPool(16 << 20)
	x.o.Memory = pool
	if got := outcomeOf(t, x, "DELETE FROM t WHERE v >= 10;"); strings.TrimSpace(got) != "Affected Rows: 11990" {
		t.Errorf("DELETE gives %s", got)
	}
	if got := rowsOf(t, x, &Session{}, "SELECT count(*), max(v) FROM t"); len(got) != 1 || got[0] != "10 | 9" {
		t.Errorf("left: %v", got)
	}
	if used := pool.Used(); used != 0 {
		t.Errorf("%d bytes are not given back", used)
	}
}
