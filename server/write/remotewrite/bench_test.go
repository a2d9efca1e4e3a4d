package remotewrite_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/valyala/fasthttp"

	"varve/engine"
	"varve/server/protowire"
	"varve/server/web"
	"varve/server/write/remotewrite"
	"varve/server/write/rows"
	"varve/server/write/rows/samples"
)

// BenchmarkRemoteWrite is a fleet of hosts that sends a sample of each of 10,000 series a request: ns and allocations a
// request, and ns a sample without what HTTP and the sender cost.
func BenchmarkRemoteWrite(b *testing.B) {
	const series, requests = 10_000, 16
	e, err := engine.Open(engine.Options{Dir: b.TempDir(), MinFree: 1, WALSync: "never"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := e.Close(context.Background(), false); err != nil {
			b.Error(err)
		}
	}()
	h := remotewrite.New(rows.Deps{Writer: web.NewWriter(e)},
		samples.New(samples.Options{Store: e, Prefix: "service", CacheBytes: 64 << 20}))
	bodies := make([][]byte, requests)
	for r := range bodies {
		var all []byte
		for i := range series {
			all = protowire.AppendMessage(all, 1, func(m []byte) []byte {
				for _, l := range [][2]string{{"__name__", fmt.Sprint("node_metric_", i%40, "_total")},
					{"cpu", fmt.Sprint(i % 16)}, {"env", "production"},
					{"instance", fmt.Sprintf("host-%03d.example.net:9100", i/40)}, {"job", "node"}, {"mode", "idle"},
					{"region", "eu-west-1"}} {
					m = protowire.AppendMessage(m, 1, func(l1 []byte) []byte {
						return protowire.AppendBytes(protowire.AppendBytes(l1, 1, l[0]), 2, l[1])
					})
				}
				return protowire.AppendMessage(m, 2, func(s []byte) []byte {
					return protowire.AppendVarint(protowire.AppendDouble(s, 1, float64(i*r)+0.25), 2,
						uint64(1_700_000_000_000+15_000*r))
				})
			})
		}
		bodies[r] = s2.EncodeSnappy(nil, all)
	}
	send := func(r int) {
		rc := &fasthttp.RequestCtx{}
		rc.Request.SetBodyRaw(bodies[r%requests])
		c := web.NewCtx(rc, context.Background(), 0)
		if err := h.Write(c); err != nil || rc.Response.StatusCode() != 204 {
			b.Fatal(rc.Response.StatusCode(), err)
		}
		c.Done()
	}
	send(0)
	b.ReportAllocs()
	r := 0
	for b.Loop() {
		r++
		send(r)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/series, "ns/sample")
}
