package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// combined is n lines of a web server's log in the combined format, of about 200 bytes each.
func combined(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b,
			`%d.%d.%d.%d - - [%02d/Aug/2024:%02d:%02d:%02d +0800] "GET /images/products/%d.png?session=%08x HTTP/1.1" %d %d "https://www.example.com/shop/item/%d" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/126.0"`+"\n",
			i%223+1, i*7%256, i*13%256, i*31%256, i%28+1, i/3600%24, i/60%60, i%60, i%9000, i*2654435761,
			[]int{200, 200, 304, 404}[i%4], i*17%90000, i%500)
	}
	return b.String()
}

const dissectDocument = `
processors:
  - dissect:
      fields: [message]
      patterns: ['%{ip} %{?id} %{?user} [%{ts}] "%{method} %{path} %{protocol}" %{status} %{size} "%{referer}" "%{agent}"']
  - date:
      fields: [ts]
      formats: ["%d/%b/%Y:%H:%M:%S %z"]
transform:
  - fields: [ip, method, path, protocol, referer, agent]
    type: string
  - fields: [status, size]
    type: int32
  - field: ts
    type: time
    index: timestamp
`

const regexDocument = `
processors:
  - regex:
      fields: ["message, m"]
      patterns: ['^(?<ip>\S+) (?<id>\S+) (?<user>\S+) \[(?<ts>[^\]]+)\] "(?<method>\S+) (?<path>\S+) (?<protocol>[^"]*)" (?<status>\d+) (?<size>\d+) "(?<referer>[^"]*)" "(?<agent>[^"]*)"']
  - date:
      fields: ["m_ts, ts"]
      formats: ["%d/%b/%Y:%H:%M:%S %z"]
transform:
  - fields: ["m_ip, ip", "m_method, method", "m_path, path", "m_protocol, protocol", "m_referer, referer", "m_agent, agent"]
    type: string
  - fields: ["m_status, status", "m_size, size"]
    type: int32
  - field: ts
    type: time
    index: timestamp
`

// scriptDocument is a script of ten lines that parses, renames, computes, decides and deletes.
const scriptDocument = `
version: 2
processors:
  - vrl:
      source: |
        parts = split(string!(.path), "/")
        .area = parts[1]
        .service_name = del(.service)
        .kib = int!(.bytes) / 1024
        .slow = float!(.latency_ms) > 100.0
        if int!(.status) >= 500 {
            .level = "error"
        }
        del(.trace_id)
        .message = downcase(string!(.message))
        .
transform:
  - {field: ts, type: "epoch, ms", index: timestamp}
`

const plainJSONDocument = `
version: 2
transform:
  - {field: ts, type: "epoch, ms", index: timestamp}
`

// accessEntries are n entries of thirteen fields.
func accessEntries(n int) string {
	var body strings.Builder
	for i := range n {
		fmt.Fprintf(&body,
			`{"ts":%d,"level":"info","service":"frontend","host":"frontend-%03d","method":"GET","path":"/api/v1/products/%d","status":200,"bytes":%d,"latency_ms":%d.5,"user_id":%d,"trace_id":"%032x","cached":false,"message":"Session %x renewed for user %d"}`+"\n",
			1793491200000+i, i%40, i%500, i*7%100000, i%300, i*13%1000000, i*7919, i*104729, i)
	}
	return body.String()
}

// BenchmarkEntries takes JSON entries through a pipeline alone, on one core.
func BenchmarkEntries(b *testing.B) {
	benchmarkProgram(b, accessEntries, false, map[string]string{"columns": plainJSONDocument, "script": scriptDocument})
}

// BenchmarkLines takes lines of text through a pipeline alone, on one core.
func BenchmarkLines(b *testing.B) {
	benchmarkProgram(b, combined, true, map[string]string{"dissect": dissectDocument, "regex": regexDocument})
}

func benchmarkProgram(b *testing.B, make func(int) string, lines bool, documents map[string]string) {
	const entries = 10_000
	body := []byte(make(entries))
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		b.Run(name, func(b *testing.B) {
			p, err := Compile([]byte(documents[name]))
			if err != nil {
				b.Fatal(err)
			}
			m := New(Options{})
			builder := vector.NewBuilder()
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				builder.Reset()
				w := m.worker(&finder{m: m, ctx: context.Background()}, m.holding(nil), &Request{}, p,
					func(string, engine.Hint) *vector.Builder { return builder }, lines)
				for rest := body; len(rest) > 0; {
					entry, after, _ := bytes.Cut(rest, []byte{'\n'})
					if err := w.guard(entry); err != nil {
						b.Fatal(err)
					}
					rest = after
				}
				if w.out.Rows != entries {
					b.Fatal(w.out)
				}
				m.release(w)
			}
			b.ReportMetric(float64(b.N)*entries/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// BenchmarkIngestLines is the way of such a body from its bytes to the acknowledged write, on a disk.
func BenchmarkIngestLines(b *testing.B) {
	const lines = 50_000
	body := combined(lines)
	e := openStore(b, vfs.OS(), b.TempDir())
	m := New(Options{Store: e})
	if _, err := m.Put(context.Background(), "combined", []byte(dissectDocument)); err != nil {
		b.Fatal(err)
	}
	var set engine.WriteSet
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		set.Reset()
		q := Request{DB: "public", Table: "t", Pipeline: "combined", ContentType: "text/plain"}
		if _, err := m.Run(context.Background(), &q, strings.NewReader(body), &set); err != nil {
			b.Fatal(err)
		}
		if _, err := e.Write(context.Background(), &set); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*lines/b.Elapsed().Seconds(), "lines/s")
}
