package promql

import (
	"runtime"
	"strings"
	"testing"
)

// TestPlansKeepNoRequest: a plan that is kept has texts of its own. A form is one text, of which a query is a part.
func TestPlansKeepNoRequest(t *testing.T) {
	const size = 1 << 20
	var c plans
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for i := range 32 {
		form := strings.Repeat(string(rune('a'+i%26)), size) + `sum by (host) (load{a="b"})` + strings.Repeat(" ", i)
		if _, err := c.of(&Query{Expr: form[size:]}); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heap() - before; grown > 8*size {
		t.Errorf("%d bytes are kept, the plans are of about %d", grown, c.bytes)
	}
	runtime.KeepAlive(&c)
}
