package otlp_test

import (
	"context"
	"testing"

	"github.com/valyala/fasthttp"

	"varve/engine"
	"varve/server/servertest"
	"varve/server/web"
	"varve/server/write/otlp"
	"varve/server/write/rows"
	"varve/server/write/rows/samples"
)

// BenchmarkOTLP takes requests through the whole handler and the store, without HTTP and without waiting for the disk:
// ns a record.
func BenchmarkOTLP(b *testing.B) {
	const records = 8000
	for _, encoding := range []string{"protobuf", "json"} {
		inJSON := encoding == "json"
		b.Run("logs/"+encoding, func(b *testing.B) {
			benchmarkOTLP(b, records, inJSON, (*otlp.Handler).Logs, servertest.OTLPLogRequest(b, records, inJSON))
		})
		b.Run("traces/"+encoding, func(b *testing.B) {
			benchmarkOTLP(b, records, inJSON, (*otlp.Handler).Traces, servertest.OTLPSpanRequest(b, records, inJSON))
		})
		b.Run("metrics/"+encoding, func(b *testing.B) {
			var bodies [][]byte
			for round := range 16 {
				bodies = append(bodies, servertest.OTLPPointRequest(b, records, inJSON, round))
			}
			benchmarkOTLP(b, records, inJSON, (*otlp.Handler).Metrics, bodies...)
		})
	}
}

func benchmarkOTLP(b *testing.B, records int, inJSON bool, handle func(*otlp.Handler, *web.Ctx) error,
	bodies ...[]byte) {
	e, err := engine.Open(engine.Options{Dir: b.TempDir(), MinFree: 1, WALSync: "never"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := e.Close(context.Background(), false); err != nil {
			b.Error(err)
		}
	}()
	h := otlp.New(otlp.Options{Deps: rows.Deps{Writer: web.NewWriter(e), Tables: e},
		Samples: samples.New(samples.Options{Store: e, Prefix: "service", CacheBytes: 64 << 20})})
	send := func(r int) {
		rc := &fasthttp.RequestCtx{}
		if inJSON {
			rc.Request.Header.SetContentType("application/json")
		}
		rc.Request.SetBodyRaw(bodies[r%len(bodies)])
		c := web.NewCtx(rc, context.Background(), 0)
		if err := handle(h, c); err != nil || rc.Response.StatusCode() != 200 || len(rc.Response.Body()) > 2 {
			b.Fatal(rc.Response.StatusCode(), string(rc.Response.Body()), err)
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
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
	b.SetBytes(int64(len(bodies[0])))
}
