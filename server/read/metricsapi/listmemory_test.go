package metricsapi_test

import (
	"fmt"
	"strings"
	"testing"

	"varve/server"
	"varve/server/servertest"
	"varve/sqlexec/exec"
)

// TestListsTakeMemory: lists of long labels are counted before they are written, and one that a limit cuts takes less.
func TestListsTakeMemory(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Metrics.Memory = exec.NewPool(4 << 20) })
	for i := range 12 {
		h.Want(h.Do("POST", "/v1/lineproto/write?precision=s",
			fmt.Sprintf("long,v=%s%d n=1 1", strings.Repeat("x", 200_000), i)), 204, "")
	}
	for _, path := range []string{"label/v/values?", "label/v/values?match[]=long&", "series?match[]=long&"} {
		h.Want(h.Do("GET", "/v1/metricsapi/api/v1/"+path, ""), 422, "memory")
		h.Want(h.Do("GET", "/v1/metricsapi/api/v1/"+path+"limit=1", ""), 200, "truncated")
	}
}
