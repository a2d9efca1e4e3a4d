package server

import (
	"fmt"
	"strings"
	"testing"

	"varve/sqlexec/exec"
)

// TestListsTakeMemory: lists of long labels are counted before they are written, and one that a limit cuts takes less.
func TestListsTakeMemory(t *testing.T) {
	h := real(t, func(o *Options) { o.Metrics.Memory = exec.NewPool(4 << 20) })
	for i := range 12 {
		h.want(h.do("POST", "/v1/lineproto/write?precision=s",
			fmt.Sprintf("long,v=%s%d n=1 1", strings.Repeat("x", 200_000), i)), 204, "")
	}
	for _, path := range []string{"label/v/values?", "label/v/values?match[]=long&", "series?match[]=long&"} {
		h.want(h.do("GET", "/v1/metricsapi/api/v1/"+path, ""), 422, "memory")
		h.want(h.do("GET", "/v1/metricsapi/api/v1/"+path+"limit=1", ""), 200, "truncated")
	}
}
