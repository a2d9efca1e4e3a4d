package otlp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/valyala/fasthttp"

	"varve/engine"
	"varve/engine/status"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/samples"
)

// sent are the bodies that clients really sent, by name, decompressed.
func sent(tb testing.TB) map[string][]byte {
	tb.Helper()
	names, err := filepath.Glob("../../servertest/testdata/payloads/otlp-*")
	if err != nil || len(names) == 0 {
		tb.Fatal(names, err)
	}
	bodies := map[string][]byte{}
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		var from io.Reader = bytes.NewReader(body)
		switch filepath.Ext(name) {
		case ".gz":
			from, err = gzip.NewReader(from)
		case ".zst":
			from, err = zstd.NewReader(from)
		}
		if err != nil {
			tb.Fatal(err)
		}
		if body, err = io.ReadAll(from); err != nil {
			tb.Fatal(err)
		}
		bodies[filepath.Base(name)] = body
	}
	return bodies
}

// handler is one on a store of its own.
func handler(tb testing.TB) *Handler {
	tb.Helper()
	e, err := engine.Open(engine.Options{Dir: tb.TempDir(), MinFree: 1, WALSync: "never"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(context.Background(), false); err != nil {
			tb.Error(err)
		}
	})
	return New(Options{Deps: rows.Deps{Writer: web.NewWriter(e), Tables: e},
		Samples: samples.New(samples.Options{Store: e, Prefix: "service", CacheBytes: 1 << 20}),
		Now:     func() time.Time { return time.Unix(1, 0) }})
}

// request is the frame of a request without a body.
func request(tb testing.TB, headers ...string) *web.Ctx {
	rc := &fasthttp.RequestCtx{}
	for i := 0; i < len(headers); i += 2 {
		rc.Request.Header.Set(headers[i], headers[i+1])
	}
	c := web.NewCtx(rc, context.Background(), 0)
	tb.Cleanup(c.Done)
	return c
}

func anySize(int64) error { return nil }

// decode reads a message of a signal into a set that is not written: how many records there are, and how many rows they
// made.
func decode(tb testing.TB, h *Handler, signal int, message []byte) (o outcome, rows int, err error) {
	return decodeHeld(tb, h, signal, message, anySize)
}

// decodeHeld is decode that tells what the rows take.
func decodeHeld(tb testing.TB, h *Handler, signal int, message []byte, hold func(int64) error) (o outcome, rows int,
	err error) {
	set := new(engine.WriteSet)
	switch signal {
	case 0:
		r := &metricsRequest{weight: weight{hold: hold}}
		if err := r.begin(h, request(tb, "x-service-otlp-metric-promote-all-resource-attrs", "1",
			"x-service-otlp-metric-promote-scope-attrs", "1")); err != nil {
			tb.Fatal(err)
		}
		err = r.search(message)
		return r.outcome, len(r.points), err
	case 1:
		r := &tracesRequest{weight: weight{hold: hold}}
		if err := r.begin(h, request(tb)); err != nil {
			tb.Fatal(err)
		}
		err = r.read(set, message)
		return r.outcome, r.rows.Rows(), err
	default:
		r := &logsRequest{weight: weight{hold: hold}}
		if err := r.begin(h, request(tb, "x-service-log-extract-keys", "app,env,host.name")); err != nil {
			tb.Fatal(err)
		}
		err = r.read(set, message)
		return r.outcome, r.rows.Rows(), err
	}
}

// signalOf is the number of a body's signal by its file's name.
func signalOf(name string) int {
	for i, signal := range []string{"otlp-metrics", "otlp-traces", "otlp-logs"} {
		if strings.HasPrefix(name, signal) {
			return i
		}
	}
	return -1
}

// FuzzMessage: any bytes as a message of any signal give rows, refusals or an error, and as many rows as records that
// were taken.
func FuzzMessage(f *testing.F) {
	for name, body := range sent(f) {
		if !strings.HasSuffix(name, ".json") {
			f.Add(signalOf(name), body)
		}
	}
	h := handler(f)
	f.Fuzz(func(t *testing.T, signal int, body []byte) {
		signal = (signal%3 + 3) % 3
		o, rows, err := decode(t, h, signal, body)
		if err == nil && signal > 0 && rows != o.taken {
			t.Errorf("%d rows of %d records", rows, o.taken)
		}
		if o.refused > 0 && !errors.As(o.fault, new(*status.Error)) {
			t.Errorf("%d records were refused because of %v", o.refused, o.fault)
		}
	})
}

// FuzzJSON: any text as a request in JSON gives an error or a message, and that can be read.
func FuzzJSON(f *testing.F) {
	for name, body := range sent(f) {
		if strings.HasSuffix(name, ".json") {
			f.Add(signalOf(name), string(body))
		}
	}
	f.Add(2,
		`{"resourceLogs":[{"scope_logs":[{"logRecords":[{"timeUnixNano":1e3,"body":{"arrayValue":{"values":[null,{"bytesValue":"AQ"},{"doubleValue":"-Infinity"}]}},"x":[{"y":null}]}]}]}]}`)
	f.Add(0,
		`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","exponentialHistogram":{"dataPoints":[{"scale":-1,"positive":{"offset":-3,"bucketCounts":[1,"2"]}}]}}]}]}]}`)
	h := handler(f)
	f.Fuzz(func(t *testing.T, signal int, body string) {
		signal = (signal%3 + 3) % 3
		tr := transcoder{hold: anySize}
		message, err := tr.transcode(nil, []byte(body), []*message{metricsMessage, spansMessage, logsMessage}[signal])
		if err != nil {
			return
		}
		if _, _, err := decode(t, h, signal, message); err != nil && !errors.As(err, new(*status.Error)) {
			t.Errorf("%q becomes %x, which cannot be read: %v", body, message, err)
		}
	})
}

// TestCut: a message that is cut anywhere is an error or another message, never more than the whole.
func TestCut(t *testing.T) {
	h := handler(t)
	for name, body := range sent(t) {
		if strings.HasSuffix(name, ".json") {
			continue
		}
		signal := signalOf(name)
		all, _, err := decode(t, h, signal, body)
		if err != nil || all.refused > 0 {
			t.Fatalf("%s: %v, %v", name, err, all)
		}
		for cut := 0; cut < len(body); cut += max(1, len(body)/97) {
			o, _, err := decode(t, h, signal, body[:cut])
			if err == nil && o.taken+o.refused > all.taken {
				t.Errorf("%s: %d of %d bytes give %d records, all %d", name, cut, len(body), o.taken+o.refused,
					all.taken)
			}
		}
	}
}
