package pipeline

import (
	"bytes"
	"context"
	"fmt"
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
		fmt.Fprintf(&b, `%d.%d.%d.%d - - [%02d/Aug/2024:%02d:%02d:%02d +0800] "GET /images/products/%d.png?session=%08x HTTP/1.1" %d %d "https://www.example.com/shop/item/%d" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/126.0"`+"\n",
			i%223+1, i*7%256, i*13%256, i*31%256, i%28+1, i/3600%24, i/60%60, i%60, i%9000, i*2654435761, []int{200, 200, 304, 404}[i%4], i*17%90000, i%500)
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

// BenchmarkLines takes a body of text lines through a pipeline alone, on one core.
func BenchmarkLines(b *testing.B) {
	const lines = 10_000
	body := []byte(combined(lines))
	for _, c := range []struct{ name, document string }{{"dissect", dissectDocument}, {"regex", regexDocument}} {
		b.Run(c.name, func(b *testing.B) {
			p, err := Compile([]byte(c.document))
			if err != nil {
				b.Fatal(err)
			}
			m := New(Options{})
			builder := vector.NewBuilder()
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			r := &Request{DB: "public", Table: "t", ContentType: "text/plain"}
			for b.Loop() {
				builder.Reset()
				w := m.worker(&finder{m: m, ctx: context.Background()}, r, p, func(string, engine.Hint) *vector.Builder { return builder }, true)
				for rest := body; len(rest) > 0; {
					line, after, _ := bytes.Cut(rest, []byte{'\n'})
					if err := w.guard(line); err != nil {
						b.Fatal(err)
					}
					rest = after
				}
				if w.out.Rows != lines {
					b.Fatal(w.out)
				}
				m.release(w)
			}
			b.ReportMetric(float64(b.N)*lines/b.Elapsed().Seconds(), "lines/s")
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
